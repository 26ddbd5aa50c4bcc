//! Facts: what a job did, summed and ordered so that rules need not look at records.

mod critical;
mod file;
mod layer;
mod node;
mod ost;
mod rank;
mod rate;
mod system;

use std::collections::BTreeMap;

use netra_event::{RecordId, Seconds};

use crate::pattern::{self, Phases};
use crate::{Also, FunctionUse, Job, Layer, Threaded, Thresholds, Trust, Usage, Who};

pub use critical::{Critical, Path, Spending, Spent};
pub use file::{FileFacts, Sharing};
pub use layer::LayerFacts;
pub use node::NodeFacts;
pub use ost::{OstFacts, Osts, ServerFacts};
pub use rank::{RankFacts, Ranks};
pub use rate::{Rate, RateBasis, Rates};
pub use system::SystemFacts;

/// Everything the rules look at.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The command line.
    pub command: String,
    /// The scheduler's number, or whatever the source calls the job.
    pub id: String,
    /// The name of the job that no other in its store has, where it was read from one.
    pub key: Option<String>,
    /// Seconds since 1970, UTC.
    pub start: Option<Seconds>,
    /// Processes, at least one.
    pub nprocs: u64,
    /// Which of them are ranks, and what the others are called.
    pub who: Who,
    /// Seconds the job ran, at least as long as its longest call.
    pub run_time: f64,
    /// Totals by layer.
    pub layers: BTreeMap<Layer, LayerFacts>,
    /// Every file with a name or a record, most seconds first.
    pub files: Vec<FileFacts>,
    /// File systems, most bytes first.
    pub systems: Vec<SystemFacts>,
    /// What ranks did, each for itself.
    pub ranks: Ranks,
    /// Time on the critical path.
    pub critical: Critical,
    /// What a large call gets and what a small one costs, as far as the job itself shows it.
    pub rates: Rates,
    /// Lustre targets.
    pub osts: Osts,
    /// Lustre targets at work at the same time, where calls were traced and layouts are known.
    pub ost_activity: Option<pattern::OstActivity>,
    /// The most common sizes of POSIX calls, and how they are known.
    pub sizes: Option<pattern::Sizes>,
    /// Bursts of I/O, where calls were traced.
    pub phases: Option<Phases>,
    /// Patterns of single calls, where calls were traced.
    pub traced: Option<pattern::Traced>,
    /// How far all this can be trusted.
    pub trust: Trust,
    /// MPI-IO hints.
    pub hints: BTreeMap<String, String>,
    /// What modules counted that describe themselves.
    pub also: Vec<Also>,
    /// Nodes, where known.
    pub nodes: Option<u64>,
    /// What the ranks of each node did, for ranks whose host is known.
    pub hosts: Vec<NodeFacts>,
    /// What every function did, most seconds first, where the source tells functions apart.
    pub functions: Vec<FunctionUse>,
    /// The most threads with I/O that one process had, where known.
    pub threads: Option<u64>,
    /// Traced bytes by which thread of its process moved them, where known.
    pub threaded: Option<Threaded>,
    /// The files as ranks used them, where other processes are in the job, too.
    of_ranks: Option<Vec<FileFacts>>,
    /// Places in `files`, by record.
    index: BTreeMap<RecordId, usize>,
}

impl Facts {
    /// Computes the facts of a job.
    #[must_use]
    pub fn of(job: &Job, limit: &Thresholds) -> Facts {
        let nprocs = job.nprocs.max(1);
        let run_time = job.run_time.0.max(0.0);
        let mut spending = Spending::default();
        job.usages.iter().for_each(|usage| spending.add(usage, run_time, limit));
        let files = file::sort(file::all(job));
        let critical = spending.critical(nprocs, run_time);
        let ranks = Ranks::of(&critical, job);
        let (phases, traced) = pattern::parallel::both(
            job.trace.len() >= pattern::parallel::MANY,
            || pattern::phases(&job.trace, job.who.ranks, limit),
            || pattern::Traced::of(job, limit),
        );
        Facts {
            command: job.command.clone(),
            id: job.id.clone(),
            key: job.key.clone(),
            start: job.start,
            nprocs,
            who: job.who.clone(),
            run_time,
            layers: layer::all(&job.usages),
            hosts: node::all(job, &ranks),
            ranks,
            rates: Rates::seen(job, limit),
            osts: Osts::of(job),
            ost_activity: pattern::activity(job),
            sizes: pattern::sizes(job),
            phases,
            trust: Trust::of(job, traced.as_ref()),
            traced,
            hints: job.hints.clone(),
            also: job.also.clone(),
            nodes: job.nodes,
            functions: functions(job),
            threads: job.threads,
            threaded: job.threaded,
            systems: system::all(&files),
            of_ranks: (1..nprocs).contains(&job.who.ranks).then(|| file::sort(file::of_ranks(job))),
            index: files.iter().enumerate().map(|(at, file)| (file.id, at)).collect(),
            files,
            critical,
        }
    }

