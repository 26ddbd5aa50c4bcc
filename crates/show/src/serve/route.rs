//! Every address that is answered. The same table makes the router and its description, so that
//! neither can know one that the other does not.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, get, post};
use serde_json::{Map, Value, json};

use super::answer::{json_answer, refuse};
use super::{Served, asset, guard, job, neighbour, report, runs, session, shape, site, stream};

/// Bytes of a request's body.
const LARGEST_BODY: usize = 64 << 10;

/// One address.
pub(super) struct Row {
    /// The way to it; `{name}` is a part of it that says what is meant.
    pub(super) path: &'static str,
    /// `get` or `post`.
    pub(super) method: &'static str,
    /// What it answers, in a sentence.
    pub(super) says: &'static str,
    /// What may be asked: name and meaning.
    pub(super) query: &'static [(&'static str, &'static str)],
    /// The kinds of answer.
    pub(super) answer: &'static [&'static str],
    /// What it looks like, in the words of `shape.rs`; of a stream each event.
    pub(super) shape: &'static str,
    /// Whether anybody may ask.
    pub(super) public: bool,
    handler: fn() -> MethodRouter<Arc<Served>>,
}

const JSON: &[&str] = &["application/json"];
const EVENTS: &[&str] = &["text/event-stream"];
#[cfg(feature = "store")]
const TABLE: &[&str] = &[
    "application/json",
    "application/vnd.apache.arrow.stream",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.parquet",
];
const JOB_QUERY: &[(&str, &str)] = &[
    ("q", "words that the key, command, user or a host must contain"),
    ("state", "running or ended"),
    ("user", "the user's name or number"),
    ("exe", "what the executable's path must contain"),
    ("node", "a host that it runs on"),
    ("from", "that ran at this moment or later, seconds since 1970"),
    ("to", "that began at this moment or before, seconds since 1970"),
    ("limit", "so many stored jobs at most, 200 if nothing is said"),
];
const DAYS: (&str, &str) = ("days", "how many days are looked back, 30 if nothing is said");

/// The table.
pub(super) const ROWS: &[Row] = &[
    Row {
        path: "/api/health",
        method: "get",
        says: "Whether the server answers, and which version it is.",
        query: &[],
        answer: JSON,
        shape: "#Health",
        public: true,
        handler: || get(session::health),
    },
    Row {
        path: "/api/openapi.json",
        method: "get",
        says: "This description.",
        query: &[],
        answer: JSON,
        shape: "any",
        public: true,
        handler: || get(|| async { json_answer(&describe()) }),
    },
    Row {
        path: "/api/session",
        method: "post",
        says: "Takes the token of the request and keeps it in a cookie, for a browser.",
        query: &[],
        answer: JSON,
        shape: "#Me",
        public: false,
        handler: || post(session::begin),
    },
    Row {
        path: "/api/me",
        method: "get",
        says: "Who asks, and whether they see everybody's jobs.",
        query: &[],
        answer: JSON,
        shape: "#Me",
        public: false,
        handler: || get(session::me),
    },
    Row {
        path: "/api/jobs",
        method: "get",
        says: "Jobs that run or have ended, those of the store too, newest first, with rates, findings and completeness.",
        query: JOB_QUERY,
        answer: JSON,
        shape: "#Jobs",
        public: false,
        handler: || get(job::list),
    },
    Row {
        path: "/api/site",
        method: "get",
        says: "All jobs that one sees by file system, application, user and time, how much runs differ, and which are covered.",
        query: &[DAYS],
        answer: JSON,
        shape: "#Site",
        public: false,
        handler: || get(site::site),
    },
    Row {
        path: "/api/runs",
        method: "get",
        says: "The runs of one program: times and rates of each, how they are spread, which are unusual and by what.",
        query: &[
            ("program", "the executable's name, without its folder"),
            ("ranks", "on as many ranks; all runs if nothing is said"),
            DAYS,
        ],
        answer: JSON,
        shape: "#Runs",
        public: false,
        handler: || get(runs::runs),
    },
    #[cfg(feature = "store")]
    Row {
        path: "/api/sql",
        method: "get",
        says: "Rows of the store's tables, those that one may see, as Arrow, JSON, lines of JSON, CSV or Parquet.",
        query: &[
            ("q", "the question, in SQL"),
            ("format", "arrow, json, jsonl, csv or parquet; else the Accept header decides"),
        ],
        answer: TABLE,
        shape: "[any]",
        public: false,
        handler: || get(super::sql::ask),
    },
    #[cfg(feature = "store")]
    Row {
        path: "/api/analyse",
        method: "get",
        says: "The analysis modules that can be named, with their parameters.",
        query: &[],
        answer: JSON,
        shape: "#Analyses",
        public: false,
        handler: || get(super::analyse::list),
    },
    #[cfg(feature = "store")]
    Row {
        path: "/api/analyse/{name}",
        method: "get",
        says: "The table that an analysis module makes of the rows that one may see; its parameters are those of the address.",
        query: &[("format", "arrow, json, jsonl, csv or parquet; else the Accept header decides")],
        answer: TABLE,
        shape: "[any]",
        public: false,
        handler: || get(super::analyse::run),
    },
    Row {
        path: "/api/stream",
        method: "get",
        says: "The list of jobs again and again while it changes.",
        query: JOB_QUERY,
        answer: EVENTS,
        shape: "#Jobs",
        public: false,
        handler: || get(stream::jobs),
    },
    Row {
        path: "/api/jobs/{job}",
        method: "get",
        says: "Everything of one job: steps over time, ranks, files, metrics, findings.",
        query: &[],
        answer: JSON,
        shape: "#Update",
        public: false,
        handler: || get(job::one),
    },
    Row {
        path: "/api/jobs/{job}/stream",
        method: "get",
        says: "One job again and again while it changes: first all of it, then what is new since the last event's id.",
        query: &[],
        answer: EVENTS,
        shape: "#Update",
        public: false,
        handler: || get(stream::job),
    },
    Row {
        path: "/api/jobs/{job}/report",
        method: "get",
        says: "The report of the last diagnosis, as the report page reads it: JSON and packed columns.",
        query: &[],
        answer: JSON,
        shape: "#Report",
        public: false,
        handler: || get(report::page),
    },
    Row {
        path: "/api/jobs/{job}/neighbours",
        method: "get",
        says: "Jobs that ran at the same time on the same storage targets, or on targets of the same servers.",
        query: &[],
        answer: JSON,
        shape: "#Neighbours",
        public: false,
        handler: || get(neighbour::neighbours),
    },
];

