//! The memory to sort in: how much is needed, and how it is cut.

use super::frequent::PAIRS;
use super::{Error, Step};
use crate::counter;
use crate::record::{dxt, heatmap, job, layout};
use netra_event::Module;
use netra_event::segment::{BINS, Region, View, table};

/// Words of scratch memory that the log of this segment needs. Most of it is touched only for long
/// traces, so memory that is mapped on demand costs little.
#[must_use]
pub fn needed(view: &View<'_>) -> usize {
    let (files, lanes) = (rows::<table::File>(view, Region::Files), lanes(view));
    let records = view.records().count();
    let (mut chunks, mut slots) = (0_usize, 0_usize);
    for chunk in view.chunks() {
        chunks = chunks.saturating_add(1);
        slots = slots.saturating_add(chunk.slots.len());
    }
    let grouped = files.saturating_add(records.saturating_mul(2)).saturating_add(PAIRS * 2);
    let traced = lanes.saturating_mul(2).saturating_add(files.saturating_mul(2));
    let traced = traced.saturating_add(slots);
    let packed = lanes.saturating_add(chunks);
    // A live segment may have grown by a little when the work begins.
    grouped.max(traced).max(packed).max(BINS * 2).saturating_add(SLACK)
}

const SLACK: usize = 1024;

/// Bytes that [`super::parts`] of this segment takes at most. Memory that is mapped on demand costs only what
/// is used of it.
#[must_use]
pub fn room(view: &View<'_>) -> usize {
    const RECORD: usize = match layout(Module::PnetcdfVar, counter::pnetcdf_var::VERSION) {
        Some(layout) => layout.size(),
        None => 0,
    };
    /// A heat map of each layer.
    const HEATMAPS: usize = 3 * (heatmap::HEAD + 16 * BINS);
    let files = rows::<table::File>(view, Region::Files);
    // A layout of Lustre is as long in the log as its record.
    let records = view.records().count().saturating_mul(RECORD);
    let lustre = view.region(Region::Records).1.len();
    let slots = view.chunks().map(|chunk| chunk.slots.len()).fold(0, usize::saturating_add);
    let traces =
        slots.saturating_mul(dxt::SEGMENT).saturating_add(files.saturating_mul(2 * dxt::HEAD));
    let names = view.region(Region::Names).1.len().saturating_add(files.saturating_mul(9));
    [job::REGION, names, records, lustre, traces, HEATMAPS, SLACK * 8]
        .into_iter()
        .fold(0, usize::saturating_add)
}

/// Rows that a region has room for.
pub(super) fn rows<T>(view: &View<'_>, region: Region) -> usize {
    view.region(region).1.len().checked_div(size_of::<T>()).unwrap_or(0)
}

/// Lanes that there is room for.
pub(super) fn lanes(view: &View<'_>) -> usize {
    rows::<netra_event::lane::Lane>(view, Region::Lanes)
}

/// Takes tables off the front of the scratch memory, all zero.
pub(super) struct Table<'w>(pub(super) &'w mut [u64]);

impl<'w> Table<'w> {
    pub(super) fn take(&mut self, words: usize) -> Step<&'w mut [u64]> {
        let all = core::mem::take(&mut self.0);
        let Some((table, rest)) = all.split_at_mut_checked(words) else {
            return Err(Error::Scratch);
        };
        table.fill(0);
        self.0 = rest;
        Ok(table)
    }

    /// All that is left, as it is.
    pub(super) fn rest(self) -> &'w mut [u64] {
        self.0
    }
}
