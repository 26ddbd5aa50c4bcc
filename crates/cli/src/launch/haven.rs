//! Where a run's log goes when it cannot go where it should. A command is never kept from running because of
//! its log: what cannot be kept where it should be is kept where it can, and that is said.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use netra_stream::job::Target;

use crate::collect::Pieces;
use crate::{sentence, surroundings};

/// A log's place, and its pieces' beside it: as asked for, or the next best, which is said. Nothing if
/// nothing can be written anywhere.
pub(crate) fn prepare(file: Option<&Path>, folder: Option<&Path>) -> Option<(Target, Pieces)> {
    let asked = || -> Result<(Target, Pieces)> {
        let target = free(surroundings::target(file, folder)?);
        let pieces = Pieces::prepare(&target)?;
        Ok((target, pieces))
    };
    let error = match asked() {
        Ok(found) => return Some(found),
        Err(error) => error,
    };
    let found = others().find_map(|target| {
        let pieces = Pieces::prepare(&target).ok()?;
        Some((target, pieces))
    });
    let why = sentence::of(&error);
    match &found {
        Some((target, _)) => eprintln!("netra: {why}; the log goes to {}", place(target).display()),
        None => eprintln!("netra: {why}; nothing is recorded"),
    }
    found
}

/// The next best places when a log could not be written where it should be, behind it.
pub(crate) fn instead(target: &Target) -> impl Iterator<Item = Target> {
    // A name that was free when the command began may be taken now.
    let beside = match target {
        Target::File(path) if path.exists() => Some(Target::File(next(path))),
        _ => None,
    };
    beside.into_iter().chain(others())
}

/// Where a target is.
pub(crate) fn place(target: &Target) -> &Path {
    match target {
        Target::File(path) | Target::Folder(path) | Target::Once(path) => path,
    }
}

/// A log that is there already is never overwritten: the new one gets the next name that is free.
fn free(target: Target) -> Target {
    match target {
        Target::File(path) if path.symlink_metadata().is_ok() => {
            let other = next(&path);
            eprintln!(
                "netra: {} exists already; the log goes to {}",
                path.display(),
                other.display()
            );
            Target::File(other)
        }
        target => target,
    }
}

/// `app.darshan.2`, `app.darshan.3`, …
fn next(path: &Path) -> PathBuf {
    let named = |number: u64| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let taken = |path: &PathBuf| path.symlink_metadata().is_ok();
    (2..).map(named).find(|path| !taken(path)).unwrap_or_else(|| named(2))
}

/// Folders of our own where temporary files go, then where we are.
fn others() -> impl Iterator<Item = Target> {
    let name = format!("netra-logs-{}", surroundings::uid());
    let temporary = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/dev/shm")];
    let own = temporary.into_iter().map(move |folder| folder.join(&name)).filter(|path| own(path));
    let here = std::env::current_dir().ok();
    own.chain(here).map(Target::Folder)
}

/// Makes a folder that only we can write; somebody else's with that name is not used.
fn own(path: &Path) -> bool {
    drop(fs::DirBuilder::new().mode(0o700).create(path));
    let about = fs::symlink_metadata(path);
    about.is_ok_and(|about| {
        about.is_dir() && about.uid() == surroundings::uid() && about.mode() & 0o022 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("app.darshan");
        assert_eq!(free(Target::File(path.clone())), Target::File(path.clone()));
        fs::write(&path, b"").unwrap();
        assert_eq!(next(&path), place.path().join("app.darshan.2"));
        fs::write(next(&path), b"").unwrap();
        assert_eq!(free(Target::File(path)), Target::File(place.path().join("app.darshan.3")));
    }

    #[test]
    fn a_folder_that_others_can_write_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("netra-logs-7");
        assert!(own(&path));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!own(&path));
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(place.path(), &path).unwrap();
        assert!(!own(&path));
    }
}
