//! `netra recover`: what killed processes left becomes logs; nothing is lost on the way.

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../../darshan/tests/maker/mod.rs"]
pub(crate) mod maker;

use std::fs;
use std::path::PathBuf;

use maker::{Segment, words};
use netra_event::Loss;
use netra_event::segment::State;
use netra_event::segment::shard::{direction, posix};

use crate::netra::{Done, Place};

/// What a killed process left: 3 writes of 3,000 bytes.
fn killed(pid: u32) -> Segment {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let mut made = Segment { pid: u32::MAX - pid, state: State::Running, ..Segment::default() };
    (made.host, made.end, made.uid) = (host, 0, rustix::process::geteuid().as_raw());
    let file = made.file("/scratch/data");
    let counts = [
        (posix::WRITE + direction::CALLS, 3),
        (posix::WRITE + direction::BYTES, 3000),
        (posix::WRITE + direction::TIME, 2_000_000),
        (posix::OPENS, 1),
    ];
    made.record(1, 0, file, words(posix::WORDS, &counts));
    made
}

/// The folder in which `netra recover` looks for segments.
fn folder(place: &Place) -> PathBuf {
    place.path(&format!("tmp/netra-{}", rustix::process::geteuid().as_raw()))
}

fn leave(place: &Place, made: &Segment) -> PathBuf {
    let path = folder(place).join(format!("{}.segment", made.pid));
    fs::create_dir_all(folder(place)).expect("a folder");
    fs::write(&path, made.bytes()).expect("a segment");
    path
}

fn recover(place: &Place, words: &[&str]) -> Done {
    let mut command = place.command(&[&["recover"], words].concat());
    command.env("NETRA_SEGMENT_DIR", place.path("tmp")).env("XDG_DATA_HOME", place.path("data"));
    command.env("LOGNAME", "me");
    let done = command.output().expect("netra starts");
    Done {
        code: done.status.code().expect("an exit code"),
        out: done.stdout,
        err: String::from_utf8(done.stderr).expect("text"),
    }
}

#[test]
fn a_killed_job_becomes_a_log_with_its_totals() {
    let place = Place::new();
    let (one, two) = (leave(&place, &killed(1)), leave(&place, &killed(2)));
    let done = recover(&place, &["-o", "job.darshan"]);
    let log = place.path("job.darshan");
    let said = format!("netra: job host.1.2: 2 processes, 0 events -> {}\n", log.display());
    assert_eq!((done.code, done.err.as_str()), (0, said.as_str()));
    assert!(!one.exists() && !two.exists(), "the segments are in the log");
    let totals = place.netra(&["parse", "--total", "job.darshan"]);
    assert!(totals.text().contains("total_POSIX_WRITES: 6\n"), "{}", totals.text());
    assert!(totals.text().contains("total_POSIX_BYTES_WRITTEN: 6000\n"), "{}", totals.text());
    let again = recover(&place, &[]);
    assert_eq!((again.code, again.err.as_str()), (0, "netra: there are no segments to recover\n"));
}

#[test]
fn logs_go_under_their_day_and_jobs_stay_apart() {
    let place = Place::new();
    leave(&place, &killed(1));
    leave(&place, &Segment { job: "other", ..killed(2) });
    let refused = recover(&place, &["-o", "job.darshan"]);
    assert_eq!(refused.code, 2);
    assert_eq!(refused.err, "netra: segments of 2 jobs can not become one file: host.1.2, other\n");
    let done = recover(&place, &[]);
    assert_eq!(done.code, 0, "{}", done.err);
    let day = place.path("data/netra/logs/2023/11/14");
    let names: Vec<String> = fs::read_dir(day)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("me_app_id77-42949672")), "{names:?}");
}

#[test]
fn what_was_dropped_is_said_by_reason_and_is_1() {
    let place = Place::new();
    let mut made = killed(1);
    let lane = maker::Lane {
        dropped: vec![(Loss::Budget, 12), (Loss::Reentrant, 1)],
        ..maker::Lane::default()
    };
    made.lanes.push(lane);
    made.notes = "setting trace: \"maybe\" is neither on nor off\n".to_owned();
    leave(&place, &made);
    let done = recover(&place, &["-o", "job.darshan"]);
    assert_eq!(done.code, 1);
    let lines: Vec<&str> = done.err.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "netra: 12 events are not in it because the trace budget was spent",
            "netra: 1 events are not in it because the call came from inside netra's own work",
            "netra: note: setting trace: \"maybe\" is neither on nor off",
        ]
    );
}

#[test]
fn running_processes_are_left_alone_unless_they_are_named() {
    let place = Place::new();
    let mut made = killed(1);
    (made.pid, made.process_start) = (std::process::id(), 0);
    let path = leave(&place, &made);
    let done = recover(&place, &[]);
    assert_eq!(
        (done.code, done.err.as_str()),
        (0, "netra: there are no segments to recover (1 belong to processes that still run)\n")
    );
    let done = recover(&place, &["-o", "job.darshan", path.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.ends_with("netra: 1 segments stay: not read, or of processes that run\n"));
    assert!(path.exists() && place.path("job.darshan").exists());
}

#[test]
fn segments_stay_when_asked_and_when_the_log_can_not_be_written() {
    let place = Place::new();
    let path = leave(&place, &killed(1));
    assert_eq!(recover(&place, &["--keep", "-o", "job.darshan"]).code, 0);
    assert!(path.exists());
    let done = recover(&place, &["-o", "job.darshan"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("job.darshan exists already; choose another name"), "{}", done.err);
    let done = recover(&place, &["-o", "job.darshan/inside"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(path.exists());
}

#[test]
fn what_is_no_segment_is_named_and_stays() {
    let place = Place::new();
    leave(&place, &killed(1));
    let stray = folder(&place).join("stray");
    fs::write(&stray, b"hello").unwrap();
    let done = recover(&place, &["-o", "job.darshan"]);
    assert_eq!(done.code, 1);
    let first = done.err.lines().next().unwrap();
    let why = "5 bytes are too few for a segment (1056)";
    assert_eq!(first, format!("netra: {} can not be read: {why}", stray.display()));
    assert!(stray.exists());
    let done = recover(&place, &[stray.to_str().unwrap()]);
    assert_eq!(done.code, 2);
}
