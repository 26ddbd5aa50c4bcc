//! The site: what all jobs that a user sees do, by file system, application and user, and how much the runs
//! of one application differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use netra_analyse::Thresholds;
use netra_analyse::history::{History, Past, Spread, histories};
use netra_event::Seconds;
use serde_json::{Value, json};

use super::answer::json_answer;
use super::job::seconds;
use super::{Served, User};
use crate::history::local_hour;
use crate::live::{Cell, Job, Way};

/// Groups of each kind that are told, those that moved most.
const MOST: usize = 200;
/// Runs of one application that are told.
const RUNS: usize = 200;

/// What belongs together.
#[derive(Debug, Default)]
struct Group {
    jobs: u64,
    running: u64,
    incomplete: u64,
    read: Cell,
    write: Cell,
}

impl Group {
    fn add(&mut self, job: &Job, [read, write]: [Cell; 2]) {
        self.jobs += 1;
        let over = job.end().is_some();
        self.running += u64::from(!over);
        self.incomplete += u64::from(over && !job.completeness().is_complete);
        self.read.fold(&read);
        self.write.fold(&write);
    }
}

/// `GET /api/site`
pub(super) async fn site(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
) -> Response<Body> {
    let now = served.clock.now();
    let state = served.live.lock();
    let mut systems: BTreeMap<String, Group> = BTreeMap::new();
    let mut programs: BTreeMap<String, Group> = BTreeMap::new();
    let mut users: BTreeMap<String, Group> = BTreeMap::new();
    let mut runs = Vec::new();
    for job in state.jobs.values().filter(|job| user.sees(job.uid())) {
        let moved = job.moved();
        let owner = job.uid().map_or_else(String::new, |uid| {
            served.user_name(uid).map_or_else(|| uid.to_string(), str::to_owned)
        });
        users.entry(owner).or_default().add(job, moved);
        programs.entry(program(job)).or_default().add(job, moved);
        for (mount, ways) in job.files.by_mount() {
            let group = systems.entry(mount).or_default();
            group.add(job, [ways[Way::Read as usize], ways[Way::Write as usize]]);
        }
        runs.extend(past(job));
    }
    let told: Vec<Value> = histories(runs, &Thresholds::default()).iter().map(history).collect();
    json_answer(&json!({
        "now": seconds(now),
        "systems": groups(systems),
        "programs": groups(programs),
        "users": groups(users),
        "histories": told,
    }))
}

fn program(job: &Job) -> String {
    let command = job.first().map(|first| first.about.exe.clone()).unwrap_or_default();
    let text = String::from_utf8_lossy(&command).into_owned();
    text.rsplit('/').next().unwrap_or(&text).to_owned()
}

/// A run that has ended, as history looks at it.
fn past(job: &Job) -> Option<Past> {
    let end = job.end()?;
    let [read, write] = job.moved();
    let slowest = job.members().into_iter().map(|process| {
        Way::ALL.iter().map(|&way| process.cells.lowest(way).nanos).fold(0, u64::saturating_add)
    });
    let loud = job.diagnosis.standing().filter(|one| one.level != "INFO");
    let start = Seconds(seconds(job.start()));
    Some(Past {
        source: job.key.clone(),
        program: program(job),
        processes: job.ranks(),
        start: Some(start),
        hour: local_hour(start),
        run_seconds: seconds(end.saturating_sub(job.start())),
        io_seconds: seconds(slowest.max().unwrap_or(0)),
        bytes: read.bytes.saturating_add(write.bytes),
        findings: loud.map(|one| (one.slug.clone(), one.lost)).collect(),
    })
}

fn groups(all: BTreeMap<String, Group>) -> Value {
    let mut all: Vec<(String, Group)> = all.into_iter().collect();
    let moved = |group: &Group| group.read.bytes.saturating_add(group.write.bytes);
    all.sort_by(|a, b| moved(&b.1).cmp(&moved(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let told = all.iter().take(MOST).map(|(name, group)| {
        json!({
            "name": name, "jobs": group.jobs, "running": group.running, "incomplete": group.incomplete,
            "bytes_read": group.read.bytes, "bytes_written": group.write.bytes,
            "reads": group.read.calls, "writes": group.write.calls,
            "read_seconds": seconds(group.read.nanos), "write_seconds": seconds(group.write.nanos),
        })
    });
    told.collect()
}

fn history(one: &History) -> Value {
    let spread = |of: &Spread| json!([of.least, of.median, of.most, of.varies]);
    let unusual: Vec<Value> = one
        .unusual
        .iter()
        .filter_map(|slow| Some((one.runs.get(slow.run)?, slow)))
        .map(|(run, slow)| json!({ "job": run.source, "io_seconds": slow.io_seconds, "factor": slow.factor }))
        .collect();
    let runs: Vec<Value> = one
        .runs
        .iter()
        .rev()
        .take(RUNS)
        .map(|run| {
            json!({
                "job": run.source, "start": run.start.map(|start| start.0), "hour": run.hour,
                "run_seconds": run.run_seconds, "io_seconds": run.io_seconds, "bytes": run.bytes,
            })
        })
        .collect();
    json!({
        "program": one.program, "processes": one.processes, "count": one.runs.len(),
        "run_seconds": spread(&one.run_seconds), "io_seconds": spread(&one.io_seconds),
        "rate": spread(&one.rate), "trend": one.trend, "unusual": unusual, "runs": runs,
        "findings": one.findings,
    })
}
