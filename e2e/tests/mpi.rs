//! One library for every MPI: programs in C, Fortran and Python, with each MPI of this machine, look the
//! same with netra as without, and their MPI-IO counters are exactly what they did. One line for each MPI.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "one line per MPI is what a test run shows")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use netra_e2e::{Log, Mpi, Origin, Outcome, Scene, Tool};

/// Libraries start slowly when many tests run.
const PATIENCE: Duration = Duration::from_secs(120);

/// What every rank does to a file, by counter.
type Each = (&'static str, &'static [(&'static str, i64)]);

/// A run with and without netra.
struct Both {
    scene: Scene,
    bare: Outcome,
    with: Outcome,
}

impl Both {
    fn run(mpi: &Mpi, words: &[OsString], name: &str) -> Both {
        let scene = Scene::new(&format!("{name}-{}", mpi.name.replace(' ', "-"))).expect("a scene");
        let mut bare = mpi.launch(words);
        bare.current_dir(scene.work()).env("LC_ALL", "C");
        let bare = Outcome::of(&mut bare, &scene, PATIENCE).expect("it ends");
        scene.clear().expect("an empty scene");
        let mut with = mpi.launch(words);
        with.current_dir(scene.work()).env("LC_ALL", "C");
        with.envs(Tool::netra().expect("the library").environment(&scene));
        let with = Outcome::of(&mut with, &scene, PATIENCE).expect("it ends");
        Both { scene, bare, with }
    }

    /// The MPI-IO counters of all ranks, by file. A launcher may be gone before its last rank is: then a
    /// segment becomes a log while we look.
    fn counters(&self) -> BTreeMap<String, BTreeMap<String, i64>> {
        let deadline = Instant::now() + PATIENCE;
        let logs = loop {
            match self.logs() {
                Ok(logs) => break logs,
                Err(error) => assert!(Instant::now() < deadline, "{error:#}"),
            }
        };
        let mut sums: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
        for log in logs.values() {
            for (name, counters) in log.records("MPI-IO") {
                let name =
                    Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned();
                let sum = sums.entry(name).or_default();
                for (counter, value) in counters.iter() {
                    *sum.entry(counter.to_owned()).or_default() += value;
                }
            }
        }
        sums
    }

    /// Logs, and segments of ranks without one.
    fn logs(&self) -> Result<BTreeMap<Origin, Log>> {
        let mut logs = Log::recover_all(&self.scene.segments())?;
        logs.extend(Log::read_all(&self.scene.logs())?);
        Ok(logs)
    }

    /// Counters of files that every rank worked on.
    #[track_caller]
    fn each(&self, mpi: &Mpi, files: &[Each]) {
        let found = self.counters();
        for (file, counters) in files {
            for (counter, each) in *counters {
                let got = found.get(*file).and_then(|sum| sum.get(*counter)).copied().unwrap_or(0);
                // A property of the file is the same in the record of all ranks.
                let ranks = if counter.ends_with("_MODE") { 1 } else { mpi.ranks() };
                let want = each * i64::from(ranks);
                assert_eq!(got, want, "{}: {file}: {counter}", mpi.name);
            }
        }
    }
}

/// Runs a program with every MPI that has what it takes.
fn each_mpi(name: &str, mut check: impl FnMut(&Mpi) -> bool) {
    let found = Mpi::all();
    let mut ran = 0;
    for mpi in &found.here {
        if check(mpi) {
            println!("{name}: {}: same outcome, counters exact", mpi.name);
            ran += 1;
        } else {
            println!(
                "{name}: {}: not run: no compiler or interpreter for it, or not needed",
                mpi.name
            );
        }
    }
    for missing in &found.missing {
        println!("{name}: not run: {missing}");
    }
    // Where everything was installed, fewer would go unnoticed.
    let least =
        if std::env::var_os("NETRA_TEST_MPI").is_some() && name == "mpi_io.c" { 4 } else { 0 };
    assert!(ran >= least, "{ran} of at least {least} MPI libraries");
}

fn words(all: &[&str]) -> Vec<OsString> {
    all.iter().map(OsString::from).collect()
}

/// Runs a compiled program and compares what it left and what it did.
#[track_caller]
fn compiled(mpi: &Mpi, file: &str, files: &[Each]) -> bool {
    let Some(program) = mpi.compile(file).expect("it compiles") else { return false };
    let both = Both::run(mpi, &[program.into_os_string()], &file.replace('.', "-"));
    let differences = both.bare.differences(&both.with);
    assert!(differences.is_empty(), "{}: {file}: {differences:#?}", mpi.name);
    assert!(both.with.status.success(), "{}: {file}", mpi.name);
    both.each(mpi, files);
    true
}

#[test]
fn every_kind_of_call_counts_with_every_mpi() {
    const ALL: &[(&str, i64)] = &[
        ("MPIIO_COLL_OPENS", 1),
        ("MPIIO_INDEP_OPENS", 0),
        ("MPIIO_INDEP_WRITES", 4),
        ("MPIIO_COLL_WRITES", 2),
        ("MPIIO_SPLIT_WRITES", 1),
        ("MPIIO_NB_WRITES", 2),
        ("MPIIO_INDEP_READS", 1),
        ("MPIIO_COLL_READS", 1),
        ("MPIIO_SPLIT_READS", 1),
        ("MPIIO_NB_READS", 3),
        ("MPIIO_SYNCS", 1),
        ("MPIIO_HINTS", 1),
        ("MPIIO_VIEWS", 2),
        ("MPIIO_BYTES_WRITTEN", 9000),
        ("MPIIO_BYTES_READ", 4500),
        ("MPIIO_RW_SWITCHES", 6),
        ("MPIIO_SIZE_WRITE_AGG_100_1K", 9),
        // Create and read-write, as logs have them, whatever the library's own numbers are.
        ("MPIIO_MODE", 9),
    ];
    each_mpi("mpi_io.c", |mpi| compiled(mpi, "mpi_io.c", &[("all.dat", ALL)]));
}

#[test]
fn fortran_programs_count_through_both_modules() {
    const OLD: &[(&str, i64)] = &[
        ("MPIIO_COLL_OPENS", 1),
        ("MPIIO_INDEP_WRITES", 1),
        ("MPIIO_COLL_WRITES", 1),
        ("MPIIO_NB_READS", 1),
        ("MPIIO_BYTES_WRITTEN", 1600),
        ("MPIIO_BYTES_READ", 400),
    ];
    const NEW: &[(&str, i64)] = &[
        ("MPIIO_COLL_OPENS", 1),
        ("MPIIO_INDEP_WRITES", 1),
        ("MPIIO_COLL_READS", 1),
        ("MPIIO_BYTES_WRITTEN", 800),
        ("MPIIO_BYTES_READ", 800),
    ];
    each_mpi("mpi_io.f90", |mpi| {
        compiled(mpi, "mpi_io.f90", &[("old.dat", OLD), ("new.dat", NEW)])
    });
}

#[test]
fn an_application_with_its_own_wrapper_counts_once() {
    const EACH: &[(&str, i64)] = &[("MPIIO_INDEP_WRITES", 3), ("MPIIO_BYTES_WRITTEN", 2100)];
    each_mpi("mpi_wrapped", |mpi| compiled(mpi, "mpi_wrapped.c", &[("wrapped.dat", EACH)]));
}

#[test]
fn python_counts_through_mpi4py() {
    const EACH: &[(&str, i64)] = &[
        ("MPIIO_COLL_OPENS", 1),
        ("MPIIO_INDEP_WRITES", 1),
        ("MPIIO_COLL_WRITES", 1),
        ("MPIIO_NB_WRITES", 1),
        ("MPIIO_COLL_READS", 1),
        ("MPIIO_SYNCS", 1),
        ("MPIIO_BYTES_WRITTEN", 3000),
        ("MPIIO_BYTES_READ", 1000),
    ];
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/mpi4py_io.py");
    each_mpi("mpi4py_io", |mpi| {
        let Some(python) = &mpi.python else { return false };
        let words = [python.into(), script.clone().into_os_string()];
        let both = Both::run(mpi, &words, "mpi4py_io");
        let differences = both.bare.differences(&both.with);
        assert!(differences.is_empty(), "{}: {differences:#?}", mpi.name);
        assert!(both.with.status.success(), "{}", mpi.name);
        both.each(mpi, &[("python.dat", EACH)]);
        true
    });
}

/// A program that has sessions and no world: nothing is asked of the world, and every rank's calls are there.
#[test]
fn sessions_without_a_world_count() {
    const EACH: &[(&str, i64)] =
        &[("MPIIO_COLL_OPENS", 1), ("MPIIO_INDEP_WRITES", 4), ("MPIIO_BYTES_WRITTEN", 400)];
    let mut ran = 0;
    each_mpi("mpi_session.c", |mpi| {
        let program = mpi.compile("mpi_session.c").expect("it compiles").expect("a C compiler");
        let both = Both::run(mpi, &[program.into_os_string()], "mpi_session");
        // Before MPI 4 there are none.
        if both.bare.status.code() == Some(77) {
            return false;
        }
        let differences = both.bare.differences(&both.with);
        assert!(differences.is_empty(), "{}: {differences:#?}", mpi.name);
        assert!(both.with.status.success(), "{}: {:?}", mpi.name, both.with);
        let has_files = both.scene.work().join("session.dat").is_file();
        if has_files {
            both.each(mpi, &[("session.dat", EACH)]);
        }
        let mut wrote = BTreeMap::new();
        for log in both.logs().expect("logs").values() {
            for (name, counters) in log.records("POSIX") {
                let short = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
                if short.starts_with("own.") {
                    wrote.insert(short.into_owned(), counters.get("POSIX_WRITES"));
                }
            }
        }
        let want = (0..mpi.ranks()).map(|rank| (format!("own.{rank}.dat"), 4)).collect();
        assert_eq!(wrote, want, "{}", mpi.name);
        println!("mpi_session.c: {}: with files of MPI-IO: {has_files}", mpi.name);
        ran += 1;
        true
    });
    assert!(ran > 0, "Debian's MPICH has sessions");
}

/// However a program ends, what its ranks did is there, in their logs or in the segments they leave.
#[test]
fn no_end_of_a_program_loses_what_it_did() {
    for how in ["finalize", "exit", "abort", "kill", "thread"] {
        each_mpi(&format!("mpi_end {how}"), |mpi| {
            // Launchers differ in how they take a rank's death; the quiet ends need not all be tried.
            if !matches!(how, "abort" | "kill") && !mpi.name.starts_with("Debian") {
                return false;
            }
            let program =
                mpi.compile("mpi_end.c").expect("it compiles").expect("there is a C compiler");
            let mut all = vec![program.into_os_string()];
            all.extend(words(&[how]));
            let both = Both::run(mpi, &all, &format!("mpi_end-{how}"));
            // Which rank a launcher finds gone first, and what it then says, is chance.
            if how != "exit" {
                assert_eq!(both.bare.status, both.with.status, "{} {how}", mpi.name);
            }
            assert_eq!(both.bare.files, both.with.files, "{} {how}", mpi.name);
            let found = both.counters();
            for rank in 0..mpi.ranks() {
                let file = format!("end.{rank}.dat");
                let sum = found.get(&file).cloned().unwrap_or_default();
                let of = |counter: &str| sum.get(counter).copied().unwrap_or(0);
                let got =
                    [of("MPIIO_INDEP_OPENS"), of("MPIIO_INDEP_WRITES"), of("MPIIO_BYTES_WRITTEN")];
                assert_eq!(got, [1, 10, 5000], "{} {how}: {file}", mpi.name);
            }
            true
        });
    }
}
