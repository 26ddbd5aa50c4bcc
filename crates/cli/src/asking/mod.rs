//! Asking the store: which one, how the answer is written, and how people wait for it.

mod complete;
mod print;
mod shell;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use netra_event::Bytes;
use netra_show::door;
use netra_store::Store;
use netra_store::ask::{Ground, Limits, Session, Who};

use crate::{stored, word};

pub(crate) use print::print;
pub(crate) use shell::talk;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, for people
    #[value(name = "text", alias = "table")]
    Table,
    /// Comma-separated, names in the first line
    Csv,
    /// One array of objects
    Json,
    /// One object a line
    #[value(name = "json-lines", alias = "jsonl")]
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
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Where it goes; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// The time after which a question is given up, such as 5min
    #[arg(long, value_name = "TIME", value_parser = word::duration, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Memory that a question may take, from 1MiB on; what is more goes to disk
    #[arg(long, value_name = "SIZE", value_parser = word::memory, default_value = "1GiB", allow_negative_numbers = true)]
    memory: Bytes,
}

/// The exit code of a question that had so many rows; that it had none is said.
pub(crate) fn found(rows: u64, nothing: &str) -> ExitCode {
    if rows == 0 {
        eprintln!("netra: {nothing}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
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
        let place = stored::place(self.store.as_deref())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("starting threads")?;
        let store = Arc::new(Store::open(place)?);
        let limits = Limits { memory: self.memory, timeout: self.timeout, ..Limits::default() };
        let ground = Ground::new(&limits)?;
        let session = Session::new(store, Who::Administrator, &ground);
        Ok(Asker { runtime, session, ground })
    }
}
