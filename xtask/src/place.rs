//! Where things are: the repository, the target directory, the programs we start.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The target directory; `CARGO_TARGET_DIR` moves it.
pub(crate) fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(chosen)
}

/// `cargo` with these words, in the root of the repository.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(root());
    // What `cargo run` told this program is not meant for others: some build scripts look at it, and everything that
    // stands on them (half of all dependencies) would be compiled once for `cargo xtask` and once for plain `cargo`.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command whose output goes to the person; a failure names the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let said = spoken(command);
    let status = command.status().with_context(|| format!("could not start `{said}`"))?;
    if !status.success() {
        bail!("`{said}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and gives what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let said = spoken(command);
    let done = command.output().with_context(|| format!("could not start `{said}`"))?;
    if !done.status.success() {
        let complaint = String::from_utf8_lossy(&done.stderr);
        bail!("`{said}` failed ({}): {}", done.status, complaint.trim());
    }
    Ok(done.stdout)
}

/// Whether a program of this name is on the PATH.
pub(crate) fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn spoken(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
