//! The one log of a job: what its ranks write together when they end MPI, with the bare library, and what they
//! leave where they do not come together.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use netra_darshan::counter::posix::{BYTES_WRITTEN, OPENS, SLOWEST_RANK_BYTES, WRITES};
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_darshan::{Log, Record};
use netra_e2e::{Mpi, Outcome, Scene, Tool};
use netra_event::Module;
use netra_event::segment::{State, View};

/// Libraries start slowly when many tests run.
const PATIENCE: Duration = Duration::from_secs(120);

/// The job in a scene of its own, with and without netra.
struct Ran {
    scene: Scene,
    bare: Outcome,
    with: Outcome,
}

impl Ran {
    /// Runs `mpi_job.c`; `settings` are netra's.
    fn job(mpi: &Mpi, how: &str, settings: &[(&str, &str)]) -> Ran {
        let program = mpi.compile("mpi_job.c").expect("it compiles").expect("there is a compiler");
        let words = [program.into_os_string(), OsString::from(how)];
        let scene =
            Scene::new(&format!("job-{how}-{}", mpi.name.replace(' ', "-"))).expect("a scene");
        let mut bare = mpi.launch(&words);
        bare.current_dir(scene.work());
        let mut bare = Outcome::of(&mut bare, &scene, PATIENCE).expect("it ends");
        scene.clear().expect("an empty scene");
        let mut with = mpi.launch(&words);
        with.current_dir(scene.work());
        with.envs(Tool::netra().expect("the library").environment(&scene));
        with.envs(settings.iter().copied());
        let mut with = Outcome::of(&mut with, &scene, PATIENCE).expect("it ends");
        // In which order a launcher mixes what its ranks say is its own affair, down to single line ends.
        for said in [&mut bare.stdout, &mut with.stdout] {
            said.sort_unstable();
        }
        Ran { scene, bare, with }
    }

    #[track_caller]
    fn is_undisturbed(&self, mpi: &Mpi) {
        let differences = self.bare.differences(&self.with);
        assert!(differences.is_empty(), "{}: {differences:#?}", mpi.name);
    }

    /// Logs of programs, not of what launches them.
    fn logs(&self) -> Vec<PathBuf> {
        let mut logs = below(&self.scene.logs());
        logs.retain(|path| path.to_string_lossy().contains("mpi_job"));
        logs
    }

