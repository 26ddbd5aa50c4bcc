//! Every workload under netra, with each MPI of this machine: what the logs of its ranks say is what its `--expect`
//! promises. Calls of MPI-IO, HDF5 and PnetCDF function by function and rank by rank; their bytes in the
//! counters; and what reached each file through POSIX or streams.
#![expect(clippy::unwrap_used, reason = "a judge that cannot read its evidence stops there")]
#![expect(clippy::print_stdout, reason = "each run is told in a line")]

mod runtime;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_e2e::{Job, Log, Tool};
use netra_event::segment::View;
use netra_event::{Event, Function, Kind, Layer};
use netra_workloads::catalogue::{self, Language, Library, Workload};
use netra_workloads::expected::{Counts, File};
use netra_workloads::{Expected, Launch, Missing, Mpi, compile};
use runtime::Runtime;

const RANKS: u32 = 2;

/// How a run ended.
#[derive(PartialEq, Eq)]
enum Verdict {
    Exact,
    NotRun,
    Wrong,
}

/// Judges a workload with every MPI: in its first and its last setting with Debian's, in its first with those that
/// take their place.
fn judge_all(name: &str) {
    let workload = catalogue::find(name).unwrap();
    let needs_open_mpi = workload.libraries.contains(&Library::Pnetcdf);
    let (mut failed, mut ran) = (0, 0);
    for runtime in Runtime::all() {
        // Debian's PnetCDF also wants the C++ interface of MPI, which later versions of Open MPI have not.
        if needs_open_mpi && (runtime.built_for != Mpi::OpenMpi || runtime.is_foreign()) {
            println!(
                "{name} {}: not run: Debian builds PnetCDF for its own Open MPI alone",
                runtime.name
            );
            continue;
        }
        if workload.language == Language::Fortran && runtime.has_no_fortran() {
            println!("{name} {}: not run: it comes without a Fortran library", runtime.name);
            continue;
        }
        let last = workload.trials.last().filter(|_| !runtime.is_foreign());
        let trials = [workload.trials.first(), last].into_iter().flatten();
        let verdicts: Vec<Verdict> = trials.map(|trial| judge(workload, &runtime, trial)).collect();
        failed += verdicts.iter().filter(|verdict| **verdict == Verdict::Wrong).count();
        ran += usize::from(verdicts.contains(&Verdict::Exact));
    }
    assert_eq!(failed, 0, "{failed} runs of {name} were not recorded as --expect says");
    // Where everything was installed, fewer would go unnoticed.
    let least = match std::env::var_os("NETRA_TEST_MPI") {
        Some(_) if needs_open_mpi => 1,
        Some(_) => 4,
        None => 0,
    };
    assert!(ran >= least, "{name} ran with {ran} of at least {least} MPI libraries");
}

fn judge(workload: &'static Workload, runtime: &Runtime, trial: &str) -> Verdict {
    let cell = format!("{} {} -n {RANKS} {trial}", workload.name, runtime.name);
    let knobs = trial.split(' ').map(str::to_owned).collect();
    let (with, with_rank) = (Vec::new(), Vec::new());
    let launch = Launch { workload, mpi: runtime.built_for, ranks: RANKS, with, with_rank, knobs };
    match differences(&launch, runtime, &cell) {
        Ok(wrong) if wrong.is_empty() => {
            println!("{cell}: recorded exactly");
            Verdict::Exact
        }
        Ok(wrong) => {
            println!("{cell}: DIFFERS\n  {}", wrong.join("\n  "));
            Verdict::Wrong
        }
        Err(error) if error.downcast_ref::<Missing>().is_some() => {
            println!("{cell}: not run: {error:#}");
            Verdict::NotRun
        }
        Err(error) => {
            println!("{cell}: {error:#}");
            Verdict::Wrong
        }
    }
}

