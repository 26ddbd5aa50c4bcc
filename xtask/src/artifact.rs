//! `cargo xtask artifact`: builds `libnetra_preload.so` as it is shipped and looks at the object
//! itself. What it imports is a short list with reasons (an allocator or a surviving panic would
//! show there), what it exports is the table of names, and the oldest glibc it runs on is as promised. What
//! other libraries patch is not exported, and an exported name has room for a patch: names that are one
//! function in the C library are one in ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::place::{cargo, on_path, output, root, run as start, target};

/// The newest glibc the library may need: RHEL 8 has it.
const PROMISED: Version = Version(2, 28);
/// The other architecture, for which the code is at least compiled where its target is installed.
pub(crate) const OTHER_TARGET: &str = "aarch64-unknown-linux-gnu";
/// Its C compiler, as Debian names it.
const OTHER_COMPILER: &str = "aarch64-linux-gnu-gcc";
/// Its C library.
const OTHER_LIBC: &str = "/usr/aarch64-linux-gnu/lib/libc.so.6";
/// What it imports besides: another name of the environment, and the size of a page, which the kernel chooses.
const OTHER_IMPORTS: &[&str] = &["__environ", "getauxval"];

/// What libraries patch to learn of memory that comes and goes (UCX, Open MPI): they are to find libc's.
const PATCHED: &[&str] = &[
    "mmap", "mmap64", "munmap", "mremap", "brk", "sbrk", "madvise", "shmat", "shmdt", "malloc",
    "free", "dlclose",
];

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

/// `cargo xtask artifact`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    check(&build()?, &[], &libc()?, 16)?;
    match other_architecture()? {
        Some(object) => check(&object, OTHER_IMPORTS, Path::new(OTHER_LIBC), 32),
        None => Ok(()),
    }
}

/// Looks at an object, whose imports may be these as well, beside its C library; the code of a name has
/// `room` bytes.
fn check(object: &Path, more: &[&str], libc: &Path, room: u64) -> Result<()> {
    let undefined = symbols(object, "--undefined-only")?;
    let imports: BTreeSet<String> = undefined.iter().map(|line| name(line).to_owned()).collect();
    let mut wanted = listed(&read(&root().join("crates/preload/imports.txt"))?);
    wanted.extend(more.iter().map(ToString::to_string));
    same("imports", &imports, &wanted, "crates/preload/imports.txt")?;

    let exports: BTreeSet<String> =
        symbols(object, "--defined-only")?.iter().map(|line| name(line).to_owned()).collect();
    same("exports", &exports, &rows(&root().join("crates/preload/src"))?, "the `export!` tables")?;
    if let Some(name) = PATCHED.iter().find(|name| exports.contains(**name)) {
        bail!("{name} is exported: libraries that patch it would patch ours and not libc's");
    }
    room_for_patches(&functions(object)?, &functions(libc)?, room)?;

    let newest = undefined.iter().filter_map(|line| version(line)).max().unwrap_or(Version(2, 0));
    if newest > PROMISED {
        bail!("needs glibc {}.{}, promised is {}.{}", newest.0, newest.1, PROMISED.0, PROMISED.1);
    }
    let size =
        fs::metadata(object).with_context(|| format!("looking at {}", object.display()))?.len();
    println!(
        "{}: {} exports, {} imports, glibc {}.{} or newer, {size} bytes with symbols",
        object.display(),
        exports.len(),
        imports.len(),
        newest.0,
        newest.1
    );
    Ok(())
}

/// A function as a table of symbols has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code {
    address: u64,
    bytes: u64,
}

/// What an object defines, by name: the default version of each.
fn functions(object: &Path) -> Result<BTreeMap<String, Code>> {
    let list = output(Command::new("readelf").args(["--wide", "--dyn-syms"]).arg(object))?;
    Ok(String::from_utf8_lossy(&list).lines().filter_map(defined).collect())
}

