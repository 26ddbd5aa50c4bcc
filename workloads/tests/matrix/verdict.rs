//! Compares what was seen with what was expected; a difference is a sentence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netra_workloads::expected::{Count, Counts, Expected, File, Layers, add};

use crate::content;

/// What one rank was seen to do.
#[derive(Debug)]
pub(crate) struct Seen {
    /// File → system calls on it.
    pub(crate) files: BTreeMap<String, Counts>,
    /// Layer → calls counted in the process.
    pub(crate) counted: Layers,
}

/// All differences; none means that the promise was kept.
pub(crate) fn differences(expected: &Expected, seen: &[Seen], folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (rank, (promise, seen)) in expected.ranks.iter().zip(seen).enumerate() {
        let none = Counts::new();
        compare(
            rank,
            "posix",
            promise.get("posix").unwrap_or(&none),
            &own(expected, seen),
            &mut wrong,
        );
        for layer in exact(expected) {
            let counted = seen.counted.get(layer).unwrap_or(&none);
            compare(rank, layer, promise.get(layer).unwrap_or(&none), counted, &mut wrong);
        }
    }
    for file in &expected.files {
        beneath(file, seen, &mut wrong);
        wrong.extend(content::wrong(folder, file));
    }
    through_mpi(expected, seen, &mut wrong);
    wrong.extend(unlisted(expected, folder));
    wrong
}

/// Layers whose calls are all the program's own. Under HDF5 and PnetCDF, MPI-IO is theirs.
fn exact(expected: &Expected) -> Vec<&'static str> {
    let mut layers = vec!["stdio", "hdf5", "pnetcdf"];
    if !expected.uses("hdf5") && !expected.uses("pnetcdf") {
        layers.push("mpiio");
    }
    layers
}

/// System calls on the files that the program itself works on through POSIX.
fn own(expected: &Expected, seen: &Seen) -> Counts {
    let mut own = Counts::new();
    for file in expected.files.iter().filter(|file| file.layer == "posix") {
        for (function, count) in seen.files.get(&file.name).into_iter().flatten() {
            add(&mut own, function, count.calls, count.bytes);
        }
    }
    own
}

fn compare(rank: usize, layer: &str, promise: &Counts, seen: &Counts, wrong: &mut Vec<String>) {
    let functions: std::collections::BTreeSet<&String> =
        promise.keys().chain(seen.keys()).collect();
    for function in functions {
        let expected = promise.get(function).copied().unwrap_or_default();
        let found = seen.get(function).copied().unwrap_or_default();
        if found != expected {
            let Count { calls, bytes } = found;
            wrong.push(format!(
                "rank {rank}: {layer} {function}: {calls} calls, {bytes} bytes; expected {} and {}",
                expected.calls, expected.bytes
            ));
        }
    }
}

/// The bytes that crossed POSIX on a file, over all ranks.
fn crossed(name: &str, seen: &[Seen], kind: &str) -> u64 {
    let calls = seen.iter().filter_map(|seen| seen.files.get(name)).flatten();
    calls.filter(|(function, _)| function.contains(kind)).map(|(_, count)| count.bytes).sum()
}

fn beneath(file: &File, seen: &[Seen], wrong: &mut Vec<String>) {
    let name = &file.name;
    let written = crossed(name, seen, "write");
    let read = crossed(name, seen, "read");
    if let Some(promise) = file.written.filter(|promise| *promise != written) {
        wrong.push(format!("{name}: {written} bytes written through POSIX, expected {promise}"));
    }
    if let Some(least) = file.written_least.filter(|least| written < *least) {
        wrong.push(format!("{name}: {written} bytes written, expected {least} or more"));
    }
    if let Some(promise) = file.read.filter(|promise| *promise != read) {
        wrong.push(format!("{name}: {read} bytes read through POSIX, expected {promise}"));
    }
}

/// With MPI, the data of HDF5 and PnetCDF files goes through MPI-IO, whoever calls it.
fn through_mpi(expected: &Expected, seen: &[Seen], wrong: &mut Vec<String>) {
    let above = |file: &&File| file.layer == "hdf5" || file.layer == "pnetcdf";
    let least: u64 =
        expected.files.iter().filter(above).filter_map(|file| file.written_least).sum();
    let layers: Vec<&Counts> = seen.iter().filter_map(|seen| seen.counted.get("mpiio")).collect();
    let calls = layers.iter().flat_map(|counts| counts.iter());
    let written: u64 = calls
        .filter(|(function, _)| function.contains("write"))
        .map(|(_, count)| count.bytes)
        .sum();
    if !layers.is_empty() && written < least {
        wrong.push(format!("{written} bytes written through MPI-IO, expected {least} or more"));
    }
}

/// Files left behind that nobody announced.
fn unlisted(expected: &Expected, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !expected.files.iter().any(|file| file.name == name) {
                wrong.push(format!("{name} was left behind and is not in --expect"));
            }
        }
    }
    wrong
}
