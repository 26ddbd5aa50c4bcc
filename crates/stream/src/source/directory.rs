//! Where segments lie, and which ones are there.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The folder of a user's segments, from `NETRA_SEGMENT_DIR` and `TMPDIR` as they are set.
#[must_use]
pub fn directory(segment_dir: Option<&OsStr>, tmpdir: Option<&OsStr>, uid: u32) -> PathBuf {
    // The library in the application takes only absolute paths, so others mean nothing here either.
    let given = [segment_dir, tmpdir].into_iter().flatten().map(Path::new);
    let base = given.into_iter().find(|path| path.is_absolute()).unwrap_or(Path::new("/tmp"));
    base.join(format!("netra-{uid}"))
}

/// The files of a folder, sorted; whether each is a segment is found out by reading it. A folder
/// that is not there holds none.
///
/// # Errors
/// The folder can not be listed.
pub fn scan(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("reading", folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("reading", folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_absolute_place_is_taken() {
        let at = |segment: Option<&str>, tmp: Option<&str>| {
            directory(segment.map(OsStr::new), tmp.map(OsStr::new), 7)
        };
        assert_eq!(at(Some("/dev/shm"), Some("/var/tmp")), Path::new("/dev/shm/netra-7"));
        assert_eq!(at(Some("here"), Some("/var/tmp")), Path::new("/var/tmp/netra-7"));
        assert_eq!(at(None, Some("")), Path::new("/tmp/netra-7"));
    }

    #[test]
    fn files_are_listed_in_order_and_a_missing_folder_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        fs::create_dir(folder.path().join("c")).unwrap();
        let names = scan(folder.path()).unwrap();
        assert_eq!(names, [folder.path().join("a"), folder.path().join("b")]);
        assert!(scan(&folder.path().join("none")).unwrap().is_empty());
    }
}
