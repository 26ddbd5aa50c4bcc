//! How the program is linked, and of which commit it is.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a place that is fixed. The query engine brings 300,000 pointers that would otherwise be adjusted at every start, in memory
    // that would then be nobody else's: 5 of the 6 milliseconds that `netra --version` took.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    commit();
}

/// The commit, where the sources are in a repository and git is there.
fn commit() {
    let git = |words: &[&str]| {
        let done = Command::new("git").args(words).output().ok()?;
        let text = String::from_utf8(done.stdout).ok()?.trim().to_owned();
        (done.status.success() && !text.is_empty()).then_some(text)
    };
    // The log of HEAD grows with every commit and every branch that is taken out.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && std::path::Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["rev-parse", "--short=7", "HEAD"]) {
        println!("cargo::rustc-env=NETRA_BUILD_COMMIT={commit}");
    }
}
