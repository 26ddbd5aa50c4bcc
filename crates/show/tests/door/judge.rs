//! DuckDB over the same files gives the same answers.

use netra_show::door::{Format, writer};
use netra_store::ask::{Ground, Limits, Session, Who};
use serde_json::{Value, json};

use crate::server::{Server, python, script};

/// Questions in words that both understand, one a line.
const QUESTIONS: &str = include_str!("questions.sql");

#[test]
fn duckdb_gives_the_same_answers() {
    let questions: Vec<&str> = QUESTIONS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("--"))
        .collect();
    assert!(questions.len() >= 60, "only {} questions", questions.len());
    let server = Server::start();
    let ground = Ground::new(&Limits::default()).unwrap();
    let session = Session::new(server.store.clone(), Who::Administrator, &ground);
    let answers: Vec<Value> = questions
        .iter()
        .map(|sql| {
            let rows = server.runtime.block_on(rows(&session, sql));
            assert!(!rows.is_empty(), "nobody learns from an empty answer: {sql}");
            json!({"sql": sql, "rows": rows})
        })
        .collect();
    let Some(python) = python() else { return };
    let asked = server.folder.path().join("asked.json");
    std::fs::write(&asked, serde_json::to_vec(&answers).unwrap()).unwrap();
    let store = server.folder.path().join("store");
    script(&python, "judge.py", &[store.to_str().unwrap(), asked.to_str().unwrap()]);
}

/// An answer as the JSON door writes it, values in the order of the columns.
async fn rows(session: &Session, sql: &str) -> Vec<Value> {
    let answer = session.ask(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let schema = answer.schema();
    let batches = answer.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut text = Vec::new();
    let mut out = writer(Format::Json, &mut text, &schema).unwrap();
    for batch in &batches {
        out.rows(batch).unwrap();
    }
    out.end().unwrap();
    let all: Vec<Value> = serde_json::from_slice(&text).unwrap();
    all.into_iter()
        .map(|row| schema.fields().iter().map(|field| row[field.name()].clone()).collect())
        .collect()
}
