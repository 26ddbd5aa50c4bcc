//! HTTP: three lines of pyarrow or Polars give a table, of the rows that one may see.

use std::net::SocketAddr;
use std::sync::Arc;

use netra_show::live::{Live, Setup};
use netra_show::serve::{self, Settings, Stored, User, Users};
use netra_store::ask::{Ground, Limits};
use netra_stream::clock::Clock;

use crate::server::{Server, python, script};

const ROOT: &str = "token-of-the-admin";
/// Nobody with this number has a job.
const STRANGER: &str = "token-of-a-stranger";

#[test]
fn three_lines_of_python_give_a_table() {
    let Some(python) = python() else { return };
    let server = Server::start();
    let ground = Ground::new(&Limits::default()).unwrap();
    let stored = Stored::new(Arc::clone(&server.store) as _, ground, Setup::default()).unwrap();
    let users = Users::new(vec![
        User::new("root", None, true, ROOT),
        User::new("stranger", Some(4_000_000), false, STRANGER),
    ]);
    let settings = Settings::new(SocketAddr::from(([127, 0, 0, 1], 0)), users);
    let (live, clock) = (Arc::new(Live::default()), Arc::new(Clock::default()));
    let door = serve::Server::start_over(stored, settings, live, clock).unwrap();
    let (address, rows) = (format!("http://{}", door.address), server.made.calls.len().to_string());
    script(&python, "fetch.py", &[&address, &rows, ROOT, STRANGER]);
}
