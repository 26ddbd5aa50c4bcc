//! `GET /api/sql`: questions to the store, with the rights of whoever asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use netra_store::ask::{Ground, Session, Source, Who};

use super::answer::refuse;
use super::{Served, User};
use crate::door::http::respond;

/// A store that may be asked, and how much that may cost.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its tables.
    pub source: Arc<dyn Source>,
    /// The limits that all questions share.
    pub ground: Ground,
}

/// `GET /api/sql`
pub(super) async fn ask(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(stored) = &served.stored else {
        return refuse(StatusCode::NOT_FOUND, "this server has no store: netra serve --store DIR");
    };
    let Some(sql) = asked.get("q") else {
        return refuse(StatusCode::BAD_REQUEST, "nothing was asked: /api/sql?q=SELECT…");
    };
    let who = match (user.is_administrator, user.uid) {
        (true, _) => Who::Administrator,
        (false, Some(uid)) => Who::User(uid),
        (false, None) => {
            return refuse(
                StatusCode::FORBIDDEN,
                "you have no number on the system, so no rows are yours",
            );
        }
    };
    let session = Session::new(Arc::clone(&stored.source), who, &stored.ground);
    respond(&session, sql, asked.get("format").map(String::as_str), &headers).await
}
