//! Pages that follow: server-sent events, each with an id, so that a page that lost the connection
//! goes on where it was, and one that finds another server begins anew.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::future::{Either, select};
use futures::stream::unfold;
use tokio::time::Instant;

use super::answer::{no_job, refuse};
use super::job::{Asked, all, seen};
use super::{Served, User, update};

/// How often a page is told something, while something changes.
const TICK: Duration = Duration::from_millis(500);
/// How often at least, so that it knows that we are there.
const AT_LEAST: Duration = Duration::from_secs(2);
/// Pages that follow at a time.
const VIEWERS: usize = 256;

/// A place among those who follow; letting it go gives it back.
struct Viewer {
    served: Arc<Served>,
    user: User,
    /// What they were told last.
    version: u64,
    told: Option<Instant>,
}

impl Viewer {
    fn enter(served: Arc<Served>, user: User, version: u64) -> Option<Viewer> {
        let count: &AtomicUsize = &served.viewers;
        if count.fetch_add(1, Ordering::Relaxed) >= VIEWERS {
            count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Viewer { served, user, version, told: None })
    }

    /// Waits for the next moment to speak; false when the server ends.
    async fn wait(&self) -> bool {
        let mut stopping = self.served.stopping.clone();
        if self.told.is_none() {
            return !*stopping.borrow();
        }
        let (tick, stop) = (pin!(tokio::time::sleep(TICK)), pin!(stopping.changed()));
        matches!(select(tick, stop).await, Either::Left(_))
    }

    fn is_due(&self, changed: bool) -> bool {
        self.told.is_none_or(|told| changed || told.elapsed() >= AT_LEAST)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.served.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `GET /api/stream`
pub(super) async fn jobs(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<Asked>,
) -> Response<Body> {
    let Some(viewer) = Viewer::enter(served, user, 0) else { return full() };
    Sse::new(unfold((viewer, asked), |(mut viewer, asked)| async move {
        while viewer.wait().await {
            let version = viewer.served.live.lock().version;
            if viewer.is_due(version > viewer.version) {
                let list = all(&viewer.served, &viewer.user, &asked).to_string();
                (viewer.version, viewer.told) = (version, Some(Instant::now()));
                let event = Event::default().event("jobs").data(list);
                return Some((Ok::<_, Infallible>(event), (viewer, asked)));
            }
        }
        None
    }))
    .into_response()
}

/// `GET /api/jobs/{job}/stream`
pub(super) async fn job(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    if seen(&served.live.lock(), &user, &key).is_none() {
        return no_job(&key);
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
    let version = update::version(&served, last);
    let Some(viewer) = Viewer::enter(served, user, version) else { return full() };
    Sse::new(unfold((viewer, key), |(mut viewer, key)| async move {
        while viewer.wait().await {
            let version = viewer.served.live.lock().version;
            if viewer.is_due(version > viewer.version) {
                let (version, value) =
                    update::of(&viewer.served, &viewer.user, &key, viewer.version)?;
                let id = update::id(&viewer.served, version);
                (viewer.version, viewer.told) = (version, Some(Instant::now()));
                let event = Event::default().event("job").id(id).data(value.to_string());
                return Some((Ok::<_, Infallible>(event), (viewer, key)));
            }
        }
        None
    }))
    .into_response()
}

fn full() -> Response<Body> {
    refuse(StatusCode::SERVICE_UNAVAILABLE, "too many pages follow already; try again later")
}
