//! A log that is not whole never passes for one: cut at every hundredth and at every edge, and overwritten at
//! two hundred places. What of it is readable is read.
//!
//! Every byte of netra's own logs counts but the up to seven zeros between its blocks: the header has a checksum of
//! its own, every region and block has one, and the header knows the heads of the blocks. Of a log that Darshan
//! wrote, the versions of modules that have no records say nothing, so nothing is lost with them.

#[expect(dead_code, reason = "other tests make more of a segment")]
mod maker;

use maker::{Segment, event, words};
use netra_darshan::encode::{self, Options, Sink};
use netra_darshan::merge::{self, merge};
use netra_darshan::record::header::{HEADS_AT, SEAL_AT, SIZE, SUM_AT, VERSIONS_AT};
use netra_darshan::section::layout::{HEAD, TRAILER};
use netra_darshan::{Error, Log, Part, Reason};
use netra_event::segment::View;
use netra_event::segment::shard::{direction as d, posix};
use netra_event::{Function, Module};
use std::io::Cursor;

const DARSHAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/example/wave.darshan");

#[derive(Default)]
struct Memory(Vec<u8>);

impl Sink for Memory {
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        true
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        let at = usize::try_from(at).expect("made to fit");
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        true
    }
}

/// What a process writes as its log when it ends.
fn process(pid: u32) -> Vec<u8> {
    let mut segment = Segment { pid, rank: Some(pid), nprocs: 2, ..Segment::default() };
    let file = segment.file("/scratch/data");
    let counts = [(posix::WRITE + d::CALLS, 300), (posix::WRITE + d::BYTES, 300 * 4096)];
    segment.record(u32::from(Module::Posix.code()), 0, file, words(posix::WORDS, &counts));
    let each = |at: u64| {
        let offset = i64::try_from(at * 4096).expect("small");
        event(Function::Write, file, 1_000_000 + at * 1000, offset, 4096)
    };
    segment.lanes.push(maker::Lane {
        tid: pid,
        events: (0..300).map(each).collect(),
        dropped: vec![],
    });
    let bytes = segment.bytes();
    let view = View::new(&bytes).expect("made to fit");
    let mut words = vec![0; encode::needed(&view)];
    let mut sink = Memory::default();
    encode::log(view, Options::default(), &mut sink, &mut words, &mut [0; 4096]).expect("a log");
    sink.0
}

/// What becomes of several.
fn job() -> Vec<u8> {
    let logs = [1, 2].map(|pid| Log::from_bytes(process(pid)).expect("a log")).into();
    let out = Cursor::new(Vec::new());
    let (out, merged) = merge(logs, merge::Options::default(), out).expect("memory");
    assert_eq!(merged.damage, []);
    out.into_inner()
}

fn logs() -> Vec<(&'static str, Vec<u8>)> {
    let darshan = std::fs::read(DARSHAN).expect("the example");
    vec![("process", process(1)), ("job", job()), ("Darshan's", darshan)]
}

/// How many records can be read, and how many events.
fn readable(log: &Log) -> (u64, u64) {
    let mut records = 0;
    for module in log.modules() {
        let mut of_module = log.records(module);
        while of_module.next_record().is_some() {
            records += 1;
        }
    }
    let bytes =
        log.section().blocks().iter().filter_map(|block| block.bytes().ok()).collect::<Vec<_>>();
    let views = bytes.iter().filter_map(|bytes| View::new(bytes).ok());
    let events =
        views.map(|view| view.lanes().map(|lane| lane.events().count() as u64).sum::<u64>());
    (records, events.sum())
}

/// Where one part ends and the next begins.
fn edges(bytes: &[u8]) -> Vec<usize> {
    let log = Log::from_bytes(bytes).expect("a log");
    let mut edges = vec![SIZE];
    let mut edge = |at: u64| edges.push(usize::try_from(at).expect("small"));
    edge(log.header().names.offset);
    for region in log.header().regions() {
        edge(region.extent.offset);
        edge(region.extent.offset + region.extent.length);
    }
    for block in log.section().blocks() {
        edge(block.offset - HEAD as u64);
        edge(block.offset);
        edge(block.offset + block.head.stored_len);
    }
    if !log.section().blocks().is_empty() {
        edge((bytes.len() - TRAILER) as u64);
    }
    edges
}

#[test]
fn whole_logs_miss_nothing() {
    for (name, bytes) in logs() {
        let log = Log::from_bytes(bytes).expect("a log");
        assert_eq!(log.missing(), [], "{name}");
        let (records, events) = readable(&log);
        assert!(records > 0, "{name}");
        let want = match name {
            "process" => 300,
            "job" => 600,
            _ => 0,
        };
        assert_eq!(events, want, "{name}");
    }
}

#[test]
fn a_log_that_is_cut_says_so_wherever_it_is_cut() {
    for (name, whole) in logs() {
        let all = readable(&Log::from_bytes(whole.clone()).expect("a log"));
        let hundredths = (0..100).map(|part| whole.len() * part / 100);
        let near = edges(&whole).into_iter().flat_map(|at| [at.saturating_sub(1), at, at + 1]);
        let mut most = 0;
        for length in hundredths.chain(near).filter(|&length| length < whole.len()) {
            let log = match Log::from_bytes(&whole[..length]) {
                Ok(log) => log,
                Err(Error::Empty | Error::HeaderCut { .. }) if length < SIZE => continue,
                Err(error) => panic!("{name} cut to {length}: {error}"),
            };
            assert_ne!(log.missing(), [], "{name} cut to {length} of {}", whole.len());
            let some = readable(&log);
            assert!(some.0 <= all.0 && some.1 <= all.1, "{name} cut to {length}");
            if name == "job" {
                most = most.max(some.1);
            }
        }
        // The first process's events are there when only the second's are cut.
        assert!(name != "job" || most >= 300, "{most}");
    }
}

