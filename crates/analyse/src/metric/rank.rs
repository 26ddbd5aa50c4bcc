//! What each rank did. Records that were summed over ranks say nothing about single ones, but where every call to the
//! file was traced the trace does: its calls and bytes are added then. Their seconds are not, and [`Ranks::complete`] says so.

use std::collections::{BTreeMap, BTreeSet};

use netra_event::{Rank, RecordId};

use super::Critical;
use crate::{Direction, Job, Layer, Trace, Usage};

/// One rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RankFacts {
    /// Reads through POSIX and streams.
    pub reads: u64,
    /// Writes through POSIX and streams.
    pub writes: u64,
    /// Bytes through POSIX and streams.
    pub bytes: u64,
    /// Seconds in I/O.
    pub seconds: f64,
}

/// Ranks that have records of their own, or traced calls to files whose records were summed.
#[derive(Debug, Clone, Default)]
pub struct Ranks {
    /// By rank.
    pub by_rank: BTreeMap<Rank, RankFacts>,
    /// Whether no record was summed over ranks, so that this is all there is.
    pub complete: bool,
    /// Whether reads, writes and bytes are all there are: what was summed was traced.
    pub counted: bool,
}

impl Ranks {
    pub(super) fn of(critical: &Critical, job: &Job) -> Ranks {
        let mut ranks = Ranks { by_rank: BTreeMap::new(), complete: true, counted: true };
        for usage in &job.usages {
            if usage.rank.is_shared() {
                ranks.complete = false;
            } else if matches!(usage.layer, Layer::Posix | Layer::Stdio) {
                let rank = ranks.by_rank.entry(usage.rank).or_default();
                rank.reads += usage.read.calls;
                rank.writes += usage.write.calls;
                rank.bytes = rank.bytes.saturating_add(usage.bytes());
            }
        }
        for spent in critical.spent.iter().filter(|spent| !spent.rank.is_shared()) {
            ranks.by_rank.entry(spent.rank).or_default().seconds += spent.total();
        }
        ranks.add_traced(job);
        ranks
    }

    /// Adds calls to files whose records were summed over ranks, where all of them were traced.
    fn add_traced(&mut self, job: &Job) {
        let is_summed = |usage: &&Usage| {
            usage.rank.is_shared() && matches!(usage.layer, Layer::Posix | Layer::Stdio)
        };
        let traced = calls(&job.trace);
        let mut wanted: BTreeSet<(RecordId, Layer)> = BTreeSet::new();
        for usage in job.usages.iter().filter(is_summed) {
            let key = (usage.file, usage.layer);
            let made = usage.read.calls + usage.write.calls;
            if traced.get(&key) == Some(&made) {
                wanted.insert(key);
            } else {
                self.counted &= made == 0;
            }
        }
        let files = job.trace.files();
        for run in job.trace.runs() {
            if files.get(run.file as usize).is_some_and(|id| wanted.contains(&(*id, run.layer))) {
                let rank = self.by_rank.entry(Rank(i64::from(run.rank))).or_default();
                match run.direction {
                    Direction::Read => rank.reads += u64::from(run.calls),
                    Direction::Write => rank.writes += u64::from(run.calls),
                }
                rank.bytes = rank.bytes.saturating_add(run.bytes);
            }
        }
    }
}

/// Traced calls by file and layer.
fn calls(trace: &Trace) -> BTreeMap<(RecordId, Layer), u64> {
    let mut calls = BTreeMap::new();
    for run in trace.runs() {
        if let Some(id) = trace.files().get(run.file as usize) {
            *calls.entry((*id, run.layer)).or_default() += u64::from(run.calls);
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::RankFacts;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};
    use netra_event::Rank;

    /// A file that two ranks share, whose record is a sum of three writes; and one of rank 1 alone.
    fn job(traced: u32) -> Sample {
        let mut job = Sample::new(2, 10.0);
        let usage = job.summed("/lus/f", (0, 1.0), (1, 2.0));
        (usage.read.calls, usage.write.calls, usage.write.bytes) = (0, 3, 30);
        let own = job.posix("/lus/own", 1);
        (own.read.calls, own.read.bytes) = (5, 50);
        let id = job.id("/lus/f");
        let file = job.job.trace.file(id);
        for call in 0..traced {
            let (layer, direction) = (Layer::Posix, Direction::Write);
            let start = f64::from(call);
            let (end, offset, length) = (start + 0.5, 0, 10);
            let rank = u32::from(call > 0);
            job.job.trace.push(TraceRow {
                file,
                rank,
                layer,
                direction,
                start,
                end,
                offset,
                length,
            });
        }
        job
    }

    #[test]
    fn calls_of_summed_records_are_known_where_they_were_traced() {
        let ranks = job(3).facts().ranks;
        assert!(ranks.counted && !ranks.complete);
        let of = |rank: i64| -> RankFacts { ranks.by_rank[&Rank(rank)] };
        assert_eq!((of(0).writes, of(0).reads, of(0).bytes), (1, 0, 10));
        assert_eq!((of(1).writes, of(1).reads, of(1).bytes), (2, 5, 70));
    }

    #[test]
    fn a_trace_that_lacks_calls_tells_nothing_about_them() {
        let ranks = job(2).facts().ranks;
        assert!(!ranks.counted);
        assert_eq!(ranks.by_rank.get(&Rank(0)), None);
        assert_eq!(ranks.by_rank[&Rank(1)].writes, 0);
    }
}
