//! Who asks: a browser gets its token kept in a cookie that no script can read and no other site sends.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::answer::{json_answer, refuse};
use super::guard::{cookie_name, token};
use super::{Served, User};

/// Keeps the token of the request in a cookie.
pub(super) async fn begin(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(token) = token(&headers, served.port) else {
        return refuse(StatusCode::UNAUTHORIZED, "a token is needed");
    };
    let secure = if served.tls.is_some() { "; Secure" } else { "" };
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800{secure}",
        cookie_name(served.port)
    );
    let mut answer = about(&user);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

/// Who asks.
pub(super) async fn me(Extension(user): Extension<User>) -> Response<Body> {
    about(&user)
}

fn about(user: &User) -> Response<Body> {
    let administrator = user.is_administrator;
    json_answer(&json!({ "name": user.name, "uid": user.uid, "administrator": administrator }))
}

/// The server answers.
pub(super) async fn health() -> Response<Body> {
    json_answer(&json!({ "netra": env!("CARGO_PKG_VERSION"), "ok": true }))
}