    /// A file by its record.
    #[must_use]
    pub fn file(&self, id: RecordId) -> Option<&FileFacts> {
        self.files.get(*self.index.get(&id)?)
    }

    /// Totals of a layer; zero where it has no records.
    #[must_use]
    pub fn layer(&self, layer: Layer) -> LayerFacts {
        self.layers.get(&layer).copied().unwrap_or_default()
    }

    /// Files as far as ranks used them, most seconds first: what compares ranks looks at these. None where there are no
    /// ranks.
    #[must_use]
    pub fn files_of_ranks(&self) -> &[FileFacts] {
        match &self.of_ranks {
            Some(files) => files,
            None if self.who.ranks == 0 => &[],
            None => &self.files,
        }
    }

    /// Whether ranks can use MPI, as far as can be known. Darshan alone makes one log of several processes for MPI only;
    /// netra does it for all, and tells functions apart.
    #[must_use]
    pub fn has_mpi(&self) -> bool {
        self.who.ranks > 0
            && (self.layers.contains_key(&Layer::Mpiio)
                || self.functions.is_empty()
                || self.trust.aside.is_some())
    }

    /// What the processes are called together: ranks, where all are.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        self.who.noun(self.nprocs)
    }

    /// What one of them is called.
    #[must_use]
    pub fn one(&self) -> &'static str {
        self.who.one(self.nprocs)
    }

    /// What the slowest process has of seconds that are known for all processes together only: a rank an equal part, and
    /// where there are no ranks as much of them as of all I/O.
    #[must_use]
    pub fn on_slowest(&self, seconds: f64) -> f64 {
        let all = self.critical.mean * self.nprocs as f64;
        match self.who.ranks {
            0 if all > self.critical.seconds => seconds * self.critical.seconds / all,
            0 => seconds,
            ranks => seconds / ranks as f64,
        }
    }

    /// The slowest rank's time in the shares of files' times that the weight gives, in 0 to 1.
    #[must_use]
    pub fn cost(&self, weight: impl Fn(&Spent) -> f64) -> Path {
        self.critical.over(weight)
    }

    /// The same for some files, each with its own weight. Files are looked up once, so that a job
    /// of a hundred thousand files costs no more than that many steps.
    #[must_use]
    pub fn cost_in(
        &self,
        files: &[&FileFacts],
        weight: impl Fn(&FileFacts, &Spent) -> f64,
    ) -> Path {
        let files: BTreeMap<RecordId, &FileFacts> =
            files.iter().map(|file| (file.id, *file)).collect();
        self.cost(|spent| files.get(&spent.file).map_or(0.0, |file| weight(file, spent)))
    }

    /// Seconds as a share of the run.
    #[must_use]
    pub fn share(&self, seconds: f64) -> f64 {
        if self.run_time > 0.0 { (seconds / self.run_time).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Functions by what they took, then by how often they were called.
fn functions(job: &Job) -> Vec<FunctionUse> {
    let mut functions = job.functions.clone();
    functions.sort_by(|a, b| {
        let order = b.seconds.total_cmp(&a.seconds).then(b.calls.cmp(&a.calls));
        order.then(a.function.cmp(&b.function))
    });
    functions
}

/// All records of a file through a layer as one.
fn reduce<'a>(mut usages: impl Iterator<Item = &'a Usage>) -> Option<Usage> {
    let mut sum = usages.next()?.clone();
    for usage in usages {
        sum.absorb(usage);
    }
    Some(sum)
}
