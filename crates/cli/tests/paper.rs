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
    /// The MPI that it runs with.
    mpi: Mpi,
    /// Limits that are made for thousands of ranks, as small as two ranks need them.
    limits: &'static str,
}

/// What most pairs share.
const PAIR: Pair = Pair {
    workload: "",
    before: "",
    after: "",
    mended: &[],
    never: &[],
    mpi: Mpi::Mpich,
    limits: "",
};

/// Two ranks show every pattern here, and no more than the cores of a small machine wait for each other.
const RANKS: u32 = 2;

fn judge(pair: &Pair) {
    let mut told = Vec::new();
    for knobs in [pair.before, pair.after] {
        match findings(pair, knobs) {
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
fn findings(pair: &Pair, knobs: &str) -> Option<Vec<String>> {
    let name = pair.workload;
    let folder = TempDir::new().expect("a folder");
    let log = folder.path().join("job.darshan");
    for inside in ["run", "segments"] {
        fs::create_dir(folder.path().join(inside)).expect("a folder");
    }
    let netra = env!("CARGO_BIN_EXE_netra");
    let with = [netra, "run", "--log-file", log.to_str().expect("a name in UTF-8"), "--"];
    let launch = Launch {
        workload: catalogue::find(name).expect("a workload"),
        mpi: pair.mpi,
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
    let limits = folder.path().join("report.toml");
    fs::write(&limits, format!("[thresholds]\n{}\n", pair.limits)).expect("a file");
    let mut report = Command::new(netra);
    report.args(["report", "--json", "--thresholds"]).arg(&limits).arg(&log);
    let report = report.output();
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
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
        ..PAIR
    });
}

/// Paper 004, figures 5 and 7: all wait for a rank that writes as many bytes as they do, in many pieces.
#[test]
fn all_ranks_wait_for_the_one_that_writes_in_pieces() {
    judge(&Pair {
        workload: "slow-rank",
        before: "--steps 6 --block 1MiB --pieces 32",
        after: "--steps 6 --block 1MiB --pieces 1",
        mended: &["awaited-rank"],
        never: &["conflicts", "one-rank-heavy"],
        ..PAIR
    });
}

/// Paper 001, table II c: a text file is scanned by reads of a byte.
#[test]
fn hmmer_reads_a_stream_byte_by_byte() {
    judge(&Pair {
        workload: "hmmer",
        before: "--sequences 4000 --lines 5",
        after: "--sequences 4000 --lines 5 --mode block",
        mended: &["tiny-stream-calls"],
        never: &["conflicts", "small-writes"],
        ..PAIR
    });
}

/// Images in writes of one row of each rank, then a rank's rows together.
#[test]
fn sw4_writes_its_images_row_by_row() {
    judge(&Pair {
        workload: "sw4",
        before: "--steps 40 --image-every 1 --checkpoint-every 20 --across 256 --rows 32 --deep 4",
        after: "--steps 40 --image-every 1 --checkpoint-every 20 --across 256 --rows 32 --deep 4 --images slabs",
        mended: &["small-shared-writes", "misaligned-file"],
        never: &["conflicts", "checkpoint-overwrite"],
        ..PAIR
    });
}

/// Variables in many independent pieces, then collectively.
#[test]
fn pnetcdf_writes_variables_in_independent_pieces() {
    judge(&Pair {
        workload: "pnetcdf-var",
        before: "--variables 16 --rows 64 --columns 256 --pieces 64",
        after: "--variables 16 --rows 64 --columns 256 --pieces 1 --mode collective",
        mended: &["independent-writes"],
        never: &["conflicts", "checkpoint-overwrite"],
        mpi: Mpi::OpenMpi,
        ..PAIR
    });
}

/// A file is opened for each sample, then once by each worker, and samples are larger.
#[test]
fn dlio_opens_a_file_for_every_sample() {
    judge(&Pair {
        workload: "dlio",
        before: "--files 2 --samples 256 --sample 4KiB",
        after: "--files 2 --samples 256 --sample 64KiB --open once",
        mended: &["open-storm"],
        never: &["independent-reads", "checkpoint-overwrite"],
        ..PAIR
    });
}

/// Paper 003, figures 7 to 10: a header of 2 KiB moves every write off its boundary.
#[test]
fn hacc_io_writes_behind_a_header() {
    judge(&Pair {
        workload: "hacc-io",
        before: "--elements 65536 --gap 2048",
        after: "--elements 65536 --gap 0",
        mended: &["misaligned-file"],
        never: &["conflicts", "checkpoint-overwrite"],
        limits: "misaligned_count = 10",
        ..PAIR
    });
}

/// A file for each rank, then one of all.
#[test]
fn hacc_checkpoint_makes_a_file_for_each_rank() {
    judge(&Pair {
        workload: "hacc-checkpoint",
        before: "--particles 65536",
        after: "--particles 65536 --mode collective",
        mended: &["file-per-process"],
        never: &["conflicts", "checkpoint-overwrite"],
        limits: "file_per_process = 2",
        ..PAIR
    });
}

/// Results in bulk through standard output, then what a person reads.
#[test]
fn bulk_results_go_through_standard_output() {
    judge(&Pair {
        workload: "stdout-bulk",
        before: "--lines 40000",
        after: "--lines 400",
        mended: &["stdout-bulk"],
        never: &["conflicts", "small-shared-writes"],
        limits: "stdout_bytes = \"4MiB\"",
        ..PAIR
    });
}

/// Computing waits for plot files, then a thread writes them beside it.
#[test]
fn amrex_computes_while_a_thread_writes() {
    judge(&Pair {
        workload: "amrex",
        before: "--plots 4 --boxes 16 --box 16 --compute 200",
        after: "--plots 4 --boxes 16 --box 16 --compute 200 --mode overlapped",
        mended: &["blocking-writes"],
        never: &["conflicts", "random-writes"],
        limits: "hidden_share = 0.0001",
        ..PAIR
    });
}

/// No workload of the catalogue is left out.
#[test]
fn every_workload_has_its_pair() {
    let source = include_str!("paper.rs");
    for workload in catalogue::ALL {
        let pair = format!("workload: \"{}\"", workload.name);
        assert!(source.contains(&pair), "{} has no pair", workload.name);
    }
}
