//! Segments on disk: whole, cut, bent, strange, and still in use.

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use maker::{Segment as Made, event, tick, words};
use netra_event::segment::shard::posix;
use netra_event::segment::{PACKED, State};
use netra_event::{Event, Function, Nanos};
use netra_stream::Error;
use netra_stream::source::{Life, Piece, Segment, Timeline};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;
use tempfile::TempDir;

fn made() -> Made {
    let mut made = Made::default();
    let file = made.file("/scratch/data");
    made.record(1, 0, file, words(posix::WORDS, &[(posix::OPENS, 1)]));
    let thread = Event { offset: 502, ..event(Function::Thread, 0, tick(3000), 0, 0) };
    let of = |starts: &[u64]| -> Vec<Event> {
        starts.iter().map(|&at| event(Function::Pwrite, file, tick(at), 0, 8)).collect()
    };
    let mut second = of(&[200, 900]);
    second.extend([thread, event(Function::Pread, file, tick(5000), 0, 8)]);
    made.lanes = vec![
        maker::Lane { tid: 500, events: of(&[100, 700, 4000]), dropped: Vec::new() },
        maker::Lane { tid: 501, events: second, dropped: Vec::new() },
    ];
    made
}

fn on_disk(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("segment");
    fs::write(&path, bytes).expect("a file");
    (folder, path)
}

#[test]
fn a_segment_reads_the_same_from_disk_and_from_memory() {
    for flags in [0, PACKED] {
        let bytes = Made { flags, ..made() }.bytes();
        let (_folder, path) = on_disk(&bytes);
        let segment = Segment::read(&path, None).unwrap();
        let (one, other) = (segment.view(), netra_event::segment::View::new(&bytes).unwrap());
        assert_eq!((one.pid(), one.command()), (4242, other.command()));
        assert_eq!(one.files().collect::<Vec<_>>(), other.files().collect::<Vec<_>>());
        assert_eq!(one.records().count(), 1);
        for (one, other) in one.lanes().zip(other.lanes()) {
            assert_eq!(one.events().collect::<Vec<_>>(), other.events().collect::<Vec<_>>());
            assert_eq!(one.calls().collect::<Vec<_>>(), other.calls().collect::<Vec<_>>());
        }
        let peeked = Segment::peek(&path, None).unwrap();
        assert_eq!(peeked.view().lanes().map(|lane| lane.produced()).sum::<u64>(), 7);
        assert_eq!(peeked.view().chunks().count(), 0);
    }
}

#[test]
fn events_of_all_threads_come_in_the_order_in_which_they_ended() {
    let (_folder, path) = on_disk(&made().bytes());
    let segment = Segment::read(&path, None).unwrap();
    let all: Vec<_> = Timeline::new(segment.view())
        .map(|timed| (timed.lane, timed.index, timed.thread, timed.start.0 - maker::START))
        .collect();
    assert_eq!(
        all,
        [
            (0, 0, 500, 100),
            (1, 0, 501, 200),
            (0, 1, 500, 700),
            (1, 1, 501, 900),
            (1, 2, 502, 3000),
            (0, 2, 500, 4000),
            (1, 3, 502, 5000),
        ]
    );
    let first = Timeline::new(segment.view()).next().unwrap();
    assert_eq!(first.duration, Nanos(1000), "2,000 ticks of half a nanosecond");
}

#[test]
fn only_the_owners_regular_files_are_read() {
    let (folder, path) = on_disk(&made().bytes());
    let owner = fs::metadata(&path).unwrap().uid();
    assert!(Segment::read(&path, Some(owner)).is_ok());
    let other = Segment::read(&path, Some(owner + 1));
    assert!(matches!(other, Err(Error::Owner { .. })), "{other:?}");
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(matches!(Segment::read(&link, None), Err(Error::Io { action: "opening", .. })));
    assert!(matches!(Segment::read(folder.path(), None), Err(Error::NotAFile { .. })));
}

#[test]
fn what_is_no_segment_is_refused_with_its_name() {
    let (_folder, path) = on_disk(b"#!/bin/sh\n");
    let error = Segment::read(&path, None).unwrap_err();
    assert_eq!(error.to_string(), format!("{} can not be read", path.display()));
    let mut bytes = made().bytes();
    bytes[0] = 0;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(Segment::read(&path, None), Err(Error::Segment { .. })));
}

#[test]
fn holes_cost_no_memory_and_absurd_claims_are_refused() {
    let bytes = made().bytes();
    let (_folder, path) = on_disk(&bytes);
    // A terabyte that nobody claims to use.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(Segment::read(&path, None).is_ok());
    let mut bent = bytes.clone();
    // The first region claims all of it.
    let at = std::mem::offset_of!(netra_event::segment::Header, directory);
    bent[at + 16..at + 32].fill(0x7f);
    fs::write(&path, &bent).unwrap();
    assert!(Segment::read(&path, None).is_ok(), "what is not there can not be claimed");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(Segment::read(&path, None), Err(Error::TooLarge { .. })));
}

#[test]
fn cut_and_bent_files_give_less_but_no_panic() {
    let bytes = Made { flags: PACKED, ..made() }.bytes();
    let mut random = 7_u64;
    let (_folder, path) = on_disk(&bytes);
    for round in 0..500 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut bent = bytes.clone();
        let length = bent.len();
        bent[(random >> 33) as usize % length] = (random >> 20) as u8;
        if round % 2 == 0 {
            bent.truncate((random >> 40) as usize % length);
        }
        fs::write(&path, &bent).unwrap();
        if let Ok(segment) = Segment::read(&path, None) {
            assert!(Timeline::new(segment.view()).count() <= 7);
        }
    }
}

#[test]
fn a_piece_knows_whether_its_process_lives() {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let life = |host: String, pid: u32, process_start: u64, state: State| {
        let mut made = Made { pid, process_start, state, ..made() };
        made.host = host;
        let (_folder, path) = on_disk(&made.bytes());
        Piece::of_segment(&path, None).unwrap().life
    };
    let me = std::process::id();
    assert_eq!(life(host.clone(), me, 0, State::Running), Life::Running);
    assert_eq!(life(host.clone(), me, 1, State::Running), Life::Over, "another with this number");
    assert_eq!(life(host.clone(), me, 0, State::Exec), Life::Over, "it is another image now");
    assert_eq!(life(host, u32::MAX, 0, State::Running), Life::Over);
    assert_eq!(life("elsewhere".to_owned(), me, 0, State::Running), Life::Elsewhere);
}
