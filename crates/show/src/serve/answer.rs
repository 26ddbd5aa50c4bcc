//! Answers: JSON, and refusals that say why.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

/// A JSON document.
pub(super) fn json_answer(value: &Value) -> Response<Body> {
    bytes_answer(value.to_string().into_bytes(), "application/json")
}

/// Bytes of some kind.
pub(super) fn bytes_answer(bytes: impl Into<Body>, kind: &'static str) -> Response<Body> {
    let mut answer = Response::new(bytes.into());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// No, and why.
pub(super) fn refuse(status: StatusCode, says: &str) -> Response<Body> {
    let mut answer = json_answer(&json!({ "error": says }));
    *answer.status_mut() = status;
    answer
}

/// There is no such job, or not for this user: the two look alike.
pub(super) fn no_job(key: &str) -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, &format!("there is no job {key} that you may see"))
}
