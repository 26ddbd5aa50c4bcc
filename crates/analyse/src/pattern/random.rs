//! Random traces for comparing patterns with slow and obvious ways to compute them.

use netra_event::RecordId;
use proptest::prelude::*;

use crate::{Direction, Layer, Trace, TraceRow};

/// Up to 40 calls of up to four ranks on up to two files of 64 bytes within 100 s, in whole
/// numbers, so that equal times and touching ranges are common.
pub(crate) fn trace() -> impl Strategy<Value = Trace> {
    let call = (0u32..2, 0u32..4, any::<bool>(), 0u64..64, 0u64..16, 0u32..100, 0u32..12);
    prop::collection::vec(call, 0..40).prop_map(|calls| {
        let mut trace = Trace::default();
        for id in [RecordId(10), RecordId(11)] {
            trace.file(id);
        }
        for (file, rank, write, offset, length, start, took) in calls {
            trace.push(TraceRow {
                file,
                rank,
                layer: Layer::Posix,
                direction: if write { Direction::Write } else { Direction::Read },
                start: f64::from(start),
                end: f64::from(start + took),
                offset,
                length,
            });
        }
        trace
    })
}