/// Whether anybody may ask for this: pages and scripts hold no data.
pub(super) fn is_public(path: &str) -> bool {
    !path.starts_with("/api/") || ROWS.iter().any(|row| row.public && row.path == path)
}

/// Everything that is answered.
pub(super) fn router(served: Arc<Served>) -> Router {
    let mut router = Router::new();
    for row in ROWS {
        router = router.route(row.path, (row.handler)());
    }
    for (path, handler) in asset::routes() {
        router = router.route(path, handler);
    }
    router
        .fallback(|| async { refuse(StatusCode::NOT_FOUND, "there is nothing at this address") })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&served), guard::guard))
        .with_state(served)
}

/// What an answer may be; only JSON has a shape of its own.
fn content(row: &Row) -> Value {
    let is_text = |kind: &str| JSON.contains(&kind) || EVENTS.contains(&kind);
    let of = |kind: &&str| {
        if is_text(kind) { json!({ "schema": shape::kind(row.shape) }) } else { json!({}) }
    };
    row.answer.iter().map(|kind| ((*kind).to_owned(), of(kind))).collect()
}

/// The table as OpenAPI 3.1.
pub(super) fn describe() -> Value {
    let mut paths = Map::new();
    for row in ROWS {
        let named = row.path.split('/').filter_map(|part| part.strip_prefix('{'));
        let named = named.map(|part| {
            json!({ "name": part.trim_end_matches('}'), "in": "path", "required": true, "schema": { "type": "string" } })
        });
        let asked = row.query.iter().map(|(name, says)| {
            json!({ "name": name, "in": "query", "description": says, "schema": { "type": "string" } })
        });
        let parameters: Vec<Value> = named.chain(asked).collect();
        let mut operation = json!({
            "summary": row.says,
            "parameters": parameters,
            "responses": {
                "200": { "description": "the answer", "content": content(row) },
                "default": { "description": "no, and why", "content": { "application/json": { "schema": shape::kind("#Refusal") } } },
            },
        });
        if row.public {
            operation["security"] = json!([]);
        }
        let entry = paths.entry(row.path).or_insert_with(|| json!({}));
        entry[row.method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "netra", "version": env!("CARGO_PKG_VERSION"), "description": "Jobs and their I/O, while they run. Times are seconds since 1970 unless they say otherwise, sizes bytes." },
        "components": { "schemas": shape::shapes(), "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "token": [] }],
        "paths": paths,
    })
}
