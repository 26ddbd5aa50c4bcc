//! What all commands that read logs have in common: the logs, the format, the output, and how
//! one log after another is opened, shown and counted.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use netra_darshan::read::{Log, Source};
use netra_darshan::{Damage, Error};
use netra_event::Bytes;
use netra_show::{Progress, sentence};

use crate::input;
use crate::outcome::Outcome;
use crate::output::{self, Output};

/// How the result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One document a log
    Json,
    /// A header line and rows
    Csv,
}

/// Which logs, how, and where to.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// Logs, folders of logs, or quoted patterns such as '2026/*/*.darshan'
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<String>,
    /// How to write the result
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Where to write it; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// What a command does with one log: it writes, and gives what is missing.
pub(crate) trait Show {
    /// Before the first of so many logs.
    fn begin(&mut self, out: &mut Output, logs: usize) -> io::Result<()>;
    /// One log.
    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>>;
}

/// Shows every log. One that cannot be read is said and counted, and the next one is tried.
pub(crate) fn show(reading: &Reading, face: &mut impl Show) -> Result<Outcome> {
    let paths = input::expand(&reading.logs)?;
    let mut out = output::open(&reading.output)?;
    let progress = Arc::new(Mutex::new(Progress::new(total(&paths))));
    let mut outcome = Outcome::default();
    face.begin(&mut out, paths.len()).context(WRITING)?;
    for path in &paths {
        match open(path, &progress) {
            Ok(log) => {
                let missing = face.log(&mut out, &path.to_string_lossy(), &log).context(WRITING)?;
                lock(&progress).clear();
                complain(path, &missing);
                outcome.read(missing.is_empty());
            }
            Err(error) => {
                lock(&progress).clear();
                outcome.unreadable(path, &error.into());
            }
        }
    }
    out.into_inner().map_err(io::IntoInnerError::into_error).context(WRITING)?;
    Ok(outcome)
}

const WRITING: &str = "writing the output";

/// Says what is missing from a log.
pub(crate) fn complain(path: &Path, missing: &[Damage]) {
    for damage in missing {
        eprintln!("netra: {}: {}", path.display(), sentence(damage));
    }
}

/// Bytes of all logs, for the progress bar.
fn total(paths: &[PathBuf]) -> Bytes {
    paths.iter().filter_map(|path| path.metadata().ok()).map(|data| Bytes(data.len())).sum()
}

fn open(path: &Path, progress: &Arc<Mutex<Progress>>) -> Result<Log, Error> {
    let file = File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    Log::new(Watched { file, progress: Arc::clone(progress) })
}

/// A file whose reading moves the progress bar.
struct Watched {
    file: File,
    progress: Arc<Mutex<Progress>>,
}

impl Source for Watched {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let count = Source::read_at(&self.file, offset, bytes)?;
        lock(&self.progress).add(Bytes(count as u64));
        Ok(count)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
}

/// A panic elsewhere leaves nothing half done in a progress bar.
fn lock(progress: &Mutex<Progress>) -> std::sync::MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
