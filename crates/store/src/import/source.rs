//! One thing to import: a log, the segments of a job, or a file of the connector.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use netra_darshan::Log;
use netra_event::frame::Producer;
use netra_stream::source::Piece;

use super::commit::Known;
use super::connector;
use super::identity::Identity;
use super::row::JobRow;
use super::streamed::Streamed;
use super::tables::Tables;
use super::{log, section, segment, sent};
use crate::{Mark, Result, Store};

/// One thing to import.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source {
    /// A log.
    Log(PathBuf),
    /// What processes of one job left.
    Segments(Vec<Piece>),
    /// Messages or a table of the connector.
    Connector(PathBuf, connector::Kind),
}

/// What a source holds, as rows.
pub(super) struct Found {
    pub(super) identity: Identity,
    pub(super) kind: &'static str,
    pub(super) jobs: Vec<JobRow>,
    /// Rows by table; the jobs themselves are among them.
    pub(super) rows: Vec<(&'static str, RecordBatch)>,
    pub(super) missing: Vec<String>,
    /// Rows that went ahead.
    pub(super) ahead: u64,
    /// The job whose rows give way: what is known of it comes from a copy that lacked more.
    pub(super) replaces: Option<String>,
}

/// What reading came to.
pub(super) enum Reading {
    Found(Box<Found>),
    Known { job: Option<String> },
    Refused(String),
}

/// Where pieces of large traces go while the rest is read.
#[derive(Clone)]
pub(super) struct Large {
    pub(super) store: Arc<Store>,
    pub(super) runtime: tokio::runtime::Handle,
}

impl Large {
    /// Puts a piece into a table, once.
    pub(super) fn put(
        &self,
        identity: &Identity,
        piece: i64,
        table: &str,
        rows: &RecordBatch,
    ) -> Result<()> {
        let mark = Mark { name: format!("import {}", identity.0), position: piece };
        let rows = std::slice::from_ref(rows);
        self.runtime.block_on(self.store.append(table, rows, Some(&mark)))?;
        Ok(())
    }
}

impl Source {
    /// The files it is.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Source::Log(path) | Source::Connector(path, _) => vec![path.clone()],
            Source::Segments(pieces) => pieces.iter().map(|piece| piece.path.clone()).collect(),
        }
    }

    /// Their length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let length = |path: &PathBuf| path.metadata().map_or(0, |about| about.len());
        self.paths().iter().map(length).sum()
    }

    /// What people call it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Source::Log(path) | Source::Connector(path, _) => path.display().to_string(),
            Source::Segments(pieces) => {
                let key = pieces.first().map(|piece| piece.job.as_slice()).unwrap_or_default();
                format!("the segments of job {}", String::from_utf8_lossy(key))
            }
        }
    }

    pub(super) fn read(&self, known: &Known, large: &Large) -> Reading {
        match self {
            Source::Log(path) => match Log::open(path) {
                Ok(log) => read_log(path, &log, "log", known, large),
                Err(error) => Reading::Refused(said(&error)),
            },
            Source::Segments(pieces) => match segment::log(pieces) {
                Ok((log, _folder)) => read_log(&self.path(), &log, "segment", known, large),
                Err(why) => Reading::Refused(why),
            },
            Source::Connector(path, kind) => {
                let identity = match Identity::of_file(path) {
                    Ok(identity) => identity,
                    Err(error) => return Reading::Refused(said(&error)),
                };
                if let Some(job) = known.import(&identity) {
                    return Reading::Known { job };
                }
                match sent::take(path, *kind, identity) {
                    Ok(found) => Reading::Found(Box::new(found)),
                    Err(why) => Reading::Refused(why),
                }
            }
        }
    }
}

fn read_log(path: &Path, log: &Log, kind: &'static str, known: &Known, large: &Large) -> Reading {
    let (producers, key) = section::producers(log);
    let identity = match producers.is_empty() {
        false => Ok(Identity::of_processes(&producers)),
        true => Identity::of_file(path),
    };
    let identity = match identity {
        Ok(identity) => identity,
        Err(error) => return Reading::Refused(said(&error)),
    };
    let place = match place(log, (&producers, key), &identity, known, large) {
        Ok(place) => place,
        Err(error) => return Reading::Refused(said(&error)),
    };
    let (key, replaces) = match place {
        Where::New(key) => (key, None),
        Where::Better(job) => (job.clone(), Some(job)),
        Where::There(job) => return Reading::Known { job },
    };
    // What takes the place of other rows comes at once, and none of it before.
    let ahead = Some(large.clone()).filter(|_| replaces.is_none());
    let mut tables = Tables::new(identity.clone(), ahead);
    let taken = Streamed::find(&key, large).and_then(|streamed| {
        let job = log::take(path, log, key, streamed, &mut tables)?;
        tables.job(&job)?;
        Ok((job, tables.take()?))
    });
    match taken {
        Ok((job, rows)) => {
            let partial = job.partial.iter();
            let partial =
                partial.map(|module| format!("{module} ran out of memory and counts only part"));
            let missing: Vec<String> = partial.chain(job.remarks.iter().cloned()).collect();
            if let Some(old) = &replaces
                && missing.len() >= known.lacks(old)
            {
                return Reading::Known { job: replaces };
            }
            let ahead = tables.ahead();
            Reading::Found(Box::new(Found {
                identity,
                kind,
                jobs: vec![job],
                rows,
                missing,
                ahead,
                replaces,
            }))
        }
        Err(error) => Reading::Refused(said(&error)),
    }
}

/// Where the rows of a log belong.
enum Where {
    /// To a job of this key, which is new.
    New(String),
    /// To a job that is there and that lacks something; nobody but importers wrote it.
    Better(String),
    /// They are there.
    There(Option<String>),
}

fn place(
    log: &Log,
    (producers, key): (&[Producer], Option<String>),
    identity: &Identity,
    known: &Known,
    large: &Large,
) -> Result<Where> {
    let there = match (known.import(identity), key) {
        (Some(job), _) => job,
        (None, Some(key)) => match known.key(&key, producers, identity, large)? {
            Ok(key) => return Ok(Where::New(key)),
            Err(job) => Some(job),
        },
        (None, None) => match section::cut_off(log) {
            // A log of netra's own whose section is gone still says whose it is.
            Some((key, pid)) => match known.of_process(&key, pid, large)? {
                Some(job) => Some(job),
                None => match known.key(&key, &[], identity, large)? {
                    Ok(key) => return Ok(Where::New(key)),
                    Err(job) => Some(job),
                },
            },
            None => {
                let number = log.job().numbers.jobid;
                return Ok(Where::New(format!("darshan.{number}.{}", identity.short())));
            }
        },
    };
    match there {
        Some(job) if known.lacks(&job) > 0 && !Known::is_streamed(&job, large)? => {
            Ok(Where::Better(job))
        }
        there => Ok(Where::There(there)),
    }
}

/// An error with its causes.
pub(super) fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        let why_text = why.to_string();
        if !text.contains(&why_text) {
            text = format!("{text}: {why_text}");
        }
        cause = why.source();
    }
    text
}
