//! When each layer was busy, in equal steps of time.

use crate::{Direction, Layer};

use super::Basis;
use super::span::{Spans, Steps, Sums};

/// The whole job over time.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Seconds from the job's start to the end of the axis.
    pub end: f64,
    /// A lane for each layer and direction with any call, outermost layer first.
    pub lanes: Vec<Lane>,
}

/// One layer in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// Through what.
    pub layer: Layer,
    /// Which way.
    pub direction: Direction,
    /// Where the times come from.
    pub basis: Basis,
    /// Seconds of all ranks in calls, by step.
    pub busy: Vec<f32>,
    /// Bytes, by step.
    pub bytes: Vec<f32>,
}

impl Lane {
    /// The lanes of a layer; none where nothing was read or written.
    pub(super) fn of(spans: &Spans<'_>, end: f64, bins: usize) -> Vec<Lane> {
        if end <= 0.0 || bins == 0 {
            return Vec::new();
        }
        let steps = Steps::new(end, bins);
        let mut sums = [Sums::new(bins), Sums::new(bins)];
        for span in spans.by_rank() {
            let share = steps.share(span.start, span.end);
            sums[usize::from(span.direction == Direction::Write)].add(&share, &span);
        }
        let lanes = Direction::BOTH.into_iter().zip(sums).map(|(direction, mut sums)| {
            let (layer, basis) = (spans.layer, spans.basis);
            let (busy, bytes) = (vec![0.0; bins], vec![0.0; bins]);
            let mut lane = Lane { layer, direction, basis, busy, bytes };
            // Summed in double precision, kept in single: a picture shows three digits.
            sums.drain(|steps, [busy, bytes]| {
                lane.busy[steps.clone()].fill(busy as f32);
                lane.bytes[steps].fill(bytes as f32);
            });
            lane
        });
        lanes.filter(|lane| lane.busy.iter().any(|seconds| *seconds > 0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, Budget, Detail};
    use crate::{Direction, Job, Layer, TraceRow, Usage};
    use netra_event::{Rank, RecordId, Seconds};

    const FOUR: Budget = Budget { bins: 4, rows: 4, marks: 10, conflicts: 0 };

    #[test]
    fn traced_calls_fall_into_their_steps() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        let file = job.trace.file(RecordId(1));
        let call = TraceRow {
            file,
            rank: 0,
            layer: Layer::Posix,
            direction: Direction::Write,
            start: 0.5,
            end: 2.5,
            offset: 0,
            length: 400,
        };
        job.trace.push(call);
        job.trace.push(TraceRow { rank: 1, start: 3.0, end: 3.5, length: 100, ..call });
        let timeline = Detail::of(&job, FOUR).timeline;
        let [lane] = &timeline.lanes[..] else { panic!("{:?}", timeline.lanes) };
        assert_eq!(
            (lane.layer, lane.direction, lane.basis),
            (Layer::Posix, Direction::Write, Basis::Traced)
        );
        assert_eq!(lane.busy, [0.5, 1.0, 0.5, 0.5]);
        assert_eq!(lane.bytes, [100.0, 200.0, 100.0, 100.0]);
    }

    #[test]
    fn a_layer_without_trace_is_spread_between_first_and_last_call() {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 8, ..Job::default() };
        let mut usage = Usage::new(Layer::Stdio, RecordId(1), Rank::SHARED);
        (usage.read.calls, usage.read.bytes, usage.read.seconds) = (10, 1000, 3.0);
        usage.read.span = (1.0, 3.0);
        job.usages.push(usage);
        let timeline = Detail::of(&job, FOUR).timeline;
        let [lane] = &timeline.lanes[..] else { panic!("{:?}", timeline.lanes) };
        assert_eq!(lane.basis, Basis::Spread);
        assert_eq!(lane.busy, [0.0, 1.5, 1.5, 0.0]);
        assert_eq!(lane.bytes, [0.0, 500.0, 500.0, 0.0]);
    }
}
