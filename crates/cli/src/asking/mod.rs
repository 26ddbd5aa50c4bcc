//! Asking the store: which one, how the answer is written, and how people wait for it.

mod complete;
mod print;
mod shell;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use netra_event::Bytes;
use netra_show::door;
use netra_store::ask::{Ground, Limits, Session, Who};
use netra_store::{Place, Store};

pub(crate) use print::print;
pub(crate) use shell::talk;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, for people
    Table,
    /// Comma-separated, names in the first line
    Csv,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
    /// A Parquet file
    Parquet,
    /// A stream of Arrow record batches
    Arrow,
}

impl From<Format> for door::Format {
    fn from(format: Format) -> door::Format {
        match format {
            Format::Table => door::Format::Table,
            Format::Csv => door::Format::Csv,
            Format::Json => door::Format::Json,
            Format::Jsonl => door::Format::Lines,
            Format::Parquet => door::Format::Parquet,
            Format::Arrow => door::Format::Arrow,
        }
    }
}

/// Which store, and how the answer is written.
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// The store: a directory or the URL of a bucket [default: NETRA_STORE, else your own]
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
    /// Where it goes; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Seconds after which a question is given up
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Memory that a question may take, in MiB; what is more goes to disk
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: u64,
}

/// A session, and what runs it.
pub(crate) struct Asker {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) session: Session,
    pub(crate) ground: Ground,
}

impl Asking {
    /// Opens the store. Whoever can read its files may see all that is in them.
    pub(crate) fn open(&self) -> Result<Asker> {
        let place = match &self.store {
            Some(text) => Place::parse(text)?,
            None => Place::usual()?,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("starting threads")?;
        let store = Arc::new(Store::open(place)?);
        let limits = Limits {
            memory: Bytes(self.memory << 20),
            timeout: self.timeout.map(Duration::from_secs),
            ..Limits::default()
        };
        let ground = Ground::new(&limits)?;
        let session = Session::new(store, Who::Administrator, &ground);
        Ok(Asker { runtime, session, ground })
    }
}