/// Runs a workload under netra and says how its logs differ from what was promised.
fn differences(launch: &Launch, runtime: &Runtime, cell: &str) -> Result<Vec<String>> {
    let expected = Expected::ask(launch.expectation()?)?;
    let folder = place(cell)?;
    let (run, logs) = (folder.join("run"), folder.join("logs"));
    let mut command = runtime.adopt(launch.command(&run)?, RANKS)?;
    let library = Tool::netra()?;
    command.env("LD_PRELOAD", library.library()).env("NETRA_LOG_DIR", &logs);
    // A log for each rank: what is checked here is each rank's own promise.
    command.env("NETRA_FINALIZE_WAIT", "0s");
    command.env("NETRA_SEGMENT_DIR", folder.join("segments")).env("LC_ALL", "C");
    command.env("OMPI_MCA_orte_tmpdir_base", folder.join("segments"));
    let done = command.output().context("starting")?;
    if !done.status.success() {
        bail!("{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    }
    let logs: Vec<Log> = Log::read_all(&logs)?.into_values().collect();
    let mut wrong = Vec::new();
    for (rank, promise) in (0..).zip(&expected.ranks) {
        let own: Vec<&Log> = logs.iter().filter(|log| log.rank() == Some(rank)).collect();
        if own.is_empty() {
            wrong.push(format!("rank {rank} left no log"));
        }
        for (name, layer) in layers(&expected) {
            let none = Counts::new();
            let promise = promise.get(name).unwrap_or(&none);
            wrong.extend(calls(promise, &own, layer).map(|line| format!("rank {rank}: {line}")));
            let found = counted_bytes(promise, &own, layer);
            wrong.extend(found.map(|line| format!("rank {rank}: {line}")));
        }
    }
    for file in &expected.files {
        wrong.extend(bytes(file, &logs, &run));
    }
    if wrong.is_empty() {
        drop(fs::remove_dir_all(folder));
    }
    Ok(wrong)
}

/// Layers whose calls are all the program's own. Under HDF5 and PnetCDF, MPI-IO is theirs.
fn layers(expected: &Expected) -> Vec<(&'static str, Layer)> {
    let mut layers = vec![("hdf5", Layer::Hdf5), ("pnetcdf", Layer::Pnetcdf)];
    if !expected.uses("hdf5") && !expected.uses("pnetcdf") {
        layers.push(("mpiio", Layer::Mpiio));
    }
    layers
}

/// Differences in how often functions were called; promises about functions that netra does not hook are
/// left out.
fn calls<'a>(
    promise: &'a Counts,
    logs: &'a [&Log],
    layer: Layer,
) -> impl Iterator<Item = String> + use<'a> {
    let mut wanted: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (symbol, count) in promise {
        if let Some(function) = Function::from_symbol(symbol) {
            *wanted.entry(function.name()).or_default() += count.calls;
        }
    }
    let of_layer = Function::ALL.iter().filter(move |function| function.layer() == layer);
    of_layer.filter_map(move |function| {
        let name = function.name();
        let found: i64 = logs.iter().map(|log| log.calls().get(name).copied().unwrap_or(0)).sum();
        let want = wanted.get(name).copied().unwrap_or(0);
        (found != i64::try_from(want).unwrap())
            .then(|| format!("{name} was counted {found} times, called {want}"))
    })
}

/// Differences in the bytes that a layer's records hold.
fn counted_bytes(
    promise: &Counts,
    logs: &[&Log],
    layer: Layer,
) -> impl Iterator<Item = String> + use<> {
    let (module, prefix) = match layer {
        Layer::Hdf5 => ("H5D", "H5D"),
        Layer::Pnetcdf => ("PNETCDF_VAR", "PNETCDF_VAR"),
        _ => ("MPI-IO", "MPIIO"),
    };
    let rows = [(Kind::Write, "WRITTEN"), (Kind::Read, "READ")].map(|(kind, side)| {
        let counter = format!("{prefix}_BYTES_{side}");
        let of_kind = promise.iter().filter(|(symbol, _)| {
            Function::from_symbol(symbol).is_some_and(|function| function.kind() == kind)
        });
        let want: u64 = of_kind.map(|(_, count)| count.bytes).sum();
        let records = logs.iter().flat_map(|log| log.records(module));
        let found: i64 = records.map(|(_, counters)| counters.get(&counter)).sum();
        (found != i64::try_from(want).unwrap()).then(|| format!("{counter} is {found}, not {want}"))
    });
    rows.into_iter().flatten()
}

/// Differences in what reached a file, over all ranks.
fn bytes(file: &File, logs: &[Log], run: &Path) -> Vec<String> {
    let path = run.join(&file.name).display().to_string();
    // A stream that nobody opened has a name of its own, in each rank.
    let stream = file.name.strip_prefix("stdout.").and_then(|rank| rank.parse().ok());
    let sum = |module: &str, counter: &str| -> i64 {
        let redirected = |log: &&Log| module == "STDIO" && log.rank() == stream;
        let standard =
            logs.iter().filter(redirected).filter_map(|log| log.record(module, "<STDOUT>"));
        let named = logs.iter().filter_map(|log| log.record(module, &path));
        named
            .chain(standard.filter(|_| stream.is_some()))
            .map(|counters| counters.get(counter))
            .sum()
    };
    let (module, prefix) =
        if file.layer == "stdio" { ("STDIO", "STDIO") } else { ("POSIX", "POSIX") };
    let written = sum(module, &format!("{prefix}_BYTES_WRITTEN"));
    let read = sum(module, &format!("{prefix}_BYTES_READ"));
    let mut wrong = Vec::new();
    if let Some(want) = file.written.filter(|want| i64::try_from(*want).unwrap() != written) {
        wrong.push(format!("{}: {written} bytes written in the logs, not {want}", file.name));
    }
    if let Some(least) = file.written_least.filter(|least| written < i64::try_from(*least).unwrap())
    {
        wrong.push(format!("{}: {written} bytes written in the logs, not {least}", file.name));
    }
    // A stream reads ahead: what its program got is less than what was read.
    let exact = file.read.filter(|_| file.layer != "stdio");
    if let Some(want) = exact.filter(|want| i64::try_from(*want).unwrap() != read) {
        wrong.push(format!("{}: {read} bytes read in the logs, not {want}", file.name));
    }
    wrong
}

