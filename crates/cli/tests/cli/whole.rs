//! Logs that are not whole, and files that must stay whole: no command calls a damaged log complete, and none writes
//! over what it reads.

use std::fs;

use netra_event::Function;

use crate::netra::{Place, example};
use crate::recover::maker::{Lane, Segment, event, tick};
use crate::usage::SHOWING;

/// A log of netra's own, of a process that made so many calls.
fn log(place: &Place) -> Vec<u8> {
    let mut made = Segment { pid: u32::MAX - 5, ..Segment::default() };
    let file = made.file("/scratch/out");
    let write = |at: u64| event(Function::Write, file, tick(1000 + 3000 * at), -1, 512);
    let events = (0..200).map(write).collect();
    made.lanes = vec![Lane { tid: 7, events, dropped: Vec::new() }];
    place.file("segments/one.segment", &made.bytes());
    let done = place.netra(&["recover", "segments", "-o", "job.darshan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    fs::read(place.path("job.darshan")).expect("a log")
}

#[test]
fn no_command_calls_a_damaged_log_complete() {
    let place = Place::new();
    let whole = log(&place);
    let commands: [&[&str]; 9] = [
        &["info", "bad.darshan"],
        &["report", "bad.darshan"],
        &["parse", "bad.darshan"],
        &["dxt", "bad.darshan"],
        &["export", "bad.darshan"],
        &["diff", "job.darshan", "bad.darshan"],
        &["compare", "job.darshan", "bad.darshan"],
        &["merge", "bad.darshan", "-o", "merged.darshan"],
        &["convert", "bad.darshan", "-o", "new.darshan"],
    ];
    for command in commands {
        place.file("bad.darshan", &whole);
        let done = place.netra(command);
        assert_eq!(done.code, 0, "{command:?} of a whole log: {}", done.err);
    }
    let mut bent = whole.clone();
    // In the last block of the section, before the trailer.
    let at = whole.len() - 100;
    bent[at..at + 50].fill(0x55);
    let damaged = [30, 60, 90, 99].map(|part| whole[..whole.len() * part / 100].to_vec());
    for bytes in damaged.into_iter().chain([bent]) {
        place.file("bad.darshan", &bytes);
        for command in commands {
            let done = place.netra(command);
            let expected = if bytes.len() < 1328 { 1..=2 } else { 1..=1 };
            assert!(expected.contains(&done.code), "{command:?} of {} bytes", bytes.len());
            assert!(done.err.contains("bad.darshan"), "{command:?}: {}", done.err);
        }
    }
    let info = place.netra(&["info", "--format", "json", "bad.darshan"]).json();
    assert_eq!(info["missing"][0]["reason"], "its checksum does not fit");
}

#[test]
fn nothing_is_written_over_an_input_or_a_log() {
    let place = Place::with_example();
    place.file("other.darshan", &example());
    place.file("note.txt", b"no log");
    let check = |words: &[&str], file: &str, says: &str| {
        let before = fs::read(place.path(file)).expect("a file");
        let done = place.netra(words);
        assert_eq!(done.code, 2, "{words:?}: {}", done.err);
        assert!(done.err.contains(file) && done.err.contains(says), "{words:?}: {}", done.err);
        assert_eq!(fs::read(place.path(file)).expect("a file"), before, "{words:?}");
    };
    for command in SHOWING.iter().chain(&["export", "report"]) {
        check(&[command, "wave.darshan", "-o", "wave.darshan"], "wave.darshan", "is what is read");
        check(&[command, "wave.darshan", "-o", "other.darshan"], "other.darshan", "a Darshan log");
    }
    check(&["info", "note.txt", "-o", "note.txt"], "note.txt", "is what is read");
    let html = ["report", "--html", "wave.darshan", "wave.darshan"];
    check(&html, "wave.darshan", "is what is read");
    check(&["report", "--html", "other.darshan", "wave.darshan"], "other.darshan", "a Darshan log");
    let pair = ["compare", "--html", "wave.darshan", "other.darshan", "wave.darshan"];
    check(&pair, "wave.darshan", "is what is read");
}

#[test]
fn a_page_goes_to_standard_output_or_to_a_whole_file() {
    let place = Place::with_example();
    let done = place.netra(&["report", "--html", "-", "wave.darshan"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(
        done.text().starts_with("<!doctype html>") || done.text().starts_with("<!DOCTYPE html>")
    );
    assert!(!place.path("-").exists());
    let done = place.netra(&["report", "--html", "p.html", "-o", "x", "wave.darshan"]);
    assert_eq!(done.code, 64);
    let done = place.netra(&["report", "--html", "/dev/full", "wave.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with("netra: writing /dev/full: No space left"), "{}", done.err);
    place.file("b.darshan", &example());
    let done = place.netra(&["report", "--html", "p.html", "wave.darshan", "b.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with("netra: --html shows one job"), "{}", done.err);
}

#[test]
fn an_unreadable_log_is_named_once() {
    let place = Place::with_example();
    place.file("empty.darshan", b"");
    let done = place.netra(&["compare", "empty.darshan", "wave.darshan"]);
    assert!(done.err.starts_with("netra: empty.darshan: the file is empty"), "{}", done.err);
    let done = place.netra(&["export", "nosuch.darshan"]);
    assert_eq!(done.code, 2);
    assert_eq!(done.err.matches("nosuch").count(), 1, "{}", done.err);
}

/// More than three logs are a list with a sum, the worst first.
#[test]
fn many_logs_are_a_list() {
    let place = Place::new();
    for name in ["a", "b", "c", "d"] {
        place.file(&format!("logs/{name}.darshan"), &example());
    }
    for command in ["info", "report"] {
        let done = place.netra(&[command, "logs"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(done.text().lines().count(), 1 + 4 + 1 + 2, "{}", done.text());
        assert!(done.text().contains("\n4 logs: ran for "), "{}", done.text());
        let all = place.netra(&[command, "--all", "logs"]);
        assert!(all.text().lines().count() > 40, "{}", all.text());
    }
    fs::remove_file(place.path("logs/d.darshan")).expect("it was there");
    assert!(place.netra(&["info", "logs"]).text().contains("complete   yes"));
}

/// A record id is a string, because 64 bits do not survive JavaScript.
#[test]
fn ids_in_the_report_are_strings() {
    let json = Place::with_example().netra(&["report", "--json", "wave.darshan"]).json();
    let files = json["files"].as_array().expect("files");
    assert!(!files.is_empty() && files.iter().all(|file| file["id"].is_string()), "{files:?}");
}
