//! Asks the rules of running jobs, the same as of finished ones: what is known of a job's processes
//! becomes segments, those a log, and the log a report.
//!
//! It takes a small share of one core at most, of which each running job has its part: after a diagnosis that took long the next one
//! waits long. A job that has ended is looked at once more at once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use netra_darshan::Log;
use netra_event::frame::Producer;
use netra_stream::batch::Image;
use netra_stream::clock::Clock;
use netra_stream::job::{Job as Pieces, Name, Target};
use netra_stream::sink::Kept;
use netra_stream::source::{Piece, Segment};
use netra_stream::stop::Stop;

use super::{Live, Standing, relations};
use crate::load;

/// How often jobs are looked for that are due.
const LOOK: Duration = Duration::from_millis(200);
/// Nanoseconds between two diagnoses of one job.
const LEAST: u64 = 2_000_000_000;

/// What a diagnosis goes by.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Limits, silenced rules, rules of the site.
    pub rules: netra_analyse::Setup,
    /// Which server a storage target belongs to.
    pub servers: BTreeMap<u64, String>,
}

/// Diagnoses jobs while they run.
#[derive(Debug)]
pub struct Doctor {
    live: Arc<Live>,
    clock: Arc<Clock>,
    setup: Setup,
    scratch: PathBuf,
}

/// What is known of a process: its image, and its events as far as they are kept.
type Patient = (Arc<Image>, Kept);

impl Doctor {
    /// Looks at these jobs; puts segments and logs into a folder of its own below `scratch`, for the
    /// moment that it takes.
    #[must_use]
    pub fn new(live: Arc<Live>, clock: Arc<Clock>, setup: Setup, scratch: PathBuf) -> Doctor {
        Doctor { live, clock, setup, scratch }
    }

    /// Looks until told to stop; for a thread of its own.
    pub fn run(&self, stop: &Stop) {
        while !stop.is_set() {
            match self.due() {
                Some(key) => self.look(&key),
                None => std::thread::sleep(LOOK),
            }
        }
    }

    /// A job of which something new is known, and whose time has come.
    fn due(&self) -> Option<String> {
        let now = self.clock.now();
        let state = self.live.lock();
        let is_due = |job: &&super::Job| {
            // What a launcher does is not the job's.
            let new = job.changed.0 > job.diagnosis.seen && !job.members().is_empty();
            new && (job.end().is_some() || job.diagnosis.due <= now)
        };
        // Who was looked at longest ago has the next turn.
        let next = state.jobs.values().filter(is_due).min_by_key(|job| job.diagnosis.at);
        next.map(|job| job.key.clone())
    }

    /// Looks at one job now.
    pub fn look(&self, key: &str) {
        let begun = busy();
        let Some((seen, patients)) = self.gather(key) else { return };
        let found = self.examine(key, &patients);
        let took = busy().saturating_sub(begun);
        let now = self.clock.now();
        let mut state = self.live.lock();
        let related = state.jobs.get(key).map(|job| relations(&state, job)).unwrap_or_default();
        let sharers = state.running();
        let Some(job) = state.jobs.get_mut(key) else { return };
        let diagnosis = &mut job.diagnosis;
        diagnosis.relations = related;
        (diagnosis.seen, diagnosis.at) = (seen, now);
        diagnosis.number += 1;
        (diagnosis.took, diagnosis.spent) = (took, 0);
        diagnosis.due = now.saturating_add(LEAST);
        diagnosis.rest(took, sharers);
        match found {
            Ok((job, report)) => {
                diagnosis.failed = None;
                let found = report.findings.iter().map(|one| Standing::new(one, now));
                diagnosis.take(found, now);
                diagnosis.report = Some(Arc::new((job, report)));
            }
            Err(error) => diagnosis.failed = Some(error.to_string()),
        }
    }

    /// What is known of a job's processes, and its version.
    fn gather(&self, key: &str) -> Option<(u64, Vec<Patient>)> {
        let state = self.live.lock();
        let job = state.jobs.get(key)?;
        let mut kept = job.kept.by_process();
        let patient = |(producer, process): (&Producer, &super::Process)| {
            let image = process.image.clone()?;
            Some((image, kept.remove(producer).unwrap_or_default()))
        };
        Some((job.changed.0, job.processes.iter().filter_map(patient).collect()))
    }

    fn examine(
        &self,
        key: &str,
        patients: &[Patient],
    ) -> io::Result<(netra_analyse::Job, netra_analyse::Report)> {
        fs::create_dir_all(&self.scratch)?;
        let folder = tempfile::tempdir_in(&self.scratch)?;
        let mut pieces = Vec::new();
        for (number, (image, kept)) in patients.iter().enumerate() {
            let path = folder.path().join(format!("{number}.segment"));
            // An image whose header has not come yet is no segment.
            if let Ok(segment) = Segment::from_bytes(&path, image.bytes().to_vec()) {
                pieces.push(piece(&segment.with_events(kept), &path)?);
            }
        }
        let target = Target::File(folder.path().join("job.darshan"));
        let name = Name { user: "netra", program: None };
        let written = Pieces::new(pieces).write(&target, name, &mut |_, _, _| {});
        let written = written.map_err(io::Error::other)?;
        let log = Log::open(&written.path).map_err(io::Error::other)?;
        let (mut job, _) = load::job(&format!("job {key}"), &log);
        job.servers.clone_from(&self.setup.servers);
        let report = netra_analyse::diagnose_with(&job, &self.setup.rules);
        Ok((job, report))
    }
}

fn piece(segment: &Segment, path: &Path) -> io::Result<Piece> {
    fs::write(path, segment.view().bytes())?;
    Piece::of_segment(path, None).map_err(io::Error::other)
}

/// Processor time of this thread in nanoseconds: what it takes, however busy the machine is.
#[must_use]
pub fn busy() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
