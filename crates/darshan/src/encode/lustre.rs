//! Lustre layouts: the components of each file and their storage targets, as its newest record has
//! them. Nothing is joined: a later record is the layout as it was seen later.

use super::group::Groups;
use super::scratch::Table;
use super::{Encoder, Step};
use crate::record::lustre::{COMPONENT, HEAD, head};
use netra_event::segment::Record;
use netra_event::segment::shard::lustre::{COMPONENTS, FIRST, TARGETS, WIDTH};
use netra_event::{Module, RecordId};

/// The longest record that Darshan's own tools take; a longer one is left out.
const LONGEST: u64 = 81_920;

/// Writes the region.
pub(super) fn write(encoder: &mut Encoder<'_>, words: &mut [u64]) -> Step {
    let (view, rank) = (encoder.view, encoder.rank);
    let mut table = Table(words);
    let groups = Groups::new(view, u32::from(Module::Lustre.code()), &mut table)?;
    let mut region = encoder.region();
    let mut left_out = false;
    for file in view.files() {
        // One that is being written has no components yet.
        let whole = |record: &Record<'_>| record.word(COMPONENTS) != 0;
        let Some(record) = groups.of(file.index).find(whole) else { continue };
        let (components, targets) = (record.word(COMPONENTS), record.word(TARGETS));
        let Some(numbers) = numbers(components, targets) else {
            left_out = true;
            continue;
        };
        region.write(&head(RecordId(file.id), rank, components, targets))?;
        // A component of the segment is one of the log, and targets follow in both.
        for index in 0..numbers {
            region.write(&word(&record, index).to_le_bytes())?;
        }
    }
    let extent = region.finish()?;
    encoder.enter(Module::Lustre, extent);
    if left_out {
        encoder.mark_partial(Module::Lustre);
    }
    Ok(())
}

/// Words behind the head, if the record is not too long.
fn numbers(components: u64, targets: u64) -> Option<usize> {
    let numbers = components.checked_mul(WIDTH as u64)?.checked_add(targets)?;
    let bytes = numbers.checked_mul(8)?.checked_add(HEAD as u64)?;
    (bytes <= LONGEST).then_some(usize::try_from(numbers).ok()?)
}

fn word(record: &Record<'_>, index: usize) -> u64 {
    record.word(FIRST.saturating_add(index))
}

const _: () = assert!(WIDTH * 8 == COMPONENT);
