//! Libraries that patch code, as UCX and Open MPI do to learn of memory that comes and goes: they patch libc's
//! functions, hear of what they would hear without netra, and reach nothing of ours that they did not mean.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use netra_e2e::{Case, Log, Mpi, Outcome, Program, Scene, Tool};

/// Libraries start slowly when many tests run.
const PATIENCE: Duration = Duration::from_secs(120);

#[track_caller]
fn check(case: &Case) {
    case.check(&Tool::netra().expect("the library")).expect("it runs").assert();
}

/// The names that the library exports.
fn exports(tool: &Tool) -> Vec<String> {
    let mut nm = Command::new("nm");
    let done = nm.args(["-D", "--defined-only"]).arg(tool.library()).output().expect("nm runs");
    let text = String::from_utf8(done.stdout).expect("nm writes text");
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()
}

#[test]
fn a_jump_over_any_export_reaches_that_function_and_no_other() {
    let mut case = Case::of(Program::c("patch_exports")).without_evidence();
    let exports = exports(&Tool::netra().expect("the library"));
    assert!(exports.len() > 200, "{exports:?}");
    for name in exports {
        case = case.arg(name);
    }
    check(&case);
}

#[test]
fn who_patches_mmap_is_told_of_all_and_files_still_count() {
    for binding in ["lazy", "now"] {
        let program = Program::c("patch_mmap").named(&format!("patch_mmap_{binding}"));
        let program = program.flag(&format!("-Wl,-z,{binding}"));
        for (how, far) in [("code", "0"), ("code", "8"), ("slots", "0")] {
            check(&Case::of(program.clone()).arg(how).arg(far));
        }
    }
}

/// A program with and without netra; the lines that ranks print come in no order.
fn both(mpi: &Mpi, scene: &Scene, words: &[OsString]) -> Outcome {
    let run = |tool: Option<&Tool>| {
        let mut command = mpi.launch(words);
        command.current_dir(scene.work()).env("LC_ALL", "C");
        command.envs(tool.map(|tool| tool.environment(scene)).unwrap_or_default());
        let mut outcome = Outcome::of(&mut command, scene, PATIENCE).expect("it ends");
        outcome.stdout.sort_unstable();
        outcome
    };
    let bare = run(None);
    scene.clear().expect("an empty scene");
    let with = run(Some(&Tool::netra().expect("the library")));
    let differences = bare.differences(&with);
    assert!(differences.is_empty(), "{}: {differences:#?}", mpi.name);
    bare
}

fn scene(mpi: &Mpi, what: &str) -> Scene {
    Scene::new(&format!("{what}-{}", mpi.name.replace(' ', "-"))).expect("a scene")
}

fn compiled(mpi: &Mpi, file: &str) -> OsString {
    mpi.compile(file).expect("it compiles").expect("there is a compiler").into_os_string()
}

#[test]
fn ucx_and_open_mpi_are_told_what_they_are_told_without_netra() {
    for mpi in Mpi::over_ucx() {
        let bare = both(&mpi, &scene(&mpi, "told"), &[compiled(&mpi, "mpi_told.c")]);
        assert!(bare.status.success(), "{}", mpi.name);
        let text = String::from_utf8_lossy(&bare.stdout);
        let told = |digit: char| text.contains(digit);
        println!("{}: UCX is {}told", mpi.name, if told('1') { "" } else { "not " });
        assert!(told('1'), "{}: nobody was told of anything: {text}", mpi.name);
    }
}

#[test]
fn ranks_with_memory_far_from_ucx_live_and_their_mappings_count() {
    for mpi in Mpi::over_ucx() {
        for far in ["0", "3", "8"] {
            let scene = scene(&mpi, &format!("far{far}"));
            let words = [compiled(&mpi, "mpi_far.c"), far.into()];
            let bare = both(&mpi, &scene, &words);
            assert!(bare.status.success(), "{}", mpi.name);
            let maps = maps(&scene, mpi.ranks() as usize * 2);
            for rank in 0..mpi.ranks() {
                for when in ["before", "during"] {
                    let name = format!("{when}.{rank}");
                    assert_eq!(maps.get(&name), Some(&1), "{}: {far} GiB: {name}", mpi.name);
                }
            }
            println!("{}: {far} GiB: same outcome, mappings exact", mpi.name);
        }
    }
}

/// `POSIX_MMAPS` of the files in the working directory, as soon as so many are there: a launcher may be gone
/// before its last rank is.
fn maps(scene: &Scene, files: usize) -> BTreeMap<String, i64> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut sums = BTreeMap::new();
        let logs = Log::recover_all(&scene.segments()).and_then(|mut logs| {
            logs.extend(Log::read_all(&scene.logs())?);
            Ok(logs)
        });
        for log in logs.as_ref().into_iter().flat_map(|logs| logs.values()) {
            for (name, counters) in log.records("POSIX") {
                let name = Path::new(name);
                if name.parent() == Some(&scene.work()) {
                    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    *sums.entry(name).or_insert(0) += counters.get("POSIX_MMAPS");
                }
            }
        }
        if sums.len() >= files || Instant::now() > deadline {
            return sums;
        }
        std::thread::yield_now();
    }
}
