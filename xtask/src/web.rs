//! `cargo xtask web`: builds and tests the report page from `web/`, so that the next build of netra takes
//! it in. Packages come from the lock file alone, and only where it has changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::place::{on_path, root, run as start};

/// `cargo xtask web`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    if !on_path("npm") {
        bail!(
            "npm is not installed (Debian: apt-get install nodejs npm); netra builds without the page, and says so in it"
        );
    }
    test()
}

/// Builds the page, looks at its types and runs its own tests, where that can be done.
pub(crate) fn test_if_possible() -> Result<()> {
    if on_path("npm") { test() } else { if_possible() }
}

fn test() -> Result<()> {
    build()?;
    start(&mut npm(&["run", "--silent", "check"]))?;
    start(&mut npm(&["run", "--silent", "test"]))
}

fn build() -> Result<()> {
    packages()?;
    start(&mut npm(&["run", "--silent", "build"]))
}

/// Builds the page where that can be done; where not, netra is built without it.
pub(crate) fn if_possible() -> Result<()> {
    if on_path("npm") {
        return build();
    }
    println!("npm is not installed, so reports are made without their pictures");
    Ok(())
}

/// A browser that opens pages without a screen, where one is installed.
pub(crate) fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// A program that measures in a browser: `measure.js` report pages, `live.js` the live page.
pub(crate) fn measuring(name: &str) -> Result<PathBuf> {
    build()?;
    start(&mut npm(&["run", "--silent", "tests"]))?;
    Ok(folder().join("build").join(name))
}

fn folder() -> PathBuf {
    root().join("web")
}

fn npm(words: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(words).current_dir(folder());
    command
}

/// Installs what the lock file names; a copy of it says what is there.
fn packages() -> Result<()> {
    let lock = folder().join("package-lock.json");
    let stamp = folder().join("node_modules/netra-lock.json");
    let wanted = fs::read(&lock).with_context(|| format!("reading {}", lock.display()))?;
    if fs::read(&stamp).is_ok_and(|had| had == wanted) {
        return Ok(());
    }
    // Packages get no chance to run anything while they are installed.
    start(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}
