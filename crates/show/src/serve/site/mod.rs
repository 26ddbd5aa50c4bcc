//! The site: what all jobs that a user sees do, by file system, application, user and time; how much runs
//! differ, reads and writes apart; which jobs were covered, and why others were not.

mod cover;
mod group;
mod time;

use std::collections::BTreeMap;
#[cfg(feature = "store")]
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use netra_analyse::Thresholds;
use netra_analyse::history::{History, Past, Spread, histories};
use netra_event::Seconds;
use serde_json::{Value, json};

use super::answer::json_answer;
use super::job::{Asked, seconds};
use super::run::{Run, seen};
use super::{Served, User};
use crate::history::local_hour;
use crate::live::Way;
use group::Groups;

/// Days that are looked back, unless others are asked for.
const DAYS: u64 = 30;
/// Histories that are told, those with most runs.
const HISTORIES: usize = 200;

/// `GET /api/site`
pub(super) async fn site(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<Asked>,
) -> Response<Body> {
    let now = served.clock.now();
    let since = since(&asked, now);
    let (runs, wrong) = all(&served, &user, since).await;
    let times = time::times(&served, &user, &runs, since, now / 1_000_000_000).await;
    let cover = cover::cover(&served, &user, &runs, since).await;
    let past = runs.iter().filter_map(past).collect();
    let told = histories(past, &Thresholds::default());
    let told: Vec<Value> = told.iter().take(HISTORIES).map(|one| history(one, &runs)).collect();
    let by = |name: &dyn Fn(&Run) -> String| {
        let mut groups = Groups::default();
        for run in &runs {
            groups.add(name(run), run, run.moved);
        }
        groups
    };
    let mut systems = Groups::default();
    for run in &runs {
        for (mount, moved) in &run.mounts {
            systems.add(mount.clone(), run, *moved);
        }
    }
    let programs = by(&|run| run.program.clone());
    json_answer(&json!({
        "now": seconds(now),
        "since": since,
        "store": served.has_store(),
        "wrong": wrong,
        "systems": systems.told(),
        "across": programs.across(),
        "programs": programs.told(),
        "users": by(&|run| run.user.clone()).told(),
        "times": times,
        "cover": cover,
        "histories": told,
    }))
}

/// The moment from which on runs count, seconds since 1970. Whole minutes, so that asking again finds what was
/// added up before.
pub(super) fn since(asked: &Asked, now: u64) -> u64 {
    let days = asked.get("days").and_then(|text| text.parse::<f64>().ok());
    let back =
        days.filter(|days| *days >= 0.0).map_or(DAYS * 86_400, |days| (days * 86_400.0) as u64);
    (now / 1_000_000_000).saturating_sub(back) / 60 * 60
}

/// Every run that a user sees: of the store, and those that it does not have yet. With them what went wrong.
pub(super) async fn all(served: &Served, user: &User, since: u64) -> (Vec<Run>, Option<String>) {
    let mut runs = seen(served, user);
    runs.retain(|run| run.end.is_none_or(|end| end >= since as f64));
    #[cfg(feature = "store")]
    let wrong = add_stored(served, user, since, &mut runs).await;
    #[cfg(not(feature = "store"))]
    let wrong = None;
    runs.sort_by(|a, b| b.start.total_cmp(&a.start).then_with(|| a.job.cmp(&b.job)));
    (runs, wrong)
}

/// Adds what the store has; says what went wrong.
#[cfg(feature = "store")]
async fn add_stored(
    served: &Served,
    user: &User,
    since: u64,
    runs: &mut Vec<Run>,
) -> Option<String> {
    let (stored, who) = served.stored_for(user)?;
    let work = stored.clone();
    match stored.within(async move { work.runs(who, since).await }).await {
        Some(Ok(found)) => {
            join(runs, &found);
            None
        }
        Some(Err(error)) => Some(error.to_string()),
        None => Some("the store could not be asked".to_owned()),
    }
}

/// Takes stored runs in. What was seen while it ran is known better here, since rules have looked at it; but not if only a part of it
/// was seen and the store has it to its end.
#[cfg(feature = "store")]
fn join(runs: &mut Vec<Run>, stored: &[Run]) {
    let ended = stored.iter().filter(|run| run.end.is_some()).map(|run| run.job.as_str());
    let ended: BTreeSet<&str> = ended.collect();
    runs.retain(|run| run.well_known || !ended.contains(run.job.as_str()));
    let known: BTreeSet<String> = runs.iter().map(|run| run.job.clone()).collect();
    runs.extend(stored.iter().filter(|run| !known.contains(&run.job)).cloned());
}

/// A run that has ended, as history looks at it.
pub(super) fn past(run: &Run) -> Option<Past> {
    let end = run.end?;
    let start = Seconds(run.start);
    Some(Past {
        source: run.job.clone(),
        program: run.program.clone(),
        processes: run.ranks,
        start: Some(start),
        hour: local_hour(start),
        run_seconds: (end - run.start).max(0.0),
        io_seconds: run.slowest,
        bytes: run.moved[0].bytes.saturating_add(run.moved[1].bytes),
        findings: run.findings.clone(),
    })
}

pub(super) fn spread(of: &Spread) -> Value {
    json!([of.least, of.median, of.most, of.varies])
}

fn history(one: &History, runs: &[Run]) -> Value {
    let by_key: BTreeMap<&str, &Run> = runs.iter().map(|run| (run.job.as_str(), run)).collect();
    let members = || one.runs.iter().filter_map(|past| by_key.get(past.source.as_str()));
    let rates = |way: Way| -> Vec<f64> { members().filter_map(|run| run.rate(way)).collect() };
    let unusual: Vec<Value> = one
        .unusual
        .iter()
        .filter_map(|slow| Some((one.runs.get(slow.run)?, slow)))
        .map(|(run, slow)| json!({ "job": run.source, "io_seconds": slow.io_seconds, "factor": slow.factor }))
        .collect();
    json!({
        "program": one.program, "processes": one.processes, "count": one.runs.len(),
        "run_seconds": spread(&one.run_seconds), "io_seconds": spread(&one.io_seconds),
        "read_rate": spread(&Spread::of(&rates(Way::Read))),
        "write_rate": spread(&Spread::of(&rates(Way::Write))),
        "trend": one.trend, "unusual": unusual, "findings": one.findings,
    })
}
