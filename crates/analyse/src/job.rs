//! The input: one job, decoded, whatever it was read from.

use std::collections::BTreeMap;

use netra_event::roll::Absence;
use netra_event::{Loss, Module, RecordId, Seconds};

use crate::{
    Aside, Commit, Direction, FunctionUse, Layer, Ledger, Place, SiteUse, Trace, TraceRow, Usage,
    Who,
};

/// Everything that is known about one job.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// Where it was read from, as people call it.
    pub source: String,
    /// The command line.
    pub command: String,
    /// The scheduler's number, or whatever the source calls the job.
    pub id: String,
    /// The name of the job that no other in its store has, where it was read from one.
    pub key: Option<String>,
    /// Processes.
    pub nprocs: u64,
    /// Which of them are ranks, and what the others are called.
    pub who: Who,
    /// Seconds since 1970, UTC.
    pub start: Option<Seconds>,
    /// From the first process' start to the last one's end.
    pub run_time: Seconds,
    /// Nodes, where the source knows.
    pub nodes: Option<u64>,
    /// Mounted file systems.
    pub mounts: Vec<Mount>,
    /// MPI-IO hints that were set for the whole job.
    pub hints: BTreeMap<String, String>,
    /// Paths by record.
    pub names: BTreeMap<RecordId, String>,
    /// What each rank, or all of them together, did to each file through each layer.
    pub usages: Vec<Usage>,
    /// Where files lie on Lustre.
    pub layouts: Vec<Layout>,
    /// Single reads and writes, where they were traced.
    pub trace: Trace,
    /// What every function did, where the source tells functions apart.
    pub functions: Vec<FunctionUse>,
    /// What was called from where, where the source knows.
    pub sites: Vec<SiteUse>,
    /// The places that sites speak of.
    pub places: Vec<Place>,
    /// Opens, flushes and closes, where the source traced them.
    pub commits: Vec<Commit>,
    /// Calls made against events kept, where the source keeps such an account.
    pub ledger: Option<Ledger>,
    /// The most threads with I/O that one process had, where the source knows.
    pub threads: Option<u64>,
    /// The server of each Lustre target, where the site has told.
    pub servers: BTreeMap<u64, String>,
    /// Reads and writes through HDF5 and PnetCDF, above those of the trace and with the trace's files.
    pub above: Trace,
    /// Opens and closes, where they were traced.
    pub opens: Vec<Opening>,
    /// Bytes over time by rank and layer, in the steps in which the source counted them.
    pub heatmaps: Vec<Heatmap>,
    /// The hosts of ranks, where the source names them.
    pub hosts: BTreeMap<u32, String>,
    /// Modules that ran out of memory and saw only part of the job.
    pub partial: Vec<PartialModule>,
    /// Events that are missing, by reason.
    pub dropped: Vec<(Loss, u64)>,
    /// Who there was, and who of them is not recorded, where somebody called a roll.
    pub attendance: Option<Attendance>,
    /// What the reader of the source had to complain about.
    pub remarks: Vec<String>,
    /// Modules that the source holds, whether or not they are used here.
    pub modules: Vec<Module>,
    /// What modules counted that describe themselves; no rule looks at them.
    pub also: Vec<Also>,
    /// What was about files of MPI's own, and is in nothing else here.
    pub aside: Option<Aside>,
    /// Bytes of each file that processes mapped into memory, where the source tells.
    pub mapped: BTreeMap<RecordId, u64>,
    /// Traced bytes by which thread of its process moved them, where the source tells threads apart.
    pub threaded: Option<Threaded>,
}

/// Who there was, by those who said so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attendance {
    /// Processes that there were.
    pub started: u64,
    /// Those of whom everything is recorded.
    pub recorded: u64,
    /// Whether the others were left out because somebody wished it.
    pub complete: bool,
    /// Those who are not recorded.
    pub absent: Vec<Absent>,
    /// A sentence for each reason that nobody wished.
    pub caveats: Vec<String>,
}

/// Processes that are not recorded for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The reason.
    pub why: Absence,
    /// How many.
    pub count: u64,
    /// Where.
    pub host: String,
    /// The program of the first.
    pub program: String,
}

