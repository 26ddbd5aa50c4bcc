//! The doors of a store, from outside: real clients over PostgreSQL's wire, every panel of the dashboards, and DuckDB as the
//! judge of answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../../store/tests/made/mod.rs"]
mod made;

mod grafana;
mod http;
mod judge;
mod postgres;
mod server;
