//! The last run: where its log is, so that `netra report` needs no name.

use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use netra_stream::job::Target;

use crate::surroundings;

/// Keeps in mind where a run's log is; says whether that worked.
pub(crate) fn remember(log: &Path) -> bool {
    let Some(folder) = surroundings::state() else { return false };
    let path = folder.join("last_run");
    // Whole or not at all: runs may end at the same moment.
    let draft = folder.join(format!("last_run.{}", std::process::id()));
    let kept = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&draft, log.as_os_str().as_bytes()))
        .and_then(|()| fs::rename(&draft, path));
    kept.is_ok()
}

/// The log of the last run: what was kept in mind, or a newer one where logs usually go, as
/// programs leave them that have the library in them without `netra run`.
pub(crate) fn find() -> Option<PathBuf> {
    let kept = surroundings::state().and_then(|folder| fs::read(folder.join("last_run")).ok());
    let kept = kept.map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)));
    let usual = match surroundings::target(None, None) {
        Ok(Target::Folder(folder) | Target::Once(folder)) => newest(&folder),
        _ => None,
    };
    kept.filter(|path| path.is_file()).into_iter().chain(usual).max_by_key(|path| changed(path))
}

fn changed(path: &Path) -> SystemTime {
    path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The newest log of the last day that has one: folders are called by year, month and day.
fn newest(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_log = |path: &PathBuf| path.extension().is_some_and(|end| end == "darshan");
    let logs = entries.iter().filter(|path| is_log(path) && path.is_file());
    if let Some(log) = logs.max_by_key(|path| changed(path)) {
        return Some(log.clone());
    }
    let is_number = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_bytes().iter().all(u8::is_ascii_digit))
    };
    entries.retain(|path| is_number(path) && path.is_dir());
    entries.sort();
    entries.iter().rev().find_map(|folder| newest(folder))
}

#[cfg(test)]
mod tests {
    use super::newest;
    use std::fs;

    #[test]
    fn the_newest_log_is_that_of_the_last_day_that_has_one() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(newest(place.path()), None);
        for day in ["2026/02/28", "2026/11/09", "2026/11/10", ".netra-run-x"] {
            fs::create_dir_all(place.path().join(day)).unwrap();
        }
        for log in ["2026/02/28/z.darshan", "2026/11/09/a.darshan", ".netra-run-x/b.darshan"] {
            fs::write(place.path().join(log), b"").unwrap();
        }
        assert_eq!(newest(place.path()), Some(place.path().join("2026/11/09/a.darshan")));
    }
}