impl Attendance {
    /// Adds those of another source.
    pub fn add(&mut self, other: Attendance) {
        self.started = self.started.saturating_add(other.started);
        self.recorded = self.recorded.saturating_add(other.recorded);
        self.complete &= other.complete;
        self.absent.extend(other.absent);
        self.caveats.extend(other.caveats);
    }
}

/// What a module counted that describes itself, over all its records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Also {
    /// The module.
    pub module: String,
    /// Its records.
    pub records: u64,
    /// Counters by name; times are seconds.
    pub counters: Vec<(String, f64)>,
}

/// Bytes, read and written, through POSIX and C's streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Threaded {
    /// By the first thread of each process.
    pub first: [u64; 2],
    /// By all others.
    pub others: [u64; 2],
}

impl Threaded {
    /// Adds a read or write.
    pub fn add(&mut self, row: &TraceRow, behind: bool) {
        let sums = if behind { &mut self.others } else { &mut self.first };
        let sum = &mut sums[usize::from(row.direction == Direction::Write)];
        *sum = sum.saturating_add(row.length);
    }

    /// Takes in another process.
    pub fn absorb(&mut self, other: &Threaded) {
        for (sums, more) in [(&mut self.first, other.first), (&mut self.others, other.others)] {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
    }

    /// The share of a direction's bytes that other threads than the first moved.
    #[must_use]
    pub fn behind(&self, direction: Direction) -> f64 {
        let way = usize::from(direction == Direction::Write);
        let all = self.first[way].saturating_add(self.others[way]);
        self.others[way] as f64 / all.max(1) as f64
    }
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub path: String,
    /// Its type, as the kernel names it.
    pub kind: String,
}

/// A module that saw only part of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialModule(pub Module);

/// How a file lies on Lustre: its components, first to last, without mirrors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The file.
    pub file: RecordId,
    /// Bytes in a stripe of the component that holds the data.
    pub stripe_size: u64,
    /// Targets that stripes go round.
    pub stripe_count: u64,
    /// The targets, in stripe order.
    pub osts: Vec<u64>,
}

/// An open or a close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Opening {
    /// Which of [`Trace::files`] of the job's trace.
    pub file: u32,
    /// Whose.
    pub rank: u32,
    /// Through what.
    pub layer: Layer,
    /// Whether it closes.
    pub close: bool,
    /// Seconds since the job's start.
    pub start: f64,
    /// Seconds since the job's start, not before `start`.
    pub end: f64,
    /// Which of [`Job::places`] made it, where that is known.
    pub place: Option<u32>,
}

/// Bytes of one rank through one layer over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Heatmap {
    /// Through what.
    pub layer: Layer,
    /// Whose.
    pub rank: u32,
    /// Seconds in a step.
    pub width: f64,
    /// Bytes read, step by step.
    pub read: Vec<u64>,
    /// Bytes written, step by step.
    pub write: Vec<u64>,
}

impl Job {
    /// The file system that holds a path: the longest mount point that is a prefix by whole
    /// components.
    #[must_use]
    pub fn mount_of(&self, path: &str) -> Option<&Mount> {
        self.mounts
            .iter()
            .filter(|mount| {
                let point = mount.path.trim_end_matches('/');
                path.strip_prefix(point).is_some_and(|rest| rest.starts_with('/'))
            })
            .max_by_key(|mount| mount.path.trim_end_matches('/').len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, Mount};

    #[test]
    fn longest_mount_by_whole_components() {
        let mount = |path: &str, kind: &str| Mount { path: path.into(), kind: kind.into() };
        let job = Job {
            mounts: vec![
                mount("/", "ext4"),
                mount("/scratch", "lustre"),
                mount("/scratch/t", "tmpfs"),
            ],
            ..Job::default()
        };
        let kind = |path: &str| job.mount_of(path).map(|mount| mount.kind.as_str());
        assert_eq!(kind("/scratch/a"), Some("lustre"));
        assert_eq!(kind("/scratch2/a"), Some("ext4"));
        assert_eq!(kind("/scratch/t/a"), Some("tmpfs"));
        assert_eq!(kind("<STDOUT>"), None);
    }
}
