//! The pieces of one run: where its processes put them, how long they are waited for, and how they are found again.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use netra_event::Setting;
use netra_event::segment::State;
use netra_stream::job::Target;
use netra_stream::source::{Life, Piece, Roll, began, scan};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::{setting, surroundings};

/// How long a process that is writing its log is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(10);
/// How long nobody looks for processes that are new, while others are waited for.
const LOOK: Duration = Duration::from_millis(50);
/// What the names of runs' folders begin with.
const BEGIN: &str = ".netra-run-";
/// What a job's key ends in lies behind it: the run's number and start.
const LOGS: &str = "logs";
/// The folder of logs once the command has ended: who comes later finds the other one gone.
const TAKEN: &str = "taken";

/// Where the processes of one run leave what they recorded.
pub(crate) struct Pieces {
    /// The job's key, which no other run has.
    pub(crate) key: String,
    /// The run's own folder, with the rolls in it.
    pub(crate) folder: PathBuf,
    /// Where a process that outlives the command puts its log.
    pub(crate) later: PathBuf,
    /// The folder of segments.
    pub(crate) segments: PathBuf,
    /// When the run began, in the kernel's clock ticks: no process of it is older.
    since: u64,
}

/// What a run left.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) complaints: Vec<String>,
    pub(crate) roll: Roll,
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
        let (pid, since) = (std::process::id(), own_start());
        let key = format!("{given}.{pid}.{since}");
        let folder = parent.join(format!("{BEGIN}{host}-{pid}-{since}"));
        let pieces = Pieces {
            key,
            folder,
            later: target.today(),
            segments: surroundings::segments(),
            since,
        };
        fs::create_dir_all(pieces.logs()).with_context(|| {
            format!(
                "creating {}; --log-dir chooses another place for logs",
                pieces.folder.display()
            )
        })?;
        Ok(pieces)
    }

    /// Where processes put their logs.
    pub(crate) fn logs(&self) -> PathBuf {
        self.folder.join(LOGS)
    }

    /// Waits until no process of the job runs, or for so long; the numbers of those that do. They are watched from
    /// outside: nobody becomes our child, and none notices.
    pub(crate) fn wait(&self, patience: Duration) -> BTreeSet<u32> {
        let deadline = Instant::now() + patience;
        let variable = format!("NETRA_ROLL={}", self.folder.display());
        loop {
            let running = Roll::read(&self.folder).running(variable.as_bytes(), self.since);
            let left = deadline.saturating_duration_since(Instant::now());
            if running.is_empty() || left.is_zero() {
                return running;
            }
            until_one_ends(&running, left.min(LOOK));
        }
    }

    /// Finds everything of this run. Processes that are just writing their logs are waited for;
    /// those that run on are left alone, and said.
    pub(crate) fn collect(&self, running: &BTreeSet<u32>) -> Found {
        // Who writes a log from now on finds the folder gone, and puts it where it stays.
        let taken = fs::rename(self.logs(), self.folder.join(TAKEN));
        let deadline = Instant::now() + PATIENCE;
        let mut found = loop {
            let found = look(&self.folder, &self.segments, |job| job == self.key.as_bytes());
            let ending =
                |piece: &Piece| piece.life == Life::Running && piece.state == Some(State::Clean);
            if !found.pieces.iter().any(ending) || Instant::now() > deadline {
                break without_running(found, &self.later);
            }
            thread::sleep(STEP);
        };
        if let Err(error) = taken {
            let logs = self.logs();
            found.complaints.push(format!("{}: {error}", logs.display()));
        }
        found.roll.with_running(running);
        found
    }

    /// Parts that have come since, of processes that have ended: a log that could not be kept because its folder
    /// was taken away leaves its segment.
    pub(crate) fn late(&self, known: &[Piece]) -> Vec<Piece> {
        let found = look(&self.folder, &self.segments, |job| job == self.key.as_bytes());
        let is_new = |piece: &Piece| {
            piece.life == Life::Over && !known.iter().any(|other| other.is_same_process(piece))
        };
        found.pieces.into_iter().filter(is_new).collect()
    }

    /// Removes the folder, if no log is in it any more.
    pub(crate) fn clear(&self) {
        clear(&self.folder);
    }
}

/// Folders of runs of `netra run` that are gone, below these.
pub(crate) fn left_behind(parents: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let entries = parents.iter().flat_map(|parent| fs::read_dir(parent).into_iter().flatten());
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_of_nobody(&entry.file_name().to_string_lossy()))
        .filter(|entry| {
            // Nobody else's: what is in it is read and then removed.
            entry.metadata().is_ok_and(|about| about.is_dir() && about.uid() == surroundings::uid())
        })
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders
}

/// Whether a name is that of a run of this host whose process is gone.
fn is_of_nobody(name: &str) -> bool {
    let about = rustix::system::uname();
    let host = about.nodename().to_string_lossy();
    let rest = name.strip_prefix(BEGIN).and_then(|rest| rest.strip_prefix(&*host));
    let Some(numbers) = rest.and_then(|rest| rest.strip_prefix('-')) else { return false };
    let Some((pid, start)) = numbers.split_once('-') else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse::<u64>()) else { return false };
    began(pid) != Some(start)
}

