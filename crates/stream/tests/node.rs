//! A node that is killed between a log and the end of its segment.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use std::collections::BTreeSet;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use maker::{Segment as Made, event, tick};
use netra_event::Function;
use netra_event::frame::Producer;
use netra_event::segment::State;
use netra_stream::clock::Clock;

use netra_stream::intake::{Intake, Setup};
use netra_stream::node::{Node, Root, Settings};
use netra_stream::spool::{Folder, Limits};
use netra_stream::stop::Stop;
use netra_stream::told::Told;

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Puts the segment of a process that has ended into a folder.
fn leave_segment(folder: &Path) -> PathBuf {
    // Of no named host, so that this one reads it.
    let mut made = Made { host: String::new(), state: State::Running, ..Made::default() };
    let file = made.file("/scratch/data");
    let events = (0..30).map(|at| event(Function::Pwrite, file, tick(100 + at), 0, 8)).collect();
    made.lanes = vec![maker::Lane { tid: 500, events, dropped: Vec::new() }];
    let user = std::fs::metadata(folder).unwrap().uid();
    let segments = folder.join(format!("netra-{user}"));
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&segments).unwrap();
    let path = segments.join("4242-1.segment");
    std::fs::write(&path, made.bytes()).unwrap();
    path
}

fn intake(folder: &Path) -> Arc<Intake> {
    let setup = Setup {
        limits: Limits::default(),
        own: Producer::default(),
        images: false,
        outlets: Vec::new(),
        optional: BTreeSet::new(),
    };
    let storage = Arc::new(Folder::new(folder, false).unwrap());
    let clock = Arc::new(Clock::default());
    Arc::new(Intake::open(storage, setup, Arc::new(Told::quiet()), clock).unwrap())
}

/// Runs a node for as long as `during` takes.
fn with_node(settings: Settings, intake: &Arc<Intake>, during: impl FnOnce()) {
    let stop = Stop::new().unwrap();
    let mut node = Node::new(settings, Arc::clone(intake)).unwrap();
    let keeper = Arc::clone(intake);
    std::thread::scope(|scope| {
        scope.spawn(|| node.run(&stop).unwrap());
        let keeping = scope.spawn(move || keeper.keep());
        during();
        stop.set();
        intake.stop();
        keeping.join().unwrap();
    });
}

#[test]
fn a_log_that_was_made_before_the_daemon_was_killed_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let logs = || -> Vec<PathBuf> {
        let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found = vec![folder.path().join("logs")];
        // A year, a month, a day.
        for _ in 0..4 {
            found = found.into_iter().flat_map(below).map(|entry| entry.path()).collect();
        }
        found
    };
    let mut made = Vec::new();
    for life in 0..2 {
        let segment = leave_segment(folder.path());
        let intake = intake(&folder.path().join(format!("spool{life}")));
        let settings = Settings {
            roots: vec![Root::All(folder.path().into())],
            logs: Some(folder.path().join("logs")),
            ..Settings::default()
        };
        with_node(settings, &intake, || poll("the segment is gone", || !segment.exists()));
        made.push(logs());
    }
    assert_eq!(made[0].len(), 1, "{made:?}");
    assert_eq!(made[0], made[1]);
}
