//! Wrong knobs: one clear sentence, from rank 0 alone, and exit code 64.

use std::fs;

use netra_workloads::catalogue::ALL;
use netra_workloads::{Launch, Mpi, command, compile};

use crate::cell::place;

/// What a program says, line by line, and how it ends.
fn told(name: &str, mpi: Mpi, knobs: &[&str]) -> (Vec<String>, Option<i32>) {
    let launch = Launch {
        workload: netra_workloads::catalogue::find(name).unwrap(),
        mpi,
        ranks: 3,
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: knobs.iter().map(|word| (*word).to_owned()).collect(),
    };
    let done = launch.command(&compile::target()).unwrap().output().unwrap();
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let mine = text.lines().filter(|line| line.starts_with(&format!("{name}: ")));
    (mine.map(str::to_owned).collect(), done.status.code())
}

#[track_caller]
fn refused(mpi: Mpi, knobs: &[&str], says: &str) {
    let (lines, code) = told("mpi-io-test", mpi, knobs);
    assert_eq!(lines, [format!("mpi-io-test: {says}")], "{}", mpi.name());
    assert_eq!(code, Some(64), "{} {knobs:?}", mpi.name());
}

#[test]
fn a_wrong_knob_is_told_once_and_ends_with_64() {
    let takes = "--block takes a size such as 4096, 64KiB or 16MiB, not 'many'";
    refused(Mpi::Mpich, &["--block", "many"], takes);
    refused(Mpi::OpenMpi, &["--block", "many"], takes);
    let lies = "--block must lie between 1 and 1073741824, and is '0'";
    refused(Mpi::Mpich, &["--block", "0"], lies);
    let one = "--mode is one of independent|collective, not 'both'";
    refused(Mpi::Mpich, &["--mode", "both"], one);
    refused(Mpi::Mpich, &["--block"], "--block needs a value");
    let word = "'block' is not a knob; knobs are written --name value (see --help)";
    refused(Mpi::Mpich, &["block"], word);
}

#[test]
fn every_workload_refuses_an_unknown_knob_in_the_same_words() {
    for workload in ALL {
        let mpi = if workload.without_mpi { Mpi::None } else { Mpi::OpenMpi };
        let (lines, code) = told(workload.name, mpi, &["--colour", "red"]);
        let says = format!("{}: there is no knob --colour (see --help)", workload.name);
        assert_eq!((lines, code), (vec![says], Some(64)));
    }
}

#[test]
fn the_driver_passes_the_exit_code_on() {
    let folder = place("the driver's exit code").join("run");
    let run = |piece: &str| {
        let line = format!("same-file-every-rank --mpi none --size 4KiB --piece {piece} --dir");
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words.push(folder.display().to_string());
        command::run(&words).unwrap().unwrap().code()
    };
    assert_eq!(run("1KiB"), Some(0));
    assert_eq!(fs::metadata(folder.join("settings.cfg")).unwrap().len(), 4096);
    assert_eq!(run("0"), Some(64));
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let words = ["slow-rank", "--mpi", "none", "--with", "netra-nowhere run --"];
    let error = command::run(&words.map(str::to_owned)).unwrap_err();
    assert_eq!(error.to_string(), "starting `netra-nowhere`");
}
