//! Which numbers of a job's nodes go with slow calls: the mean duration of its reads and writes,
//! step by step, against every metric that can be a reason.

use netra_analyse::correlation::{Correlation, correlate};

use super::metric::is_asked;
use super::step::{Step, Way};
use super::{Job, State};

/// Steps by which the system may lead or follow.
const SHIFT: usize = 3;
/// Relations that are told.
const MOST: usize = 5;

/// A metric that goes with slow calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// The node.
    pub host: String,
    /// The disk, device or mount; empty for the node.
    pub target: String,
    /// The metric.
    pub name: String,
    /// How they go together.
    pub found: Correlation,
    /// Seconds of a step.
    pub width: u64,
}

/// The strong relations of a job, the least likely to be chance first.
#[must_use]
pub fn relations(state: &State, job: &Job) -> Vec<Relation> {
    let (width, felt) = slowness(job);
    let Some(&(first, _)) = felt.first() else { return Vec::new() };
    let values: Vec<Option<f64>> = felt.iter().map(|step| step.1).collect();
    let hosts = job.hosts();
    let asked = |number: &u64| {
        let metrics = state.hosts.get(number).into_iter().flat_map(|host| host.metrics());
        metrics.filter(|metric| is_asked(metric.1))
    };
    let questions = hosts.keys().map(|number| asked(number).count()).sum();
    let mut strong = Vec::new();
    for (number, host) in &hosts {
        for (target, name, metric) in asked(number) {
            // A metric of longer steps than the job's is the same for several of them.
            let second = |at: usize| first + at as u64 * width;
            let system: Vec<Option<f64>> = (0..values.len())
                .map(|at| metric.values.get(second(at)).and_then(|mean| mean.value()))
                .collect();
            let found = correlate(&values, &system, SHIFT, questions);
            // Calls that are quicker when the system is busier need no explanation.
            if let Some(found) = found.filter(|found| found.is_strong() && found.value > 0.0) {
                let (host, target, name) = (host.clone(), target.to_owned(), name.to_owned());
                strong.push(Relation { host, target, name, found, width });
            }
        }
    }
    strong.sort_by(|a, b| {
        let order = a.found.chance.total_cmp(&b.found.chance);
        order.then_with(|| (&a.name, &a.target).cmp(&(&b.name, &b.target)))
    });
    strong.truncate(MOST);
    strong
}

/// The width of a step, and how long a read or write of the lowest layers took in each; nothing where
/// there was none.
fn slowness(job: &Job) -> (u64, Vec<(u64, Option<f64>)>) {
    let mean = |step: &Step| {
        let (read, write) = (step.cells.lowest(Way::Read), step.cells.lowest(Way::Write));
        let calls = read.calls + write.calls;
        (calls > 0).then(|| (read.nanos + write.nanos) as f64 / calls as f64)
    };
    (job.series.width(), job.series.iter().map(|(at, step)| (at, mean(step))).collect())
}
