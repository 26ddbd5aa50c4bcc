//! Reports of stored jobs, with the rules of the server, and what is remembered of them for the list.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use netra_analyse::insight::Level;
use netra_analyse::{Job, Report};
use netra_store::ask::Session;
use netra_store::recall::Recall;
use tokio::runtime::Handle;

use super::Stored;
use super::row::{quoted, rows};
use crate::view::Views;
use crate::{html, load};

/// Jobs of which the findings are remembered.
const REMEMBERED: usize = 4096;
/// Jobs of one list that are looked at because nobody has opened them yet.
const AT_ONCE: usize = 50;
/// Calls of a job that is only looked at when somebody opens it.
const LARGE: u64 = 1_000_000;
/// A job that took a second makes the next one wait so many.
const REST: u32 = 4;
/// Jobs that are kept whole for a moment, and for how long.
const RECENT: usize = 4;
const FRESH: Duration = Duration::from_secs(30);

/// What was found in a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    pub(super) high: usize,
    pub(super) warn: usize,
    pub(super) info: usize,
    /// The costliest above a note.
    pub(super) worst: Option<String>,
    /// What is above a note: rule and seconds lost.
    loud: Vec<(String, f64)>,
}

impl Found {
    fn of(report: &Report) -> Found {
        let count = |level| report.findings.iter().filter(|one| one.level == level).count();
        let loud = || report.findings.iter().filter(|one| one.level > Level::Info);
        Found {
            high: count(Level::High),
            warn: count(Level::Warn),
            info: count(Level::Info),
            worst: loud().next().map(|one| one.title.to_string()),
            loud: loud().map(|one| (one.slug.to_string(), one.lost)).collect(),
        }
    }
}

/// A job and what was found in it.
type Looked = Arc<(Job, Report)>;

/// What is remembered of jobs that were looked at.
#[derive(Debug, Default)]
pub(super) struct Known {
    found: Mutex<BTreeMap<String, Found>>,
    /// The last ones whole: who opens a job asks for its findings and then for its report.
    recent: Mutex<Vec<(String, Instant, Looked)>>,
    /// Whether somebody looks already.
    looking: AtomicBool,
}

impl Known {
    fn put(&self, key: &str, looked: &Looked) {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.pop_first();
        }
        all.insert(key.to_owned(), Found::of(&looked.1));
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|one| one.0 != key);
        recent.truncate(RECENT - 1);
        recent.insert(0, (key.to_owned(), Instant::now(), Arc::clone(looked)));
    }

    /// One that was looked at a moment ago.
    fn recent(&self, key: &str) -> Option<Looked> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|one| one.1.elapsed() < FRESH);
        recent.iter().find(|one| one.0 == key).map(|one| Arc::clone(&one.2))
    }

    /// What was found in a job, if anybody has looked.
    pub(super) fn counts(&self, key: &str) -> Option<Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// What was found above a note.
    pub(super) fn loud(&self, key: &str) -> Vec<(String, f64)> {
        self.counts(key).unwrap_or_default().loud
    }
}

impl Stored {
    /// Looks at those of these jobs that nobody has looked at, one after the other and not all the time.
    pub(super) fn look_at(&self, session: Session, keys: Vec<String>) {
        let known = &self.inner.known;
        let unknown = keys.into_iter().filter(|key| known.counts(key).is_none());
        let unknown: Vec<String> = unknown.take(AT_ONCE).collect();
        let Some(runtime) = self.inner.runtime.as_ref() else { return };
        if unknown.is_empty() || known.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        // The task must not keep the store alive: it ends when the server does.
        let weak = Arc::downgrade(&self.inner);
        runtime.spawn(async move {
            for key in unknown {
                let Some(inner) = weak.upgrade() else { return };
                let stored = Stored { inner };
                let begun = Instant::now();
                if is_small(&session, &key).await {
                    // What can not be read is said to whoever opens it.
                    drop(diagnosed(&stored, &session, &key).await);
                }
                drop(stored);
                tokio::time::sleep((begun.elapsed() * REST).min(Duration::from_secs(10))).await;
            }
            if let Some(inner) = weak.upgrade() {
                inner.known.looking.store(false, Ordering::Release);
            }
        });
    }
}

async fn is_small(session: &Session, key: &str) -> bool {
    let sql = format!("SELECT sum(calls) AS calls FROM activity WHERE job = {}", quoted(key));
    let found = rows(session, &sql).await;
    found.is_ok_and(|rows| rows.first().map_or(0, |row| row.count("calls")) <= LARGE)
}

/// A job and its report; nothing where there is none of exactly this key that the session sees.
pub(super) async fn diagnosed(
    stored: &Stored,
    session: &Session,
    key: &str,
) -> Result<Option<Looked>, String> {
    let (stored, session, key) = (stored.clone(), session.clone(), key.to_owned());
    let runtime = Handle::current();
    // Reading a job and asking the rules is work for a processor: questions of others go on meanwhile.
    let work = move || runtime.block_on(looked(&stored, &session, &key));
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

async fn looked(stored: &Stored, session: &Session, key: &str) -> Result<Option<Looked>, String> {
    // Whether the session sees it is asked each time, whatever is remembered.
    let recall = match Recall::find(session.context(), key).await {
        Ok(recall) if recall.key() == key => recall,
        Ok(_) | Err(netra_store::Error::NoJob { .. } | netra_store::Error::SeveralJobs { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    let inner = &stored.inner;
    if let Some(recent) = inner.known.recent(key) {
        return Ok(Some(recent));
    }
    let mut job = load::stored(&recall).await.map_err(|error| error.to_string())?;
    job.servers.clone_from(&inner.setup.servers);
    let report = netra_analyse::diagnose_with(&job, &inner.setup.rules);
    let looked = Arc::new((job, report));
    inner.known.put(key, &looked);
    Ok(Some(looked))
}

/// The document that the report page reads.
pub(in crate::serve) async fn page(
    stored: Stored,
    session: Session,
    key: String,
) -> Result<Option<Vec<u8>>, String> {
    let Some(looked) = diagnosed(&stored, &session, &key).await? else { return Ok(None) };
    let made = html::document(&looked.0, &looked.1, &Views::shipped(), 1);
    made.map(Some).map_err(|error| error.to_string())
}
