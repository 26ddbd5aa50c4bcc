//! Jobs that lie in the store, for the same pages as those that run: lines of the list, everything of one
//! job, its report, and what the site adds up.
//!
//! Every question goes through a session of whoever asks, so that rights hold as at every other door.
//! Questions work on threads of their own: a page that follows a running job never waits for one.

mod job;
mod list;
mod place;
mod report;
mod row;
mod run;
mod series;
mod time;
mod total;
mod trust;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use netra_store::ask::analysis::Analyses;
use netra_store::ask::{Error, Ground, Session, Source, Who};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Semaphore};

use super::User;
use super::run::Run;
use crate::live::Setup;
use report::Known;

pub(super) use job::of as update;
pub(super) use list::{Listed, list};
pub(super) use report::page as report;
use row::Row;

/// Questions that work at a time; others wait.
const AT_A_TIME: usize = 2;
/// How long what the site adds up is given to whoever asks again.
const FRESH: Duration = Duration::from_secs(10);
/// Answers of that kind that are kept.
const KEPT: usize = 16;

/// A store that may be asked, how much that may cost, and what its jobs are diagnosed by.
#[derive(Debug, Clone)]
pub struct Stored {
    inner: Arc<Inner>,
}

/// What was added up: for whom, of how many seconds, when.
type Sums = (Who, u64, Instant, Arc<Vec<Run>>);

#[derive(Debug)]
struct Inner {
    source: Arc<dyn Source>,
    ground: Ground,
    setup: Setup,
    /// Nothing once it ends.
    runtime: Option<Runtime>,
    room: Semaphore,
    known: Known,
    sums: Mutex<Vec<Sums>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever lets it go may itself be a task, and may not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Stored {
    /// These tables, within these limits.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(source: Arc<dyn Source>, ground: Ground, setup: Setup) -> io::Result<Stored> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("netra-ask")
            .enable_all()
            .build()?;
        let inner = Inner {
            source,
            ground,
            setup,
            runtime: Some(runtime),
            room: Semaphore::new(AT_A_TIME),
            known: Known::default(),
            sums: Mutex::default(),
        };
        Ok(Stored { inner: Arc::new(inner) })
    }

    /// The analysis modules that its questions may name.
    pub(super) fn analyses(&self) -> &Analyses {
        self.inner.ground.analyses()
    }

    /// A session of somebody; nothing where no rows can be theirs.
    pub(super) fn session(&self, user: &User) -> Option<Session> {
        Some(self.session_of(who(user)?))
    }

    fn session_of(&self, who: Who) -> Session {
        Session::new(Arc::clone(&self.inner.source), who, &self.inner.ground)
    }

    /// Does this on the threads of the store, when there is room.
    pub(super) async fn within<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let inner = Arc::clone(&self.inner);
        let runtime = self.inner.runtime.as_ref()?;
        let done = runtime.spawn(async move {
            // It is never closed.
            let _place = inner.room.acquire().await.ok()?;
            Some(work.await)
        });
        done.await.ok().flatten()
    }

    /// The runs that somebody sees and that began since then (seconds since 1970), newest first.
    pub(super) async fn runs(&self, who: Who, since: u64) -> Result<Arc<Vec<Run>>, Error> {
        let mut sums = self.inner.sums.lock().await;
        sums.retain(|one| one.2.elapsed() < FRESH);
        if let Some(one) = sums.iter().find(|one| one.0 == who && one.1 == since) {
            return Ok(Arc::clone(&one.3));
        }
        let mut found = run::runs(&self.session_of(who), since).await?;
        for one in &mut found {
            one.findings = self.inner.known.loud(&one.job);
        }
        let found = Arc::new(found);
        sums.truncate(KEPT - 1);
        sums.insert(0, (who, since, Instant::now(), Arc::clone(&found)));
        Ok(found)
    }
}

/// Whose rows somebody sees.
pub(super) fn who(user: &User) -> Option<Who> {
    match (user.is_administrator, user.uid) {
        (true, _) => Some(Who::Administrator),
        (false, Some(uid)) => Some(Who::User(uid)),
        (false, None) => None,
    }
}
