//! What one rank gets with large calls and what a call costs whatever its size, as the job itself
//! shows it: from single calls where they were traced, else from files that were used in large calls
//! only. Where neither tells, the site's thresholds are assumed, and whatever stands on them says so.

use std::fmt;

use netra_event::Bytes;

use crate::pattern::median;
use crate::{Direction, Job, Layer, Thresholds};

/// Where a rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateBasis {
    /// Durations of single large calls.
    Traced,
    /// Files that were used in large calls.
    Counted,
    /// Thresholds: the job has no large calls.
    Assumed,
}

impl RateBasis {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RateBasis::Traced => "traced",
            RateBasis::Counted => "counted",
            RateBasis::Assumed => "assumed",
        }
    }
}

/// What calls of one direction get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Bytes a second of one rank in large calls.
    pub large: f64,
    /// Seconds of a call whatever its size, at least.
    pub call: f64,
    /// How the rate of large calls is known.
    pub basis: RateBasis,
    /// Whose it is: a rank's or a process's.
    pub whose: &'static str,
}

/// What calls get, both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Reads.
    pub read: Rate,
    /// Writes.
    pub write: Rate,
}

impl Rates {
    pub(super) fn seen(job: &Job, limit: &Thresholds) -> Rates {
        let [read, write] = Direction::BOTH.map(|direction| Rate::of(job, direction, limit));
        Rates { read, write }
    }

    /// One direction.
    #[must_use]
    pub fn of(&self, direction: Direction) -> Rate {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        }
    }
}

impl Rate {
    fn of(job: &Job, direction: Direction, limit: &Thresholds) -> Rate {
        let seen = traced(job, direction, limit).map(|rate| (rate, RateBasis::Traced));
        let seen = seen.or_else(|| Some((counted(job, direction, limit)?, RateBasis::Counted)));
        let (large, basis) = seen.unwrap_or((limit.large_rate.0.max(1) as f64, RateBasis::Assumed));
        Rate { large, call: limit.call_cost.0, basis, whose: job.who.one(job.nprocs) }
    }

    /// The share of the seconds of so many calls that large calls would save: what is beyond the
    /// time of the bytes alone, and at least what the calls cost whatever their size.
    #[must_use]
    pub fn lost(&self, calls: u64, bytes: u64, seconds: f64) -> f64 {
        if seconds <= 0.0 {
            return 0.0;
        }
        let beyond = 1.0 - bytes as f64 / self.large / seconds;
        let overhead = calls as f64 * self.call / seconds;
        beyond.max(overhead).clamp(0.0, 1.0)
    }
}

/// The median rate of traced large calls.
fn traced(job: &Job, direction: Direction, limit: &Thresholds) -> Option<f64> {
    /// As many as tell a median, from the beginning of each run so that every rank has its say.
    const MOST: usize = 1 << 16;
    let runs = job.trace.runs().iter();
    let runs = runs.filter(|run| run.layer == Layer::Posix && run.direction == direction);
    let each = MOST / runs.clone().count().max(1) + 1;
    let runs = runs.filter(|run| run.lengths.1 >= limit.small_request.0);
    let large = runs.flat_map(|run| {
        job.trace.calls(run).filter(|row| row.length >= limit.small_request.0).take(each)
    });
    let mut rates: Vec<f64> =
        large.filter(|row| row.took() > 0.0).map(|row| row.length as f64 / row.took()).collect();
    (rates.len() as u64 >= limit.rate_calls).then(|| median(&mut rates)).flatten()
}

/// Bytes over seconds of records whose calls are large on average.
fn counted(job: &Job, direction: Direction, limit: &Thresholds) -> Option<f64> {
    let (mut calls, mut bytes, mut seconds) = (0, 0.0, 0.0);
    for usage in job.usages.iter().filter(|usage| usage.layer == Layer::Posix) {
        let flow = usage.flow(direction);
        if flow.calls > 0 && flow.bytes / flow.calls >= limit.small_request.0 && flow.seconds > 0.0
        {
            calls += flow.calls;
            bytes += flow.bytes as f64;
            seconds += flow.seconds;
        }
    }
    (calls >= limit.rate_calls && seconds > 0.0).then(|| bytes / seconds)
}

/// As it ends a sentence about large calls.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The cast saturates; no rate comes near.
        let (rate, whose) = (Bytes(self.large as u64), self.whose);
        match self.basis {
            RateBasis::Assumed => write!(
                f,
                "reach {rate} a second per {whose} (assumed: the job has no large calls to go by)"
            ),
            _ => write!(f, "reach {rate} a second per {whose}, as large calls of this job do"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RateBasis;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    #[test]
    fn without_large_calls_it_is_assumed() {
        let mut job = Sample::new(1, 10.0);
        let usage = job.posix("/lus/f", 0);
        (usage.write.calls, usage.write.bytes, usage.write.seconds) = (1000, 1000, 1.0);
        let rate = job.facts().rates.write;
        assert_eq!((rate.basis, rate.large), (RateBasis::Assumed, 209_715_200.0));
        // A million calls of 1 KiB in a second are fast, and still are mostly calls.
        assert_eq!(rate.lost(1_000_000, 1 << 30, 1.0), 1.0);
        assert_eq!(rate.lost(1000, 1 << 30, 1.0), 0.001);
        assert_eq!(rate.lost(1000, 0, 0.0), 0.0);
    }

    #[test]
    fn files_in_large_calls_tell() {
        let mut job = Sample::new(1, 10.0);
        let usage = job.posix("/lus/f", 0);
        (usage.write.calls, usage.write.bytes, usage.write.seconds) = (8, 8 << 20, 0.5);
        let rate = job.facts().rates.write;
        assert_eq!((rate.basis, rate.large), (RateBasis::Counted, 16_777_216.0));
        assert_eq!(rate.lost(1000, 1 << 23, 1.0), 0.5);
        assert_eq!(job.facts().rates.read.basis, RateBasis::Assumed);
    }

    #[test]
    fn the_median_of_traced_calls_tells_best() {
        let mut job = Sample::new(1, 100.0);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        for at in 0..9 {
            let start = f64::from(at);
            // One call stalls; it does not move the median.
            let took = if at == 3 { 0.9 } else { 0.25 };
            job.job.trace.push(TraceRow {
                file,
                rank: 0,
                layer: Layer::Posix,
                direction: Direction::Read,
                start,
                end: start + took,
                offset: 0,
                length: 1 << 20,
            });
        }
        let rate = job.facts().rates.read;
        assert_eq!((rate.basis, rate.large), (RateBasis::Traced, 4_194_304.0));
    }
}
