//! Where modules stand, and whether they are to be trusted: nothing is run that somebody else could have written.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::super::error::{Error, Kind};
use netra_stream::guess::nearest;

/// A module's text is small.
const LARGEST: u64 = 1 << 20;
/// What netra brings along: the analyses of the papers.
const SHIPPED: [(&str, &str); 6] = [
    ("bytes_over_time", include_str!("../../../../../contrib/analysis/bytes_over_time.py")),
    ("durations", include_str!("../../../../../contrib/analysis/durations.py")),
    ("operations", include_str!("../../../../../contrib/analysis/operations.py")),
    ("peers", include_str!("../../../../../contrib/analysis/peers.py")),
    ("slow_ranks", include_str!("../../../../../contrib/analysis/slow_ranks.py")),
    ("variability", include_str!("../../../../../contrib/analysis/variability.py")),
];

/// A module that may be run.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) name: String,
    /// Where it stands; what netra brings along stands nowhere.
    pub(super) path: Option<PathBuf>,
    pub(super) source: String,
}

impl Module {
    /// What Python calls the file.
    pub(super) fn place(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("{}.py", self.name),
        }
    }

    /// Its failure, as the caller reads it.
    pub(super) fn failed(&self, says: &str) -> Error {
        Error::new(Kind::Analysis, format!("analysis {}: {says}", self.name))
    }
}

/// The module of this name: the first directory that has it, else what netra brings along.
pub(super) fn find(folders: &[PathBuf], name: &str) -> Result<Module, Error> {
    let wrong = || {
        let error = Error::new(Kind::Value, format!("there is no analysis \"{name}\""));
        let known = all(folders);
        match nearest(name, known.keys().map(String::as_str)) {
            Some(meant) => error.hint(format!("did you mean \"{meant}\"?")),
            None => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                error.hint(format!("there are {}", names.join(", ")))
            }
        }
    };
    if !is_name(name) {
        return Err(wrong());
    }
    for folder in folders {
        let path = folder.join(format!("{name}.py"));
        if path.symlink_metadata().is_ok() {
            return read(folder, &path, name);
        }
    }
    shipped(name).ok_or_else(wrong)
}

/// Every module by its name, and why some can not be used.
pub(super) fn all(folders: &[PathBuf]) -> BTreeMap<String, Result<Module, Error>> {
    let mut found = BTreeMap::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(name) = name.strip_suffix(".py").filter(|name| is_name(name)) else {
                continue;
            };
            if !found.contains_key(name) {
                found.insert(name.to_owned(), read(folder, &path, name));
            }
        }
    }
    for (name, _) in SHIPPED {
        if let (false, Some(module)) = (found.contains_key(name), shipped(name)) {
            found.insert(name.to_owned(), Ok(module));
        }
    }
    found
}

fn shipped(name: &str) -> Option<Module> {
    let (_, source) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(Module { name: name.to_owned(), path: None, source: (*source).to_owned() })
}

/// A name is a word, so that it can not lead out of its directory.
fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads what nobody but root and whoever runs netra can have written.
fn read(folder: &Path, path: &Path, name: &str) -> Result<Module, Error> {
    let refused = |says: String| {
        Error::new(Kind::Analysis, format!("analysis {name} is not run: {says}")).hint(
            "root or you must own the file and its directory, and nobody else may write to them",
        )
    };
    let failed = |error: std::io::Error| refused(format!("{}: {error}", path.display()));
    // What is looked at is what was opened: the name may mean something else a moment later.
    let mut file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    let around = folder.metadata().map_err(failed)?;
    for (place, about) in [(folder, &around), (path, &about)] {
        if let Some(why) = distrust(about) {
            return Err(refused(format!("{} {why}", place.display())));
        }
    }
    if !about.is_file() || about.len() > LARGEST {
        return Err(refused(format!("{} is no file of at most 1 MiB", path.display())));
    }
    let mut source = String::new();
    file.by_ref().take(LARGEST).read_to_string(&mut source).map_err(failed)?;
    Ok(Module { name: name.to_owned(), path: Some(path.to_owned()), source })
}

/// Why somebody else may have written it.
fn distrust(about: &Metadata) -> Option<String> {
    let (owner, mode) = (about.uid(), about.mode() & 0o7777);
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(format!("belongs to user {owner}"));
    }
    (mode & 0o022 != 0).then(|| format!("can be written by others (mode {mode:o})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn allow(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_could_have_written_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let path = folder.path().join("mine.py");
        std::fs::write(&path, "x = 1\n").unwrap();
        allow(folder.path(), 0o755);
        allow(&path, 0o644);
        assert_eq!(find(&folders, "mine").unwrap().source, "x = 1\n");
        for (place, good, bad) in [(path.as_path(), 0o644, 0o664), (folder.path(), 0o755, 0o777)] {
            allow(place, bad);
            let error = find(&folders, "mine").unwrap_err();
            assert!(error.message.contains("can be written by others"), "{error}");
            assert!(all(&folders)["mine"].is_err());
            allow(place, good);
        }
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
            let error = find(&folders, "mine").unwrap_err();
            assert!(error.message.contains("belongs to user 12345"), "{error}");
        }
    }

    #[test]
    fn names_stay_in_their_directory() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("outer.py"), "").unwrap();
        for name in ["../outer", "outer", "", "/etc/passwd", "a-b", "1a"] {
            let error = find(std::slice::from_ref(&inner), name).unwrap_err();
            assert!(error.message.starts_with("there is no analysis"), "{error}");
        }
        let error = find(&[inner], "slow_rank").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean \"slow_ranks\"?"));
    }
}
