//! Heat maps of processes that each chose their own bins are fitted to one frame: readers expect
//! all heat maps of a log to have the same bins.

use crate::Result;
use crate::read::{Heatmap, Log, Record};
use crate::write::Writer;
use netra_event::{Module, Seconds};
use std::io::{Seek, Write};

/// More bins than any heat map has; a wider frame would be nonsense.
const MOST: usize = 1 << 15;

/// The bins of the merged log; none if the inputs do not fit together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    bins: Option<(f64, usize)>,
}

impl Frame {
    /// The widest bins, and as many as the last of them needs. Darshan doubles a width when time
    /// runs out, so widths are each other's multiples.
    pub(super) fn around(logs: &[(&Log, f64)]) -> Frame {
        let mut width: f64 = 0.0;
        each(logs, |heatmap, _| width = width.max(heatmap.width.0));
        let mut bins = 0;
        let mut fits = width.is_finite() && width > 0.0;
        each(logs, |heatmap, shift| match factor(width, heatmap.width.0) {
            Some(factor) => {
                let own = (skip(shift, heatmap.width.0) + heatmap.writes.len()).div_ceil(factor);
                bins = bins.max(own);
            }
            None => fits = false,
        });
        Frame { bins: (fits && bins > 0 && bins <= MOST).then_some((width, bins)) }
    }

    /// Writes a heat map in the frame, moved by as many bins as its process began late.
    pub(super) fn write<W: Write + Seek>(
        self,
        record: Record<'_>,
        shift: f64,
        writer: &mut Writer<W>,
    ) -> Result<()> {
        let (Some((width, bins)), Record::Heatmap(heatmap)) = (self.bins, &record) else {
            return writer.record(Module::Heatmap, record);
        };
        let Some(factor) = factor(width, heatmap.width.0) else {
            return writer.record(Module::Heatmap, record);
        };
        let skip = skip(shift, heatmap.width.0);
        let fit = |from: &[i64]| {
            let mut to = vec![0i64; bins];
            for (at, bytes) in (skip..).zip(from) {
                if let Some(bin) = to.get_mut(at / factor) {
                    *bin = bin.saturating_add(*bytes);
                }
            }
            to
        };
        let (writes, reads) = (fit(heatmap.writes), fit(heatmap.reads));
        let fitted = Heatmap { width: Seconds(width), writes: &writes, reads: &reads, ..*heatmap };
        writer.record(Module::Heatmap, Record::Heatmap(fitted))
    }
}

fn each(logs: &[(&Log, f64)], mut act: impl FnMut(&Heatmap<'_>, f64)) {
    for &(log, shift) in logs {
        let mut records = log.records(Module::Heatmap);
        while let Some(record) = records.next_record() {
            if let Record::Heatmap(heatmap) = record {
                act(&heatmap, shift);
            }
        }
    }
}

/// How many narrow bins make a wide one, if it is a whole number of them.
fn factor(wide: f64, narrow: f64) -> Option<usize> {
    let ratio = wide / narrow;
    let whole = ratio.round();
    let fits = ratio.is_finite() && (ratio - whole).abs() < 1e-6 && (1.0..1e6).contains(&whole);
    fits.then_some(whole as usize)
}

/// Whole bins that a heat map is moved by.
fn skip(shift: f64, width: f64) -> usize {
    // Saturates, and the frame refuses what is too large.
    if width > 0.0 { ((shift / width).round() as usize).min(MOST * 4) } else { 0 }
}
