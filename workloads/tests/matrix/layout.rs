//! Where bytes come to lie and who puts them there, where a workload's page says so.

use std::path::Path;
use std::process::Command;

use netra_workloads::{Launch, Mpi, catalogue};

use crate::cell::place;
use crate::{counter, trace};

const VARIABLES: [&str; 9] = ["id", "mask", "x", "y", "z", "vx", "vy", "vz", "phi"];
const RANKS: u64 = 3;
const ELEMENTS: u64 = 1000;
/// Bytes of a variable on a rank.
const PART: u64 = ELEMENTS * 8;

fn launch(name: &str, mpi: Mpi, knobs: &str) -> Launch {
    Launch {
        workload: catalogue::find(name).unwrap(),
        mpi,
        ranks: u32::try_from(RANKS).unwrap(),
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: knobs.split(' ').map(str::to_owned).collect(),
    }
}

fn run(launch: &Launch, folder: &Path) {
    let done = launch.command(folder).unwrap().output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Variable → offsets of its chunks, or of the whole.
fn offsets(mpi: Mpi, knobs: &str) -> Vec<Vec<u64>> {
    let knobs = format!("--elements {ELEMENTS} {knobs}");
    let folder = place(&format!("layout {} {knobs}", mpi.name())).join("run");
    run(&launch("hacc-io", mpi, &knobs), &folder);
    let lies = |variable: &&str| -> Vec<u64> {
        let mut reader = Command::new(counter::reader("hdf5").unwrap());
        let done = reader.arg(folder.join("hacc-io.h5")).args([variable, "where"]).output();
        let text = String::from_utf8(done.unwrap().stdout).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    VARIABLES.iter().map(lies).collect()
}

#[test]
fn hacc_io_multi_is_interleaved_as_mpi_interleaved_is() {
    for mpi in [Mpi::Mpich, Mpi::OpenMpi] {
        let found = offsets(mpi, "--kernel hdf5-multi --meta-block 64KiB");
        let first =
            |variable: u64| (0..RANKS).map(move |rank| 65536 + (rank * 9 + variable) * PART);
        let expected: Vec<Vec<u64>> = (0..9).map(|variable| first(variable).collect()).collect();
        assert_eq!(found, expected, "{}", mpi.name());
    }
}

#[test]
fn hacc_io_individual_is_contiguous_as_mpi_contiguous_is() {
    let found = offsets(Mpi::Mpich, "--kernel hdf5-individual --meta-block 64KiB");
    let expected: Vec<Vec<u64>> =
        (0..9).map(|variable| vec![65536 + variable * RANKS * PART]).collect();
    assert_eq!(found, expected);
}

#[test]
fn hacc_io_data_begins_behind_a_header_of_2_kib_unless_told_otherwise() {
    assert_eq!(offsets(Mpi::Mpich, "--kernel hdf5-individual")[0], [2048]);
}

#[test]
fn hacc_io_alignment_reaches_every_variable() {
    for offsets in offsets(Mpi::OpenMpi, "--kernel hdf5-individual --alignment 64KiB") {
        assert_eq!(offsets[0] % 65536, 0);
    }
}

/// Three aggregators are asked for; ROMIO takes one from a node.
#[test]
fn flash_has_one_aggregator_with_mpich_whatever_was_asked_for() {
    let folder = place("flash aggregators");
    let knobs = "--checkpoints 1 --unknowns 2 --cells 4096 --mode collective --aggregators 3";
    let mut launch = launch("flash", Mpi::Mpich, knobs);
    launch.with_rank = trace::words(&folder.join("watch"), "");
    run(&launch, &folder.join("run"));
    let written = |rank: usize| -> u64 {
        let files = trace::traced(&folder.join("watch"), &folder.join("run"), rank);
        let calls = files.values().flatten().filter(|(call, _)| call.contains("write"));
        calls.map(|(_, count)| count.bytes).sum()
    };
    let data = 2 * 3 * 4096 * 8;
    assert!(written(0) >= data, "rank 0 wrote {}", written(0));
    assert!(written(1) + written(2) < 4096 * 8, "{} {}", written(1), written(2));
}
