//! Times in records count from the start of their own process. In the merged log they count from the
//! start of the job.

use crate::counter;
use crate::read::{Counters, Job, Log, Record, Version};
use crate::record::dxt::Segment;
use crate::write::Writer;
use crate::{Result, merge::is_counters};
use netra_event::Module;
use std::io::{Seek, Write};

/// How far a log's clock is behind the job's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift {
    seconds: f64,
}

impl Shift {
    /// Logs before 3.41 know only whole seconds, which is too coarse to move anything by.
    pub(super) fn new(log: &Log, job: &Job) -> Shift {
        if log.header().version < Version::V3_41 {
            return Shift { seconds: 0.0 };
        }
        let (own, first) = (&log.job().numbers, &job.numbers);
        let seconds = own.start_sec.saturating_sub(first.start_sec) as f64;
        let nanos = own.start_nsec.saturating_sub(first.start_nsec) as f64;
        Shift { seconds: (seconds + nanos / 1e9).max(0.0) }
    }

    pub(super) fn seconds(self) -> f64 {
        self.seconds
    }

    /// Writes a record with its times moved.
    pub(super) fn write<W: Write + Seek>(
        self,
        module: Module,
        record: Record<'_>,
        writer: &mut Writer<W>,
    ) -> Result<()> {
        match record {
            Record::Dxt(mut dxt) if self.seconds > 0.0 => {
                writer.begin_trace(module, dxt.head)?;
                let mut moved: Vec<Segment> = Vec::new();
                while let Some((_, piece)) = dxt.segments.next_piece() {
                    moved.clear();
                    moved.extend(piece.iter().map(|segment| Segment {
                        start: segment.start + self.seconds,
                        end: segment.end + self.seconds,
                        ..*segment
                    }));
                    writer.segments(&moved)?;
                }
                writer.end_trace()
            }
            record => self.shifted(module, record, |record| writer.record(module, record)),
        }
    }

    /// Hands on a record with its times moved.
    pub(super) fn shifted(
        self,
        module: Module,
        record: Record<'_>,
        act: impl FnOnce(Record<'_>) -> Result<()>,
    ) -> Result<()> {
        let Record::Counters(counters) = &record else { return act(record) };
        if self.seconds == 0.0 || !is_counters(module) {
            return act(record);
        }
        let names = counter::current(module).map_or(&[][..], |table| table.float);
        let mut floats = counters.floats.to_vec();
        for (value, name) in floats.iter_mut().zip(names) {
            // 0 is never, −1 is not monitored.
            if name.ends_with("_TIMESTAMP") && *value > 0.0 {
                *value += self.seconds;
            }
        }
        act(Record::Counters(Counters { floats: &floats, ..*counters }))
    }
}
