//! `GET /api/sql`: questions to the store, with the rights of whoever asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::answer::refuse;
use super::{Served, User};
use crate::door::http::respond;

/// `GET /api/sql`
pub(super) async fn ask(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Query(asked): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(stored) = &served.stored else { return no_store() };
    let Some(sql) = asked.get("q") else {
        return refuse(StatusCode::BAD_REQUEST, "nothing was asked: /api/sql?q=SELECT…");
    };
    let Some(session) = stored.session(&user) else { return no_rows() };
    respond(&session, sql, asked.get("format").map(String::as_str), &headers).await
}

/// What a server without a store says.
pub(super) fn no_store() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, "this server has no store: netra serve --store DIR")
}

/// What somebody is told whom the system does not know by number.
pub(super) fn no_rows() -> Response<Body> {
    refuse(StatusCode::FORBIDDEN, "you have no number on the system, so no rows are yours")
}
