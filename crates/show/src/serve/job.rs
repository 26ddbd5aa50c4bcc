//! Jobs as JSON: the list, and one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
#[cfg(feature = "store")]
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

#[cfg(feature = "store")]
use super::answer::refuse;
use super::answer::{json_answer, no_job};
use super::{Served, User, update};
use crate::live::{Completeness, Job, Rates, State as Jobs};

/// What may be asked of the list.
pub(super) type Asked = BTreeMap<String, String>;

/// `GET /api/jobs`
pub(super) async fn list(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<Asked>,
) -> Response<Body> {
    let mut value = all(&served, &user, &asked);
    #[cfg(feature = "store")]
    if let Some((stored, session)) = session(&served, &user) {
        let (work, asked) = (stored.clone(), asked.clone());
        let unsure = unsure(&served, &user);
        match stored.within(super::stored::list(work, session, asked, unsure)).await {
            Some(Ok(found)) => append(&served, &mut value, found),
            Some(Err(error)) => value["wrong"] = json!(error.to_string()),
            None => value["wrong"] = json!("the store could not be asked"),
        }
    }
    value["store"] = json!(served.has_store());
    json_answer(&value)
}

/// Puts stored jobs behind those that this server has seen itself; of one that it does not know well and that the store has whole, the
/// store's line is the one.
#[cfg(feature = "store")]
fn append(served: &Served, value: &mut Value, stored: super::stored::Listed) {
    let state = served.live.lock();
    let Some(jobs) = value["jobs"].as_array_mut() else { return };
    let is_better =
        |line: &Value| line["job"].as_str().is_some_and(|key| stored.better.contains(key));
    jobs.retain(|line| !is_better(line));
    let is_new =
        |line: &Value| line["job"].as_str().is_none_or(|key| !state.jobs.contains_key(key));
    jobs.extend(stored.lines.iter().filter(|line| is_new(line) || is_better(line)).cloned());
}

/// Jobs that this server has seen and does not know well.
#[cfg(feature = "store")]
fn unsure(served: &Served, user: &User) -> Vec<String> {
    let state = served.live.lock();
    let jobs = state.jobs.values().filter(|job| user.sees(job.uid()) && !is_well_known(job));
    jobs.map(|job| job.key.clone()).collect()
}

/// The store, and somebody's session with it.
#[cfg(feature = "store")]
pub(super) fn session(
    served: &Served,
    user: &User,
) -> Option<(super::Stored, netra_store::ask::Session)> {
    let stored = served.stored.clone()?;
    let session = stored.session(user)?;
    Some((stored, session))
}

/// `GET /api/jobs/{job}`
pub(super) async fn one(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Path(key): Path<String>,
) -> Response<Body> {
    let live = update::of(&served, &user, &key, 0).map(|(_, value)| value);
    #[cfg(feature = "store")]
    if !is_known_well(&served, &user, &key)
        && let Some((stored, session)) = session(&served, &user)
    {
        let (work, wanted, now) = (stored.clone(), key.clone(), seconds(served.clock.now()));
        let found = stored.within(super::stored::update(work, session, wanted, now)).await;
        match found {
            // A running job's store lags behind what came here.
            Some(Ok(Some(value))) if live.is_none() || value["state"] == "ended" => {
                return json_answer(&value);
            }
            Some(Ok(_)) => {}
            // What this server has seen itself is better than nothing.
            _ if live.is_some() => {}
            Some(Err(says)) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &says),
            None => {
                return refuse(StatusCode::INTERNAL_SERVER_ERROR, "the store could not be asked");
            }
        }
    }
    live.map_or_else(|| no_job(&key), |value| json_answer(&value))
}

/// Whether this server knows a job that a user sees as well as the store can.
#[cfg(feature = "store")]
pub(super) fn is_known_well(served: &Served, user: &User, key: &str) -> bool {
    seen(&served.live.lock(), user, key).is_some_and(is_well_known)
}

/// Whether a job is known as well as the store can know it: its calls come here while it runs, or all of them came. A server that
/// was started when a job was over or nearly so has seen none, and may never be told that it ended.
#[cfg(feature = "store")]
pub(super) fn is_well_known(job: &Job) -> bool {
    match job.end() {
        None => job.processes.values().any(|process| process.newest > 0),
        Some(_) => job.completeness().is_complete,
    }
}

