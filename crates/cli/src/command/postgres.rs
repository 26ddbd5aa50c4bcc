//! `netra postgres`: lets clients of PostgreSQL ask the store.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use netra_event::Bytes;
use netra_store::Store;
use netra_stream::daemon::Door;
use tokio::runtime::Runtime;

use crate::{door, word};

const EXAMPLES: &str = "\
Over a network a password is needed (netra password makes entries); through the socket the kernel says who asks. You and
root see everything there, others their own jobs.

Examples:
  netra postgres --socket ~/.netra                    psql -h ~/.netra netra
  netra postgres --listen 127.0.0.1:5433 --users users
  netra postgres --listen 0.0.0.0:5433 --users users --certificate cert.pem --key key.pem";

/// Which store, who may ask, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store: a directory or the URL of a bucket [default: NETRA_STORE, else your own]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// Address and port; any but those of this machine need a certificate
    #[arg(long, value_name = "ADDRESS:PORT", requires = "users")]
    listen: Option<SocketAddr>,
    /// Directory for a socket that only this machine reaches
    #[arg(long, value_name = "DIR", required_unless_present = "listen")]
    socket: Option<PathBuf>,
    /// File of users and passwords, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,
    /// Certificate (PEM): connections must then be encrypted
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// The time after which a question is given up
    #[arg(long, value_name = "TIME", value_parser = word::duration, default_value = "5min", allow_negative_numbers = true)]
    timeout: Duration,
    /// Memory for all questions together, from 1MiB on; what is more goes to disk
    #[arg(long, value_name = "SIZE", value_parser = word::memory, default_value = "1GiB", allow_negative_numbers = true)]
    memory: Bytes,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 100)]
    connections: u64,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let place = crate::stored::place(args.store.as_deref())?;
    let store = Arc::new(Store::open(place)?);
    let door = Door {
        listen: args.listen.map(|address| address.to_string()),
        socket: args.socket.clone(),
        users: args.users.clone(),
        tls: args.certificate.clone().zip(args.key.clone()),
        timeout: args.timeout,
        memory: args.memory.0,
        connections: args.connections,
    };
    let runtime = Runtime::new().context("starting threads")?;
    // A door ends only when it cannot go on.
    runtime.block_on(async { door::open(&door, store).await?.await })?;
    Ok(ExitCode::SUCCESS)
}
