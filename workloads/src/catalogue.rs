//! The workloads: a row each. A new one is a folder, a row, and nothing else.

use anyhow::{Result, bail};

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `<name>/<name>.c`
    C,
    /// `<name>/<name>.f90`, with its knobs and expectation in `<name>/<name>.c`
    Fortran,
    /// `<name>/<name>.py`; takes part in a job by its launcher's environment, makes no MPI calls
    Python,
}

/// A library that a program is linked with, besides MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// HDF5, parallel with MPI and serial without.
    Hdf5,
    /// PnetCDF, which Debian builds for Open MPI alone.
    Pnetcdf,
    /// POSIX threads.
    Threads,
}

/// Where a rank's standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    /// To the launcher's, as usual.
    Launcher,
    /// The launching shell opens `stdout.<rank>` for it, so that the program inherits it as
    /// descriptor 1 and never opens it.
    FilePerRank,
}

/// One program.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Its folder, its program and the word on the command line.
    pub name: &'static str,
    /// What it shows, in a line.
    pub says: &'static str,
    /// What it is written in.
    pub language: Language,
    /// What it is linked with.
    pub libraries: &'static [Library],
    /// Whether it also makes sense as one process without MPI.
    pub without_mpi: bool,
    /// Where its standard output goes.
    pub stdout: Stdout,
    /// The settings at which it is tested: small, and different in what they do.
    pub trials: &'static [&'static [&'static str]],
}

/// What most rows share: C, MPI and nothing else.
const PLAIN: Workload = Workload {
    name: "",
    says: "",
    language: Language::C,
    libraries: &[],
    without_mpi: false,
    stdout: Stdout::Launcher,
    trials: &[],
};

/// Every workload, by name.
pub static ALL: &[Workload] = &[Workload {
    name: "mpi-io-test",
    says: "blocks written and read back through MPI-IO",
    trials: &[
        &["--block", "64KiB", "--iterations", "5"],
        &["--block", "10007", "--iterations", "3", "--mode", "collective"],
        &["--block", "8KiB", "--iterations", "4", "--file", "per-rank", "--read", "no"],
    ],
    ..PLAIN
}];

/// Finds a workload; an error lists what there is.
pub fn find(name: &str) -> Result<&'static Workload> {
    match ALL.iter().find(|workload| workload.name == name) {
        Some(workload) => Ok(workload),
        None => bail!("there is no workload `{name}`; `cargo xtask workload` lists them"),
    }
}
