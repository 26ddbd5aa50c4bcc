//! Compiles a workload for an MPI into `target/workloads/<mpi>/`, when its sources are newer.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};

use crate::catalogue::{Language, Library, Workload};
use crate::mpi::{Missing, Mpi, need};

/// The folder of this crate, which is the folder of the workloads.
#[must_use]
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `target/workloads`; `CARGO_TARGET_DIR` moves it.
#[must_use]
pub fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    home().parent().unwrap_or(home()).join(chosen).join("workloads")
}

/// Makes a workload ready for an MPI and gives the words that start one rank of it.
pub fn compile(workload: &Workload, mpi: Mpi) -> Result<Vec<OsString>> {
    if mpi == Mpi::None && !workload.without_mpi {
        bail!("{} is about MPI and does not run with --mpi none", workload.name);
    }
    let folder = home().join(workload.name);
    let source = |ending: &str| folder.join(format!("{}.{ending}", workload.name));
    if workload.language == Language::Python {
        return Ok(vec![python()?, source("py").into()]);
    }
    let program = target().join(mpi.name()).join(workload.name);
    let mut flags = vec!["-I".into(), home().join("include").into_os_string()];
    if mpi == Mpi::None {
        flags.push("-DWITHOUT_MPI".into());
    }
    let mut after = Vec::new();
    for library in workload.libraries {
        let (before, behind) = library_flags(*library, mpi)?;
        flags.extend(before);
        after.extend(behind);
    }
    if workload.language == Language::Fortran {
        let object = program.with_extension("o");
        make_c(mpi, &[&source("c")], &object, &[flags, vec!["-c".into()]].concat(), &[])?;
        after.insert(0, object.into());
        make_fortran(mpi, &source("f90"), &program, &after)?;
    } else {
        make_c(mpi, &[&source("c")], &program, &flags, &after)?;
    }
    Ok(vec![program.into()])
}

/// The interpreter itself: what is called `python3` may be a script that looks for it, which costs
/// more than the workload.
fn python() -> Result<OsString> {
    need("python3", "python3")?;
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let said = asked.context("starting python3")?.stdout;
    Ok(String::from_utf8_lossy(&said).trim().into())
}

/// Compiles C sources into `product` when it is missing or older than any of them. Warnings are
/// errors: these programs are examples.
pub fn make_c(
    mpi: Mpi,
    sources: &[&Path],
    product: &Path,
    flags: &[OsString],
    after: &[OsString],
) -> Result<()> {
    need(mpi.cc(), mpi.packages())?;
    let mut command = Command::new(mpi.cc());
    // -fno-builtin keeps the compiler from turning one stdio call into another: they are counted.
    command.args(["-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    command.args(["-Wno-unused-function", "-fno-builtin", "-D_GNU_SOURCE"]);
    command.args(flags);
    make(command, sources, product, after)
}

fn make_fortran(mpi: Mpi, source: &Path, product: &Path, after: &[OsString]) -> Result<()> {
    need(mpi.fortran(), &format!("gfortran {}", mpi.packages()))?;
    let mut command = Command::new(mpi.fortran());
    command.args(["-std=f2018", "-cpp", "-O2", "-g", "-Wall", "-Werror"]);
    if mpi == Mpi::None {
        command.arg("-DWITHOUT_MPI");
    }
    let modules = product.with_extension("mod");
    fs::create_dir_all(&modules).with_context(|| format!("making {}", modules.display()))?;
    command.arg("-J").arg(modules);
    make(command, &[source], product, after)
}

/// Runs a compiler that has its flags already. The product appears at once, by rename, because
/// tests in several processes may want it at the same time.
fn make(mut command: Command, sources: &[&Path], product: &Path, after: &[OsString]) -> Result<()> {
    if is_fresh(product, sources, after) {
        return Ok(());
    }
    if let Some(folder) = product.parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let part = product.with_extension(format!("part{}", std::process::id()));
    let compiler = command.get_program().to_string_lossy().into_owned();
    let done = command.args(sources).arg("-o").arg(&part).args(after).output();
    let done = done.with_context(|| format!("starting {compiler}"))?;
    if !done.status.success() {
        bail!("{compiler} {}: {}", sources[0].display(), String::from_utf8_lossy(&done.stderr));
    }
    fs::rename(&part, product).with_context(|| format!("making {}", product.display()))
}

fn is_fresh(product: &Path, sources: &[&Path], objects: &[OsString]) -> bool {
    let Some(made) = modified(product) else { return false };
    let include = home().join("include");
    let headers = [include.as_path(), sources[0].parent().unwrap_or(home())];
    let inside = headers.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let headers = inside.filter_map(|entry| Some(entry.ok()?.path()));
    let objects = objects.iter().map(PathBuf::from).filter(|word| word.is_file());
    headers.chain(objects).all(|path| modified(&path).is_some_and(|written| written < made))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Words before and after the sources for a library of this MPI's kind.
pub fn library_flags(library: Library, mpi: Mpi) -> Result<(Vec<OsString>, Vec<OsString>)> {
    let (name, package) = match (library, mpi) {
        (Library::Threads, _) => return Ok((vec!["-pthread".into()], Vec::new())),
        (Library::Hdf5, Mpi::Mpich) => ("hdf5-mpich", "libhdf5-mpich-dev"),
        (Library::Hdf5, Mpi::OpenMpi) => ("hdf5-openmpi", "libhdf5-openmpi-dev"),
        (Library::Hdf5, Mpi::None) => ("hdf5-serial", "libhdf5-dev"),
        (Library::Pnetcdf, Mpi::OpenMpi) => ("pnetcdf", "libpnetcdf-dev"),
        (Library::Pnetcdf, _) => {
            bail!("Debian has PnetCDF for Open MPI alone; use --mpi openmpi")
        }
    };
    Ok((ask("--cflags", name, package)?, ask("--libs", name, package)?))
}

/// Asks `pkg-config` for the words of a library.
fn ask(what: &str, name: &str, package: &str) -> Result<Vec<OsString>> {
    need("pkg-config", "pkg-config")?;
    let done = Command::new("pkg-config").args([what, name]).output();
    let done = done.context("starting pkg-config")?;
    if !done.status.success() {
        return Err(Missing { what: name.to_owned(), packages: package.to_owned() }.into());
    }
    let words = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(words.split_whitespace().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::ask;

    #[test]
    fn a_missing_library_is_told_with_its_package() {
        let error = ask("--libs", "hdf5-nowhere", "libhdf5-mpich-dev").unwrap_err();
        let says = "hdf5-nowhere is missing: apt-get install libhdf5-mpich-dev";
        assert_eq!(error.to_string(), says);
    }
}