/// Everything of a run that is gone, by its folder: parts that are over, with what was kept of their events while they
/// ran.
pub(crate) fn rest_of(folder: &Path, segments: &Path) -> Found {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut numbers = name.rsplitn(3, '-');
    let (start, pid) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let end = format!(".{pid}.{start}");
    let mut found = look(folder, segments, |job| job.ends_with(end.as_bytes()));
    let kept = Some(folder.join("live/trace")).filter(|trace| trace.is_dir());
    for piece in &mut found.pieces {
        piece.kept.clone_from(&kept);
    }
    found
}

/// Everything of a job that lies in a run's folder, in a folder of segments, and where processes said that theirs lie.
fn look(folder: &Path, segments: &Path, is_of_job: impl Fn(&[u8]) -> bool) -> Found {
    let mut found = Found { roll: Roll::read(folder), ..Found::default() };
    let mut users = BTreeSet::from([surroundings::uid()]);
    let mut folders = found.roll.folders();
    folders.insert(segments.to_owned());
    // Nobody but root can read what others have, and reads that of those alone whom the roll names.
    if surroundings::uid() == 0 {
        let base = segments.parent().unwrap_or(Path::new("/"));
        for user in found.roll.users() {
            users.insert(*user);
            folders.insert(base.join(format!("netra-{user}")));
        }
    }
    // Segments first: a process removes its own after its log is there.
    for path in folders.iter().flat_map(|folder| scan(folder).unwrap_or_default()) {
        let owner = fs::symlink_metadata(&path).map(|about| about.uid());
        let Some(owner) = owner.ok().filter(|owner| users.contains(owner)) else { continue };
        if let Ok(piece) = Piece::of_segment(&path, Some(owner))
            && is_of_job(&piece.job)
        {
            found.pieces.push(piece);
        }
    }
    for path in logs_below(folder) {
        match Piece::of_log(&path) {
            Ok(pieces) => found.pieces.extend(pieces),
            Err(error) => found.complaints.push(crate::sentence::of(&error.into())),
        }
    }
    found
}

fn until_one_ends(running: &BTreeSet<u32>, most: Duration) {
    let open = |pid: &u32| {
        let pid = Pid::from_raw(i32::try_from(*pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok()
    };
    let watched: Vec<_> = running.iter().filter_map(open).collect();
    let mut list: Vec<PollFd<'_>> =
        watched.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
    let most = Timespec::try_from(most).ok();
    // A kernel without such descriptors, or a signal: then it is looked again.
    if list.is_empty() || poll(&mut list, most.as_ref()).is_err() {
        thread::sleep(STEP);
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
pub(crate) fn logs_below(folder: &Path) -> Vec<PathBuf> {
    let mut logs = Vec::new();
    walk(folder, &mut logs);
    logs
}

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

/// Removes a run's folder, if nothing but its rolls is in it any more.
pub(crate) fn clear(folder: &Path) {
    const TRIES: usize = 3;
    for _ in 0..TRIES {
        let rolls = fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| {
            entry.file_name().to_string_lossy().starts_with(netra_event::roll::FILE)
        });
        let rolls: Vec<PathBuf> = rolls.map(|entry| entry.path()).collect();
        remove_empty_below(folder);
        let left = fs::read_dir(folder).into_iter().flatten().count();
        if left > rolls.len() {
            // The rolls belong to what is left.
            return;
        }
        for roll in rolls {
            fs::remove_file(roll).ok();
        }
        // Somebody may have called out just now, and made a roll again.
        if fs::remove_dir(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

/// Removes folders that hold nothing but such folders, and logs that were not finished: what was to be in them is in
/// their process's segment.
fn remove_empty_below(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".darshan_partial") {
            fs::remove_file(entry.path()).ok();
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_below(&entry.path());
            // Refused where something is left, which is what is wanted.
            drop(fs::remove_dir(entry.path()));
        }
    }
}

/// When this process began, in the kernel's clock ticks: with its number, nobody else's.
fn own_start() -> u64 {
    began(std::process::id()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_runs_that_are_gone_are_found_and_no_others() {
        let about = rustix::system::uname();
        let host = about.nodename().to_string_lossy().into_owned();
        let (pid, start) = (std::process::id(), own_start());
        assert!(!is_of_nobody(&format!("{BEGIN}{host}-{pid}-{start}")), "this one runs");
        assert!(
            is_of_nobody(&format!("{BEGIN}{host}-{pid}-{}", start + 1)),
            "an older one's number"
        );
        assert!(is_of_nobody(&format!("{BEGIN}{host}-4294967295-1")));
        for other in ["x", ".netra-run-", ".netra-run-elsewhere-1-1", ".netra-run-1-1"] {
            assert!(!is_of_nobody(other), "{other}");
        }
    }

    #[test]
    fn a_folder_goes_with_its_rolls_unless_a_log_is_left() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("run");
        fs::create_dir_all(folder.join("logs")).unwrap();
        fs::write(folder.join("roll.here"), b"x").unwrap();
        fs::write(folder.join("logs/a.darshan"), b"x").unwrap();
        clear(&folder);
        assert!(folder.join("roll.here").exists());
        fs::remove_file(folder.join("logs/a.darshan")).unwrap();
        clear(&folder);
        assert!(!folder.exists());
    }
}
