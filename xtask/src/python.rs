//! `cargo xtask wheel` and `notebook`: the Python package, built with maturin from the private environment.
//! The tests install exactly such a wheel, and use it on every interpreter at hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::artifact;
use crate::place::{cargo, on_path, output, root, run as start, target};

/// Interpreters that the wheel is for, oldest first.
const VERSIONS: &[&str] = &["3.9", "3.10", "3.11", "3.12", "3.13"];

/// `cargo xtask wheel`: as it is shipped.
pub(crate) fn wheel(_: &[String]) -> Result<()> {
    let installed = crate::install::all();
    installed.check()?;
    let python = installed.python.context("there is no Python here to build the package with")?;
    println!("{}", build(&python, "release")?.display());
    Ok(())
}

/// `cargo xtask notebook [NAME…]`: the notebooks, executed with what is built here.
pub(crate) fn notebook(names: &[String]) -> Result<()> {
    let installed = crate::install::all();
    installed.check()?;
    let python = installed.python.context("there is no Python here to execute notebooks with")?;
    install(&python, "dev")?;
    start(&mut cargo(&["build", "--package", "netra-cli"]))?;
    let mut execute = Command::new(&python);
    start(beside(execute.arg("docs/notebook/execute.py").args(names))?)
}

/// Builds the wheel, installs it beside its judges, runs its tests, and tries it without any
/// other package on each interpreter of this machine.
pub(crate) fn test(python: &Path) -> Result<()> {
    let wheel = install(python, "dev")?;
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/python/tests"]);
    start(beside(&mut pytest)?)?;
    types(python)?;
    for version in VERSIONS {
        match interpreter(version) {
            Some(other) => alone(version, &other, &wheel)?,
            None => println!("skipped: there is no Python {version} here"),
        }
    }
    Ok(())
}

/// What tests and notebooks use beside the package: the program, where it was built before, the library with which it
/// records, and the maker of a month of jobs.
fn beside(command: &mut Command) -> Result<&mut Command> {
    let program = target().join("debug/netra");
    if program.exists() {
        command.env("NETRA_PROGRAM", program).env("NETRA_PRELOAD", artifact::build()?);
    }
    let example = ["build", "--quiet", "--package", "netra-darshan", "--example", "make_month"];
    start(&mut cargo(&example))?;
    command.env("NETRA_MAKE_MONTH", target().join("debug/examples/make_month"));
    Ok(command.current_dir(root()))
}

/// Both checkers of types: they read annotations differently, and users have either.
fn types(python: &Path) -> Result<()> {
    let mut mypy = Command::new(python);
    mypy.args(["-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir"])
        .arg(target().join("mypy"));
    start(mypy.arg("crates/python/python/netra").current_dir(root()))?;
    if !on_path("node") {
        println!("skipped: pyright needs Node.js");
        return Ok(());
    }
    let mut pyright = Command::new(python);
    pyright.args(["-m", "pyright", "--pythonpath"]).arg(python);
    start(pyright.args(["--project", "crates/python/pyrightconfig.json"]).current_dir(root()))
}

/// Builds the wheel and puts it into the private environment.
pub(crate) fn install(python: &Path, profile: &str) -> Result<PathBuf> {
    let wheel = build(python, profile)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    start(pip.arg("--force-reinstall").arg(&wheel))?;
    Ok(wheel)
}

/// The profile is that of everything else, so that dependencies are compiled once.
fn build(python: &Path, profile: &str) -> Result<PathBuf> {
    let folder = target().join("wheels").join(profile);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--out"]).arg(&folder);
    maturin.arg("--target-dir").arg(target()).arg("-m").arg("crates/python/Cargo.toml");
    start(maturin.current_dir(root()))?;
    let mut wheels = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    match (wheels.next(), wheels.next()) {
        (Some(wheel), None) => wheel,
        _ => bail!("maturin did not leave one wheel in {}", folder.display()),
    }
}

/// An interpreter of a version that works: on the PATH, or where pyenv keeps them.
fn interpreter(version: &str) -> Option<PathBuf> {
    let name = format!("python{version}");
    let mut places = vec![PathBuf::from(&name)];
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let kept = fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = kept.map(|entry| entry.path().join("bin").join(&name)).collect();
    kept.sort();
    places.extend(kept);
    let works = |place: &PathBuf| {
        let says = output(Command::new(place).arg("--version")).unwrap_or_default();
        let wanted = format!("Python {version}.");
        says.starts_with(wanted.as_bytes())
    };
    places.into_iter().find(works)
}

/// An environment with the wheel and nothing else.
fn alone(version: &str, interpreter: &Path, wheel: &Path) -> Result<()> {
    let home = target().join("wheels").join(format!("alone-{version}"));
    start(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&home))?;
    let python = home.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    start(pip.arg(wheel))?;
    let code = "import sys, netra; log = netra.open(sys.argv[1]); \
                rows = log.dxt('POSIX').count(); assert rows == 192, rows; \
                assert sum(log.counters('POSIX').to_dict()['POSIX_BYTES_WRITTEN']) == 34209792; \
                assert log.job['processes'] == 4 and log.complete; \
                print('Python', sys.version.split()[0], 'reads', rows, 'segments')";
    start(Command::new(&python).arg("-c").arg(code).arg(root().join("docs/example/wave.darshan")))
}
