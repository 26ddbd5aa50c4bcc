//! The MPI libraries a workload is built for: their compilers, launchers and Debian packages.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Result, bail};

/// An MPI library of the system, or the choice to do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// Debian's MPICH.
    Mpich,
    /// Debian's Open MPI.
    OpenMpi,
    /// One process, compiled without MPI.
    None,
}

impl Mpi {
    /// All of them, in the order in which a default is looked for.
    pub const ALL: [Mpi; 3] = [Mpi::Mpich, Mpi::OpenMpi, Mpi::None];

    /// The word after `--mpi`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi => "openmpi",
            Mpi::None => "none",
        }
    }

    /// Reads the word after `--mpi`.
    pub fn named(word: &str) -> Result<Mpi> {
        match Mpi::ALL.into_iter().find(|mpi| mpi.name() == word) {
            Some(mpi) => Ok(mpi),
            None => bail!("--mpi is one of mpich, openmpi, none, not `{word}`"),
        }
    }

    /// The C compiler.
    #[must_use]
    pub fn cc(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpicc.mpich",
            Mpi::OpenMpi => "mpicc.openmpi",
            Mpi::None => "cc",
        }
    }

    /// The Fortran compiler.
    #[must_use]
    pub fn fortran(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpif90.mpich",
            Mpi::OpenMpi => "mpif90.openmpi",
            Mpi::None => "gfortran",
        }
    }

    /// The Debian packages that bring compiler and launcher.
    #[must_use]
    pub fn packages(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich libmpich-dev",
            Mpi::OpenMpi => "openmpi-bin libopenmpi-dev",
            Mpi::None => "gcc libc6-dev",
        }
    }

    /// The words that start `ranks` ranks; empty without MPI.
    #[must_use]
    pub fn launcher(self, ranks: u32) -> Vec<String> {
        let words: &[&str] = match self {
            Mpi::Mpich => &["mpirun.mpich"],
            // Open MPI refuses root and more ranks than cores unless told that both are meant.
            Mpi::OpenMpi if is_root() => {
                &["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
            }
            Mpi::OpenMpi => &["mpirun.openmpi", "--oversubscribe"],
            Mpi::None => return Vec::new(),
        };
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.extend(["-n".to_owned(), ranks.to_string()]);
        words
    }

    /// Whether its C compiler is here.
    #[must_use]
    pub fn is_here(self) -> bool {
        on_path(self.cc())
    }
}

/// Whether a program of this name is on the PATH.
fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Something of the system that is not installed, and what brings it.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing {
    /// A program or a library.
    pub what: String,
    /// Debian packages.
    pub packages: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is missing: apt-get install {}", self.what, self.packages)
    }
}

impl std::error::Error for Missing {}

/// A program that must be here; otherwise the error says what to install.
pub fn need(program: &str, packages: &str) -> Result<(), Missing> {
    if on_path(program) {
        return Ok(());
    }
    Err(Missing { what: program.to_owned(), packages: packages.to_owned() })
}

fn is_root() -> bool {
    fs::metadata(Path::new("/proc/self")).is_ok_and(|process| process.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::need;

    #[test]
    fn a_missing_program_is_told_with_its_packages() {
        let missing = need("mpicc.nowhere", "mpich libmpich-dev").unwrap_err();
        let says = "mpicc.nowhere is missing: apt-get install mpich libmpich-dev";
        assert_eq!(missing.to_string(), says);
        assert_eq!(need("sh", "dash"), Ok(()));
    }
}
