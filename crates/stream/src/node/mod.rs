//! The node: finds segments, reads behind their processes, and puts what it reads into the spool.
//!
//! **It works only when there is work.** It sleeps in `poll` on three kinds of descriptors: a folder
//! in which something was made (inotify), a process that ended (pidfd), and the wish to stop. While
//! processes run it looks at their lanes, 3 ms after something came of them and ever more seldom, down
//! to five times a second, while nothing does; without processes it sleeps for ever.

mod file;
mod filter;
mod follower;
mod lane;
mod recovery;
mod table;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::intake::Intake;
use crate::stop::Stop;
use crate::told;
use follower::{Follower, Looked};
use recovery::Recovery;
use watch::Watch;

pub use filter::Filter;
pub use watch::Root;

/// How long a file may take to become a segment before it is looked at only when others come.
const PATIENCE: Duration = Duration::from_secs(10);
/// How soon a file that is no segment yet is tried again.
const RETRY: Duration = Duration::from_millis(5);
/// How long the node waits for room in the spool before it tries again.
const ROOM: Duration = Duration::from_millis(50);

/// What a node reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Where segments lie.
    pub roots: Vec<Root>,
    /// What is left out of the stream.
    pub filter: Filter,
    /// Only processes of this job, if it is given.
    pub job: Option<String>,
    /// Where logs of processes go that could not write their own; without it their segments stay.
    pub logs: Option<PathBuf>,
}

/// A file that is no segment yet.
#[derive(Debug)]
struct Candidate {
    owner: u32,
    since: Instant,
    again: Instant,
}

/// The node.
#[derive(Debug)]
pub struct Node {
    settings: Settings,
    intake: Arc<Intake>,
    watch: Watch,
    followers: BTreeMap<PathBuf, (Follower, Instant)>,
    candidates: BTreeMap<PathBuf, Candidate>,
    /// Segments of other jobs, of other daemons, or done with.
    others: BTreeMap<PathBuf, Instant>,
    recovery: Option<Recovery>,
}

impl Node {
    /// Begins to watch.
    ///
    /// # Errors
    /// The kernel has no room for another watcher.
    pub fn new(settings: Settings, intake: Arc<Intake>) -> io::Result<Node> {
        let watch = Watch::new(settings.roots.clone())?;
        let (followers, candidates, others) = Default::default();
        let start = |folder: &PathBuf| Recovery::start(folder.clone(), Arc::clone(&intake.told));
        let recovery = settings.logs.as_ref().map(start).transpose()?;
        Ok(Node { settings, intake, watch, followers, candidates, others, recovery })
    }

    /// Reads until it is to stop, and then until nothing more is there; processes that go on keep
    /// their segments.
    ///
    /// # Errors
    /// The kernel refuses to wait.
    pub fn run(&mut self, stop: &Stop) -> io::Result<()> {
        let mut asked = false;
        let mut listed = false;
        loop {
            if !listed {
                self.list();
            }
            self.open_candidates();
            let full = self.look_at_all();
            told::set(&self.intake.told.counters.segments, self.followers.len() as u64);
            let stopping = stop.is_set();
            // Processes that ended just before the wish to stop are known only after one more look at
            // who is gone.
            if asked && (full || self.is_idle()) {
                return Ok(());
            }
            listed = !self.wait(stop, full)?;
            asked = stopping;
        }
    }

    /// Whether nothing more is to be read of processes that have ended.
    fn is_idle(&mut self) -> bool {
        self.list();
        self.open_candidates();
        let over = |(follower, _): &(Follower, Instant)| follower.pidfd().is_none();
        !self.followers.values().any(over) && self.candidates.is_empty()
    }

    /// Finds files that were not seen before.
    fn list(&mut self) {
        let now = Instant::now();
        let found = self.watch.list();
        let there: BTreeSet<&Path> = found.iter().map(|(path, _)| path.as_path()).collect();
        self.others.retain(|path, _| there.contains(path.as_path()));
        for (path, owner) in &found {
            let known = self.followers.contains_key(path) || self.others.contains_key(path);
            if !known {
                let fresh = Candidate { owner: *owner, since: now, again: now };
                self.candidates.entry(path.clone()).or_insert(fresh);
            }
        }
    }

