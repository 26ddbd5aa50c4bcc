//! The counting libraries and the readers of data sets, in `tests/count/`: made here, preloaded into
//! each rank, and what they counted read back.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use netra_workloads::catalogue::{Library, Workload};
use netra_workloads::expected::{Layers, add};
use netra_workloads::{Mpi, compile};

fn source(name: &str) -> PathBuf {
    compile::home().join("tests/count").join(format!("{name}.c"))
}

/// Makes one counting library.
fn library(layer: &str, links: Option<Library>, mpi: Mpi) -> Result<PathBuf> {
    let made = compile::target().join(mpi.name()).join(format!("libcount_{layer}.so"));
    let mut flags = vec!["-shared".into(), "-fPIC".into()];
    if let Some(links) = links {
        flags.extend(compile::library_flags(links, mpi)?.0);
    }
    compile::make_c(mpi, &[&source(layer)], &made, &flags, &["-ldl".into()])?;
    Ok(made)
}

/// The libraries to preload for a workload, as the words of `LD_PRELOAD`.
pub(crate) fn preload(workload: &Workload, mpi: Mpi) -> Result<String> {
    let mut all = vec![library("stdio", None, mpi)?];
    if mpi != Mpi::None {
        all.push(library("mpiio", None, mpi)?);
    }
    if workload.libraries.contains(&Library::Hdf5) {
        all.push(library("hdf5", Some(Library::Hdf5), mpi)?);
    }
    if workload.libraries.contains(&Library::Pnetcdf) {
        all.push(library("pnetcdf", Some(Library::Pnetcdf), mpi)?);
    }
    let all: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
    Ok(all.join(":"))
}

/// A program that writes a data set's bytes to its standard output.
pub(crate) fn reader(layer: &str) -> Result<PathBuf> {
    let (links, mpi) = match layer {
        "hdf5" => (Library::Hdf5, Mpi::None),
        "pnetcdf" => (Library::Pnetcdf, Mpi::OpenMpi),
        _ => bail!("there are no data sets in {layer} files"),
    };
    let made = compile::target().join(mpi.name()).join(format!("read_{layer}"));
    let (before, after) = compile::library_flags(links, mpi)?;
    compile::make_c(mpi, &[&source(&format!("read_{layer}"))], &made, &before, &after)?;
    Ok(made)
}

/// Reads what the libraries of one rank counted: `count.<rank>.<layer>.<process>` in `folder`.
pub(crate) fn counted(folder: &Path, rank: usize) -> Layers {
    let mut layers = Layers::new();
    let prefix = format!("count.{rank}.");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().starts_with(&prefix) {
            continue;
        }
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [layer, function, calls, bytes] = words[..] else { panic!("counted: {line}") };
            let counts = layers.entry(layer.to_owned()).or_default();
            add(counts, function, calls.parse().unwrap(), bytes.parse().unwrap());
        }
    }
    layers
}
