//! Jobs that have no log yet: what their processes left in segments, or still write, is made into a
//! log in a temporary folder, so that everything that reads logs reads them too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use netra_event::segment::MAGIC;
use netra_stream::job::{Job, Name, Target};
use netra_stream::source::{Piece, scan};
use tempfile::TempDir;

use crate::{input, surroundings};

/// What was named on the command line, all as logs.
pub(crate) struct Inputs {
    /// The logs, in the order of what was typed.
    pub(crate) logs: Vec<PathBuf>,
    /// Words that are neither files nor jobs with segments: jobs that may be stored.
    pub(crate) jobs: Vec<String>,
    /// What people call those that were made here, and how many of their processes still run.
    made: BTreeMap<PathBuf, (String, u64)>,
    /// Holds them while they are read.
    _folder: Option<TempDir>,
}

impl Inputs {
    /// Finds logs, segments, folders of either, and jobs whose processes left segments.
    pub(crate) fn find(typed: &[String]) -> Result<Inputs> {
        let mut words = Vec::new();
        let mut pieces = Vec::new();
        let mut jobs = Vec::new();
        for word in typed {
            match segments(word)? {
                Found::Segments(found) => pieces.extend(found),
                Found::Files => words.push(word.clone()),
                Found::Nothing => jobs.push(word.clone()),
            }
        }
        let logs = input::expand(&words)?;
        let mut inputs = Inputs { logs, jobs, made: BTreeMap::new(), _folder: None };
        if !pieces.is_empty() {
            inputs.write(pieces)?;
        }
        Ok(inputs)
    }

    /// What people call a log.
    pub(crate) fn name(&self, path: &str) -> String {
        self.made.get(Path::new(path)).map_or_else(|| path.to_owned(), |made| made.0.clone())
    }

    /// How many processes of the job behind a log still run.
    pub(crate) fn running(&self, path: &str) -> u64 {
        self.made.get(Path::new(path)).map_or(0, |made| made.1)
    }

    fn write(&mut self, pieces: Vec<Piece>) -> Result<()> {
        let folder =
            TempDir::with_prefix("netra-").context("creating a folder for logs of segments")?;
        for (number, job) in Job::group(pieces).into_iter().enumerate() {
            let target = Target::File(folder.path().join(format!("{number}.darshan")));
            let name = Name { user: &surroundings::user(), program: None };
            let written = job
                .write(&target, name, &mut |_, _, _| {})
                .with_context(|| format!("job {}", job.key()))?;
            for (path, error) in &written.left_out {
                eprintln!("netra: {} is left out: {error:#}", path.display());
            }
            let running = job.running().count();
            let still =
                if running > 0 { format!(", {running} still running") } else { String::new() };
            let processes = job.pieces().len();
            let noun = if processes == 1 { "process" } else { "processes" };
            let called = format!("job {} ({processes} {noun}{still})", job.key());
            self.made.insert(written.path.clone(), (called, running as u64));
            self.logs.push(written.path);
        }
        self._folder = Some(folder);
        Ok(())
    }
}

/// What a word names.
enum Found {
    /// What processes left.
    Segments(Vec<Piece>),
    /// Logs, or what is no job in any case.
    Files,
    /// No file, and no job with segments.
    Nothing,
}

/// What a word names.
fn segments(word: &str) -> Result<Found> {
    let path = Path::new(word);
    if path.is_file() {
        return Ok(if is_segment(path) {
            Found::Segments(vec![Piece::of_segment(path, None)?])
        } else {
            Found::Files
        });
    }
    if path.is_dir() {
        let found: Vec<PathBuf> = scan(path)?.into_iter().filter(|path| is_segment(path)).collect();
        let pieces: Result<Vec<Piece>, _> =
            found.iter().map(|path| Piece::of_segment(path, None)).collect();
        let pieces = pieces?;
        return Ok(if pieces.is_empty() { Found::Files } else { Found::Segments(pieces) });
    }
    if path.exists() || !is_job(word) {
        return Ok(Found::Files);
    }
    let pieces = of_job(word)?;
    Ok(if pieces.is_empty() { Found::Nothing } else { Found::Segments(pieces) })
}

/// Whether a word can be a job's key or number, and not a file that is not there.
pub(crate) fn is_job(word: &str) -> bool {
    !word.contains(['/', '*', '?', '[']) && !word.ends_with(".darshan")
}

/// Says that a word is nothing that is known here.
pub(crate) fn no_such_job(key: &str) -> anyhow::Error {
    let folder = surroundings::segments();
    let says = "there is no such file, and no job of that name in";
    anyhow::anyhow!("{key}: {says} {}", folder.display())
}

/// The user's segments of a job, by its key.
fn of_job(key: &str) -> Result<Vec<Piece>> {
    let folder = surroundings::segments();
    let mut pieces = Vec::new();
    for path in scan(&folder)? {
        if let Ok(piece) = Piece::of_segment(&path, Some(surroundings::uid()))
            && piece.job == key.as_bytes()
        {
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

fn is_segment(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC
}
