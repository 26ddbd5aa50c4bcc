//! HTTP: three lines of pyarrow or Polars give a table.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use netra_show::door::http::respond;
use netra_store::ask::{Ground, Limits, Session, Who};

use crate::server::{Server, python, script};

type Asked = Query<std::collections::HashMap<String, String>>;

async fn handler(
    State(session): State<Session>,
    Query(asked): Asked,
    headers: HeaderMap,
) -> Response {
    let format = asked.get("format").map(String::as_str);
    respond(&session, asked.get("q").map_or("", String::as_str), format, &headers).await
}

#[test]
fn three_lines_of_python_give_a_table() {
    let Some(python) = python() else { return };
    let server = Server::start();
    let ground = Ground::new(&Limits::default()).unwrap();
    let session = Session::new(Arc::clone(&server.store) as _, Who::Administrator, &ground);
    let router = Router::new().route("/api/sql", get(handler)).with_state(session);
    let tcp = server.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = tcp.local_addr().unwrap();
    server.runtime.spawn(async move { axum::serve(tcp, router).await });
    let rows = server.made.calls.len().to_string();
    script(&python, "fetch.py", &[&format!("http://{address}"), &rows]);
}