    /// Segments that ranks leave. A launcher may be gone before its last rank is.
    fn segments(&self, most: usize) -> Vec<PathBuf> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut segments = below(&self.scene.segments());
            segments.retain(|path| {
                let bytes = fs::read(path).unwrap_or_default();
                View::new(&bytes).is_ok_and(|view| view.rank_is_from_mpi())
            });
            if segments.len() <= most || Instant::now() > deadline {
                return segments;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The records of files in the job's folder: name, rank, and some of their counters.
type Told = BTreeMap<(String, i64), [i64; 3]>;

#[track_caller]
fn told(log: &Log) -> Told {
    let mut told = Told::new();
    let mut records = log.records(Module::Posix);
    while let Some(record) = records.next_record() {
        let name = log.names().get(record.id()).expect("a name");
        let name = String::from_utf8_lossy(name).into_owned();
        let Record::Counters(counters) = record else { panic!("counters") };
        let ours = |name: &&str| *name == "all.dat" || name.starts_with("own.");
        let Some(short) = name.rsplit('/').next().filter(ours) else { continue };
        let [opens, writes, bytes] = [OPENS, WRITES, BYTES_WRITTEN].map(|at| counters.ints[at]);
        if counters.rank.0 == -1 {
            assert_eq!(counters.ints[SLOWEST_RANK_BYTES], 1000);
        }
        let again = told.insert((short.to_owned(), counters.rank.0), [opens, writes, bytes]);
        assert!(again.is_none(), "{short} twice");
    }
    assert!(records.damage().is_empty(), "{:?}", records.damage());
    told
}

/// What [`told`] gives of a whole job.
fn whole(ranks: u32) -> Told {
    let all = i64::from(ranks);
    let mut told = Told::from([(("all.dat".to_owned(), -1), [all, 10 * all, 1000 * all])]);
    for rank in 0..all {
        told.insert((format!("own.{rank}.dat"), rank), [1, rank + 1, 50 * (rank + 1)]);
    }
    told
}

#[track_caller]
fn check_whole(mpi: &Mpi, path: &Path) {
    let log = Log::open(path).expect("a log");
    assert!(log.damage().is_empty(), "{}: {:?}", mpi.name, log.damage());
    assert_eq!(log.job().numbers.nprocs, i64::from(mpi.ranks()), "{}", mpi.name);
    assert_eq!(told(&log), whole(mpi.ranks()), "{}", mpi.name);
    let section = log.section();
    assert!(section.damage().is_empty(), "{}: {:?}", mpi.name, section.damage());
    let mut ranks = Vec::new();
    for block in section.blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT) {
        let bytes = block.bytes().expect("a whole block");
        let view = View::new(&bytes).expect("a segment");
        assert_eq!(view.state(), Some(State::Clean));
        let writes = view.lanes().flat_map(|lane| lane.events().collect::<Vec<_>>());
        assert!(writes.count() > 10, "{}: events", mpi.name);
        ranks.extend(view.rank());
    }
    assert_eq!(ranks, (0..mpi.ranks()).collect::<Vec<u32>>(), "{}", mpi.name);
}

#[test]
fn the_ranks_write_one_log() {
    let found = Mpi::all();
    for mpi in &found.here {
        for how in ["finalize", "print", "stray"] {
            // How a launcher mixes what ranks say is the same in one of the other tests.
            if how != "finalize" && !mpi.name.starts_with("Debian") {
                continue;
            }
            let ran = Ran::job(mpi, how, &[]);
            ran.is_undisturbed(mpi);
            let logs = ran.logs();
            assert_eq!(logs.len(), 1, "{} {how}: {logs:?}", mpi.name);
            check_whole(mpi, &logs[0]);
            assert_eq!(ran.segments(0), Vec::<PathBuf>::new(), "{} {how}", mpi.name);
            println!("one log: {} {how}: records reduced, parts of all ranks", mpi.name);
        }
    }
    for missing in &found.missing {
        println!("one log: not run: {missing}");
    }
}

#[test]
fn what_comes_after_mpi_stays_in_the_segment() {
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let ran = Ran::job(mpi, "after", &[]);
        ran.is_undisturbed(mpi);
        let logs = ran.logs();
        assert_eq!(logs.len(), 1, "{}: {logs:?}", mpi.name);
        check_whole(mpi, &logs[0]);
        let segments = ran.segments(1);
        assert_eq!(segments.len(), 1, "{}", mpi.name);
        let bytes = fs::read(&segments[0]).expect("the segment");
        let view = View::new(&bytes).expect("a segment");
        assert_eq!((view.rank(), view.log()), (Some(1), logs[0].to_string_lossy().as_bytes()));
    }
}

/// Traces above the limit stay in the segments, for `netra` to merge; the log has all counters.
#[test]
fn traces_above_the_limit_stay_in_the_segments() {
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let ran = Ran::job(mpi, "traces", &[("NETRA_LOG_TRACES", "1KiB")]);
        ran.is_undisturbed(mpi);
        let logs = ran.logs();
        assert_eq!(logs.len(), 1, "{}: {logs:?}", mpi.name);
        let log = Log::open(&logs[0]).expect("a log");
        assert_eq!(told(&log), whole(mpi.ranks()), "{}", mpi.name);
        let events =
            |view: &View<'_>| view.lanes().map(|lane| lane.events().count()).sum::<usize>();
        for block in log.section().blocks().iter().filter(|block| block.head.kind == KIND_SEGMENT) {
            let bytes = block.bytes().expect("a whole block");
            assert_eq!(events(&View::new(&bytes).expect("a segment")), 0, "{}", mpi.name);
        }
        let segments = ran.segments(mpi.ranks() as usize);
        assert_eq!(segments.len(), mpi.ranks() as usize, "{}", mpi.name);
        for segment in segments {
            let bytes = fs::read(&segment).expect("the segment");
            let view = View::new(&bytes).expect("a segment");
            assert!(events(&view) > 10, "{}", mpi.name);
            assert_eq!(view.log(), logs[0].to_string_lossy().as_bytes(), "{}", mpi.name);
        }
    }
}

