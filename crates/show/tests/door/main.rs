//! The doors of a store, from outside: real clients over PostgreSQL's wire, every panel of the dashboards, the page's
//! server with its rights, and DuckDB as the judge of answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../../store/tests/made/mod.rs"]
mod made;

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../../darshan/tests/maker/mod.rs"]
mod maker;

#[expect(dead_code, reason = "another test ends processes too")]
#[path = "../feed/mod.rs"]
mod feed;

#[path = "../asking/mod.rs"]
mod asking;

mod grafana;
mod http;
mod judge;
mod known;
mod libpq;
mod more;
mod page;
mod postgres;
mod rights;
mod server;
