//! A job becomes a log: each process's segment is encoded, all are merged, and what they were made
//! of is removed once the result is safe.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use netra_darshan::encode::{self, Options, Sink};
use netra_darshan::{Damage, Log, Reason, merge};
use netra_event::Rank;

use super::draft::Draft;
use super::{Job, Name, Target};
use crate::source::{Kind, Life, Piece};
use crate::{Error, Result};

/// Bytes that are written at once.
const BUFFER: usize = 64 << 10;

/// What came of a job.
#[derive(Debug)]
pub struct Written {
    /// The log.
    pub path: PathBuf,
    /// Pieces that are not in it, and why.
    pub left_out: Vec<(PathBuf, Error)>,
    /// What is missing from pieces that are in it.
    pub damage: Vec<(PathBuf, Damage)>,
}

impl Job {
    /// Writes the log. `each` sees every process's own log before they are merged, with the
    /// process's number in the result.
    ///
    /// Nothing is removed: see [`Job::remove`].
    ///
    /// # Errors
    /// Nothing of the job could be read, or the log could not be written.
    pub fn write(
        &self,
        target: &Target,
        name: Name<'_>,
        each: &mut dyn FnMut(&Piece, Option<Rank>, &Log),
    ) -> Result<Written> {
        let Some(speaker) = self.speaker() else {
            return Err(Error::Log {
                path: PathBuf::from("the job"),
                source: netra_darshan::Error::NoInput,
            });
        };
        let path = target.path(speaker, name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = &folder.unwrap_or(Path::new(".")).to_owned();
        fs::create_dir_all(folder).map_err(Error::io("creating", folder))?;
        let mut written = Written { path, left_out: Vec::new(), damage: Vec::new() };
        let mut logs = Vec::new();
        let mut origins = Vec::new();
        let mut speaks = 0;
        for (piece, &number) in self.pieces.iter().zip(&self.numbers) {
            match self.log(piece, number, folder) {
                Ok(log) => {
                    each(piece, number, &log);
                    if std::ptr::eq(piece, speaker) {
                        speaks = logs.len();
                    }
                    logs.push(log);
                    origins.push(piece.path.clone());
                }
                Err(error) => written.left_out.push((piece.path.clone(), error)),
            }
        }
        self.merge(logs, speaks, folder, &mut written, &origins)?;
        Ok(written)
    }

    /// One process's log, in a file that has no name.
    fn log(&self, piece: &Piece, number: Option<Rank>, folder: &Path) -> Result<Log> {
        let segment = piece.load()?;
        let view = segment.view();
        let file =
            tempfile::tempfile_in(folder).map_err(Error::io("creating a file in", folder))?;
        let mut sink = Storage { out: BufWriter::with_capacity(BUFFER, file) };
        let options = Options {
            rank: number,
            nprocs: Some(self.nprocs),
            without_records: number.is_none(),
            ..Options::default()
        };
        let mut words = vec![0; encode::needed(&view)];
        encode::log(view, options, &mut sink, &mut words, &mut vec![0; BUFFER])
            .map_err(|source| Error::Encode { path: piece.path.clone(), source })?;
        let file = sink
            .out
            .into_inner()
            .map_err(|error| Error::io("writing a file in", folder)(error.into_error()))?;
        Log::new(file).map_err(|source| Error::Log { path: piece.path.clone(), source })
    }

    fn merge(
        &self,
        logs: Vec<Log>,
        speaker: usize,
        folder: &Path,
        written: &mut Written,
        origins: &[PathBuf],
    ) -> Result<()> {
        let path = written.path.clone();
        let failed = |source| Error::Log { path: path.clone(), source };
        let (file, draft) =
            Draft::create(folder).map_err(Error::io("creating a file in", folder))?;
        // As an MPI job's log has it: what every rank did is one record.
        let ranks = self.ranks();
        let options = merge::Options {
            shared: ranks.is_some(),
            ranks: Some(ranks.unwrap_or(0)),
            speaker,
            attendance: self.attendance.as_ref(),
            ..Default::default()
        };
        let (file, merged) = merge::merge(logs, options, file).map_err(failed)?;
        // That events ran out is no damage: the pieces say how many.
        let damage = merged.damage.into_iter();
        for (at, damage) in damage.filter(|(_, damage)| damage.reason != Reason::Incomplete) {
            let origin = origins.get(at).cloned().unwrap_or_default();
            written.damage.push((origin, damage));
        }
        file.sync_all().map_err(Error::io("writing", &path))?;
        draft.publish(&file, &path).map_err(|refused| match refused.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Exists { path: path.clone() },
            _ => Error::io("writing", &path)(refused),
        })?;
        // The name is safe only when its folder is.
        let folder_file = File::open(folder).map_err(Error::io("opening", folder))?;
        folder_file.sync_all().map_err(Error::io("writing", folder))
    }

    /// Removes the pieces that are in a log, except those of processes that still run or of which
    /// that is not known. Says how many files stay.
    #[must_use]
    pub fn remove(&self, written: &Written) -> usize {
        let mut kept = 0;
        let mut seen = HashSet::new();
        for piece in self.pieces.iter().chain(&self.earlier) {
            let missing = written.left_out.iter().any(|(path, _)| *path == piece.path);
            // A job's log holds the parts of many.
            if !seen.insert(&piece.path) {
                continue;
            }
            let over = piece.life == Life::Over && !(piece.kind == Kind::Segment && grew(piece));
            if !over || missing || fs::remove_file(&piece.path).is_err() {
                kept += 1;
            }
        }
        kept
    }
}

/// Whether a dead process's segment is another now: a number can be used again at any moment.
fn grew(piece: &Piece) -> bool {
    let now = Piece::of_segment(&piece.path, None);
    now.is_ok_and(|now| now.pid != piece.pid || now.start != piece.start || now.life != Life::Over)
}

/// A log on its way to disk.
struct Storage {
    out: BufWriter<File>,
}

impl Sink for Storage {
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.out.write_all(bytes).is_ok()
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        let mut put = || -> std::io::Result<()> {
            self.out.flush()?;
            let file = self.out.get_mut();
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(())
        };
        put().is_ok()
    }
}
