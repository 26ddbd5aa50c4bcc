//! The log of a process that could not write its own: it was killed, or there was no room. Made beside the
//! node, so that nobody else's events wait for it; the segment goes when the log is safe on disk.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use crate::job::{Job, Name, Target};
use crate::source::Piece;
use crate::told::{self, Told};
use crate::{Error, Result};

/// Makes logs, one after the other, until it is dropped; what was asked for before is made first.
#[derive(Debug)]
pub(super) struct Recovery {
    ask: Option<Sender<(PathBuf, u32)>>,
    thread: Option<JoinHandle<()>>,
}

impl Recovery {
    /// Logs go below this folder.
    pub(super) fn start(folder: PathBuf, told: Arc<Told>) -> io::Result<Recovery> {
        let (ask, asked) = mpsc::channel::<(PathBuf, u32)>();
        let thread = std::thread::Builder::new().name("netra-logs".to_owned());
        let thread = thread.spawn(move || {
            for (segment, owner) in asked {
                match recover(&segment, owner, &folder) {
                    Ok(log) => {
                        told::add(&told.counters.logs_made, 1);
                        told.say(format_args!("{} -> {}", segment.display(), log.display()));
                    }
                    Err(error) => {
                        let why = std::error::Error::source(&error);
                        let why = why.map_or_else(String::new, |why| format!(": {why}"));
                        told.say(format_args!("no log of {}: {error}{why}", segment.display()));
                    }
                }
            }
        })?;
        Ok(Recovery { ask: Some(ask), thread: Some(thread) })
    }

    /// Makes the log of a process that is over.
    pub(super) fn ask(&self, segment: &Path, owner: u32) {
        if let Some(ask) = &self.ask {
            // Whoever makes them ends only after us.
            ask.send((segment.to_owned(), owner)).ok();
        }
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        drop(self.ask.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed, and costs a log, not the daemon.
            thread.join().ok();
        }
    }
}

fn recover(segment: &Path, owner: u32, folder: &Path) -> Result<PathBuf> {
    let job = Job::new(vec![Piece::of_segment(segment, Some(owner))?]);
    let user = user(owner);
    let name = Name { user: &user, program: None };
    let written = match job.write(&Target::Once(folder.to_owned()), name, &mut |_, _, _| {}) {
        // A daemon was killed between this and the end of the segment; a log has its name when it is whole.
        Err(Error::Exists { path }) => {
            give(&path, owner)?;
            fs::remove_file(segment).ok();
            return Ok(path);
        }
        written => written?,
    };
    if let Some((_, error)) = written.left_out.into_iter().next() {
        fs::remove_file(&written.path).ok();
        return Err(error);
    }
    give(&written.path, owner)?;
    // Gone already: somebody else has removed it.
    fs::remove_file(segment).ok();
    Ok(written.path)
}

/// A log is its user's, where that can be said.
fn give(log: &Path, owner: u32) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    chown(log, Some(owner), None).map_err(Error::io("giving away", log))
}

/// What the name of a user's log begins with: their name, or number if they have none here.
fn user(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    named(&users, uid).unwrap_or_else(|| uid.to_string())
}

fn named(users: &str, uid: u32) -> Option<String> {
    let mut rows = users.lines().map(|line| line.split(':'));
    let found = rows.find_map(|mut row| {
        let name = row.next()?;
        (row.nth(1)?.parse() == Ok(uid)).then_some(name)
    })?;
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    (!found.is_empty() && found.chars().all(plain)).then(|| found.to_owned())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn users_have_names_that_a_file_may_have() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\nodd/name:x:7:7::/:\nbroken\nann:x:1000:1000::/:";
        let name = |uid| named(users, uid);
        assert_eq!((name(0).as_deref(), name(1000).as_deref()), (Some("root"), Some("ann")));
        assert_eq!((name(7), name(8)), (None, None));
    }
}
