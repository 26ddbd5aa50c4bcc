//! The critical path: the time of the slowest rank, because everybody waits for it.
//!
//! Per file the layer with the most seconds stands for the time spent, since layers lie over each
//! other and count the same time again; C streams have no POSIX record below and so add up.
//! A record summed over ranks tells only its slowest and its fastest rank. Every other rank has
//! spent at least the fastest one's time, which gives a floor for each rank; the largest floor
//! is the answer, and the sum of all the slowest is its ceiling.

use std::collections::BTreeMap;

use netra_event::{Rank, RecordId};

use crate::{Extreme, Layer, Thresholds, Usage};

/// Time spent on a file by one rank, or by all with the extremes known.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The file.
    pub file: RecordId,
    /// Who.
    pub rank: Rank,
    /// The layer whose time this is.
    pub layer: Layer,
    /// Seconds in reads, of all ranks of the record.
    pub read: f64,
    /// Seconds in writes.
    pub write: f64,
    /// Seconds in metadata calls.
    pub meta: f64,
    /// Fastest and slowest rank of a summed record.
    pub extremes: Option<(Extreme, Extreme)>,
}

impl Spent {
    /// Seconds of all kinds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.read + self.write + self.meta
    }

    /// What one rank has spent, at least.
    #[must_use]
    pub fn of_rank(&self, rank: Rank) -> f64 {
        match self.extremes {
            Some((_, slow)) if slow.rank == rank => slow.seconds,
            Some((fast, _)) => fast.seconds,
            None if self.rank == rank => self.total(),
            None => 0.0,
        }
    }

    /// A part of the total as a share of it.
    #[must_use]
    pub fn part(&self, seconds: f64) -> f64 {
        if self.total() > 0.0 { seconds / self.total() } else { 0.0 }
    }
}

/// A rank and the time it spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// The slowest rank.
    pub rank: Rank,
    /// Its seconds, at least.
    pub seconds: f64,
}

/// The slowest rank's time in I/O.
#[derive(Debug, Clone)]
pub struct Critical {
    /// The slowest rank.
    pub rank: Rank,
    /// Its seconds, never more than the run.
    pub seconds: f64,
    /// Reads, writes and metadata of these seconds.
    pub parts: [f64; 3],
    /// What it may be at most, where records were summed over ranks.
    pub at_most: f64,
    /// Whether a process had more seconds of I/O than the run: threads overlap.
    pub overlaps: bool,
    /// The longest time that an open only waited (a pipe, a lock); not in `seconds`.
    pub waiting: f64,
    /// Per file, the time that stands for it.
    pub spent: Vec<Spent>,
    /// The mean over ranks, which is what other tools show.
    pub mean: f64,
    run_time: f64,
}

/// What ranks spent on files, gathered record by record.
#[derive(Debug, Clone, Default)]
pub struct Spending {
    spent: Vec<Spent>,
    waiting: f64,
}

impl Spending {
    /// Takes in a record of a job that ran so long.
    pub fn add(&mut self, usage: &Usage, run_time: f64, limit: &Thresholds) {
        if is_wait(usage, run_time, limit) {
            self.waiting = self.waiting.max(usage.meta);
        } else if usage.layer.is_io() {
            self.spent.push(Spent {
                file: usage.file,
                rank: usage.rank,
                layer: usage.layer,
                read: usage.read.seconds,
                write: usage.write.seconds,
                meta: usage.meta,
                extremes: usage.extremes,
            });
        }
    }

    /// The slowest rank's time, never more than the run.
    #[must_use]
    pub fn critical(self, nprocs: u64, run_time: f64) -> Critical {
        let spent = standing(self.spent);
        let mut critical = Critical {
            rank: Rank(0),
            seconds: 0.0,
            parts: [0.0; 3],
            at_most: 0.0,
            overlaps: false,
            waiting: self.waiting.min(run_time),
            mean: spent.iter().map(Spent::total).sum::<f64>() / nprocs.max(1) as f64,
            spent,
            run_time: f64::INFINITY,
        };
        critical.fill(run_time);
        critical
    }
}

/// Whether a record's time is waiting, not I/O: few metadata calls of many seconds each, a good
/// part of the run, around next to no bytes.
pub(super) fn is_wait(usage: &Usage, run_time: f64, limit: &Thresholds) -> bool {
    let calls = usage.opens + usage.stats;
    usage.layer == Layer::Posix
        && !usage.rank.is_shared()
        && usage.bytes() < limit.small_request.0
        && usage.meta / (calls.max(1) as f64) >= limit.waiting_call.0
        && usage.meta >= limit.waiting_share.0 * run_time
}

impl Critical {
    /// A loss that was added up from calls, and no more than the slowest rank `spent` there by its counters; calls of a
    /// job without counters are believed.
    pub(crate) fn at_most_spent(&self, lost: f64, spent: f64) -> f64 {
        if self.seconds > 0.0 { lost.min(spent) } else { lost }
    }

    fn fill(&mut self, run_time: f64) {
        let path = self.over(|_| 1.0);
        let own = self.floor(|_| 1.0, |_| 0.0).seconds;
        let slowest: f64 = self
            .spent
            .iter()
            .filter_map(|spent| spent.extremes)
            .map(|(_, slow)| slow.seconds)
            .sum();
        // Whole-second clocks of old logs may end up to a second early.
        self.overlaps = run_time > 0.0 && path.seconds > run_time + 1.0;
        let scale = if path.seconds > run_time { run_time / path.seconds } else { 1.0 };
        self.rank = path.rank;
        self.seconds = path.seconds * scale;
        self.at_most = (own + slowest).min(run_time).max(self.seconds);
        let kinds: [fn(&Spent) -> f64; 3] =
            [|spent| spent.read, |spent| spent.write, |spent| spent.meta];
        self.parts =
            kinds.map(|kind| self.of_rank(path.rank, |spent| spent.part(kind(spent))) * scale);
        self.run_time = run_time;
    }

