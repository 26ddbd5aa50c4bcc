//! The runs of one program on as many ranks: each run's time and rates, how they are spread, which are unusual
//! and by what, and whether the hour or the node matters.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use netra_analyse::Thresholds;
use netra_analyse::history::{Odd, Spread, histories, odd};
use serde_json::{Value, json};

use super::answer::{json_answer, refuse};
use super::job::{Asked, seconds};
use super::run::Run;
use super::site::{all, past, since, spread};
use super::{Served, User};
use crate::history::local_hour;
use crate::live::Way;
use netra_event::Seconds;

/// Runs that are told, the newest.
const MOST: usize = 1000;
/// Nodes that are told, those with most runs.
const NODES: usize = 200;

/// What runs are compared by: a name, and the value of a run where it has one.
type Measure = (&'static str, fn(&Run) -> Option<f64>);

const MEASURES: [Measure; 6] = [
    ("run_seconds", |run| Some((run.end? - run.start).max(0.0))),
    ("io_seconds", |run| run.end.map(|_| run.slowest)),
    ("read_rate", |run| run.rate(Way::Read)),
    ("write_rate", |run| run.rate(Way::Write)),
    ("bytes_read", |run| Some(run.moved[0].bytes as f64)),
    ("bytes_written", |run| Some(run.moved[1].bytes as f64)),
];

/// `GET /api/runs`
pub(super) async fn runs(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<Asked>,
) -> Response<Body> {
    let now = served.clock.now();
    let (Some(program), ranks) = (asked.get("program"), asked.get("ranks")) else {
        return refuse(StatusCode::BAD_REQUEST, "which program? /api/runs?program=NAME&ranks=N");
    };
    let ranks = ranks.and_then(|text| text.parse::<u64>().ok());
    let (mut runs, wrong) = all(&served, &user, since(&asked, now)).await;
    runs.retain(|run| run.program == *program && ranks.is_none_or(|ranks| run.ranks == ranks));
    runs.truncate(MOST);
    json_answer(&told(program, &runs, wrong, now))
}

fn told(program: &str, runs: &[Run], wrong: Option<String>, now: u64) -> Value {
    let ended: Vec<&Run> = runs.iter().filter(|run| run.end.is_some()).collect();
    let mut why: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut spreads = serde_json::Map::new();
    for (name, value) in MEASURES {
        let values: Vec<Option<f64>> = ended.iter().map(|run| value(run)).collect();
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        spreads.insert(name.to_owned(), spread(&Spread::of(&known)));
        for Odd { place, value, factor } in odd(&values) {
            let one = json!({ "measure": name, "value": value, "factor": factor });
            why.entry(&ended[place].job).or_default().push(one);
        }
    }
    for (job, slugs) in rare(&ended) {
        let list = why.entry(job).or_default();
        list.extend(slugs.iter().map(|slug| json!({ "measure": "finding", "finding": slug })));
    }
    let history =
        histories(ended.iter().filter_map(|run| past(run)).collect(), &Thresholds::default());
    // Runs on other numbers of ranks stand in histories of their own.
    let trend = if let [one] = history.as_slice() { one.trend } else { None };
    json!({
        "now": seconds(now), "wrong": wrong, "program": program, "trend": trend,
        "spreads": spreads, "nodes": nodes(&ended),
        "runs": runs.iter().map(|run| one(run, why.get(run.job.as_str()))).collect::<Vec<_>>(),
    })
}

fn one(run: &Run, why: Option<&Vec<Value>>) -> Value {
    let mut value = json!({
        "job": run.job, "user": run.user, "ranks": run.ranks, "start": run.start, "end": run.end,
        "hour": local_hour(Seconds(run.start)), "nodes": run.nodes,
        "missing": run.missing, "findings": run.findings, "unusual": why,
    });
    for (name, measure) in MEASURES {
        value[name] = json!(measure(run));
    }
    value
}

/// Findings that a run has and most others have not.
fn rare<'a>(runs: &[&'a Run]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (slug, _) in runs.iter().flat_map(|run| &run.findings) {
        *counts.entry(slug).or_default() += 1;
    }
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    if runs.len() < 4 {
        return all;
    }
    for run in runs {
        let seldom = |slug: &&str| counts.get(slug).is_some_and(|count| count * 4 <= runs.len());
        let slugs: Vec<&str> =
            run.findings.iter().map(|(slug, _)| slug.as_str()).filter(seldom).collect();
        if !slugs.is_empty() {
            all.insert(&run.job, slugs);
        }
    }
    all
}

/// Nodes that runs were on: how many, and the middle of their seconds in calls.
fn nodes(runs: &[&Run]) -> Value {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for run in runs {
        run.nodes.iter().for_each(|node| all.entry(node).or_default().push(run.slowest));
    }
    let mut all: Vec<(&str, Vec<f64>)> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
    let one = |(node, times): &(&str, Vec<f64>)| json!({ "node": node, "runs": times.len(), "io_seconds": Spread::of(times).median });
    all.iter().take(NODES).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::told;
    use crate::live::Cell;
    use crate::serve::run::Run;

    fn run(number: u64, written: u64, seconds: u64) -> Run {
        let cell = Cell { calls: 1, bytes: written, nanos: seconds * 1_000_000_000 };
        Run {
            job: format!("job.{number}"),
            program: "wave".to_owned(),
            ranks: 4,
            nodes: vec![if number == 7 { "n2" } else { "n1" }.to_owned()],
            start: 1e9 + number as f64 * 3600.0,
            end: Some(1e9 + number as f64 * 3600.0 + 100.0 + seconds as f64),
            moved: [Cell::default(), cell],
            slowest: seconds as f64,
            findings: if number == 7 { vec![("slow-ost".to_owned(), 9.0)] } else { Vec::new() },
            ..Run::default()
        }
    }

    #[test]
    fn an_unusual_run_is_told_with_what_it_is_unusual_by() {
        let runs: Vec<Run> =
            (0..10).map(|n| run(n, 1 << 30, if n == 7 { 90 } else { 10 })).collect();
        let told = told("wave", &runs, None, 0);
        let by = |place: usize| -> Vec<String> {
            let list = told["runs"][place]["unusual"].as_array().cloned().unwrap_or_default();
            list.iter().map(|one| one["measure"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(by(7), ["run_seconds", "io_seconds", "write_rate", "finding"]);
        assert!((0..10).filter(|place| *place != 7).all(|place| by(place).is_empty()), "{told:#}");
        assert_eq!(told["runs"][7]["unusual"][1]["factor"], 9.0);
        assert_eq!(told["spreads"]["io_seconds"][1], 10.0);
        assert_eq!(told["nodes"][1]["node"], "n2");
        assert_eq!(told["nodes"][1]["io_seconds"], 90.0);
        assert!(told["runs"][0]["read_rate"].is_null(), "nothing was read");
    }
}