    fn open_candidates(&mut self) {
        let now = Instant::now();
        let due: Vec<PathBuf> = self
            .candidates
            .iter()
            .filter(|(_, candidate)| candidate.again <= now)
            .map(|(path, _)| path.clone())
            .collect();
        for path in due {
            let Some(candidate) = self.candidates.get_mut(&path) else { continue };
            match Follower::open(&path, candidate.owner, &self.intake) {
                Ok(Some(follower)) => {
                    self.candidates.remove(&path);
                    let wanted = |job: &String| follower.job() == job.as_bytes();
                    if self.settings.job.as_ref().is_none_or(wanted) {
                        self.followers.insert(path, (follower, now));
                    } else {
                        self.others.insert(path, now);
                    }
                }
                Ok(None) if candidate.since.elapsed() < PATIENCE => {
                    candidate.again = now + RETRY;
                }
                Ok(None) => {
                    self.candidates.remove(&path);
                    self.others.insert(path, now);
                }
                Err(error) => {
                    self.candidates.remove(&path);
                    // Removed before it was opened: a process that ended at once.
                    if path.exists() {
                        told::add(&self.intake.told.counters.segments_refused, 1);
                        let why = std::error::Error::source(&error);
                        let why = why.map_or_else(String::new, |why| format!(": {why}"));
                        self.intake.told.say(format_args!("{error}{why}"));
                        self.others.insert(path, now);
                    }
                }
            }
        }
    }

    /// Looks at every process that is due; true if the spool has no room.
    fn look_at_all(&mut self) -> bool {
        let now = Instant::now();
        let mut done = Vec::new();
        let mut full = false;
        for (path, (follower, at)) in &mut self.followers {
            if *at > now {
                continue;
            }
            match follower.look(&self.intake, &self.settings.filter) {
                Ok(Looked::Again(again)) => *at = again,
                Ok(Looked::Full) => full = true,
                Ok(Looked::Done) => done.push(path.clone()),
                Ok(Looked::Unlogged) => {
                    if let Some(recovery) = &self.recovery {
                        recovery.ask(path, follower.owner());
                    }
                    done.push(path.clone());
                }
                Err(error) => {
                    told::add(&self.intake.told.counters.segments_refused, 1);
                    self.intake.told.say(format_args!("{}: {error}", path.display()));
                    done.push(path.clone());
                }
            }
            if full {
                break;
            }
        }
        for path in done {
            self.followers.remove(&path);
            self.others.insert(path, now);
        }
        full
    }

    /// Sleeps until something is to be done; true if something was made in a folder.
    fn wait(&mut self, stop: &Stop, full: bool) -> io::Result<bool> {
        let now = Instant::now();
        let looks = self.followers.values().map(|(_, at)| *at);
        let tries = self.candidates.values().map(|candidate| candidate.again);
        let next = looks.chain(tries).min().map(|at| at.saturating_duration_since(now));
        let next = if full { Some(ROOM) } else { next };
        // Once it is to stop, only what has ended is waited for.
        let next = if stop.is_set() { Some(next.unwrap_or(RETRY).min(RETRY)) } else { next };
        let timeout = next.map(|next| Timespec {
            tv_sec: next.as_secs().cast_signed(),
            tv_nsec: i64::from(next.subsec_nanos()),
        });
        let watched: Vec<PathBuf> = self
            .followers
            .iter()
            .filter(|(_, (follower, _))| follower.pidfd().is_some())
            .map(|(path, _)| path.clone())
            .collect();
        let mut fds = vec![PollFd::new(self.watch.fd(), PollFlags::IN)];
        if !stop.is_set() {
            fds.push(PollFd::new(stop.fd(), PollFlags::IN));
        }
        let first = fds.len();
        for (follower, _) in watched.iter().filter_map(|path| self.followers.get(path)) {
            if let Some(pidfd) = follower.pidfd() {
                fds.push(PollFd::new(pidfd, PollFlags::IN));
            }
        }
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        for (path, _) in watched.iter().zip(&ready[first..]).filter(|(_, ready)| **ready) {
            if let Some((follower, at)) = self.followers.get_mut(path) {
                follower.gone();
                *at = now;
            }
        }
        Ok(ready[0])
    }
}
