//! `cargo xtask artifact`: builds `libnetra_preload.so` as it is shipped and looks at the object
//! itself. What it imports is a short list with reasons (an allocator or a surviving panic would
//! show there), what it exports is the table of names, and the oldest glibc it runs on is as promised.

use std::collections::BTreeSet;
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
/// What it imports besides: another name of the environment, and the size of a page, which the kernel chooses.
const OTHER_IMPORTS: &[&str] = &["__environ", "getauxval"];

/// A version of glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

/// `cargo xtask artifact`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    check(&build()?, &[])?;
    match other_architecture()? {
        Some(object) => check(&object, OTHER_IMPORTS),
        None => Ok(()),
    }
}

/// Looks at an object, whose imports may be these as well.
fn check(object: &Path, more: &[&str]) -> Result<()> {
    let undefined = symbols(object, "--undefined-only")?;
    let imports: BTreeSet<String> = undefined.iter().map(|line| name(line).to_owned()).collect();
    let mut wanted = listed(&read(&root().join("crates/preload/imports.txt"))?);
    wanted.extend(more.iter().map(ToString::to_string));
    same("imports", &imports, &wanted, "crates/preload/imports.txt")?;

    let exports: BTreeSet<String> =
        symbols(object, "--defined-only")?.iter().map(|line| name(line).to_owned()).collect();
    same("exports", &exports, &rows(&root().join("crates/preload/src"))?, "the `export!` tables")?;

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

/// The names that the built object exports.
pub(crate) fn exports() -> Result<BTreeSet<String>> {
    Ok(symbols(&build()?, "--defined-only")?.iter().map(|line| name(line).to_owned()).collect())
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
    use super::{Version, listed, name, version};

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
