//! Where netra cannot write, or is not even loaded: the application runs as without it.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use netra_e2e::{Case, Program, Scene, SmallDisk, Tool};

const MIB: u64 = 1 << 20;

fn netra() -> Tool {
    Tool::netra().expect("the library")
}

fn logs_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .map(|path| if path.is_dir() { logs_in(&path) } else { 1 })
        .sum()
}

/// Nothing is free on the disk of logs and segments; never SIGBUS, never an error.
#[test]
fn full_disk() {
    for free in [0, 4096, 65_536, MIB / 2] {
        let scene = Scene::new("full_disk").unwrap();
        let at = scene.segments();
        let Some(disk) = SmallDisk::mount(&at, MIB) else {
            println!("full_disk                skipped: only root may mount a small tmpfs");
            return;
        };
        disk.fill(MIB, free).unwrap();
        for name in ["plain", "shared_fd", "many_files"] {
            let case = Case::of(Program::c(name)).env("NETRA_LOG_DIR", at.join("logs"));
            case.without_evidence().check_in(&scene, &netra()).unwrap().assert();
            scene.clear().unwrap();
        }
        drop(disk);
    }
}

/// The disk has room for the log, not for segments: counters are exact all the same.
#[test]
fn full_segment_disk_keeps_the_log_exact() {
    let scene = Scene::new("full_segment_disk").unwrap();
    let Some(disk) = SmallDisk::mount(&scene.segments(), MIB) else {
        println!("full_segment_disk        skipped: only root may mount a small tmpfs");
        return;
    };
    disk.fill(MIB, 0).unwrap();
    Case::of(Program::c("plain")).check_in(&scene, &netra()).unwrap().assert();
    drop(disk);
}

#[test]
fn no_directory_for_segments() {
    let case = Case::of(Program::c("plain"));
    for folder in ["/nonexistent/segments", "/proc/self", "/dev/null", ""] {
        case.clone().env("NETRA_SEGMENT_DIR", folder).check(&netra()).unwrap().assert();
    }
}

#[test]
fn no_directory_for_logs() {
    let case = Case::of(Program::c("plain").named("plain_without_log")).without_evidence();
    for folder in ["/proc/nothing", "/dev/null/logs", "/dev/full"] {
        case.clone().env("NETRA_LOG_DIR", folder).check(&netra()).unwrap().assert();
        case.clone().env("NETRA_LOG_FILE", folder).check(&netra()).unwrap().assert();
    }
}

/// Settings that make no sense leave the defaults in place, and the streams alone.
#[test]
fn settings_that_make_no_sense() {
    let long = "x".repeat(100_000);
    for (name, value) in [
        ("NETRA_CONFIG", "/nonexistent/file"),
        ("NETRA_CONFIG", "/dev/zero"),
        ("NETRA_TRACE_BUDGET", "a lot"),
        ("NETRA_TRACE_BUDGET", "99999999999999999999GiB"),
        ("NETRA_EXCLUDE", "((("),
        ("NETRA_UNKNOWN", &long),
    ] {
        let case = Case::of(Program::c("plain").named("plain_with_odd_setting"));
        case.env(name, value).check(&netra()).unwrap().assert();
    }
}

#[test]
fn static_executable() {
    let scene = Scene::new("static").unwrap();
    let case = Case::of(Program::c("static").flag("-static")).without_evidence();
    case.check_in(&scene, &netra()).unwrap().assert();
    assert_eq!(logs_in(&scene.logs()), 0, "nobody can have written a log");
}

/// The loader drops LD_PRELOAD from a set-user-id program, so there is nothing to see, and nothing
/// of us in the way.
#[test]
fn setuid() {
    let scene = Scene::open_to_all("setuid").unwrap();
    let words = Program::c("setuid").words().unwrap();
    let binary = scene.work().join("program");
    fs::copy(&words[0], &binary).unwrap();
    if chown(&binary, Some(65_534), Some(65_534)).is_err() {
        println!("setuid                   skipped: only root may give a file away");
        return;
    }
    for folder in [scene.work(), scene.logs(), scene.segments()] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o6755)).unwrap();
    let mut command = Command::new(&binary);
    command.current_dir(scene.work()).envs(netra().environment(&scene)).uid(12_345).gid(12_345);
    let done = command.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "ids differ: yes, LD_PRELOAD: removed\n",
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(done.status.success());
    assert_eq!(logs_in(&scene.logs()), 0, "nobody can have written a log");
    println!("{:24} runs as without us, no log", "setuid");
}