/// A line of `readelf`, if it is of a function that is defined.
fn defined(line: &str) -> Option<(String, Code)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[_, address, bytes, "FUNC" | "IFUNC" | "NOTYPE", _, _, section, name, ..] = &words[..]
    else {
        return None;
    };
    let (name, version) = name.split_once('@').unwrap_or((name, "@"));
    // One `@` is a version that only old programs ask for.
    if section == "UND" || !version.starts_with('@') {
        return None;
    }
    let address = u64::from_str_radix(address, 16).ok()?;
    Some((name.to_owned(), Code { address, bytes: bytes.parse().unwrap_or(0) }))
}

/// Whoever writes a jump over the beginning of one of our names, as it would over libc's, may not reach into
/// another, and patches with it all names that are the same function in libc.
fn room_for_patches(
    ours: &BTreeMap<String, Code>,
    libc: &BTreeMap<String, Code>,
    room: u64,
) -> Result<()> {
    let mut starts: Vec<u64> = ours.values().map(|code| code.address).collect();
    starts.sort_unstable();
    starts.dedup();
    for (name, code) in ours {
        // An alias has no length of its own.
        let whole = ours.values().any(|one| one.address == code.address && one.bytes >= room);
        let next = starts.iter().find(|start| **start > code.address);
        let near = next.is_some_and(|next| next - code.address < room);
        if !code.address.is_multiple_of(room) || !whole || near {
            bail!("{name} has no {room} bytes of its own at {:#x}", code.address);
        }
    }
    for (name, code) in ours {
        let Some(real) = libc.get(name) else { continue };
        let same =
            |other: &&String| libc.get(*other).is_some_and(|one| one.address == real.address);
        for other in ours.keys().filter(same) {
            if ours[other].address != code.address {
                bail!("{name} and {other} are one function in libc and two in ours");
            }
        }
    }
    Ok(())
}

/// The names that the built object exports.
pub(crate) fn exports() -> Result<BTreeSet<String>> {
    Ok(symbols(&build()?, "--defined-only")?.iter().map(|line| name(line).to_owned()).collect())
}

/// This machine's C library.
pub(crate) fn libc() -> Result<PathBuf> {
    let list = output(Command::new("ldd").arg("/bin/sh"))?;
    let list = String::from_utf8_lossy(&list);
    let path = list.split_whitespace().find(|word| word.ends_with("/libc.so.6"));
    Ok(PathBuf::from(path.context("ldd does not show where libc.so.6 is")?))
}

/// The names of the rows in the sources, without building anything.
pub(crate) fn named_rows(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some("/"), Some(_), Some("=")) =
            (words.next(), words.next(), words.next(), words.next())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            names.insert(name.to_owned());
        }
    }
    names
}

/// Builds the object with the profile that is shipped; its path.
pub(crate) fn build() -> Result<PathBuf> {
    start(&mut cargo(&["build", "--package", "netra-preload", "--profile", "preload"]))?;
    Ok(target().join("preload/libnetra_preload.so"))
}

fn symbols(object: &Path, which: &str) -> Result<Vec<String>> {
    let listing = output(Command::new("nm").args(["--dynamic", which]).arg(object))?;
    Ok(String::from_utf8_lossy(&listing).lines().map(str::to_owned).collect())
}

/// The name in a line of `nm`, without its version.
fn name(line: &str) -> &str {
    let last = line.split_whitespace().last().unwrap_or_default();
    last.split('@').next().unwrap_or_default()
}

/// The version of glibc a line of `nm` asks for.
fn version(line: &str) -> Option<Version> {
    let text = line.rsplit_once("@GLIBC_")?.1;
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some(Version(parts.next()??, parts.next()??))
}