    /// The slowest rank's time in weighted shares of what was spent.
    #[must_use]
    pub fn over(&self, weight: impl Fn(&Spent) -> f64) -> Path {
        let path = self.floor(&weight, |fastest| fastest);
        Path { seconds: path.seconds.min(self.run_time), ..path }
    }

    /// The rank with the largest floor, lowest rank first.
    fn floor(&self, weight: impl Fn(&Spent) -> f64, others: fn(f64) -> f64) -> Path {
        let mut above: BTreeMap<Rank, f64> = BTreeMap::from([(Rank(0), 0.0)]);
        let mut everybody = 0.0;
        for spent in &self.spent {
            let weight = weight(spent).clamp(0.0, 1.0);
            match spent.extremes {
                Some((fast, slow)) => {
                    let floor = others(fast.seconds);
                    everybody += floor * weight;
                    if others(1.0) > 0.0 {
                        *above.entry(slow.rank).or_default() += (slow.seconds - floor) * weight;
                    }
                }
                None if spent.rank.is_shared() => {}
                None => *above.entry(spent.rank).or_default() += spent.total() * weight,
            }
        }
        let mut path = Path { rank: Rank(0), seconds: f64::NEG_INFINITY };
        for (rank, seconds) in above {
            if seconds > path.seconds {
                path = Path { rank, seconds };
            }
        }
        Path { seconds: path.seconds + everybody, ..path }
    }

    /// Where the slowest rank's time goes: seconds by file, most first.
    #[must_use]
    pub fn by_file(&self) -> Vec<(RecordId, f64)> {
        let mut files: BTreeMap<RecordId, f64> = BTreeMap::new();
        for spent in &self.spent {
            *files.entry(spent.file).or_default() += spent.of_rank(self.rank);
        }
        let mut files: Vec<(RecordId, f64)> =
            files.into_iter().filter(|file| file.1 > 0.0).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        files
    }

    /// One rank's floor in weighted shares.
    fn of_rank(&self, rank: Rank, weight: impl Fn(&Spent) -> f64) -> f64 {
        self.spent.iter().map(|spent| spent.of_rank(rank) * weight(spent)).sum()
    }
}

/// Per file, the records of the layer with the most seconds, and those of streams; by file, layer
/// and rank.
fn standing(mut spent: Vec<Spent>) -> Vec<Spent> {
    spent.sort_by_key(|spent| (spent.file, spent.layer, spent.rank));
    let mut kept = Vec::with_capacity(spent.len());
    for file in spent.chunk_by(|a, b| a.file == b.file) {
        let top = file
            .chunk_by(|a, b| a.layer == b.layer)
            .filter(|layer| layer[0].layer != Layer::Stdio)
            .map(|layer| (layer.iter().map(Spent::total).sum::<f64>(), layer[0].layer))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|top| top.1);
        let stands = |one: &&Spent| one.layer == Layer::Stdio || Some(one.layer) == top;
        kept.extend(file.iter().filter(stands).cloned());
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use netra_event::Rank;

    #[test]
    fn the_slowest_rank_is_the_answer_not_the_mean() {
        let mut job = Sample::new(4, 100.0);
        for rank in 0..4 {
            job.posix(&format!("/f{rank}"), rank).write.seconds =
                if rank == 2 { 80.0 } else { 4.0 };
        }
        let critical = job.facts().critical;
        assert_eq!((critical.rank, critical.seconds), (Rank(2), 80.0));
        assert_eq!((critical.mean, critical.at_most), (23.0, 80.0));
    }

    #[test]
    fn mpi_over_posix_counts_once_and_streams_add() {
        let mut job = Sample::new(1, 100.0);
        job.posix("/f", 0).write.seconds = 10.0;
        job.mpiio("/f", 0).write.seconds = 30.0;
        job.stdio("/g", 0).read.seconds = 5.0;
        let critical = job.facts().critical;
        assert_eq!(critical.seconds, 35.0);
        assert_eq!(critical.parts, [5.0, 30.0, 0.0]);
    }

    #[test]
    fn summed_records_give_a_floor_and_a_ceiling() {
        let mut job = Sample::new(8, 1000.0);
        // Rank 0 is slowest in one file, rank 5 in the other; each has spent the fastest's time in both.
        job.summed("/a", (1, 10.0), (0, 60.0)).write.seconds = 200.0;
        job.summed("/b", (1, 20.0), (5, 90.0)).write.seconds = 300.0;
        let critical = job.facts().critical;
        assert_eq!((critical.rank, critical.seconds, critical.at_most), (Rank(5), 100.0, 150.0));
    }

    #[test]
    fn never_more_than_the_run() {
        let mut job = Sample::new(1, 10.0);
        job.posix("/f", 0).read.seconds = 45.0;
        let critical = job.facts().critical;
        assert_eq!((critical.seconds, critical.overlaps), (10.0, true));
    }

    #[test]
    fn opens_that_wait_are_not_io() {
        let mut job = Sample::new(1, 1469.0);
        let pipe = job.posix("/pipe", 0);
        (pipe.meta, pipe.opens) = (1462.0, 2);
        job.posix("/f", 0).read.seconds = 0.5;
        let critical = job.facts().critical;
        assert_eq!((critical.seconds, critical.waiting), (0.5, 1462.0));
    }
}
