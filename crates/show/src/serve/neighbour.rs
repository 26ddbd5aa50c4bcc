//! Jobs that ran while another did, on the same storage targets or on targets of the same servers: evidence for
//! findings about slow storage.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::answer::{json_answer, no_job};
use super::job::seconds;
use super::{Served, User};
use crate::live::{Cell, Way};

/// Neighbours that are told, those that moved most meanwhile.
const MOST: usize = 50;

/// A job and the storage targets of its files.
#[derive(Debug, Clone, Default)]
pub(super) struct Placed {
    pub(super) job: String,
    pub(super) user: String,
    pub(super) program: String,
    /// Seconds since 1970.
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) targets: BTreeSet<u64>,
    /// Read and written while the other ran; nothing where that is not known.
    pub(super) meanwhile: Option<[Cell; 2]>,
}

/// `GET /api/jobs/{job}/neighbours`
pub(super) async fn neighbours(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Path(key): Path<String>,
) -> Response<Body> {
    let live = seen(&served, &user);
    let own = live.iter().find(|one| one.job == key).cloned();
    let own = match own {
        Some(own) => Some(own),
        None => stored_one(&served, &user, &key).await,
    };
    let Some(own) = own else { return no_job(&key) };
    let mut others = stored_others(&served, &user, &own).await;
    let known: BTreeSet<String> = others.iter().map(|one| one.job.clone()).collect();
    let meanwhile = |one: Placed| Placed { meanwhile: meanwhile(&served, &one.job, &own), ..one };
    others.extend(live.into_iter().filter(|one| !known.contains(&one.job)).map(meanwhile));
    json_answer(&told(&own, &others, &served.servers))
}

/// Those among others that share time and storage with one.
fn told(own: &Placed, others: &[Placed], servers: &BTreeMap<u64, String>) -> Value {
    let server = |target: &u64| servers.get(target).cloned();
    let own_servers: BTreeSet<String> = own.targets.iter().filter_map(server).collect();
    let mut found = Vec::new();
    for other in others.iter().filter(|other| other.job != own.job) {
        let overlap = other.end.min(own.end) - other.start.max(own.start);
        let shared: Vec<u64> = own.targets.intersection(&other.targets).copied().collect();
        let theirs: BTreeSet<String> = other.targets.iter().filter_map(server).collect();
        let together: Vec<&String> = own_servers.intersection(&theirs).collect();
        if overlap <= 0.0 || (shared.is_empty() && together.is_empty()) {
            continue;
        }
        let moved =
            other.meanwhile.map_or(0, |[read, write]| read.bytes.saturating_add(write.bytes));
        let way = |at: usize| other.meanwhile.map(|cells| cells[at]);
        found.push((moved, json!({
            "job": other.job, "user": other.user, "program": other.program,
            "start": other.start, "end": other.end, "overlap": overlap,
            "targets": shared, "servers": together,
            "bytes_read": way(0).map(|cell| cell.bytes), "bytes_written": way(1).map(|cell| cell.bytes),
            "read_seconds": way(0).map(|cell| seconds(cell.nanos)),
            "write_seconds": way(1).map(|cell| seconds(cell.nanos)),
        })));
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1["job"].as_str().cmp(&b.1["job"].as_str())));
    let count = found.len();
    let list: Vec<Value> = found.into_iter().take(MOST).map(|(_, one)| one).collect();
    json!({ "job": own.job, "targets": own.targets, "servers": own_servers, "count": count, "neighbours": list })
}

/// Jobs that this server has seen, with the targets that its diagnosis knows.
fn seen(served: &Served, user: &User) -> Vec<Placed> {
    let now = served.clock.now();
    let state = served.live.lock();
    let jobs = state.jobs.values().filter(|job| user.sees(job.uid()));
    let placed = jobs.map(|job| {
        let layouts = job.diagnosis.report.iter().flat_map(|found| &found.0.layouts);
        let first = job.first().map(|first| String::from_utf8_lossy(&first.about.exe).into_owned());
        Placed {
            job: job.key.clone(),
            user: job.uid().map_or_else(String::new, |uid| {
                served.user_name(uid).map_or_else(|| uid.to_string(), str::to_owned)
            }),
            program: super::run::program(&first.unwrap_or_default(), ""),
            start: seconds(job.start()),
            end: seconds(job.end().unwrap_or(now)),
            targets: layouts.flat_map(|layout| layout.osts.iter().copied()).collect(),
            meanwhile: None,
        }
    });
    placed.collect()
}

/// What a job that this server has seen read and wrote while another ran: steps that only touch that time count whole.
fn meanwhile(served: &Served, key: &str, own: &Placed) -> Option<[Cell; 2]> {
    let state = served.live.lock();
    let series = &state.jobs.get(key)?.series;
    let is_during = |at: u64| (at + series.width()) as f64 > own.start && (at as f64) < own.end;
    let mut sums = [Cell::default(); 2];
    for (_, step) in series.iter().filter(|(at, _)| is_during(*at)) {
        for way in [Way::Read, Way::Write] {
            sums[way as usize].fold(&step.cells.lowest(way));
        }
    }
    Some(sums)
}

#[cfg(feature = "store")]
async fn stored_one(served: &Served, user: &User, key: &str) -> Option<Placed> {
    let (stored, who) = served.stored_for(user)?;
    let (work, key) = (stored.clone(), key.to_owned());
    stored.within(async move { work.placed(who, &key).await }).await?.ok()?
}

#[cfg(feature = "store")]
async fn stored_others(served: &Served, user: &User, own: &Placed) -> Vec<Placed> {
    let Some((stored, who)) = served.stored_for(user) else { return Vec::new() };
    let (work, own) = (stored.clone(), own.clone());
    let found = stored.within(async move { work.placed_beside(who, &own).await }).await;
    found.and_then(Result::ok).unwrap_or_default()
}

#[cfg(not(feature = "store"))]
async fn stored_one(_: &Served, _: &User, _: &str) -> Option<Placed> {
    None
}

#[cfg(not(feature = "store"))]
async fn stored_others(_: &Served, _: &User, _: &Placed) -> Vec<Placed> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(job: &str, start: f64, end: f64, targets: &[u64]) -> Placed {
        let targets = targets.iter().copied().collect();
        Placed { job: job.to_owned(), start, end, targets, ..Placed::default() }
    }

    #[test]
    fn who_shares_time_and_a_target_or_a_server_is_told() {
        let servers = BTreeMap::from([
            (1, "oss1".to_owned()),
            (2, "oss1".to_owned()),
            (9, "oss3".to_owned()),
        ]);
        let own = placed("slow", 100.0, 200.0, &[1, 3]);
        let others = [
            own.clone(),
            placed("same-target", 150.0, 300.0, &[3, 4]),
            placed("same-server", 0.0, 120.0, &[2]),
            placed("before", 0.0, 99.0, &[1]),
            placed("elsewhere", 100.0, 200.0, &[9]),
        ];
        let told = told(&own, &others, &servers);
        let list = told["neighbours"].as_array().unwrap();
        let names: Vec<&str> = list.iter().map(|one| one["job"].as_str().unwrap()).collect();
        assert_eq!(names, ["same-server", "same-target"]);
        assert_eq!((&list[0]["overlap"], &list[1]["overlap"]), (&20.0.into(), &50.0.into()));
        assert_eq!((&list[0]["targets"], &list[0]["servers"]), (&json!([]), &json!(["oss1"])));
        assert_eq!(list[1]["targets"], json!([3]));
    }
}
