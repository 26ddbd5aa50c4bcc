//! `netra doctor` on commands that can and can not be recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::netra::{Done, Place};

fn doctor(place: &Place, words: &[&str]) -> Done {
    let mut command = place.command(&[&["doctor"], words].concat());
    command.env("XDG_DATA_HOME", place.path("data")).env("NETRA_SEGMENT_DIR", place.path("tmp"));
    // Any object of this machine will do as the library.
    command.env("NETRA_PRELOAD", env!("CARGO_BIN_EXE_netra")).env("PATH", "/usr/bin:/bin");
    let done = command.output().expect("netra starts");
    Done {
        code: done.status.code().expect("an exit code"),
        out: done.stdout,
        err: String::from_utf8(done.stderr).expect("text"),
    }
}

/// What is said about a command, after everything else.
#[track_caller]
fn last(place: &Place, command: &Path, code: i32) -> String {
    let done = doctor(place, &[command.to_str().expect("a plain name")]);
    assert_eq!(done.code, code, "{}{}", done.text(), done.err);
    done.text().lines().last().expect("something is said").to_owned()
}

/// A program in the test's folder, bent by `bend`.
fn program(place: &Place, mode: u32, bend: impl Fn(&mut Vec<u8>)) -> PathBuf {
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_netra")).expect("a program");
    bend(&mut bytes);
    let path = place.file("program", &bytes);
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

#[test]
fn a_healthy_place_is_0() {
    let place = Place::new();
    let done = doctor(&place, &[]);
    assert_eq!(done.code, 0, "{}", done.text());
    assert!(!done.text().contains("BAD"), "{}", done.text());
    for matter in ["library ", "segments in ", "logs in ", "settings in the environment"] {
        assert!(done.text().contains(matter), "{matter}: {}", done.text());
    }
    let path = program(&place, 0o755, |_| {});
    let said = last(&place, &path, 0);
    assert!(said.ends_with("it is recorded"), "{said}");
}

#[test]
fn what_can_not_be_recorded_is_1_and_says_why() {
    let place = Place::new();
    let path = program(&place, 0o4755, |_| {});
    let said = last(&place, &path, 1);
    assert!(said.contains("runs with other rights"), "{said}");
    let done = doctor(&place, &["--format", "json", path.to_str().expect("a plain name")]);
    assert_eq!(done.code, 1);
    let read: serde_json::Value = serde_json::from_slice(&done.out).expect("JSON");
    let worst = read.as_array().and_then(|all| all.last()).expect("findings");
    assert_eq!(worst["level"], "bad");
    assert_eq!(format!("BAD   {}", worst["says"].as_str().expect("text")), said);
    // A program whose loader is not named is a static one.
    let path = program(&place, 0o755, |bytes| {
        let (start, count) = (usize::from(bytes[32]), usize::from(bytes[56]));
        for header in 0..count {
            let at = start + 56 * header;
            if bytes[at..at + 4] == [3, 0, 0, 0] {
                bytes[at] = 0;
            }
        }
    });
    let said = last(&place, &path, 1);
    assert!(said.contains("is statically linked"), "{said}");
    let path = program(&place, 0o755, |bytes| bytes[18] = 21);
    let said = last(&place, &path, 1);
    assert!(said.contains("is for ppc64, the library is for "), "{said}");
    let path = program(&place, 0o755, |bytes| bytes.truncate(100));
    let said = last(&place, &path, 0);
    assert!(said.starts_with("note"), "{said}");
    let said = last(&place, Path::new("no-such-command"), 1);
    assert_eq!(said, "BAD   no-such-command: command not found");
}

#[test]
fn scripts_are_followed_to_their_interpreter() {
    let place = Place::new();
    let script = place.file("script", b"#!/usr/bin/env sh\necho\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let done = doctor(&place, &["./script"]);
    assert_eq!(done.code, 0, "{}", done.text());
    assert!(done.text().contains("./script is a script for sh\n"), "{}", done.text());
    assert!(done.text().ends_with("it is recorded\n"), "{}", done.text());
}

#[test]
fn places_and_settings_that_do_not_work_are_said() {
    let place = Place::new();
    place.file("file", b"");
    let mut command = place.command(&["doctor"]);
    command.env("NETRA_LOG_DIR", place.path("file/logs")).env("NETRA_TRACE", "perhaps");
    command.env("NETRA_SEGMENT_DIR", place.path("tmp")).env("NETRA_PRELOAD", "/none");
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let text = String::from_utf8(done.stdout).unwrap();
    let bad: Vec<&str> = text.lines().filter(|line| line.starts_with("BAD")).collect();
    assert_eq!(bad.len(), 3, "{text}");
    assert!(bad[0].contains("libnetra_preload.so was not found"), "{text}");
    assert!(bad[1].contains("can not be written"), "{text}");
    assert!(bad[2].contains("NETRA_TRACE: \"perhaps\" is not on or off"), "{text}");
}

#[test]
fn a_folder_and_a_script_without_its_bit_are_told_from_what_is_not_there() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).expect("a folder");
    place.file("slow.py", b"print(1)\n");
    for (word, says) in [
        ("folder", "BAD   folder: is a folder"),
        ("./slow.py", "BAD   ./slow.py: is not executable (chmod +x)"),
        ("slow.py", "BAD   slow.py: is not executable (chmod +x)"),
        ("no-such-command", "BAD   no-such-command: command not found"),
    ] {
        assert_eq!(last(&place, Path::new(word), 1), says);
    }
}

