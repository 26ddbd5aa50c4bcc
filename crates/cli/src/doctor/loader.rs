//! The library itself, and what else is preloaded.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

use super::program::{Elf, NATIVE};
use super::{Finding, bad, good, note};
use crate::launch::library;
use crate::version;

pub(super) fn examine() -> Vec<Finding> {
    let mut findings = vec![the_library()];
    let list = env::var("LD_PRELOAD").unwrap_or_default();
    findings.extend(others(&list));
    if fs::metadata("/etc/ld.so.preload").is_ok_and(|file| file.len() > 0) {
        findings.push(note("/etc/ld.so.preload puts libraries before ours into every process"));
    }
    findings
}

fn the_library() -> Finding {
    let Some(path) = library::find() else {
        return bad(format!(
            "{} was not found near the program; NETRA_PRELOAD says where it is",
            library::NAME
        ));
    };
    let shown = path.display();
    if !library::can_be_listed(&path) {
        return bad(format!("{shown}: the loader can not be told a path with spaces or colons"));
    }
    if no_exec(&path) {
        return bad(format!("{shown} lies on a file system mounted noexec: it can not be loaded"));
    }
    match fs::read(&path).ok().as_deref().and_then(Elf::parse) {
        None => bad(format!("{shown} is not a library")),
        Some(elf) if elf.machine != NATIVE => {
            bad(format!("{shown} is for {}, this machine is {NATIVE}", elf.machine))
        }
        Some(_) => versions(&path),
    }
}

/// Whether library and program belong together.
fn versions(path: &Path) -> Finding {
    let shown = path.display();
    match version::of_library(path) {
        Some(found) if found == version::fitting() => good(format!("library {shown} ({found})")),
        Some(found) => bad(format!(
            "library {shown} is {found}, this program {}: take both from one build",
            version::fitting()
        )),
        None => note(format!("library {shown} does not say its version: it may be an older one")),
    }
}

/// Whether programs and libraries of a path's file system may not be run.
pub(super) fn no_exec(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

fn others(list: &str) -> Vec<Finding> {
    let entries: Vec<&str> = list.split([':', ' ']).filter(|entry| !entry.is_empty()).collect();
    let mut findings = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let name = PathBuf::from(entry);
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.contains('/') && !Path::new(entry).exists() {
            findings.push(bad(format!("LD_PRELOAD names {entry}, which is not there")));
        } else if is_sanitizer(&name) && at > 0 {
            findings
                .push(bad(format!("LD_PRELOAD: {name} must be first, or it stops the program")));
        } else if name.starts_with("libdarshan") {
            findings
                .push(note(format!("LD_PRELOAD: {name} records too; both are right, both cost")));
        } else if name == library::NAME {
            findings.push(note(format!("LD_PRELOAD has {name} already; netra run adds it again")));
        } else {
            findings
                .push(note(format!("LD_PRELOAD: {name} stays, and sees calls before netra does")));
        }
    }
    findings
}

/// Runtimes of sanitizers insist on being the first library.
pub(super) fn is_sanitizer(name: &str) -> bool {
    ["libasan.so", "libtsan.so", "liblsan.so", "libubsan.so", "libclang_rt.asan"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn what_is_preloaded_is_judged() {
        let levels = |list: &str| others(list).iter().map(|found| found.level).collect::<Vec<_>>();
        assert_eq!(levels(""), []);
        assert_eq!(levels("libasan.so.8 libdarshan.so"), [Level::Note, Level::Note]);
        assert_eq!(levels("libm.so.6:libasan.so.8"), [Level::Note, Level::Bad]);
        assert_eq!(levels("/none/libx.so"), [Level::Bad]);
    }
}
