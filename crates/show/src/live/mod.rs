//! Jobs while they run: what batches of a daemon say, added up as they come.
//!
//! [`Live`] takes batches (it is a sink of a daemon, or follows one as a subscriber) and holds a
//! [`Job`] for each that it has seen: what happened in which second, to which file, by which
//! process, next to what the nodes did. A [`Doctor`] asks the rules of it now and then. Everything has a
//! bound: a long job gets longer steps, files beyond a number share a row, finished jobs are
//! forgotten when there are many.
//!
//! Nothing here knows pages or terminals.

mod alert;
mod correlate;
mod diagnosis;
mod doctor;
mod file;
mod follow;
mod job;
mod kept;
mod latency;
mod metric;
mod process;
mod rate;
mod series;
mod sink;
mod step;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netra_event::frame::Producer;
use netra_stream::batch::{Batch, Images, Payload};
use netra_stream::sample::{Sample, Value};

pub use alert::{Alert, Alerts, Fate, Recalled, Told};
pub use correlate::{Relation, related, relations};
pub use diagnosis::{Diagnosis, Standing};
pub use doctor::{Doctor, Setup, busy};
pub use file::{FileUse, Files};
pub use follow::follow;
pub use job::{Completeness, Job};
pub use latency::Latency;
pub use metric::{Host, Mean, Metric, shown};
pub use process::Process;
pub use rate::Rates;
pub use series::{Fold, Series};
pub use sink::Watching;
pub use step::{Cell, Cells, LAYERS, Step, Way, is_lowest};

/// Jobs that are held.
const MOST_JOBS: usize = 512;
/// Hosts of which metrics are held.
const MOST_HOSTS: usize = 1024;
/// Bytes of events that are kept for diagnosis, of all jobs.
const MOST_KEPT: usize = 256 << 20;

/// All jobs that are seen.
#[derive(Debug, Default)]
pub struct Live {
    state: Mutex<State>,
}

/// What is held, for whoever has the lock.
#[derive(Debug, Default)]
pub struct State {
    /// By key.
    pub jobs: BTreeMap<String, Job>,
    /// Metrics by the host's number.
    pub hosts: BTreeMap<u64, Host>,
    /// Counts changes.
    pub version: u64,
    /// Which job a process belongs to.
    of: BTreeMap<Producer, String>,
}

impl Live {
    /// Looks at everything, or changes it.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        // Sums are added to one by one: a panic in between leaves nothing that could not be read.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a batch at this moment (nanoseconds since 1970).
    pub fn take(&self, batch: &Batch, images: &Images, now: u64) {
        self.lock().take(batch, images, now);
    }

    /// Whoever gives batches has left so many events out.
    pub fn missed(&self, events: u64) {
        let mut state = self.lock();
        for job in state.jobs.values_mut().filter(|job| job.end().is_none()) {
            job.missed = job.missed.saturating_add(events);
        }
    }
}

impl State {
    /// How many jobs run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.jobs.values().filter(|job| job.end().is_none()).count()
    }

    fn take(&mut self, batch: &Batch, images: &Images, now: u64) {
        let head = &batch.head;
        let Ok(Some(payload)) = batch.payload() else { return };
        self.version += 1;
        let version = self.version;
        match payload {
            Payload::Metrics(body) => {
                if let Ok(sample) = Sample::unpack(body)
                    && (self.hosts.contains_key(&head.producer.host)
                        || self.hosts.len() < MOST_HOSTS)
                {
                    let host = self.hosts.entry(head.producer.host).or_default();
                    host.take(head.time, &sample, version);
                }
                return;
            }
            Payload::Message(message) if message.tag == netra_stream::sample::TAG => {
                self.published(message.bytes, message.time, version);
                return;
            }
            Payload::Message(_) => return,
            _ => {}
        }
        let Some(key) = self.key(batch, images) else { return };
        let job = self.jobs.entry(key).or_insert_with_key(|key| Job::new(key));
        job.changed = (version, now);
        if let Some(image) = images.get(&head.producer) {
            let known = job.processes.get(&head.producer).and_then(|one| one.image.as_ref());
            if known.is_none_or(|known| !Arc::ptr_eq(known, image)) {
                job.learn(head.producer, image);
            }
        }
        match payload {
            Payload::Life(process) => job.life(head.producer, process),
            Payload::Ledger(account) => job.account(head.producer, account),
            Payload::Events(events) => job.events(head, events, batch.body(), now, version),
            _ => {}
        }
        self.bound();
    }

    /// The job that a batch belongs to; a process says it when it begins, or its image does.
    fn key(&mut self, batch: &Batch, images: &Images) -> Option<String> {
        let producer = batch.head.producer;
        if let Some(key) = self.of.get(&producer) {
            return Some(key.clone());
        }
        use netra_stream::batch::{Phase, Process as About};
        let about = match batch.payload() {
            Ok(Some(Payload::Life(process))) => process,
            _ => About::of(&images.get(&producer)?.view()?, Phase::Began),
        };
        // Its header came, and the names that this refers to are still on their way.
        if about.job.is_empty() {
            return None;
        }
        let key = String::from_utf8_lossy(&about.job).into_owned();
        let job = self.jobs.entry(key.clone()).or_insert_with_key(|key| Job::new(key));
        job.life(producer, about);
        self.of.insert(producer, key.clone());
        Some(key)
    }

    /// Metrics that others publish, storage servers above all.
    fn published(&mut self, bytes: &[u8], time: u64, version: u64) {
        let Ok(rows) = netra_stream::sample::published(bytes) else { return };
        for row in rows {
            let number = netra_event::jenkins64(row.host.as_bytes(), 0);
            if self.hosts.contains_key(&number) || self.hosts.len() < MOST_HOSTS {
                let host = self.hosts.entry(number).or_default();
                host.server.get_or_insert_with(|| row.host.clone());
                let value = Value::Gauge(row.value);
                host.value((&row.target, &row.name), row.time.unwrap_or(time), value, version);
            }
        }
    }

    /// Forgets finished jobs, the oldest first, where there are too many, and events where they take
    /// too much.
    fn bound(&mut self) {
        while self.jobs.len() > MOST_JOBS {
            let over = self.jobs.values().filter(|job| job.end().is_some());
            let Some(oldest) = over.min_by_key(|job| job.changed).map(|job| job.key.clone()) else {
                break;
            };
            self.jobs.remove(&oldest);
            self.of.retain(|_, key| *key != oldest);
        }
        let kept: usize = self.jobs.values().map(|job| job.kept.bytes()).sum();
        if kept > MOST_KEPT {
            let share = MOST_KEPT / self.jobs.len().max(1);
            for job in self.jobs.values_mut() {
                job.kept.shrink(share);
            }
        }
    }
}
