//! Jobs that have no log yet: what their processes left in segments, or still write, is made into a
//! log in a temporary folder, so that everything that reads logs reads them too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_event::segment::MAGIC;
use netra_stream::job::{Job, Name, Target};
use netra_stream::source::{Piece, scan};
use tempfile::TempDir;

use crate::{input, surroundings};

/// What was named on the command line, all as logs.
pub(crate) struct Inputs {
    /// The logs, in the order of what was typed.
    pub(crate) logs: Vec<PathBuf>,
    /// What people call those that were made here.
    names: BTreeMap<PathBuf, String>,
    /// Holds them while they are read.
    _folder: Option<TempDir>,
}

impl Inputs {
    /// Finds logs, segments, folders of either, and jobs whose processes left segments.
    pub(crate) fn find(typed: &[String]) -> Result<Inputs> {
        let mut words = Vec::new();
        let mut pieces = Vec::new();
        for word in typed {
            match segments(word)? {
                Some(found) => pieces.extend(found),
                None => words.push(word.clone()),
            }
        }
        let logs = input::expand(&words)?;
        let mut inputs = Inputs { logs, names: BTreeMap::new(), _folder: None };
        if !pieces.is_empty() {
            inputs.write(pieces)?;
        }
        Ok(inputs)
    }

    /// What people call a log.
    pub(crate) fn name(&self, path: &str) -> String {
        self.names.get(Path::new(path)).cloned().unwrap_or_else(|| path.to_owned())
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
            self.names.insert(written.path.clone(), called);
            self.logs.push(written.path);
        }
        self._folder = Some(folder);
        Ok(())
    }
}

/// The segments that a word names; nothing if it is not about segments.
fn segments(word: &str) -> Result<Option<Vec<Piece>>> {
    let path = Path::new(word);
    if path.is_file() {
        return Ok(if is_segment(path) {
            Some(vec![Piece::of_segment(path, None)?])
        } else {
            None
        });
    }
    if path.is_dir() {
        let found: Vec<PathBuf> = scan(path)?.into_iter().filter(|path| is_segment(path)).collect();
        let pieces: Result<Vec<Piece>, _> =
            found.iter().map(|path| Piece::of_segment(path, None)).collect();
        return Ok(Some(pieces?).filter(|pieces| !pieces.is_empty()));
    }
    if path.exists() || word.contains(['/', '*', '?', '[']) || word.ends_with(".darshan") {
        return Ok(None);
    }
    of_job(word).map(Some)
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
    if pieces.is_empty() {
        bail!("{key}: there is no such file, and no job of that name in {}", folder.display());
    }
    Ok(pieces)
}

fn is_segment(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC
}
