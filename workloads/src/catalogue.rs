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

/// Every workload: first the papers', then the single mistakes, then the load generator.
pub static ALL: &[Workload] = &[
    Workload {
        name: "mpi-io-test",
        says: "blocks written and read back through MPI-IO",
        trials: &[
            &["--block", "64KiB", "--iterations", "5"],
            &["--block", "10007", "--iterations", "3", "--mode", "collective"],
            &["--block", "8KiB", "--iterations", "4", "--file", "per-rank", "--read", "no"],
        ],
        ..PLAIN
    },
    Workload {
        name: "hacc-checkpoint",
        says: "nine particle variables: a file for each rank, O_DIRECT, independent, collective",
        without_mpi: true,
        trials: &[
            &["--particles", "1000"],
            &["--particles", "1001", "--mode", "direct"],
            &["--particles", "999", "--mode", "independent"],
            &["--particles", "500", "--mode", "collective", "--validate", "no"],
        ],
        ..PLAIN
    },
    Workload {
        name: "nwchem",
        says: "a database that ranks read and write over each other, and scratch files",
        without_mpi: true,
        trials: &[
            &["--steps", "4", "--record", "4096", "--scratch", "8KiB"],
            &["--steps", "3", "--record", "1000", "--scratch", "0"],
            &["--steps", "3", "--database", "once", "--scratch", "4KiB"],
        ],
        ..PLAIN
    },
    Workload {
        name: "hmmer",
        says: "every rank scans one text file by tiny stdio reads",
        without_mpi: true,
        trials: &[
            &["--sequences", "40", "--lines", "5"],
            &["--sequences", "7", "--lines", "50", "--width", "61", "--tiny", "4"],
            &["--sequences", "400", "--lines", "50", "--mode", "block"],
        ],
        ..PLAIN
    },
    Workload {
        name: "dlio",
        says: "forked Python workers read shuffled small samples",
        language: Language::Python,
        without_mpi: true,
        trials: &[
            &["--files", "2", "--samples", "16", "--sample", "1KiB"],
            &[
                "--files",
                "3",
                "--samples",
                "5",
                "--sample",
                "1001",
                "--workers",
                "3",
                "--open",
                "once",
            ],
        ],
        ..PLAIN
    },
    Workload {
        name: "slow-rank",
        says: "all ranks wait for one that writes in small pieces",
        without_mpi: true,
        trials: &[
            &["--steps", "3", "--block", "64KiB", "--pieces", "16", "--delay", "100"],
            &["--steps", "2", "--block", "6000", "--slow", "1", "--pieces", "3", "--delay", "0"],
        ],
        ..PLAIN
    },
    Workload {
        name: "same-file-every-rank",
        says: "every rank reads the same small file",
        without_mpi: true,
        trials: &[
            &["--size", "10000", "--piece", "512", "--passes", "2"],
            &["--size", "64KiB", "--piece", "64KiB", "--mode", "broadcast"],
        ],
        ..PLAIN
    },
    Workload {
        name: "stdout-bulk",
        says: "bulk results through redirected standard output",
        without_mpi: true,
        stdout: Stdout::FilePerRank,
        trials: &[
            &["--lines", "500"],
            &["--lines", "300", "--width", "33", "--call", "fwrite", "--buffer", "64KiB"],
            &["--lines", "50", "--call", "write"],
        ],
        ..PLAIN
    },
    Workload {
        name: "load",
        says: "files x threads x sizes, as fast as it goes",
        libraries: &[Library::Threads],
        without_mpi: true,
        trials: &[
            &["--files", "3", "--threads", "2", "--size", "32KiB", "--block", "4KiB"],
            &[
                "--files",
                "2",
                "--threads",
                "3",
                "--size",
                "9000",
                "--block",
                "1000",
                "--call",
                "write",
            ],
            &[
                "--files",
                "2",
                "--threads",
                "2",
                "--size",
                "20KiB",
                "--block",
                "512",
                "--call",
                "fwrite",
            ],
        ],
        ..PLAIN
    },
];

/// Finds a workload; an error lists what there is.
pub fn find(name: &str) -> Result<&'static Workload> {
    match ALL.iter().find(|workload| workload.name == name) {
        Some(workload) => Ok(workload),
        None => bail!("there is no workload `{name}`; `cargo xtask workload` lists them"),
    }
}
