//! The workloads of the papers under netra with a real MPI: what the papers say is wrong with an application is found, and
//! is gone from its tuned form.
//!
//! A finding counts whatever its level: how much of so short a run it costs depends on the machine. What must not be found in a
//! tuned run is named, too; other findings may come and go with the machine.

#![expect(clippy::print_stdout, reason = "each run is told in a line")]

use std::fs;
use std::process::Command;

use netra_e2e::Tool;
use netra_workloads::{Launch, Missing, Mpi, catalogue};
use serde_json::Value;
use tempfile::TempDir;

/// An application in two settings, and the findings that tell them apart.
struct Pair {
    workload: &'static str,
    before: &'static str,
    after: &'static str,
    /// Found before, not after.
    mended: &'static [&'static str],
    /// Found in neither.
    never: &'static [&'static str],
}

/// Two ranks show every pattern here, and no more than the cores of a small machine wait for each other.
const RANKS: u32 = 2;

fn judge(pair: &Pair) {
    let mut told = Vec::new();
    for knobs in [pair.before, pair.after] {
        match findings(pair.workload, knobs) {
            Some(found) => told.push(found),
            None => return,
        }
    }
    for slug in pair.mended {
        assert!(told[0].contains(&slug.to_string()), "{slug} is not in {:?}", told[0]);
        assert!(!told[1].contains(&slug.to_string()), "{slug} is in {:?}", told[1]);
    }
    for slug in pair.never {
        assert!(told.iter().all(|found| !found.contains(&slug.to_string())), "{slug}: {told:?}");
    }
}

/// Runs a workload under netra and gives the slugs of its findings and their symptoms; nothing where it cannot be built.
fn findings(name: &str, knobs: &str) -> Option<Vec<String>> {
    let folder = TempDir::new().expect("a folder");
    let log = folder.path().join("job.darshan");
    for inside in ["run", "segments"] {
        fs::create_dir(folder.path().join(inside)).expect("a folder");
    }
    let netra = env!("CARGO_BIN_EXE_netra");
    let with = [netra, "run", "--log-file", log.to_str().expect("a name in UTF-8"), "--"];
    let launch = Launch {
        workload: catalogue::find(name).expect("a workload"),
        mpi: Mpi::Mpich,
        ranks: RANKS,
        with: with.map(str::to_owned).to_vec(),
        with_rank: Vec::new(),
        knobs: knobs.split_whitespace().map(str::to_owned).collect(),
    };
    let mut command = match launch.command(&folder.path().join("run")) {
        Ok(command) => command,
        Err(error) if error.downcast_ref::<Missing>().is_some() => {
            println!("{name}: not run: {error:#}");
            return None;
        }
        Err(error) => panic!("{name}: {error:#}"),
    };
    let library = Tool::netra().expect("the library is built");
    command.env("NETRA_PRELOAD", library.library());
    command.env("NETRA_SEGMENT_DIR", folder.path().join("segments"));
    let done = command.output().expect("the launcher starts");
    assert!(done.status.success(), "{name} {knobs}: {done:?}");
    let report = Command::new(netra).args(["report", "--json"]).arg(&log).output();
    let report: Value =
        serde_json::from_slice(&report.expect("netra starts").stdout).expect("JSON");
    let mut slugs = Vec::new();
    collect(&report["findings"], &mut slugs);
    println!("{name} {knobs}: {slugs:?}");
    Some(slugs)
}

fn collect(findings: &Value, slugs: &mut Vec<String>) {
    for finding in findings.as_array().expect("a list") {
        slugs.push(finding["slug"].as_str().expect("a slug").to_owned());
        // Each of them can be asked again.
        assert!(!finding["queries"].as_array().expect("a list").is_empty(), "{finding}");
        collect(&finding["symptoms"], slugs);
    }
}

/// Paper 004, figure 10: independent calls, small requests, off the boundaries of blocks; after tuning none of it.
#[test]
fn openpmd_writes_small_independent_misaligned_requests() {
    judge(&Pair {
        workload: "openpmd",
        before: "--steps 2 --meshes 2 --edge 16",
        after: "--steps 2 --meshes 2 --edge 16 --mode tuned --alignment 64KiB",
        mended: &["small-shared-writes", "independent-writes", "misaligned-file"],
        never: &["conflicts", "checkpoint-overwrite"],
    });
}

/// Paper 003, figures 13 to 15: attributes are opened and closed twice as often as they are used.
#[test]
fn flash_opens_attributes_more_often_than_it_uses_them() {
    judge(&Pair {
        workload: "flash",
        before: "--checkpoints 2 --unknowns 16 --cells 256 --attributes 20",
        after: "--checkpoints 2 --unknowns 16 --cells 256 --attributes 20 --mode collective --open once",
        mended: &["attribute-churn"],
        never: &["conflicts", "checkpoint-overwrite"],
    });
}

/// Paper 003, figure 16: ranks read and write a database over each other.
#[test]
fn nwchem_uses_the_same_bytes_from_several_ranks() {
    judge(&Pair {
        workload: "nwchem",
        before: "--steps 50 --record 4096 --scratch 8KiB",
        after: "--steps 50 --record 4096 --scratch 0 --database once",
        mended: &["conflicts"],
        never: &["checkpoint-overwrite", "independent-writes"],
    });
}

/// Paper 003, figure 18: the same checkpoint is overwritten in place.
#[test]
fn qmcpack_overwrites_its_checkpoint() {
    judge(&Pair {
        workload: "qmcpack",
        before: "--sections 4 --walkers 65536",
        after: "--sections 4 --walkers 65536 --mode new",
        mended: &["checkpoint-overwrite", "conflicts"],
        never: &["attribute-churn", "small-shared-writes"],
    });
}

/// Paper 003, figure 17: each box of each rank is an independent write.
#[test]
fn chombo_writes_its_boxes_independently() {
    judge(&Pair {
        workload: "chombo",
        before: "--levels 3 --boxes 250 --cells 512 --lines 2000",
        after: "--levels 3 --boxes 250 --cells 512 --lines 2000 --mode collective --pout rank-0",
        mended: &["small-shared-writes", "independent-writes"],
        never: &["conflicts", "checkpoint-overwrite"],
    });
}

/// Paper 001, figures 5 to 7: blocks written and read without collective calls.
#[test]
fn mpi_io_test_makes_no_collective_calls() {
    judge(&Pair {
        workload: "mpi-io-test",
        before: "--block 8KiB --iterations 1000",
        after: "--block 8KiB --iterations 1000 --mode collective",
        mended: &["independent-writes", "independent-reads"],
        never: &["conflicts", "checkpoint-overwrite"],
    });
}

/// Every rank reads the same file in small pieces.
#[test]
fn a_file_that_every_rank_reads_is_read_in_small_pieces() {
    judge(&Pair {
        workload: "same-file-every-rank",
        before: "--size 4MiB --piece 512 --passes 2",
        after: "--size 4MiB --piece 1MiB --mode broadcast",
        mended: &["small-shared-reads"],
        never: &["independent-reads", "checkpoint-overwrite"],
    });
}

/// Writes of a few bytes, then of 1 MiB.
#[test]
fn load_writes_small_blocks() {
    judge(&Pair {
        workload: "load",
        before: "--files 2 --threads 2 --size 1MiB --block 64 --read no --content any --call write",
        after: "--files 2 --threads 2 --size 1MiB --block 1MiB --read no --content any --call write",
        mended: &["small-writes", "misaligned-file"],
        never: &["conflicts", "independent-writes"],
    });
}
