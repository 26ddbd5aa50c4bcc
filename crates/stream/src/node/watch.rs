//! Where segments appear: folders are listed once, and again when the kernel says that something was
//! made in them. Nothing is done while nothing is made.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// The folders that are watched.
#[derive(Debug)]
pub(super) struct Watch {
    fd: OwnedFd,
    roots: Vec<Root>,
}

/// A place where segments lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// One user's folder of segments.
    Own(PathBuf),
    /// A folder in which users' folders lie, `netra-<uid>`, each its user's own.
    All(PathBuf),
}

impl Watch {
    pub(super) fn new(roots: Vec<Root>) -> io::Result<Watch> {
        let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Watch { fd, roots })
    }

    /// Readable when something was made.
    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Every file there is now, with the user whose it must be. From now on the kernel tells of more.
    pub(super) fn list(&self) -> Vec<(PathBuf, u32)> {
        self.forget();
        let mut found = Vec::new();
        for root in &self.roots {
            match root {
                Root::Own(folder) => self.folder(folder, &mut found),
                Root::All(parent) => {
                    self.watch(parent);
                    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
                        if user(&entry.file_name().to_string_lossy()).is_some() {
                            self.folder(&entry.path(), &mut found);
                        }
                    }
                }
            }
        }
        found
    }

    /// A user's folder: only if it is theirs alone, as the library demands too.
    fn folder(&self, folder: &Path, found: &mut Vec<(PathBuf, u32)>) {
        let Ok(about) = fs::symlink_metadata(folder) else { return };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !about.is_dir() || about.mode() & 0o077 != 0 || user(&name) != Some(about.uid()) {
            return;
        }
        // Watched before it is listed: what comes in between is seen twice, not never.
        self.watch(folder);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "segment") {
                found.push((path, about.uid()));
            }
        }
    }

    fn watch(&self, folder: &Path) {
        let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        // Watching again is nothing new; a folder that can not be watched is listed when others
        // change.
        inotify::add_watch(&self.fd, folder, flags).ok();
    }

    /// Empties what the kernel has told: that it told is all that counts.
    fn forget(&self) {
        let mut bytes = [0; 4096];
        while rustix::io::read(&self.fd, &mut bytes).is_ok_and(|read| read > 0) {}
    }
}

/// The user of a folder of segments.
fn user(name: &str) -> Option<u32> {
    name.strip_prefix("netra-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn only_folders_of_one_user_alone_are_looked_into() {
        let place = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let folder = place.path().join(format!("netra-{uid}"));
        let watch = Watch::new(vec![Root::All(place.path().to_owned())]).unwrap();
        assert_eq!(watch.list(), []);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("7-1.segment"), b"").unwrap();
        fs::write(folder.join("other"), b"").unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(watch.list(), []);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(watch.list(), [(folder.join("7-1.segment"), uid)]);
    }
}
