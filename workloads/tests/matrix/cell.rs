//! One cell of the matrix: run, watch, compare, say so in a line.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use netra_workloads::catalogue::{self, Library, Workload};
use netra_workloads::{Expected, Launch, Missing, Mpi, compile, need};

use crate::verdict::{Seen, differences};
use crate::{counter, trace};

const RANKS: [u32; 2] = [2, 3];

/// Judges a workload with every MPI, number of ranks and setting, and prints a line for each.
pub(crate) fn judge_all(name: &str) {
    let workload = catalogue::find(name).unwrap();
    assert!(workload.trials.len() >= 2, "{name} has fewer than two settings");
    let mut failed = 0;
    for mpi in Mpi::ALL {
        if let Some(reason) = impossible(workload, mpi) {
            println!("{name} {}: not run: {reason}", mpi.name());
            continue;
        }
        let ranks: &[u32] = if mpi == Mpi::None { &[1] } else { &RANKS };
        for (ranks, trial) in
            ranks.iter().flat_map(|ranks| workload.trials.iter().map(move |trial| (*ranks, *trial)))
        {
            failed += usize::from(!judge(workload, mpi, ranks, trial));
        }
    }
    assert_eq!(failed, 0, "{failed} cells of {name} differ from what --expect says");
}

/// Cells that no machine can have; all others must run.
fn impossible(workload: &Workload, mpi: Mpi) -> Option<&'static str> {
    if mpi == Mpi::None && !workload.without_mpi {
        return Some("it is about MPI");
    }
    let pnetcdf = workload.libraries.contains(&Library::Pnetcdf);
    (pnetcdf && mpi != Mpi::OpenMpi).then_some("Debian builds PnetCDF for Open MPI alone")
}

/// Judges one cell; true when all is as expected.
fn judge(workload: &'static Workload, mpi: Mpi, ranks: u32, trial: &str) -> bool {
    let start = Instant::now();
    let cell = format!("{} {} -n {ranks} {trial}", workload.name, mpi.name());
    let launch = Launch {
        workload,
        mpi,
        ranks,
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: trial.split(' ').map(str::to_owned).collect(),
    };
    let asked = launch.expectation().and_then(Expected::ask);
    let wrong = match asked.and_then(|expected| watch(&expected, launch, &place(&cell))) {
        Ok(wrong) => wrong,
        Err(error) if excused(&error, mpi) => {
            println!("{cell}: not run: {error:#}");
            return true;
        }
        Err(error) => vec![format!("{error:#}")],
    };
    let seconds = start.elapsed().as_secs_f64();
    match wrong.as_slice() {
        [] => println!("{cell}: as expected, {seconds:.1} s"),
        wrong => println!("{cell}: DIFFERS\n  {}", wrong.join("\n  ")),
    }
    wrong.is_empty()
}

/// What is not installed cannot be judged here; and a program itself knows which of its settings
/// are about MPI.
fn excused(error: &anyhow::Error, mpi: Mpi) -> bool {
    let refused = mpi == Mpi::None && error.to_string().ends_with("without MPI");
    refused || error.downcast_ref::<Missing>().is_some()
}

/// An empty folder for a cell, with `run` for the program and `watch` for those who watch it.
pub(crate) fn place(cell: &str) -> PathBuf {
    let name = cell.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let folder = compile::target().join("matrix").join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(folder.join("run")).unwrap();
    fs::create_dir_all(folder.join("watch")).unwrap();
    folder.canonicalize().unwrap()
}

fn watch(expected: &Expected, mut launch: Launch, folder: &Path) -> Result<Vec<String>> {
    let (run, watch) = (folder.join("run"), folder.join("watch"));
    need("strace", "strace")?;
    launch.with_rank = trace::words(&watch, &counter::preload(launch.workload, launch.mpi)?);
    let mut command = launch.command(&run)?;
    // Several launchers run at once; Open MPI's share a folder, which the last to leave removes.
    command.env("LC_ALL", "C").env("OMPI_MCA_orte_tmpdir_base", &watch);
    let done = command.output().context("starting")?;
    if !done.status.success() {
        bail!("{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    }
    let ranks = usize::try_from(launch.ranks).unwrap();
    let seen: Vec<Seen> = (0..ranks)
        .map(|rank| Seen {
            files: trace::traced(&watch, &run, rank),
            counted: counter::counted(&watch, rank),
        })
        .collect();
    let wrong = differences(expected, &seen, &run);
    if wrong.is_empty() {
        drop(fs::remove_dir_all(folder));
    }
    Ok(wrong)
}

/// The judge is worth something only if it finds a lie: a run with other knobs than were promised.
#[test]
fn a_broken_promise_is_found() {
    let workload = catalogue::find("mpi-io-test").unwrap();
    let knobs = |iterations: &str| vec!["--iterations".to_owned(), iterations.to_owned()];
    let mut launch = Launch {
        workload,
        mpi: Mpi::Mpich,
        ranks: 2,
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: [knobs("2"), vec!["--block".into(), "4KiB".into()]].concat(),
    };
    let expected = Expected::ask(launch.expectation().unwrap()).unwrap();
    launch.knobs = [knobs("3"), vec!["--block".into(), "4KiB".into()]].concat();
    let wrong = watch(&expected, launch, &place("a broken promise")).unwrap();
    for says in [
        "rank 0: mpiio MPI_File_read_at: 3 calls, 12288 bytes; expected 2 and 8192",
        "rank 1: mpiio MPI_File_write_at: 3 calls, 12288 bytes; expected 2 and 8192",
        "mpi-io-test.dat: 24576 bytes written through POSIX, expected 16384",
        "mpi-io-test.dat: 24576 bytes, expected 16384",
    ] {
        assert!(wrong.iter().any(|found| found == says), "{says} is not in {wrong:#?}");
    }
}