/// An empty folder for a run, its logs and segments.
fn place(cell: &str) -> Result<PathBuf> {
    let name = cell.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let folder = compile::target().join("recorded").join(name);
    drop(fs::remove_dir_all(&folder));
    for inside in ["run", "logs", "segments"] {
        fs::create_dir_all(folder.join(inside))?;
    }
    Ok(folder.canonicalize()?)
}

/// A write to a checkpoint is HDF5's, by MPI-IO, by POSIX: each call carries the one that made it.
#[test]
fn layers_stand_over_each_other() {
    let workload = catalogue::find("flash").unwrap();
    let knobs = ["--checkpoints", "1", "--unknowns", "2", "--cells", "512", "--mode", "collective"];
    let knobs: Vec<String> = knobs.map(str::to_owned).to_vec();
    let (with, with_rank, mpi) = (Vec::new(), Vec::new(), Mpi::Mpich);
    let launch = Launch { workload, mpi, ranks: RANKS, with, with_rank, knobs };
    let folder = place("layers stand over each other").unwrap();
    let mut command = match launch.command(&folder.join("run")) {
        Ok(command) => command,
        Err(error) => return println!("layers: not run: {error:#}"),
    };
    command.env("LD_PRELOAD", Tool::netra().unwrap().library());
    command.env("NETRA_LOG_DIR", folder.join("logs"));
    command.env("NETRA_SEGMENT_DIR", folder.join("segments"));
    assert!(command.output().unwrap().status.success());
    let job = Job::read(&folder.join("logs")).unwrap();
    let mut chains: BTreeMap<Vec<Layer>, u64> = BTreeMap::new();
    for view in job.segments() {
        for lane in view.lanes() {
            let events: Vec<Event> = lane.events().map(|(_, event)| event).collect();
            let numbered: BTreeMap<u32, &Event> =
                events.iter().map(|event| (event.number, event)).filter(|row| row.0 != 0).collect();
            for write in events.iter().filter(|event| is_write(&view, event)) {
                let chain = std::iter::successors(Some(write), |call| {
                    numbered.get(&call.parent).copied().filter(|_| call.parent != 0)
                });
                let layers = chain.filter_map(Event::function).map(Function::layer).collect();
                *chains.entry(layers).or_default() += 1;
            }
        }
    }
    let whole = vec![Layer::Posix, Layer::Mpiio, Layer::Hdf5];
    assert_eq!(chains.keys().collect::<Vec<_>>(), [&whole], "{chains:?}");
    assert!(chains[&whole] > 0);
    drop(fs::remove_dir_all(folder));
}

/// Whether a call wrote to a checkpoint through POSIX.
fn is_write(view: &View<'_>, event: &Event) -> bool {
    let posix =
        |function: Function| (function.layer(), function.kind()) == (Layer::Posix, Kind::Write);
    let name = view.file(event.file).map_or(&b""[..], |file| file.name);
    event.function().is_some_and(posix) && name.windows(9).any(|part| part == b"hdf5_chk_")
}

/// One test for each workload, and one that none was forgotten.
macro_rules! workloads {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            judge_all($name);
        })*

        #[test]
        fn every_workload_is_recorded() {
            let judged = [$($name),*];
            let known: Vec<&str> = catalogue::ALL.iter().map(|workload| workload.name).collect();
            assert_eq!(judged.as_slice(), known);
        }
    };
}

workloads! {
    mpi_io_test "mpi-io-test"
    hacc_checkpoint "hacc-checkpoint"
    hacc_io "hacc-io"
    flash "flash"
    nwchem "nwchem"
    qmcpack "qmcpack"
    sw4 "sw4"
    chombo "chombo"
    openpmd "openpmd"
    amrex "amrex"
    pnetcdf_var "pnetcdf-var"
    hmmer "hmmer"
    dlio "dlio"
    slow_rank "slow-rank"
    same_file_every_rank "same-file-every-rank"
    stdout_bulk "stdout-bulk"
    load "load"
}
