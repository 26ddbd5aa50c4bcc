//! The pieces of one run: where its processes put them, and how they are found again.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use netra_event::Setting;
use netra_event::segment::State;
use netra_stream::job::Target;
use netra_stream::source::{Life, Piece, scan};

use crate::{setting, surroundings};

/// How long a process that is writing its log is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(10);

/// Where the processes of one run leave what they recorded.
pub(crate) struct Pieces {
    /// The job's key, which no other run has.
    pub(crate) key: String,
    /// The folder for logs of single processes.
    pub(crate) folder: PathBuf,
    /// Where a process that outlives the command puts its log: the folder is gone by then.
    pub(crate) later: PathBuf,
    /// The folder of segments.
    pub(crate) segments: PathBuf,
}

/// What a run left.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) complaints: Vec<String>,
}

impl Pieces {
    /// Makes the folder for the logs of single processes, on the file system of the result: the
    /// processes of a job may run on other hosts.
    pub(crate) fn prepare(target: &Target) -> Result<Pieces> {
        let parent = match target {
            Target::File(path) => path.parent().unwrap_or(Path::new("/")),
            Target::Folder(folder) | Target::Once(folder) => folder,
        };
        let about = rustix::system::uname();
        let host = about.nodename().to_string_lossy().into_owned();
        let given = setting::value(Setting::Job).map(|key| key.to_string_lossy().into_owned());
        let given = given.unwrap_or_else(|| format!("run.{host}"));
        let key = format!("{given}.{}.{}", std::process::id(), began());
        let folder = parent.join(format!(".netra-run-{host}-{}-{}", std::process::id(), began()));
        fs::create_dir_all(&folder).with_context(|| {
            format!("creating {}; --log-dir chooses another place for logs", folder.display())
        })?;
        Ok(Pieces { key, folder, later: target.today(), segments: surroundings::segments() })
    }

    /// Finds everything of this run. Processes that are just writing their logs are waited for;
    /// those that run on are left alone, and said.
    pub(crate) fn collect(&self) -> Found {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.look();
            let ending =
                |piece: &Piece| piece.life == Life::Running && piece.state == Some(State::Clean);
            if !found.pieces.iter().any(ending) || Instant::now() > deadline {
                return without_running(found, &self.later);
            }
            thread::sleep(STEP);
        }
    }

    fn look(&self) -> Found {
        let mut found = Found::default();
        // Segments first: a process removes its own after its log is there.
        for path in scan(&self.segments).unwrap_or_default() {
            if let Ok(piece) = Piece::of_segment(&path, Some(surroundings::uid()))
                && piece.job == self.key.as_bytes()
            {
                found.pieces.push(piece);
            }
        }
        let mut logs = Vec::new();
        walk(&self.folder, &mut logs);
        for path in logs {
            match Piece::of_log(&path) {
                Ok(pieces) => found.pieces.extend(pieces),
                Err(error) => found.complaints.push(crate::sentence::of(&error.into())),
            }
        }
        found
    }

    /// Removes the folder, if nothing is in it any more.
    pub(crate) fn clear(&self) {
        remove_empty(&self.folder);
    }
}

fn without_running(mut found: Found, folder: &Path) -> Found {
    let running = |piece: &mut Piece| piece.life == Life::Running;
    let extracted: Vec<Piece> = found.pieces.extract_if(.., running).collect();
    for piece in extracted {
        // Its part until MPI ended is there, or its log, whose segment it is about to remove.
        if found.pieces.iter().any(|other| other.is_same_process(&piece)) {
            continue;
        }
        found.complaints.push(format!(
            "process {} ({}) still runs; its log will be in {}",
            piece.pid,
            String::from_utf8_lossy(&piece.command).trim(),
            folder.display(),
        ));
    }
    found
}

/// Logs below a folder.
fn walk(folder: &Path, logs: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, logs);
        } else if path.extension().is_some_and(|end| end == "darshan") {
            logs.push(path);
        }
    }
}

/// Removes folders that hold nothing but such folders.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    // Refused where something is left, which is what is wanted.
    drop(fs::remove_dir(folder));
}

/// When this process began, in the kernel's clock ticks: with its number, nobody else's.
fn began() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    behind_name.split_whitespace().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0)
}
