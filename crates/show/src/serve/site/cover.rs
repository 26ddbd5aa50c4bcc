//! Which jobs were covered, and why others were not: wholly, with something missing and the reason, or not at
//! all, as far as somebody has said so.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::serve::run::Run;
use crate::serve::{Served, User};

/// Jobs that are named for each reason.
const NAMED: usize = 10;

/// Jobs by reason.
type Reasons = BTreeMap<String, Vec<String>>;

/// How the jobs that a user sees are covered.
pub(super) async fn cover(served: &Served, user: &User, runs: &[Run], since: u64) -> Value {
    let mut partly = Reasons::new();
    for run in runs {
        if let Some(why) = &run.missing {
            partly.entry(why.clone()).or_default().push(run.job.clone());
        }
    }
    let running = runs.iter().filter(|run| run.end.is_none()).count();
    let incomplete = runs.iter().filter(|run| run.missing.is_some()).count();
    let mut not = unrecorded(served, user, since).await;
    // One that was recorded after all has said so itself.
    for jobs in not.values_mut() {
        jobs.retain(|job| !runs.iter().any(|run| run.job == *job));
    }
    not.retain(|_, jobs| !jobs.is_empty());
    json!({
        "jobs": runs.len(), "running": running,
        "whole": runs.len().saturating_sub(running).saturating_sub(incomplete),
        "partly": told(&partly), "not": told(&not),
    })
}

fn told(reasons: &Reasons) -> Value {
    let mut all: Vec<(&String, &Vec<String>)> = reasons.iter().collect();
    all.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(b.0)));
    let one = |(why, jobs): &(&String, &Vec<String>)| json!({ "why": why, "count": jobs.len(), "jobs": jobs.iter().take(NAMED).collect::<Vec<_>>() });
    all.iter().map(one).collect()
}

/// Jobs that were left out, as the scheduler's scripts published it.
#[cfg(feature = "store")]
async fn unrecorded(served: &Served, user: &User, since: u64) -> Reasons {
    let Some((stored, who)) = served.stored_for(user) else { return Reasons::new() };
    let work = stored.clone();
    let found = stored.within(async move { work.unrecorded(who, since).await }).await;
    found.and_then(Result::ok).unwrap_or_default()
}

#[cfg(not(feature = "store"))]
async fn unrecorded(_: &Served, _: &User, _: u64) -> Reasons {
    Reasons::new()
}