/// Ranks that do not come together leave a log each, and nobody waits longer than was asked for.
#[test]
fn a_rank_that_comes_too_late_is_not_waited_for() {
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let ran = Ran::job(mpi, "late", &[("NETRA_FINALIZE_WAIT", "200ms")]);
        assert_eq!(ran.bare.status, ran.with.status, "{}", mpi.name);
        assert_eq!(ran.bare.files, ran.with.files, "{}", mpi.name);
        let mut sums = BTreeMap::new();
        let logs = ran.logs();
        assert_eq!(logs.len(), mpi.ranks() as usize, "{}: {logs:?}", mpi.name);
        for path in logs {
            for ((name, _), counters) in told(&Log::open(&path).expect("a log")) {
                let sum: &mut [i64; 3] = sums.entry(name).or_default();
                for (sum, value) in sum.iter_mut().zip(counters) {
                    *sum += value;
                }
            }
        }
        let want = whole(mpi.ranks()).into_iter().map(|((name, _), counters)| (name, counters));
        assert_eq!(sums, want.collect(), "{}", mpi.name);
    }
}

/// A job in which some ranks run without netra ends as it does without it.
#[test]
fn ranks_without_netra_do_not_hold_up_the_others() {
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let program = mpi.compile("mpi_job.c").expect("it compiles").expect("there is a compiler");
        let scene = Scene::new(&format!("job-mixed-{}", mpi.name.replace(' ', "-"))).expect("one");
        // The launcher gives all ranks one environment; a shell takes netra out of the last one's.
        let script =
            "case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in 2) unset LD_PRELOAD;; esac; exec \"$0\"";
        let words = [OsString::from("/bin/sh"), "-c".into(), script.into(), program.into()];
        let mut command = mpi.launch(&words);
        command.current_dir(scene.work()).env("NETRA_FINALIZE_WAIT", "200ms");
        command.envs(Tool::netra().expect("the library").environment(&scene));
        let done = Outcome::of(&mut command, &scene, PATIENCE).expect("it ends");
        assert!(done.status.success(), "{}: {done:?}", mpi.name);
        let mut logs = below(&scene.logs());
        logs.retain(|path| path.to_string_lossy().contains("mpi_job"));
        assert_eq!(logs.len(), 2, "{}: {logs:?}", mpi.name);
    }
}

/// A log folder that is not the same on every node: who does not see the file hands its part to another rank.
#[test]
fn ranks_that_do_not_see_the_file_hand_their_part_on() {
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|done| done.success()) {
        println!("not run: no mount namespaces here");
        return;
    }
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let program = mpi.compile("mpi_job.c").expect("it compiles").expect("there is a compiler");
        let scene = Scene::new(&format!("job-apart-{}", mpi.name.replace(' ', "-"))).expect("one");
        let script = "case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in 0) exec \"$0\";; esac; \
             LD_PRELOAD= exec unshare -m /bin/sh -c 'mount -t tmpfs none \"$NETRA_LOG_DIR\"; \
             LD_PRELOAD=\"$LIBRARY\" exec \"$0\"' \"$0\"";
        let words = [OsString::from("/bin/sh"), "-c".into(), script.into(), program.into()];
        let mut command = mpi.launch(&words);
        let tool = Tool::netra().expect("the library");
        command.current_dir(scene.work()).env("LIBRARY", tool.library());
        command.envs(tool.environment(&scene));
        let done = Outcome::of(&mut command, &scene, PATIENCE).expect("it ends");
        assert!(done.status.success(), "{}: {done:?}", mpi.name);
        let mut logs = below(&scene.logs());
        logs.retain(|path| path.to_string_lossy().contains("mpi_job"));
        assert_eq!(logs.len(), 1, "{}: {logs:?}", mpi.name);
        check_whole(mpi, &logs[0]);
    }
}

