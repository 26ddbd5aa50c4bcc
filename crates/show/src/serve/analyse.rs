//! Analysis modules over HTTP: which there are, and their tables, with the rights of whoever asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use netra_store::ask::analysis::{Listed, Parameter};
use serde_json::{Value, json};

use super::answer::json_answer;
use super::sql::{no_rows, no_store};
use super::{Served, User};
use crate::door::http::respond;
use crate::door::question;

/// `GET /api/analyse`
pub(super) async fn list(State(served): State<Arc<Served>>) -> Response<Body> {
    let Some(stored) = &served.stored else { return no_store() };
    let all = stored.analyses().list().await;
    json_answer(&json!({ "analyses": all.iter().map(line).collect::<Vec<Value>>() }))
}

/// `GET /api/analyse/{name}`
pub(super) async fn run(
    State(served): State<Arc<Served>>,
    Extension(user): Extension<User>,
    Path(name): Path<String>,
    Query(mut asked): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response<Body> {
    let Some(stored) = &served.stored else { return no_store() };
    let Some(session) = stored.session(&user) else { return no_rows() };
    let format = asked.remove("format");
    let parameters: Vec<String> =
        asked.iter().map(|(name, value)| format!("{name}={value}")).collect();
    respond(&session, &question::analyse(&name, &parameters), format.as_deref(), &headers).await
}

fn line(module: &Listed) -> Value {
    match &module.declared {
        Ok(declared) => json!({
            "name": module.name,
            "about": declared.about,
            "parameters": declared.parameters.iter().map(parameter).collect::<Vec<Value>>(),
        }),
        Err(error) => json!({ "name": module.name, "error": error.to_string() }),
    }
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "type": parameter.of.name(),
        "required": parameter.default.is_none(),
        "default": parameter.default,
    })
}
