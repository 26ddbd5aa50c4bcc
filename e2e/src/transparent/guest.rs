//! A program that netra is to be a guest of: a row of the list.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::mpi::Mpi;
use crate::program::{Program, sources};

/// A program, how it is started, and what of it cannot be compared.
#[derive(Debug, Clone, Copy)]
pub struct Guest {
    /// The test's name.
    pub name: &'static str,
    /// The Debian package that brings it; empty if it is made from this repository.
    pub package: &'static str,
    /// What is started.
    pub command: Line,
    /// Makes what it reads, in the directory where it works.
    pub input: fn(&Path) -> io::Result<()>,
    /// What is not looked at, and why.
    pub apart: &'static [(Aspect, &'static str)],
    /// Whether it is run with `--long` only.
    pub long: bool,
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub enum Line {
    /// A program and its words.
    Words(&'static [&'static str]),
    /// A line for the shell. The first word names the program that must be there.
    Shell(&'static str),
    /// A script of `e2e/guests`, for the shell, and the program that must be there.
    Script(&'static str, &'static str),
    /// A program of `e2e/programs`.
    Own(&'static str),
    /// The same as ranks of an MPI library.
    Ranks {
        /// The library, as [`Mpi`] calls it.
        library: &'static str,
        /// The source.
        program: &'static str,
        /// Variables of the launcher.
        variables: &'static [&'static str],
        /// More words for the launcher.
        words: &'static [&'static str],
    },
    /// Words that are made when the guest is run, from its name.
    Made(fn(&str) -> Result<Vec<OsString>>),
}

/// Something of a run that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aspect {
    /// The sequence of system calls.
    Calls,
    /// Descriptors, limits, environment, mappings and use.
    State,
    /// The state of processes at their end; at the starts of programs it is looked at.
    Ends,
    /// Bounds of faults, memory and switches.
    Resources,
    /// Standard error.
    Errors,
    /// The library alone.
    Library,
    /// The way `netra run`, and `--live`.
    Run,
}

/// What most rows share.
pub(crate) const PLAIN: Guest = Guest {
    name: "",
    package: "",
    command: Line::Words(&[]),
    input: |_| Ok(()),
    apart: &[],
    long: false,
};

/// Folders of programs: a fixed list, so that nobody's own programs take part.
pub(crate) const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/games:/usr/local/bin";

impl Guest {
    /// Whether something is not looked at.
    #[must_use]
    pub fn is_apart(&self, aspect: Aspect) -> bool {
        self.apart.iter().any(|(one, _)| *one == aspect)
    }

    /// The program without which the row cannot be run.
    fn needs(&self) -> Option<&'static str> {
        match self.command {
            Line::Words(words) => words.first().copied(),
            // A word of the shell's own is always there.
            Line::Shell(line) => line.split([' ', ';']).next().filter(|word| *word != "ulimit"),
            Line::Script(_, needs) => Some(needs),
            Line::Ranks { library: "Debian MPICH", .. } => Some("mpirun.mpich"),
            Line::Ranks { .. } => Some("mpirun.openmpi"),
            Line::Own(_) | Line::Made(_) => None,
        }
    }

    /// Whether its program is on this machine.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.needs().is_none_or(|needs| {
            let mut folders = PATH.split(':');
            Path::new(needs).is_file() || folders.any(|own| Path::new(own).join(needs).is_file())
        })
    }

    /// The words of its command line.
    pub(crate) fn words(&self) -> Result<Vec<OsString>> {
        let shell = |line: &str| vec!["/bin/sh".into(), "-c".into(), line.into()];
        Ok(match self.command {
            Line::Words(words) => words.iter().map(OsString::from).collect(),
            Line::Shell(line) => shell(line),
            Line::Script(file, _) => vec!["/bin/sh".into(), script(file).into_os_string()],
            Line::Own(name) => Program::c(name).words()?.into_iter().map(OsString::from).collect(),
            Line::Ranks { library, program, variables, words } => {
                let found = Mpi::all().here.into_iter().find(|mpi| mpi.name == library);
                let mpi = found.with_context(|| format!("{library} cannot compile here"))?;
                let program = mpi.compile(program)?.context("a source in C")?;
                let front = ["env"].iter().chain(variables).map(OsString::from);
                front.chain(mpi.line(words)).chain([program.into_os_string()]).collect()
            }
            Line::Made(make) => make(self.name)?,
        })
    }
}

fn script(file: &str) -> PathBuf {
    sources().join("../guests").join(file)
}