/// The jobs that a user sees and asked for, newest first.
pub(super) fn all(served: &Served, user: &User, asked: &Asked) -> Value {
    let now = served.clock.now();
    let state = served.live.lock();
    let mut jobs: Vec<(u64, Value)> = state
        .jobs
        .values()
        .filter(|job| user.sees(job.uid()))
        .map(|job| (job.start(), line(served, job, now)))
        .filter(|(_, line)| is_wanted(line, asked))
        .collect();
    jobs.sort_by_key(|job| std::cmp::Reverse(job.0));
    let jobs: Vec<Value> = jobs.into_iter().map(|(_, line)| line).collect();
    json!({ "now": seconds(now), "jobs": jobs })
}

/// Whether a job is what was asked for.
fn is_wanted(line: &Value, asked: &Asked) -> bool {
    let has = |key: &str, wanted: &str| line[key].as_str().is_some_and(|text| text == wanted);
    asked.iter().all(|(key, wanted)| match key.as_str() {
        _ if wanted.is_empty() => true,
        "state" => has("state", wanted),
        "user" => has("user", wanted) || line["uid"].as_u64() == wanted.parse().ok(),
        "exe" => line["exe"].as_str().is_some_and(|exe| exe.contains(wanted.as_str())),
        "node" => line["hosts"].as_array().is_some_and(|all| all.iter().any(|one| one == wanted)),
        "from" => moment(wanted, |at| line["end"].as_f64().is_none_or(|end| end >= at)),
        "to" => moment(wanted, |at| line["start"].as_f64().is_some_and(|start| start <= at)),
        "q" => {
            let text = line.to_string().to_lowercase();
            wanted.to_lowercase().split_whitespace().all(|word| text.contains(word))
        }
        _ => true,
    })
}

/// Whether something holds of a moment; what is no number asks for nothing.
fn moment(text: &str, holds: impl Fn(f64) -> bool) -> bool {
    text.parse().map_or(true, holds)
}

/// One job in the list.
pub(super) fn line(served: &Served, job: &Job, now: u64) -> Value {
    let about = job.first().map(|process| &process.about);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let end = job.end();
    let [read, write] = job.moved();
    let lately = if end.is_none() { job.rates(now) } else { Rates::default() };
    let count = |level: &str| job.diagnosis.standing().filter(|one| one.level == level).count();
    let worst = job.diagnosis.standing().find(|one| one.level != "INFO");
    let hosts: Vec<String> = job.hosts().into_values().take(64).collect();
    json!({
        "job": job.key,
        "uid": job.uid(),
        "user": job.uid().and_then(|uid| served.user_name(uid)),
        "command": about.map(|about| text(&about.command)),
        "exe": about.map(|about| text(&about.exe)),
        "state": if end.is_some() { "ended" } else { "running" },
        "start": seconds(job.start()),
        "end": end.map(seconds),
        "elapsed": seconds(end.unwrap_or(now).saturating_sub(job.start())),
        "ranks": job.ranks(),
        "processes": job.members().len(),
        "hosts": hosts,
        "bytes_read": read.bytes,
        "bytes_written": write.bytes,
        "reads": read.calls,
        "writes": write.calls,
        "read_rate": lately.read,
        "write_rate": lately.written,
        "call_rate": lately.calls,
        "share": job.share(now),
        "findings": { "high": count("HIGH"), "warn": count("WARN"), "info": count("INFO") },
        "worst": worst.map(|one| one.title.clone()),
        "lag": seconds(job.lag),
        "completeness": completeness(&job.completeness(), job.missed),
    })
}

fn completeness(found: &Completeness, missed: u64) -> Value {
    let dropped = found.dropped.iter();
    let dropped: Vec<Value> = dropped
        .map(|(loss, count)| json!({ "reason": loss.slug(), "says": loss.to_string(), "events": count }))
        .collect();
    json!({
        "complete": found.is_complete,
        "produced": found.produced,
        "delivered": found.delivered,
        "in_flight": found.in_flight,
        "dropped": dropped,
        "missed_here": missed,
    })
}

/// Nanoseconds as seconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The job of a key, if the user may see it.
pub(super) fn seen<'a>(state: &'a Jobs, user: &User, key: &str) -> Option<&'a Job> {
    state.jobs.get(key).filter(|job| user.sees(job.uid()))
}
