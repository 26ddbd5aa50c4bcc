//! `cargo xtask test`: installs what the tests need, then runs all of them. `--long` adds what is
//! too long for every run.
//!
//! A step is one row in [`STEPS`]; later parts of netra append theirs.

use anyhow::{Result, bail};

use crate::artifact;
use crate::install::{self, Installed};
use crate::place::{cargo, on_path, run as start, target};
use crate::step::Steps;
use crate::{python, tidy, web};

/// What every step may ask for.
pub(crate) struct Run {
    /// What could be installed, and the environment that tells tests of it.
    pub(crate) installed: Installed,
    /// Whether the long tests are wanted too.
    pub(crate) long: bool,
}

/// A step, when it runs, and what it does.
struct Step {
    name: &'static str,
    /// Only with `--long`.
    long: bool,
    work: fn(&Run) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "tidy", long: false, work: |_| tidy::run(&[]) },
    // Before anything is compiled: netra takes the built page in.
    Step { name: "web", long: false, work: |_| web::test_if_possible() },
    Step { name: "format", long: false, work: |_| start(&mut cargo(&["fmt", "--all", "--check"])) },
    Step { name: "clippy", long: false, work: clippy },
    Step { name: "artifact", long: false, work: |_| artifact::run(&[]) },
    Step { name: "tests", long: false, work: tests },
    Step { name: "interleavings", long: false, work: interleavings },
    Step { name: "python", long: false, work: packaged },
    Step { name: "documentation", long: false, work: documentation },
    Step { name: "examples in documentation", long: false, work: examples },
];

/// Runs everything; fails when anything failed.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let long = match words {
        [] => false,
        [word] if word == "--long" => true,
        _ => bail!("usage: cargo xtask test [--long]"),
    };
    let mut steps = Steps::default();
    let mut installed = Installed::default();
    steps.run("install", || {
        installed = install::all();
        installed.check()
    });
    for missing in &installed.missing {
        steps.skip(missing.clone());
    }
    let run = Run { installed, long };
    for step in STEPS.iter().filter(|step| long || !step.long) {
        steps.run(step.name, || (step.work)(&run));
    }
    steps.finish()
}

fn clippy(_: &Run) -> Result<()> {
    start(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// The whole workspace: nextest where it is installed, `cargo test` where it is not.
fn tests(run: &Run) -> Result<()> {
    let mut command = if on_path("cargo-nextest") {
        cargo(&["nextest", "run", "--workspace", "--profile", "ci"])
    } else {
        println!("cargo-nextest is not installed; `cargo test` serves");
        cargo(&["test", "--workspace", "--all-targets"])
    };
    // A golden file is never accepted unread.
    command.env("INSTA_UPDATE", "no").envs(run.installed.environment());
    // Built once: a hundred end-to-end test processes need not ask cargo for it.
    command.env("E2E_LIBRARY", artifact::build()?);
    if let Some(library) = artifact::other_architecture()? {
        command.env("E2E_AARCH64_LIBRARY", library);
    }
    if run.long {
        command.env("NETRA_TEST_LONG", "1").env("NETRA_LONG", "1");
    }
    start(&mut command)
}

/// The lane under every interleaving, in a folder of its own: the flag changes every fingerprint.
fn interleavings(_: &Run) -> Result<()> {
    let mut command = cargo(&["test", "--package", "netra-event", "--test", "lane"]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target().join("loom"));
    start(&mut command)
}

/// The Python package; where there is no Python, the step before has said so.
fn packaged(run: &Run) -> Result<()> {
    run.installed.python.as_deref().map_or(Ok(()), python::test)
}

/// nextest does not run them.
fn examples(_: &Run) -> Result<()> {
    start(&mut cargo(&["test", "--doc", "--workspace", "--quiet"]))
}

fn documentation(_: &Run) -> Result<()> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    start(command.env("RUSTDOCFLAGS", "-D warnings"))
}
