//! PostgreSQL's wire protocol, so that psql, pandas, JDBC and Grafana need no plug-in.
//!
//! The listener, the passwords, the cursors and every statement that is not a question are ours; parsing what clients
//! send, the `pg_catalog` they look into and the encoding of rows are datafusion-postgres'. A connection gets its
//! [`Session`](netra_store::ask::Session) only when it has proved who it is, and everything it asks goes through that.

mod cancel;
mod catalog;
mod command;
mod connection;
mod copy;
mod cursor;
mod encode;
mod execute;
mod listen;
mod parameter;
mod parse;
mod reflect;
mod refuse;
mod setting;
mod startup;
mod user;

pub use crate::tls::Tls;
pub use listen::{Listener, Settings, serve};
pub use user::{Users, entry};

/// The version that clients are told: they decide by it which catalog tables to ask for.
const VERSION: &str = "15.0";

/// What `version()` says.
fn version() -> String {
    format!("PostgreSQL {VERSION} (netra {})", env!("CARGO_PKG_VERSION"))
}
