//! Words that make no sense, files that cannot be opened, outputs that go away: exit codes and
//! complaints.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::netra::{EXAMPLE, Place, example};

/// Commands that show logs, all of which treat their words alike.
pub(crate) const SHOWING: &[&str] = &["info", "parse", "dxt"];

#[test]
fn wrong_usage_is_64() {
    let place = Place::with_example();
    for words in [
        &[] as &[&str],
        &["gaze"],
        &["info"],
        &["info", "--format", "xml", "wave.darshan"],
        &["info", "--no-such-flag", "wave.darshan"],
    ] {
        let done = place.netra(words);
        assert_eq!(done.code, 64, "{words:?}: {}", done.err);
        assert!(done.out.is_empty(), "{words:?} wrote to standard output");
        assert!(done.err.contains("--help"), "{words:?}: {}", done.err);
    }
}

#[test]
fn help_and_version_are_no_mistake() {
    for words in [&["--help"], &["--version"]] {
        let done = Place::new().netra(words);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        assert!(done.text().contains("netra"));
    }
}

#[test]
fn a_file_that_is_not_there_is_2() {
    for command in SHOWING {
        let done = Place::new().netra(&[command, "none.darshan"]);
        assert_eq!(done.code, 2);
        assert_eq!(
            done.err,
            "netra: none.darshan: can not open: No such file or directory (os error 2)\n"
        );
    }
}

#[test]
fn one_unreadable_log_among_others_is_1_and_the_others_are_shown() {
    let place = Place::with_example();
    for command in SHOWING {
        let alone = place.netra(&[command, "--format", "json", "wave.darshan"]);
        let done = place.netra(&[command, "--format", "json", "none.darshan", "wave.darshan"]);
        assert_eq!(done.code, 1);
        assert_eq!(done.text(), alone.text());
        assert!(done.err.starts_with("netra: none.darshan: "), "{}", done.err);
    }
}

#[test]
fn a_file_without_permission_is_2() {
    let place = Place::with_example();
    let path = place.path("wave.darshan");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let done = place.netra(&["info", "wave.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("Permission denied"), "{}", done.err);
}

#[test]
fn output_goes_to_a_file_or_to_standard_output() {
    let place = Place::with_example();
    for command in SHOWING {
        let plain = place.netra(&[command, "wave.darshan"]);
        assert!(!plain.out.is_empty());
        assert_eq!(place.netra(&[command, "-o", "-", "wave.darshan"]), plain);
        let done = place.netra(&[command, "-o", "out.txt", "wave.darshan"]);
        assert_eq!((done.code, done.out.as_slice()), (0, &[] as &[u8]));
        assert_eq!(fs::read(place.path("out.txt")).unwrap(), plain.out);
    }
}

#[test]
fn an_output_that_cannot_be_created_is_2() {
    let done = Place::with_example().netra(&["info", "-o", "no/such/folder", "wave.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with("netra: creating no/such/folder: "), "{}", done.err);
}

#[test]
fn a_full_disk_is_said() {
    let done = Place::with_example().netra(&["info", "-o", "/dev/full", "wave.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("No space left"), "{}", done.err);
}

#[test]
fn a_closed_pipe_ends_the_work_quietly() {
    let place = Place::new();
    let log = place.file("a.darshan", &example());
    let log = log.to_str().unwrap();
    for command in SHOWING {
        // Far more than a pipe holds, so that the program must notice.
        let mut words = vec![*command, "--format", "json"];
        words.extend(std::iter::repeat_n(log, 400));
        let mut child =
            place.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    }
}

#[test]
fn names_may_have_spaces_and_odd_bytes() {
    let place = Place::new();
    place.file("a log [1].darshan", &example());
    let done = place.netra(&["info", "a log [1].darshan"]);
    assert_eq!(done.code, 0);
    assert!(done.text().starts_with("a log [1].darshan: "));
}

/// Scripts for the real tools pass it.
#[test]
fn show_incomplete_is_understood() {
    let place = Place::with_example();
    for command in ["parse", "dxt"] {
        let plain = place.netra(&[command, "wave.darshan"]);
        assert_eq!(place.netra(&[command, "--show-incomplete", "wave.darshan"]), plain);
    }
}

#[test]
fn the_example_is_small() {
    assert!(fs::metadata(EXAMPLE).unwrap().len() < 50 << 10);
}
