//! Segments put together byte by byte, read through [`View`]; then cut, and bent.

extern crate std;

use core::mem::offset_of;
use std::vec::Vec;

use super::*;
use crate::{Event, Function, WIDE};

/// A segment in the making: every region is appended behind the header.
struct Builder {
    bytes: Vec<u8>,
    regions: usize,
}

impl Builder {
    fn new(flags: u32) -> Builder {
        let mut built = Builder { bytes: std::vec![0; size_of::<Header>()], regions: 0 };
        built.put(offset_of!(Header, magic), &MAGIC);
        built.put(offset_of!(Header, version), &VERSION.to_le_bytes());
        built.put(offset_of!(Header, state), &(State::Running as u32).to_le_bytes());
        built.put(offset_of!(Header, flags), &flags.to_le_bytes());
        built.put(offset_of!(Header, pid), &4321_u32.to_le_bytes());
        built.put(offset_of!(Header, rank_plus_one), &3_u32.to_le_bytes());
        // 1,000 ticks at 5 s, and 3,000 ticks one microsecond later: half a nanosecond each.
        built.word(offset_of!(Header, calibrations), 2);
        for (place, (ticks, time)) in
            [(1000, 5_000_000_000), (3000, 5_000_001_000)].into_iter().enumerate()
        {
            let at = offset_of!(Header, calibration) + place * 16;
            built.word(at, ticks);
            built.word(at + 8, time);
        }
        built
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn word(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    fn region(&mut self, kind: Region, bytes: &[u8]) -> &mut Builder {
        let at = offset_of!(Header, directory) + self.regions * size_of::<Entry>();
        let offset = self.bytes.len() as u64;
        self.put(at, &(kind as u32).to_le_bytes());
        self.word(at + offset_of!(Entry, offset), offset);
        self.word(at + offset_of!(Entry, capacity), bytes.len() as u64);
        self.word(at + offset_of!(Entry, used), bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.regions += 1;
        self
    }
}

/// A row of `size` bytes with these words set.
fn row(size: usize, fields: &[(usize, u64, usize)]) -> Vec<u8> {
    let mut row = std::vec![0; size];
    for &(at, value, bytes) in fields {
        row[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    row
}

fn event(code: Function, start: u64) -> Event {
    Event {
        start,
        duration: 10,
        offset: 0,
        length: 100,
        result: 100,
        file: 2,
        code: code.code(),
        failed: false,
        site: 1,
        parent: 0,
        number: 0,
        extension: 0,
    }
}

fn slots(words: &[[u64; 4]]) -> Vec<u8> {
    words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

fn chunk(lane: u64, base: u64, words: &[[u64; 4]]) -> Vec<u8> {
    let mut bytes = row(
        SLOT_BYTES,
        &[
            (offset_of!(LaneChunk, base), base, 8),
            (offset_of!(LaneChunk, lane), lane, 4),
            (offset_of!(LaneChunk, slots_held), words.len() as u64, 4),
        ],
    );
    bytes.extend(slots(words));
    bytes
}

/// One lane with three events (one of them wide), one file, one record.
fn packed() -> Vec<u8> {
    let wide = Event { result: -5, failed: true, ..event(Function::Read, 2200) };
    let lane = row(
        size_of::<Lane>(),
        &[
            (offset_of!(Lane, head), 4, 8),
            (offset_of!(Lane, extra), 1, 8),
            (offset_of!(Lane, ready), 1, 4),
            (offset_of!(Lane, tid), 77, 4),
            (offset_of!(Lane, calls), 1, 4),
            (offset_of!(Lane, dropped) + 24, 9, 8),
        ],
    );
    let mut calls = std::vec![0; CALL_CODES * 8];
    calls[13 * 8] = 2;
    calls[19 * 8] = 10;
    let mut files = row(size_of::<table::File>() * 2, &[]);
    files.extend(row(
        size_of::<table::File>(),
        &[
            (offset_of!(table::File, id), 42, 8),
            (offset_of!(table::File, name), 3 | 4 << 32, 8),
            (offset_of!(table::File, ready), 1, 4),
        ],
    ));
    let mut record = row(16, &[(0, 32, 4), (4, 1, 4), (12, 2, 4)]);
    record.extend(row(16, &[(0, 5, 8), (8, 6, 8)]));
    // The later chunk lies first: order comes from `base`.
    let mut chunks = chunk(0, 2, &[wide.first(WIDE | crate::FAILED), wide.second()]);
    chunks.extend(chunk(
        0,
        0,
        &[event(Function::Pwrite, 2000).first(0), event(Function::Pwrite, 2100).first(0)],
    ));
    let mut built = Builder::new(PACKED);
    built.region(Region::Notes, b"budget: not a size\nspace refused\n");
    built.region(Region::Names, b"abc/dev");
    built.region(Region::Files, &files).region(Region::Records, &record);
    built.region(Region::Lanes, &lane).region(Region::Calls, &calls);
    built.region(Region::Chunks, &chunks);
    built.bytes
}

#[test]
fn a_packed_segment_reads_back() {
    let bytes = packed();
    let view = View::new(&bytes).unwrap();
    assert_eq!((view.pid(), view.rank(), view.nprocs()), (4321, Some(2), None));
    assert_eq!(view.state(), Some(State::Running));
    assert_eq!(view.notes().collect::<Vec<_>>(), [&b"budget: not a size"[..], b"space refused"]);
    let files: Vec<_> = view.files().collect();
    assert_eq!(files.len(), 1);
    assert_eq!((files[0].index, files[0].id, files[0].name), (2, 42, &b"/dev"[..]));
    assert_eq!(view.file(2), Some(files[0]));
    assert_eq!(view.file(1), None);
    let records: Vec<_> = view.records().collect();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].module, records[0].file), (1, 2));
    assert_eq!([0, 1, 2].map(|word| records[0].word(word)), [5, 6, 0]);
    assert_eq!(records[0].reference, 1);
    assert_eq!(view.record_at(1).unwrap().word(1), 6);
    assert!(view.record_at(0).is_none());
}

#[test]
fn ticks_become_time() {
    let bytes = packed();
    let view = View::new(&bytes).unwrap();
    assert_eq!(view.tick(), 0.5);
    assert_eq!(view.time(1000), 5_000_000_000);
    assert_eq!(view.time(2000), 5_000_000_500);
    assert_eq!(view.time(0), 4_999_999_500);
}

#[test]
fn events_come_in_order_with_their_losses() {
    let bytes = packed();
    let view = View::new(&bytes).unwrap();
    let lane = view.lanes().next().unwrap();
    let events: Vec<_> =
        lane.events().map(|(index, event)| (index, event.start, event.result)).collect();
    assert_eq!(events, [(0, 2000, 100), (1, 2100, 100), (2, 2200, -5)]);
    assert_eq!(lane.calls().collect::<Vec<_>>(), [(13, 2), (19, 10)]);
    // 12 calls: 3 events and 9 dropped.
    assert_eq!((lane.produced(), lane.dropped(Loss::Reentrant).0), (3, 9));
    assert_eq!(lane.tid(), 77);
}

#[test]
fn a_live_segment_has_whole_chunks() {
    let mut chunks = std::vec![0; 2 * CHUNK_BYTES];
    let first = chunk(0, 0, &[event(Function::Pwrite, 7).first(0); CHUNK_SLOTS]);
    chunks[CHUNK_BYTES..].copy_from_slice(&first);
    // The second chunk is taken and half written: its slots are behind `head`.
    let next = chunk(0, CHUNK_SLOTS as u64, &[event(Function::Pread, 8).first(0), [9; 4]]);
    chunks[..next.len()].copy_from_slice(&next);
    let head = CHUNK_SLOTS as u64 + 1;
    let lane = row(
        size_of::<Lane>(),
        &[(offset_of!(Lane, head), head, 8), (offset_of!(Lane, ready), 1, 4)],
    );
    let mut built = Builder::new(0);
    built.region(Region::Lanes, &lane).region(Region::Chunks, &chunks);
    let view = View::new(&built.bytes).unwrap();
    let events: Vec<_> = view.lanes().next().unwrap().events().collect();
    assert_eq!(events.len() as u64, head);
    assert_eq!(events[CHUNK_SLOTS].0, CHUNK_SLOTS as u64);
    assert_eq!(events[CHUNK_SLOTS].1.start, 8);
}

#[test]
fn other_bytes_are_refused() {
    assert_eq!(View::new(b"NETRASEG").unwrap_err(), Error::Short { found: 8 });
    let mut bytes = packed();
    bytes[offset_of!(Header, version)] = 2;
    assert_eq!(View::new(&bytes).unwrap_err(), Error::TooNew { found: 2 });
    bytes[0] = b'n';
    assert_eq!(View::new(&bytes).unwrap_err(), Error::NotASegment);
}

/// Goes through everything a view gives; damaged bytes may give less, but no panic and no end.
fn walk(bytes: &[u8]) -> usize {
    let Ok(view) = View::new(bytes) else { return 0 };
    let texts = [view.job(), view.host(), view.exe(), view.command(), view.path(), view.mpi()];
    let mut seen = texts.len() + view.notes().count() + view.files().count();
    seen += view.mounts().count() + view.objects().count() + view.heatmaps().count();
    seen +=
        (0..3).filter_map(|index| view.site(index)).map(|site| site.stack().count()).sum::<usize>();
    seen += view.records().filter(|record| record.word(0) < u64::MAX).count();
    for lane in view.lanes() {
        seen += lane.events().count() + lane.calls().count();
        seen += usize::from(lane.dropped(Loss::Budget).0 > 0);
    }
    seen + usize::from(view.extension(1).is_some()) + usize::from(view.time(view.start().0) > 0)
}

#[test]
fn cut_segments_give_what_they_have() {
    let bytes = packed();
    let whole = walk(&bytes);
    for length in 0..bytes.len() {
        assert!(walk(&bytes[..length]) <= whole, "cut at {length}");
    }
}

#[test]
fn bent_segments_do_not_panic() {
    let bytes = packed();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20_000 {
        let mut bent = bytes.clone();
        for _ in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 33) as usize % bent.len();
            bent[at] = (random >> 20) as u8;
        }
        walk(&bent);
    }
}

/// Killed at any moment of beginning a record or a note, a thread hides nothing of the others'.
#[test]
fn what_was_begun_hides_nothing_behind_it() {
    let record = |module: u64, word: u64| {
        row(24, &[(0, 24, 4), (4, module, 4), (8, 1, 4), (12, 2, 4), (16, word, 8)])
    };
    let taken = std::vec![0; 24];
    let mut half = record(0, 0);
    half[12] = 0;
    let records = [record(1, 5), taken, half, record(9, 7)].concat();
    let mut built = Builder::new(0);
    built.region(Region::Records, &records);
    built.region(Region::Notes, b"first\n\0\0\0\0second\n");
    let view = View::new(&built.bytes).unwrap();
    let found: Vec<_> = view.records().map(|record| (record.module, record.word(0))).collect();
    assert_eq!(found, [(1, 5), (9, 7)]);
    assert_eq!(view.records().last().unwrap().reference, 73);
    assert!(view.record_at(25).is_none() && view.record_at(49).is_none());
    assert_eq!(view.record_at(73).unwrap().word(0), 7);
    assert_eq!(view.notes().collect::<Vec<_>>(), [&b"first"[..], b"second"]);
}