/// A world that another spawned is a job of its own: two logs, each with what its own ranks did.
#[test]
fn a_spawned_world_writes_a_log_of_its_own() {
    let mut ran = 0;
    for mpi in &Mpi::all().here {
        let program = mpi.compile("mpi_spawn.c").expect("it compiles").expect("a compiler");
        let scene = Scene::new(&format!("spawn-{}", mpi.name.replace(' ', "-"))).expect("a scene");
        let words = [program.into_os_string()];
        let launch = || {
            let mut command = mpi.launch(&words);
            // A world that is gone before the other has looked at its memory makes UCX complain, with netra or without.
            command.current_dir(scene.work()).env("UCX_LOG_LEVEL", "fatal");
            command
        };
        let bare = Outcome::of(&mut launch(), &scene, PATIENCE).expect("it ends");
        // Debian's MPICH is built without.
        if !bare.status.success() {
            println!("a spawned world: {}: not run: this MPI cannot spawn here", mpi.name);
            continue;
        }
        scene.clear().expect("an empty scene");
        let mut with = launch();
        with.envs(Tool::netra().expect("the library").environment(&scene));
        let with = Outcome::of(&mut with, &scene, PATIENCE).expect("it ends");
        let differences = bare.differences(&with);
        assert!(differences.is_empty(), "{}: {differences:#?}", mpi.name);
        assert!(with.status.success(), "{}: {with:?}", mpi.name);
        let mut logs = below(&scene.logs());
        logs.retain(|path| path.to_string_lossy().contains("mpi_spawn"));
        let mut worlds: Vec<(i64, Vec<(String, i64)>)> =
            logs.iter().map(|path| world(path)).collect();
        worlds.sort();
        let wrote = |of: &str, ranks: u32, count: i64| -> Vec<(String, i64)> {
            (0..ranks).map(|rank| (format!("{of}.{rank}.dat"), count)).collect()
        };
        let ranks = mpi.ranks();
        let want = [(2, wrote("child", 2, 3)), (i64::from(ranks), wrote("parent", ranks, 5))];
        assert_eq!(worlds, want, "{}", mpi.name);
        println!("a spawned world: {}: a log of {ranks} ranks and one of 2", mpi.name);
        ran += 1;
    }
    assert!(ran > 0, "Debian's Open MPI can");
}

/// Processes of a log, and the writes of each file of `mpi_spawn.c`.
fn world(path: &Path) -> (i64, Vec<(String, i64)>) {
    let log = Log::open(path).expect("a log");
    let mut wrote = Vec::new();
    let mut records = log.records(Module::Posix);
    while let Some(record) = records.next_record() {
        let name = String::from_utf8_lossy(log.names().get(record.id()).expect("a name"));
        let Record::Counters(counters) = &record else { panic!("counters") };
        let short = name.rsplit('/').next().unwrap_or_default();
        if short.starts_with("parent.") || short.starts_with("child.") {
            wrote.push((short.to_owned(), counters.ints[WRITES]));
        }
    }
    wrote.sort();
    (log.job().numbers.nprocs, wrote)
}

/// A rank that is killed while it writes leaves its segment, the others their logs: together they say what each
/// file shows. One that was cut off may have written once more than was counted.
#[test]
fn a_rank_killed_while_it_writes_loses_nothing() {
    for mpi in Mpi::all().here.iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let program = mpi.compile("mpi_killed.c").expect("it compiles").expect("a compiler");
        let scene = Scene::new(&format!("killed-{}", mpi.name.replace(' ', "-"))).expect("a scene");
        let mut command = mpi.launch(&[program.into(), "3000".into(), "leave".into()]);
        command.current_dir(scene.work());
        command.envs(Tool::netra().expect("the library").environment(&scene));
        Outcome::of(&mut command, &scene, PATIENCE).expect("it ends");
        let deadline = Instant::now() + PATIENCE;
        while !adds_up(mpi, &scene) {
            // A launcher may be gone before its last rank is.
            assert!(Instant::now() < deadline, "{}: writes are missing", mpi.name);
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether logs and segments count the writes that files show.
fn adds_up(mpi: &Mpi, scene: &Scene) -> bool {
    let recovered = netra_e2e::Log::recover_all(&scene.segments());
    let (Ok(mut all), Ok(logs)) = (recovered, netra_e2e::Log::read_all(&scene.logs())) else {
        return false;
    };
    all.extend(logs);
    (0..mpi.ranks()).all(|rank| {
        let file = format!("killed.{rank}.dat");
        let size = fs::metadata(scene.work().join(&file)).map_or(0, |found| found.len());
        let wrote = i64::try_from(size / 64).expect("a small file");
        let records = all.values().flat_map(|log| log.records("POSIX"));
        let own = records.filter(|(name, _)| name.ends_with(&file));
        let counted: i64 = own.map(|(_, counters)| counters.get("POSIX_WRITES")).sum();
        (wrote - i64::from(wrote < 20_000)..=wrote).contains(&counted)
    })
}