#[test]
fn a_line_that_run_takes_is_looked_at_with_what_its_launcher_starts() {
    let place = Place::new();
    let launcher = place.file("mpirun", b"#!/bin/sh\n");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).expect("a mode");
    let program = program(&place, 0o4755, |_| {});
    let launcher = launcher.to_str().expect("a plain name");
    let done =
        doctor(&place, &["--", launcher, "-n", "4", program.to_str().expect("a plain name")]);
    assert_eq!(done.code, 1);
    assert!(
        done.text().ends_with("is not recorded\n")
            || done.text().contains("runs with other rights"),
        "{}",
        done.text()
    );
    let done = doctor(&place, &[launcher, "-n", "4", "./nothing"]);
    assert!(done.text().contains("none of the words behind"), "{}", done.text());
}

#[test]
fn a_library_of_another_build_is_bad() {
    let place = Place::new();
    // An object of this machine that says what it is behind its end, where nothing is loaded.
    let bent = |version: &str| {
        let mut bytes = fs::read("/usr/bin/true").expect("a program");
        bytes.extend(format!("netra: library {version}: recording").bytes());
        place.file("library.so", &bytes)
    };
    for (version, begins) in
        [("0.0.1, segments 9", "BAD   library "), ("0.1.0, segments 1", "ok    library ")]
    {
        let mut command = place.command(&["doctor"]);
        command.env("NETRA_PRELOAD", bent(version)).env("XDG_DATA_HOME", place.path("data"));
        let done = command.output().expect("netra starts");
        let text = String::from_utf8(done.stdout).expect("text");
        assert!(text.starts_with(begins) && text.contains(version), "{text}");
    }
}

#[test]
fn doctor_looks_and_makes_nothing() {
    let place = Place::new();
    let mut command = place.command(&["doctor"]);
    let gone = place.path("gone");
    command
        .env("TMPDIR", &gone)
        .env("NETRA_PRELOAD", "/usr/bin/true")
        .env("HOME", place.path("home"));
    let text = String::from_utf8(command.output().expect("netra starts").stdout).expect("text");
    assert!(text.contains(&format!("TMPDIR is {}, which is not there", gone.display())), "{text}");
    assert!(!gone.exists() && !place.path("home").exists());
}
