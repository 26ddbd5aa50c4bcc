//! Jobs made up for tests.

use netra_event::{Rank, RecordId, Seconds};

use crate::insight::{Finding, Outcome, Rule};
use crate::{Extreme, Facts, Job, Layer, Layout, Mount, Thresholds, Usage, Who};

/// A job under construction.
pub(crate) struct Sample {
    pub(crate) job: Job,
}

impl Sample {
    pub(crate) fn new(nprocs: u64, run_time: f64) -> Sample {
        let mount = Mount { path: "/lus".into(), kind: "lustre".into() };
        Sample {
            job: Job {
                nprocs,
                who: Who::ranks(nprocs),
                run_time: Seconds(run_time),
                mounts: vec![mount],
                ..Job::default()
            },
        }
    }

    /// The same job of processes that nobody called ranks.
    pub(crate) fn unranked(mut self) -> Sample {
        self.job.who = Who::default();
        self
    }

    /// The job with more processes behind its ranks, as a script starts them.
    pub(crate) fn beside(mut self, others: u64) -> Sample {
        self.job.nprocs += others;
        self
    }

    pub(crate) fn id(&mut self, path: &str) -> RecordId {
        let id = RecordId::of(path.as_bytes());
        self.job.names.insert(id, path.to_owned());
        id
    }

    fn usage(&mut self, layer: Layer, path: &str, rank: Rank) -> &mut Usage {
        let file = self.id(path);
        self.job.usages.push(Usage::new(layer, file, rank));
        self.job.usages.last_mut().unwrap()
    }

    pub(crate) fn posix(&mut self, path: &str, rank: i64) -> &mut Usage {
        self.usage(Layer::Posix, path, Rank(rank))
    }

    pub(crate) fn mpiio(&mut self, path: &str, rank: i64) -> &mut Usage {
        self.usage(Layer::Mpiio, path, Rank(rank))
    }

    pub(crate) fn stdio(&mut self, path: &str, rank: i64) -> &mut Usage {
        self.usage(Layer::Stdio, path, Rank(rank))
    }

    /// A POSIX record summed over ranks, with rank and seconds of the fastest and the slowest.
    pub(crate) fn summed(&mut self, path: &str, fast: (i64, f64), slow: (i64, f64)) -> &mut Usage {
        self.summed_as(Layer::Posix, path, fast, slow)
    }

    pub(crate) fn summed_as(
        &mut self,
        layer: Layer,
        path: &str,
        fast: (i64, f64),
        slow: (i64, f64),
    ) -> &mut Usage {
        let usage = self.usage(layer, path, Rank::SHARED);
        let extreme = |(rank, seconds)| Extreme { rank: Rank(rank), bytes: 0, seconds };
        usage.extremes = Some((extreme(fast), extreme(slow)));
        usage
    }

    pub(crate) fn layout(&mut self, path: &str, stripe_size: u64, osts: &[u64]) {
        let file = self.id(path);
        let stripe_count = osts.len() as u64;
        self.job.layouts.push(Layout { file, stripe_size, stripe_count, osts: osts.to_vec() });
    }

    pub(crate) fn facts(&self) -> Facts {
        Facts::of(&self.job, &Thresholds::default())
    }

    /// What one rule finds.
    pub(crate) fn finds(&self, rule: &Rule) -> Vec<Finding> {
        match (rule.check)(&self.facts(), &Thresholds::default()) {
            Outcome::Found(findings) => findings,
            Outcome::Silent | Outcome::Passed(_) => Vec::new(),
        }
    }

    /// The sentence of the one finding of a rule.
    #[track_caller]
    pub(crate) fn says(&self, rule: &Rule, want: &str) {
        let found = self.finds(rule);
        assert_eq!(found.iter().map(|one| one.says.as_str()).collect::<Vec<_>>(), [want]);
    }

    /// That a rule finds nothing.
    #[track_caller]
    pub(crate) fn silent(&self, rule: &Rule) {
        let found = self.finds(rule);
        assert_eq!(found.iter().map(|one| one.says.as_str()).collect::<Vec<_>>(), [""; 0]);
    }
}
