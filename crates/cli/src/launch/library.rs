//! Where `libnetra_preload.so` is, and how it gets into a command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use netra_event::Setting;

use crate::setting;

/// The library's file.
pub(crate) const NAME: &str = "libnetra_preload.so";

/// Folders beside the program in which the library is looked for: an installation, an unpacked
/// archive, and cargo's folders (never a debug build of the library: it is another object).
const BESIDE: &[&str] =
    &[".", "../lib", "../lib64", "../lib/netra", "../preload", "../release", "../../preload"];

/// Finds the library: where `NETRA_PRELOAD` says, else near the program.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(given) = setting::value(Setting::Preload) {
        return Some(PathBuf::from(given)).filter(|path| path.is_file());
    }
    let program = env::current_exe().ok()?;
    near(program.parent()?)
}

fn near(folder: &Path) -> Option<PathBuf> {
    let debug = folder.ends_with("debug");
    let places = BESIDE.iter().filter(|place| !(debug && **place == "."));
    let found = places.map(|place| folder.join(place).join(NAME)).find(|path| path.is_file())?;
    found.canonicalize().ok()
}

/// `LD_PRELOAD` with the library behind what is there already: what must be first (a sanitizer)
/// stays first, and we stand next to the system, below other tools. `first` is what the program needs before all
/// others.
pub(crate) fn join(existing: Option<&OsStr>, library: &Path, first: Option<&str>) -> OsString {
    let mut list = existing.map(OsStr::to_owned).unwrap_or_default();
    let text = list.to_string_lossy().into_owned();
    if let Some(first) =
        first.filter(|first| !text.split([':', ' ']).any(|one| one.ends_with(first)))
    {
        let rest = std::mem::replace(&mut list, OsString::from(first));
        // The empty entry says that it is there for this program, not for its children.
        list.push(":");
        if !rest.is_empty() {
            list.push(":");
            list.push(rest);
        }
    }
    if !list.is_empty() {
        list.push(":");
    }
    list.push(library);
    list
}

/// Whether the loader can be told this path: it splits its list at spaces and colons.
pub(crate) fn can_be_listed(library: &Path) -> bool {
    library.to_str().is_some_and(|path| !path.contains([' ', ':', '\t', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_stays_first() {
        let library = Path::new("/l/libnetra_preload.so");
        assert_eq!(join(None, library, None), "/l/libnetra_preload.so");
        assert_eq!(join(Some(OsStr::new("")), library, None), "/l/libnetra_preload.so");
        assert_eq!(
            join(Some(OsStr::new("/l/libasan.so")), library, Some("libasan.so")),
            "/l/libasan.so:/l/libnetra_preload.so"
        );
        assert_eq!(
            join(Some(OsStr::new("/l/x.so")), library, Some("libasan.so.8")),
            "libasan.so.8::/l/x.so:/l/libnetra_preload.so"
        );
        assert!(can_be_listed(library) && !can_be_listed(Path::new("/a b/x.so")));
    }

    #[test]
    fn the_library_is_found_beside_and_in_lib_but_not_as_a_debug_build() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for folder in ["bin", "lib", "target/debug", "target/preload"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        assert_eq!(near(&root.join("bin")), None);
        for file in ["lib", "target/debug", "target/preload"] {
            std::fs::write(root.join(file).join(NAME), b"").unwrap();
        }
        assert_eq!(near(&root.join("bin")), Some(root.join("lib").join(NAME)));
        assert_eq!(near(&root.join("target/debug")), Some(root.join("target/preload").join(NAME)));
        std::fs::write(root.join("bin").join(NAME), b"").unwrap();
        assert_eq!(near(&root.join("bin")), Some(root.join("bin").join(NAME)));
    }
}
