//! An answer over HTTP: rows as they come, in the form that the client accepts.
//!
//! Who asks is the server's business; this begins where a session is.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{Stream, StreamExt as _};
use netra_store::ask::{Answer, Error, Kind, Session};
use serde_json::json;

use super::format::{Format, Rows, writer};

/// Answers a question. `name` is what the client wrote behind `format=`; without it, the `Accept` header decides, and
/// without that it is JSON.
pub async fn respond(
    session: &Session,
    sql: &str,
    name: Option<&str>,
    headers: &HeaderMap,
) -> Response {
    let format = match wanted(name, headers) {
        Ok(format) => format,
        Err(wrong) => return refused(StatusCode::NOT_ACCEPTABLE, &json!({ "error": wrong })),
    };
    let answer = match session.ask(sql).await {
        Ok(answer) => answer,
        Err(error) => return question(&error),
    };
    // The first rows are waited for: most of what can go wrong goes wrong before them, and can still be said.
    match begun(answer, format).await {
        Ok(body) => ([(header::CONTENT_TYPE, media(format))], body).into_response(),
        Err(error) => question(&error),
    }
}

/// The form of the answer.
fn wanted(name: Option<&str>, headers: &HeaderMap) -> Result<Format, String> {
    if let Some(name) = name {
        return named(name)
            .ok_or_else(|| format!("there is no format {name}: arrow, json, jsonl, csv, parquet"));
    }
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    let types = accept.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
    let known = |media: &str| match media {
        "application/vnd.apache.arrow.stream" => Some(Format::Arrow),
        "application/json" | "application/*" | "*/*" | "" => Some(Format::Json),
        "application/x-ndjson" | "application/jsonl" => Some(Format::Lines),
        "text/csv" | "text/*" => Some(Format::Csv),
        "application/vnd.apache.parquet" => Some(Format::Parquet),
        _ => None,
    };
    types.filter_map(known).next().ok_or_else(|| {
        format!("none of {accept} can be made: application/vnd.apache.arrow.stream, application/json, text/csv")
    })
}

fn named(name: &str) -> Option<Format> {
    Some(match name {
        "arrow" => Format::Arrow,
        "json" => Format::Json,
        "jsonl" => Format::Lines,
        "csv" => Format::Csv,
        "parquet" => Format::Parquet,
        _ => return None,
    })
}

fn media(format: Format) -> &'static str {
    match format {
        Format::Arrow => "application/vnd.apache.arrow.stream",
        Format::Json => "application/json",
        Format::Lines => "application/x-ndjson",
        Format::Csv => "text/csv; charset=utf-8",
        Format::Parquet => "application/vnd.apache.parquet",
        Format::Table => "text/plain; charset=utf-8",
    }
}

fn question(error: &Error) -> Response {
    let status = match error.kind {
        Kind::Timeout | Kind::Stopped => StatusCode::REQUEST_TIMEOUT,
        Kind::Memory => StatusCode::INSUFFICIENT_STORAGE,
        Kind::ReadOnly => StatusCode::FORBIDDEN,
        Kind::Store => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    refused(status, &json!({ "error": error.message, "hint": error.hint }))
}

fn refused(status: StatusCode, what: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], what.to_string()).into_response()
}

/// Bytes between a writer and the connection: what a batch became, and no more.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn take(&self) -> Bytes {
        self.0.lock().map(|mut bytes| std::mem::take(&mut *bytes)).unwrap_or_default().into()
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().map_err(|_| io::Error::other("a writer has died"))?;
        all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answer as a body, once its first rows are there.
async fn begun(mut answer: Answer, format: Format) -> Result<Body, Error> {
    let first = answer.next().await.transpose()?;
    let pipe = Pipe::default();
    let made = writer(format, pipe.clone(), &answer.schema());
    let mut rows = match made {
        Ok(rows) => rows,
        Err(error) => return Ok(Body::from_stream(broken(error))),
    };
    let written = first.map_or(Ok(()), |first| rows.rows(&first));
    if let Err(error) = written {
        return Ok(Body::from_stream(broken(error)));
    }
    Ok(Body::from_stream(flowing(answer, rows, pipe)))
}

fn broken(error: io::Error) -> impl Stream<Item = io::Result<Bytes>> {
    futures::stream::iter([Err(error)])
}

/// A piece for each batch, and one for the end. An error cuts the connection, so that nobody takes half an answer for one.
fn flowing(
    answer: Answer,
    rows: Box<dyn Rows>,
    pipe: Pipe,
) -> impl Stream<Item = io::Result<Bytes>> {
    futures::stream::try_unfold(Some((answer, rows)), move |state| {
        let pipe = pipe.clone();
        async move {
            let Some((mut answer, mut rows)) = state else { return Ok(None) };
            let waiting = pipe.take();
            if !waiting.is_empty() {
                return Ok(Some((waiting, Some((answer, rows)))));
            }
            match answer.next().await {
                Some(batch) => {
                    rows.rows(&batch.map_err(io::Error::other)?)?;
                    Ok(Some((pipe.take(), Some((answer, rows)))))
                }
                None => {
                    rows.end()?;
                    Ok(Some((pipe.take(), None)))
                }
            }
        }
    })
}
