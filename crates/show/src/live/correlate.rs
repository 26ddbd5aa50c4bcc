//! Which numbers of a job's nodes go with slow calls: the mean duration of its reads and writes,
//! step by step, against every metric that can be a reason.

use netra_analyse::correlation::{Correlation, correlate};

use super::metric::{Host, Metric, is_asked};
use super::series::Series;
use super::step::{Step, Way};
use super::{Job, State};

/// Steps by which the system may lead or follow.
const SHIFT: usize = 3;
/// Relations that are told.
const MOST: usize = 5;
/// Servers whose metrics are compared.
const SERVERS: usize = 64;
/// Metrics of one host that are compared.
const QUESTIONS: usize = 128;

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
    let hosts = job.hosts();
    let own = hosts.iter().filter_map(|(number, name)| Some((&**name, state.hosts.get(number)?)));
    let others = state.hosts.iter().filter(|(number, _)| !hosts.contains_key(number));
    let servers = others.filter_map(|(_, host)| Some((host.server.as_deref()?, host)));
    related(&job.series, &own.chain(servers.take(SERVERS)).collect::<Vec<_>>())
}

/// The same for what is known of a job step by step, and of its nodes by name.
#[must_use]
pub fn related(series: &Series<Step>, hosts: &[(&str, &Host)]) -> Vec<Relation> {
    let (width, felt) = slowness(series);
    let Some(&(first, _)) = felt.first() else { return Vec::new() };
    let values: Vec<Option<f64>> = felt.iter().map(|step| step.1).collect();
    let questions = hosts.iter().map(|(_, host)| asked(host).count()).sum();
    let mut strong = Vec::new();
    for (name, host) in hosts {
        for (target, metric_name, metric) in asked(host) {
            // A metric of longer steps than the job's is the same for several of them.
            let second = |at: usize| first + at as u64 * width;
            let system: Vec<Option<f64>> = (0..values.len())
                .map(|at| metric.values.get(second(at)).and_then(|mean| mean.value()))
                .collect();
            let found = correlate(&values, &system, SHIFT, questions);
            // Calls that are quicker when the system is busier need no explanation.
            if let Some(found) = found.filter(|found| found.is_strong() && found.value > 0.0) {
                strong.push(Relation {
                    host: (*name).to_owned(),
                    target: target.to_owned(),
                    name: metric_name.to_owned(),
                    found,
                    width,
                });
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

/// The metrics of a host that can be a reason: of a server all that it tells.
fn asked(host: &Host) -> impl Iterator<Item = (&str, &str, &Metric)> {
    let is_server = host.server.is_some();
    host.metrics().filter(move |metric| is_server || is_asked(metric.1)).take(QUESTIONS)
}

/// The width of a step, and how long a read or write of the lowest layers took in each; nothing where
/// there was none.
fn slowness(series: &Series<Step>) -> (u64, Vec<(u64, Option<f64>)>) {
    let mean = |step: &Step| {
        let (read, write) = (step.cells.lowest(Way::Read), step.cells.lowest(Way::Write));
        let calls = read.calls + write.calls;
        (calls > 0).then(|| (read.nanos + write.nanos) as f64 / calls as f64)
    };
    (series.width(), series.iter().map(|(at, step)| (at, mean(step))).collect())
}
