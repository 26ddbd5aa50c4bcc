//! The HEATMAP module: bytes over time, all threads of a layer brought to one width of bins.

use super::scratch::Table;
use super::{Encoder, Step};
use crate::record::heatmap::head;
use netra_event::segment::{BINS, Heatmap, View};
use netra_event::{Module, RecordId};

/// The layers that have one, and what their record is called.
const LAYERS: [(Module, &[u8]); 3] = [
    (Module::Posix, b"heatmap:POSIX"),
    (Module::Stdio, b"heatmap:STDIO"),
    (Module::Mpiio, b"heatmap:MPIIO"),
];

/// The names of the records that [`write`] will write.
pub(super) fn names<'v>(view: &View<'v>) -> impl Iterator<Item = &'static [u8]> + use<'v> {
    let view = *view;
    LAYERS.into_iter().filter(move |&(module, _)| of(view, module).any(moved)).map(|row| row.1)
}

/// Writes the region.
pub(super) fn write(encoder: &mut Encoder<'_>, words: &mut [u64]) -> Step {
    let (view, rank, length) = (encoder.view, encoder.rank, encoder.clock.length());
    let (late, common) = (encoder.clock.late, encoder.options.job.map_or(1, |job| job.width));
    let mut table = Table(words);
    let (written, read) = (table.take(BINS)?, table.take(BINS)?);
    let mut region = encoder.region();
    for (module, name) in LAYERS {
        if !of(view, module).any(moved) {
            continue;
        }
        let own = of(view, module).map(|map| map.width).max().unwrap_or(1);
        let width = wide_enough(own.max(common), length);
        let bins = length.div_ceil(width.max(1)).clamp(1, BINS as u64);
        // What ended after the end still belongs to the job: it goes into the last bin.
        let last = usize::try_from(bins.saturating_sub(1)).unwrap_or(0);
        written.fill(0);
        read.fill(0);
        for map in of(view, module) {
            for bin in 0..BINS {
                let begin = map.width.saturating_mul(bin as u64).saturating_add(late);
                let at = begin.checked_div(width).and_then(|at| usize::try_from(at).ok());
                let at = at.unwrap_or(last).min(last);
                add(written, at, map.written(bin));
                add(read, at, map.read(bin));
            }
        }
        // Widths are far below 2^53 ns.
        region.write(&head(RecordId::of(name), rank, width as f64 / 1e9, bins))?;
        let count = last.saturating_add(1);
        for value in written.iter().take(count).chain(read.iter().take(count)) {
            region.write(&value.to_le_bytes())?;
        }
    }
    let extent = region.finish()?;
    encoder.enter(Module::Heatmap, extent);
    Ok(())
}

/// The width that the heat maps of a job have, from the widest of a process: readers expect the same of all.
#[must_use]
pub fn common_width(widest: u64, length: u64) -> u64 {
    wide_enough(widest.max(1), length)
}

/// The widest bins of a process, in nanoseconds; 0 if it has no heat map.
#[must_use]
pub fn widest(view: &View<'_>) -> u64 {
    let layers =
        LAYERS.into_iter().flat_map(|(module, _)| of(*view, module).filter(|&map| moved(map)));
    layers.map(|map| map.width).max().unwrap_or(0)
}

/// Doubles a width until the bins last.
fn wide_enough(mut width: u64, length: u64) -> u64 {
    while width.saturating_mul(BINS as u64) < length {
        width = width.saturating_mul(2);
    }
    width
}

/// A layer's maps; one without a width is damage.
fn of<'v>(view: View<'v>, module: Module) -> impl Iterator<Item = Heatmap<'v>> {
    let code = u32::from(module.code());
    view.heatmaps().filter(move |map| map.module == code && map.width != 0)
}

fn moved(map: Heatmap<'_>) -> bool {
    (0..BINS).any(|bin| map.written(bin) | map.read(bin) != 0)
}

fn add(bins: &mut [u64], at: usize, bytes: u64) {
    if let Some(bin) = bins.get_mut(at) {
        *bin = bin.saturating_add(bytes);
    }
}
