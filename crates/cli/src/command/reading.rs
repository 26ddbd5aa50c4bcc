//! What all commands that read logs have in common: the logs, the format, the output, and how
//! one log after another is opened, shown and counted.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_darshan::record::header::Compression;
use netra_show::sentence;

use crate::input;
use crate::open::Opener;
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

/// How a command that makes one thing speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Told {
    /// For people
    Text,
    /// For programs
    Json,
}

/// How a new log is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compress {
    /// What Darshan writes itself
    Zlib,
    /// Smaller, slower
    Bzip2,
    /// As it is: the real tools do not read modules above 1 MiB of it
    None,
}

impl From<Compress> for Compression {
    fn from(method: Compress) -> Compression {
        match method {
            Compress::Zlib => Compression::Zlib,
            Compress::Bzip2 => Compression::Bzip2,
            Compress::None => Compression::None,
        }
    }
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
    /// After the last.
    fn end(&mut self, _: &mut Output) -> io::Result<()> {
        Ok(())
    }
}

/// Shows every log. One that cannot be read is said and counted, and the next one is tried.
pub(crate) fn show(reading: &Reading, face: &mut impl Show) -> Result<Outcome> {
    show_all(&input::expand(&reading.logs)?, reading, face)
}

/// The same for logs that have been found already.
pub(crate) fn show_all(
    paths: &[PathBuf],
    reading: &Reading,
    face: &mut impl Show,
) -> Result<Outcome> {
    let mut out = output::open(&reading.output, paths)?;
    let opener = Opener::new(paths);
    let mut outcome = Outcome::default();
    face.begin(&mut out, paths.len())?;
    for path in paths {
        match opener.open(path) {
            Ok(log) => {
                let missing = face.log(&mut out, &path.to_string_lossy(), &log)?;
                opener.clear();
                complain(path, &missing);
                outcome.read(missing.is_empty());
            }
            Err(error) => {
                opener.clear();
                outcome.unreadable(path, &error.into());
            }
        }
    }
    face.end(&mut out)?;
    out.finish()?;
    Ok(outcome)
}

/// Says what is missing from a log.
pub(crate) fn complain(path: &Path, missing: &[Damage]) {
    for damage in missing {
        eprintln!("netra: {}: {}", path.display(), sentence(damage));
    }
}
