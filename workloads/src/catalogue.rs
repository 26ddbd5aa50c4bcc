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
    pub trials: &'static [&'static str],
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
            "--block 64KiB --iterations 5",
            "--block 10007 --iterations 3 --mode collective",
            "--block 8KiB --iterations 4 --file per-rank --read no",
        ],
        ..PLAIN
    },
    Workload {
        name: "hacc-checkpoint",
        says: "nine particle variables: a file for each rank, O_DIRECT, independent, collective",
        without_mpi: true,
        trials: &[
            "--particles 1000",
            "--particles 1001 --mode direct",
            "--particles 999 --mode independent",
            "--particles 500 --mode collective --validate no",
        ],
        ..PLAIN
    },
    Workload {
        name: "hacc-io",
        says: "five kernels of nine variables: MPI-IO and HDF5, three layouts",
        libraries: &[Library::Hdf5],
        trials: &[
            "--elements 1000",
            "--elements 777 --kernel mpi-interleaved --mode collective --gap 2048",
            "--elements 1000 --kernel hdf5-individual --stripe-size 1MiB --stripe-count 4",
            "--elements 1000 --kernel hdf5-multi --meta-block 64KiB",
            "--elements 500 --kernel hdf5-compound --mode collective --alignment 4096",
        ],
        ..PLAIN
    },
    Workload {
        name: "flash",
        says: "checkpoints with many attributes, each opened twice, and one aggregator",
        libraries: &[Library::Hdf5],
        without_mpi: true,
        trials: &[
            "--checkpoints 2 --unknowns 3 --cells 500",
            "--checkpoints 1 --unknowns 2 --cells 512 --mode collective --open once",
        ],
        ..PLAIN
    },
    Workload {
        name: "nwchem",
        says: "a database that ranks read and write over each other, and scratch files",
        without_mpi: true,
        trials: &[
            "--steps 4 --record 4096 --scratch 8KiB",
            "--steps 3 --record 1000 --scratch 0",
            "--steps 3 --database once --scratch 4KiB",
        ],
        ..PLAIN
    },
    Workload {
        name: "qmcpack",
        says: "a checkpoint overwritten in place",
        libraries: &[Library::Hdf5],
        without_mpi: true,
        trials: &["--sections 3 --walkers 10", "--sections 2 --walkers 7 --electrons 5 --mode new"],
        ..PLAIN
    },
    Workload {
        name: "sw4",
        says: "images and checkpoints at different intervals, in Fortran",
        language: Language::Fortran,
        trials: &[
            "--steps 12 --image-every 5 --checkpoint-every 6 --across 32 --rows 4 --deep 3",
            "--steps 4 --image-every 1 --checkpoint-every 3 --across 33 --rows 3 --deep 2 --images slabs",
        ],
        ..PLAIN
    },
    Workload {
        name: "chombo",
        says: "a log file of each rank, and boxes of one HDF5 file written independently",
        libraries: &[Library::Hdf5],
        without_mpi: true,
        trials: &[
            "--levels 2 --boxes 3 --cells 100 --lines 10",
            "--levels 1 --boxes 4 --cells 77 --lines 5 --mode collective --pout rank-0",
        ],
        ..PLAIN
    },
    Workload {
        name: "openpmd",
        says: "meshes in small independent blocks, or in collective aligned slabs",
        libraries: &[Library::Hdf5],
        without_mpi: true,
        trials: &[
            "--steps 2 --meshes 2 --edge 4 --rows 1 --columns 2",
            "--steps 1 --meshes 2 --edge 8 --mode tuned --alignment 64KiB",
        ],
        ..PLAIN
    },
    Workload {
        name: "amrex",
        says: "bursts of plot files with computing between, synchronous or overlapped",
        libraries: &[Library::Hdf5, Library::Threads],
        without_mpi: true,
        trials: &[
            "--plots 2 --boxes 3 --box 4 --compute 10",
            "--plots 2 --boxes 2 --box 4 --particles 0 --compute 10 --mode overlapped",
        ],
        ..PLAIN
    },
    Workload {
        name: "pnetcdf-var",
        says: "variables of a netCDF file, in many independent pieces or collectively",
        libraries: &[Library::Pnetcdf],
        trials: &[
            "--variables 2 --rows 8 --columns 20",
            "--variables 3 --rows 6 --columns 11 --pieces 2 --mode collective",
        ],
        ..PLAIN
    },
    Workload {
        name: "hmmer",
        says: "every rank scans one text file by tiny stdio reads",
        without_mpi: true,
        trials: &[
            "--sequences 40 --lines 5",
            "--sequences 7 --lines 50 --width 61 --tiny 4",
            "--sequences 400 --lines 50 --mode block",
        ],
        ..PLAIN
    },
    Workload {
        name: "dlio",
        says: "forked Python workers read shuffled small samples",
        language: Language::Python,
        without_mpi: true,
        trials: &[
            "--files 2 --samples 16 --sample 1KiB",
            "--files 3 --samples 5 --sample 1001 --workers 3 --open once",
        ],
        ..PLAIN
    },
    Workload {
        name: "slow-rank",
        says: "all ranks wait for one that writes in small pieces",
        without_mpi: true,
        trials: &[
            "--steps 3 --block 64KiB --pieces 16 --delay 100",
            "--steps 2 --block 6000 --slow 1 --pieces 3 --delay 0",
        ],
        ..PLAIN
    },
    Workload {
        name: "same-file-every-rank",
        says: "every rank reads the same small file",
        without_mpi: true,
        trials: &[
            "--size 10000 --piece 512 --passes 2",
            "--size 64KiB --piece 64KiB --mode broadcast",
        ],
        ..PLAIN
    },
    Workload {
        name: "stdout-bulk",
        says: "bulk results through redirected standard output",
        without_mpi: true,
        stdout: Stdout::FilePerRank,
        trials: &[
            "--lines 500",
            "--lines 300 --width 33 --call fwrite --buffer 64KiB",
            "--lines 50 --call write",
        ],
        ..PLAIN
    },
    Workload {
        name: "load",
        says: "files x threads x sizes, as fast as it goes",
        libraries: &[Library::Threads],
        without_mpi: true,
        trials: &[
            "--files 3 --threads 2 --size 32KiB --block 4KiB",
            "--files 2 --threads 3 --size 9000 --block 1000 --call write --content any",
            "--files 2 --threads 2 --size 20KiB --block 512 --call fwrite",
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
