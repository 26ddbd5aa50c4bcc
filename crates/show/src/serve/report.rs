//! The report of a job's last diagnosis, as the report page reads it. It is made when somebody asks and
//! kept until the next diagnosis: several pages of one job cost one, also when all of them ask at the same moment.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{bytes_answer, no_job, refuse};
use super::job::seen;
use super::{Served, User};
use crate::html;
use crate::live::busy;
use crate::view::Views;

/// Reports that are kept.
const KEPT: usize = 8;

/// The last reports that were made: job, number of the diagnosis, document.
#[derive(Debug, Default)]
pub(super) struct Reports {
    list: Mutex<Vec<(String, u64, Bytes)>>,
    /// Whoever makes one has this; who waits for it finds it made.
    turn: tokio::sync::Mutex<()>,
}

impl Reports {
    fn get(&self, key: &str, number: u64) -> Option<Bytes> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let found = list.iter().find(|one| one.0 == key && one.1 == number);
        found.map(|one| one.2.clone())
    }

    fn put(&self, key: &str, number: u64, bytes: Bytes) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|one| one.0 != key);
        list.truncate(KEPT - 1);
        list.insert(0, (key.to_owned(), number, bytes));
    }
}

/// `GET /api/jobs/{job}/report`
pub(super) async fn page(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Path(key): Path<String>,
) -> Response<Body> {
    let diagnosed = {
        let state = served.live.lock();
        let job = seen(&state, &user, &key);
        job.map(|job| (job.diagnosis.number, job.diagnosis.report.clone()))
    };
    #[cfg(feature = "store")]
    if !super::job::is_known_well(&served, &user, &key) {
        let answer = stored(&served, &user, key.clone()).await;
        if answer.status() == StatusCode::OK || diagnosed.is_none() {
            return answer;
        }
    }
    let Some((number, found)) = diagnosed else { return no_job(&key) };
    let Some(found) = found else {
        return refuse(StatusCode::NOT_FOUND, "there is no diagnosis yet");
    };
    let _turn = served.reports.turn.lock().await;
    if let Some(bytes) = served.reports.get(&key, number) {
        return bytes_answer(bytes, "application/json");
    }
    let made = tokio::task::spawn_blocking(move || {
        let begun = busy();
        let (job, report) = &*found;
        let made = html::document(job, report, &Views::shipped(), number);
        (made, busy().saturating_sub(begun))
    });
    match made.await {
        Ok((Ok(bytes), took)) => {
            let bytes = Bytes::from(bytes);
            served.reports.put(&key, number, bytes.clone());
            let mut state = served.live.lock();
            let sharers = state.running();
            if let Some(job) = state.jobs.get_mut(&key) {
                job.diagnosis.rest(took, sharers);
            }
            bytes_answer(bytes, "application/json")
        }
        _ => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the report can not be written"),
    }
}

/// The report of a job that lies in the store.
#[cfg(feature = "store")]
async fn stored(served: &Served, user: &User, key: String) -> Response<Body> {
    let Some((stored, session)) = super::job::session(served, user) else { return no_job(&key) };
    let work = super::stored::report(stored.clone(), session, key.clone());
    match stored.within(work).await {
        Some(Ok(Some(bytes))) => bytes_answer(bytes, "application/json"),
        Some(Ok(None)) => no_job(&key),
        Some(Err(says)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &says),
        None => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the store could not be asked"),
    }
}