#[test]
fn what_is_overwritten_is_said_wherever_it_is() {
    for (name, whole) in logs() {
        let log = Log::from_bytes(whole.clone()).expect("a log");
        let codes = log.header().regions().map(|region| usize::from(region.code));
        let unused = VERSIONS_AT + 4 * (codes.max().expect("modules") + 1);
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..200 {
            let at = usize::try_from(next()).expect("64 bits") % (whole.len() - 50);
            let noise: Vec<u8> = match round % 4 {
                0 => vec![0; 50],
                1 => vec![0xff; 50],
                _ => (0..50).map(|_| next().to_le_bytes()[3]).collect(),
            };
            if whole[at..at + 50] == noise {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at..at + 50].copy_from_slice(&noise);
            let Ok(log) = Log::from_bytes(bytes) else {
                assert!(at < SIZE, "{name} at {at}: no log any more");
                continue;
            };
            let tells_nothing = name == "Darshan's" && at >= unused && at + 50 <= SIZE;
            assert!(!log.missing().is_empty() || tells_nothing, "{name} at {at}, round {round}");
            readable(&log);
        }
    }
}

/// The section of a log is told of where it is gone, and where its end alone is; the blocks are read in either case.
#[test]
fn a_section_without_its_end_is_read_as_far_as_it_goes() {
    let whole = job();
    let log = Log::from_bytes(whole.clone()).expect("a log");
    let behind = log.header().seal.expect("a seal").behind;
    let start = usize::try_from(behind.offset).expect("small");
    let gone = Log::from_bytes(&whole[..start]).expect("a log");
    let [one] = &gone.missing()[..] else { panic!("{:?}", gone.missing()) };
    assert_eq!((one.part, one.at), (Part::Section, behind.offset));
    assert_eq!(one.reason, Reason::FileCut { missing: behind.length });
    let cut = Log::from_bytes(&whole[..whole.len() - 1]).expect("a log");
    assert_eq!(readable(&cut).1, 600);
    let [one] = &cut.missing()[..] else { panic!("{:?}", cut.missing()) };
    assert_eq!(one.reason, Reason::FileCut { missing: 1 });
}

/// A block that is damaged does not take those behind it along.
#[test]
fn the_blocks_behind_a_damaged_head_are_found() {
    let mut bytes = job();
    let first = Log::from_bytes(bytes.clone()).expect("a log").section().blocks()[0].offset;
    let head = usize::try_from(first).expect("small") - HEAD;
    bytes[head..head + HEAD].fill(0);
    let log = Log::from_bytes(bytes).expect("a log");
    assert_eq!(readable(&log).1, 300);
    let [one] = &log.missing()[..] else { panic!("{:?}", log.missing()) };
    assert_eq!((one.part, &one.reason), (Part::Section, &Reason::RecordMagic));
}

/// Logs from before there was a seal are read as they were, and tell of a cut what they can.
#[test]
fn logs_without_a_seal_go_on_being_read() {
    let mut old = job();
    old[SEAL_AT..SEAL_AT + 8].fill(0);
    old[SEAL_AT - 32..SEAL_AT - 24].fill(0);
    old[SEAL_AT - 16..SEAL_AT - 8].fill(0);
    old[HEADS_AT..SUM_AT + 4].fill(0);
    // A trailer that speaks of a seal betrays one that is gone.
    let robbed = Log::from_bytes(old.clone()).expect("a log");
    assert_eq!(robbed.missing()[0].part, Part::Header);
    let end = old.len();
    old[end - 4..].fill(0);
    let log = Log::from_bytes(old.clone()).expect("a log");
    assert_eq!(log.header().seal, None);
    assert_eq!(log.missing(), []);
    assert_eq!(readable(&log).1, 600);
    let cut = Log::from_bytes(&old[..end - 100]).expect("a log");
    let [one] = &cut.missing()[..] else { panic!("{:?}", cut.missing()) };
    assert_eq!((one.part, &one.reason), (Part::Section, &Reason::EndMissing));
    assert!(readable(&cut).1 >= 300);
}

/// Events that a process made and that are not in the log are missing, though no byte is.
#[test]
fn events_that_are_not_in_the_log_are_missing() {
    let mut segment = Segment { pid: 77, ..Segment::default() };
    let file = segment.file("/scratch/data");
    let events = vec![event(Function::Write, file, 1_000_000, 0, 4096)];
    let dropped = vec![(netra_event::Loss::Budget, 4)];
    segment.lanes.push(maker::Lane { tid: 77, events, dropped });
    let bytes = segment.bytes();
    let view = View::new(&bytes).expect("made to fit");
    let mut words = vec![0; encode::needed(&view)];
    let mut sink = Memory::default();
    encode::log(view, Options::default(), &mut sink, &mut words, &mut [0; 4096]).expect("a log");
    let log = Log::from_bytes(sink.0).expect("a log");
    let reasons: Vec<_> = log.missing().into_iter().map(|one| one.reason).collect();
    assert!(reasons.contains(&Reason::Events { pid: 77, gone: 4, made: 5 }), "{reasons:?}");
}
