//! Folders for segments and logs: whether they can be written, and whether there is room.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use netra_event::Bytes;
use netra_stream::job::Target;
use netra_stream::memory;
use netra_stream::source::{Life, Piece, scan};

use super::{Finding, bad, good, note};
use crate::collect;
use crate::command::recover;
use crate::surroundings;

/// Below this, traces of a few processes fill the place.
const LITTLE: u64 = 256 << 20;

pub(super) fn examine() -> Vec<Finding> {
    let segments = surroundings::segments();
    let mut findings = vec![folder("segments", &segments, true)];
    findings.extend(left_behind(&segments));
    match surroundings::target(None, None) {
        Ok(Target::Folder(path) | Target::Once(path)) => {
            findings.push(folder("logs", &path, false));
        }
        Ok(Target::File(path)) if path.exists() => findings
            .push(bad(format!("NETRA_LOG_FILE: {} exists and is not overwritten", path.display()))),
        Ok(Target::File(path)) => {
            findings.push(folder("logs", path.parent().unwrap_or(Path::new("/")), false));
        }
        Err(error) => findings.push(bad(format!("logs: {error:#}"))),
    }
    findings
}

/// Whether a folder, or the first one above it that is there, can be written.
fn folder(what: &str, path: &Path, own: bool) -> Finding {
    let there: PathBuf = path.ancestors().find(|path| path.exists()).unwrap_or(path).to_owned();
    if let Some(temporary) = missing(path) {
        return bad(format!("{what}: TMPDIR is {}, which is not there", temporary.display()));
    }
    let shown = path.display();
    if let Err(error) = tempfile::tempfile_in(&there) {
        return bad(format!("{what}: {} can not be written: {error}", there.display()));
    }
    if own && let Some(why) = not_private(path) {
        return bad(format!("{what}: {shown} {why}, so the library does not use it"));
    }
    match memory::free_space(&there) {
        Some(free) if free < LITTLE => {
            note(format!("{what}: only {} are free for {shown}; traces may be cut", Bytes(free)))
        }
        Some(free) => good(format!("{what} in {shown}, {} free", Bytes(free))),
        None => good(format!("{what} in {shown}")),
    }
}

/// The folder for temporary files, if a path is in it and it is not there: the library would make its own in
/// it, and nobody else would find that.
fn missing(path: &Path) -> Option<PathBuf> {
    let temporary = PathBuf::from(std::env::var_os("TMPDIR")?);
    (path.starts_with(&temporary) && !temporary.exists()).then_some(temporary)
}

/// The folder of segments belongs to the user alone.
fn not_private(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    let uid = surroundings::uid();
    if !about.is_dir() {
        Some("is not a folder".to_owned())
    } else if about.uid() != uid {
        Some(format!("belongs to user {}", about.uid()))
    } else if about.mode() & 0o022 != 0 {
        Some(format!("can be written by others (mode {:o})", about.mode() & 0o777))
    } else {
        None
    }
}

/// Segments of processes that died, and what the library complained about in them.
fn left_behind(folder: &Path) -> Vec<Finding> {
    let pieces: Vec<Piece> = scan(folder)
        .unwrap_or_default()
        .iter()
        .filter_map(|path| Piece::of_segment(path, Some(surroundings::uid())).ok())
        .collect();
    let mut findings = Vec::new();
    match pieces.iter().filter(|piece| piece.life == Life::Over).count() {
        0 => {}
        count => findings.push(note(format!(
            "{count} segments of processes that ended are in {}; netra recover makes logs of them",
            folder.display()
        ))),
    }
    let runs = collect::left_behind(&recover::places());
    if let Some(first) = runs.first() {
        findings.push(note(format!(
            "{} of netra run, of which the first is {}; netra recover makes logs of what is in them",
            match runs.len() {
                1 => "1 folder is left by a killed run".to_owned(),
                count => format!("{count} folders are left by killed runs"),
            },
            first.display()
        )));
    }
    let mut notes: Vec<&String> = pieces.iter().flat_map(|piece| &piece.notes).collect();
    notes.sort();
    notes.dedup();
    findings.extend(notes.into_iter().map(|said| note(format!("a process said: {said}"))));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_that_others_can_write_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("netra-0");
        assert_eq!(not_private(&path), None, "it will be made");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(not_private(&path).unwrap(), "can be written by others (mode 777)");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(not_private(&path), None);
        let file = place.path().join("file");
        fs::write(&file, b"").unwrap();
        assert_eq!(not_private(&file).unwrap(), "is not a folder");
        assert_eq!(folder("logs", &file, false).level, Level::Bad);
        assert!(folder("logs", &path.join("a/b"), false).level < Level::Bad);
    }
}
