//! The names of records: those that have one in this log.

use super::counted::MODULES;
use super::heatmap;
use super::scratch::{self, Table};
use super::{Encoder, Step};
use crate::record::header::Extent;
use netra_event::RecordId;
use netra_event::segment::{Region, table};

/// Writes the region.
pub(super) fn write(encoder: &mut Encoder<'_>, words: &mut [u64]) -> Step {
    let view = encoder.view;
    let named = Table(words).take(scratch::rows::<table::File>(&view, Region::Files))?;
    for record in view.records().filter(|record| MODULES.contains(&record.module)) {
        if let Some(place) = usize::try_from(record.file).ok().and_then(|at| named.get_mut(at)) {
            *place = 1;
        }
    }
    let offset = encoder.output.position();
    let mut region = encoder.region();
    for file in view.files() {
        let index = usize::try_from(file.index).unwrap_or(usize::MAX);
        if named.get(index) == Some(&1) {
            region.write(&file.id.to_le_bytes())?;
            region.write(file.name)?;
            region.write(&[0])?;
        }
    }
    for name in heatmap::names(&view) {
        region.write(&RecordId::of(name).0.to_le_bytes())?;
        region.write(name)?;
        region.write(&[0])?;
    }
    // Readers find the end of the job by it, so it is there even if no name is.
    encoder.header.names = Extent { offset, ..region.finish()? };
    Ok(())
}