/// The first words of a list whose comments begin with `#`.
fn listed(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The names of the rows `name / arguments = hook;` in the sources of a folder.
fn rows(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        names.extend(named_rows(&read(&entry?.path())?));
    }
    Ok(names)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

/// Fails with the difference between what the object has and what is written down.
fn same(
    what: &str,
    found: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
    place: &str,
) -> Result<()> {
    let more: Vec<_> = found.difference(wanted).map(String::as_str).collect();
    let fewer: Vec<_> = wanted.difference(found).map(String::as_str).collect();
    if !more.is_empty() {
        bail!("{what} that {place} does not name: {}", more.join(", "));
    }
    if !fewer.is_empty() {
        bail!("{what} that {place} names and the object has not: {}", fewer.join(", "));
    }
    Ok(())
}

/// Compiles the library for the other architecture where its target is installed, and links it where a C
/// compiler is there too; its path.
pub(crate) fn other_architecture() -> Result<Option<PathBuf>> {
    let words = ["--print", "target-libdir", "--target", OTHER_TARGET];
    let folder = output(Command::new("rustc").args(words).current_dir(root()))?;
    if !Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() {
        println!("not compiled for {OTHER_TARGET}: that target is not installed here");
        return Ok(None);
    }
    if !on_path(OTHER_COMPILER) {
        println!("only compiled for {OTHER_TARGET}, not linked: {OTHER_COMPILER} is not installed");
        start(&mut cargo(&["check", "--package", "netra-capture", "--target", OTHER_TARGET]))?;
        return Ok(None);
    }
    let words = ["build", "--package", "netra-preload", "--profile", "preload", "--target"];
    let mut command = cargo(&words);
    command.arg(OTHER_TARGET);
    start(command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", OTHER_COMPILER))?;
    Ok(Some(target().join(OTHER_TARGET).join("preload/libnetra_preload.so")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Code, Version, defined, listed, name, room_for_patches, version};

    fn table(rows: &[(&str, u64, u64)]) -> BTreeMap<String, Code> {
        let row =
            |&(name, address, bytes): &(&str, u64, u64)| (name.to_owned(), Code { address, bytes });
        rows.iter().map(row).collect()
    }

    #[test]
    fn a_patch_stays_inside_and_reaches_all_names_of_a_function() {
        let libc = table(&[("open", 0x100, 300), ("open64", 0x100, 300), ("read", 0x300, 90)]);
        let judge = |rows: &[(&str, u64, u64)]| {
            room_for_patches(&table(rows), &libc, 16).map_err(|error| error.to_string())
        };
        let good = [("open", 16, 16), ("open64", 16, 0), ("read", 32, 16)];
        assert_eq!(judge(&good), Ok(()));
        let short = judge(&[("open", 16, 8), ("open64", 16, 0)]).unwrap_err();
        assert_eq!(short, "open has no 16 bytes of its own at 0x10");
        assert!(
            judge(&[("open", 16, 16), ("read", 24, 16)]).unwrap_err().starts_with("open has no")
        );
        let apart = judge(&[("open", 16, 16), ("open64", 32, 16)]).unwrap_err();
        assert_eq!(apart, "open and open64 are one function in libc and two in ours");
    }

    #[test]
    fn lines_of_readelf_are_understood() {
        let line = "    66: 00000000000345f0    16 FUNC    GLOBAL DEFAULT   14 open@@GLIBC_2.2.5";
        assert_eq!(defined(line), Some(("open".into(), Code { address: 0x345f0, bytes: 16 })));
        assert_eq!(defined(&line.replace("@@", "@")), None, "an old version");
        assert_eq!(defined(&line.replace("   14 ", "  UND ")), None);
        assert_eq!(defined(&line.replace("@@GLIBC_2.2.5", "")).unwrap().0, "open");
    }

    #[test]
    fn lines_of_nm_are_understood() {
        let line = "                 U clock_gettime@GLIBC_2.17";
        assert_eq!(name(line), "clock_gettime");
        assert_eq!(version(line), Some(Version(2, 17)));
        assert!(Version(2, 3) < Version(2, 28));
        assert_eq!(version("                 w __gmon_start__"), None);
        assert_eq!(name("0000000000006000 T pwrite64"), "pwrite64");
    }

    #[test]
    fn lists_have_a_name_and_a_reason() {
        let names = listed("# comment\nmemcpy  the compiler calls it\n");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["memcpy"]);
    }
}
