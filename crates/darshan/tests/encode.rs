//! Segments become logs: read back value by value with our own reader, and judged by Darshan's
//! own tools where they are there.

#[path = "encode/layer.rs"]
mod layer;
mod maker;

use maker::{END, START, Segment, event, tick, words};
use netra_darshan::counter::{posix as p, stdio as s};
use netra_darshan::encode::{self, Options, Sink};
use netra_darshan::section::layout::{HEAD, Head, TRAILER, Trailer};
use netra_darshan::{Log, Record};
use netra_event::segment::shard::{direction as d, posix, stdio};
use netra_event::segment::{OTHER_FILE, PACKED, State, View};
use netra_event::{Event, Function, Loss, Module, Rank, RecordId};
use std::collections::BTreeMap;
use std::process::Command;

/// Keeps what it is given.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    /// Bytes it takes at most.
    room: Option<usize>,
}

impl Sink for Memory {
    fn write(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.room.is_none_or(|room| self.bytes.len() <= room)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool {
        let at = usize::try_from(at).expect("made to fit");
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        true
    }
}

fn encode(bytes: &[u8], options: Options) -> Vec<u8> {
    encode_with(bytes, options, 64 << 10)
}

fn encode_with(bytes: &[u8], options: Options, buffer: usize) -> Vec<u8> {
    let view = View::new(bytes).expect("made to fit");
    let mut words = vec![0xdead_beef; encode::needed(&view)];
    let mut sink = Memory::default();
    encode::log(view, options, &mut sink, &mut words, &mut vec![0; buffer]).expect("made to fit");
    sink.bytes
}

type Counters = BTreeMap<(RecordId, Rank), (Vec<i64>, Vec<f64>)>;

fn counters(log: &Log, module: Module) -> Counters {
    let mut all = BTreeMap::new();
    let mut records = log.records(module);
    while let Some(record) = records.next_record() {
        let Record::Counters(record) = record else { panic!("{module} is made of counters") };
        let key = (record.id, record.rank);
        let value = (record.ints.to_vec(), record.floats.to_vec());
        assert!(all.insert(key, value).is_none(), "one record a file and process");
    }
    assert!(records.damage().is_empty());
    all
}

fn only(log: &Log, module: Module, name: &str) -> (Vec<i64>, Vec<f64>) {
    let rank = Rank(0);
    counters(log, module).remove(&(RecordId::of(name.as_bytes()), rank)).expect(name)
}

/// Two threads of one file: everything that is joined differs between them.
fn two_threads() -> Segment {
    let mut segment = Segment::default();
    let file = segment.file("/scratch/data");
    let (read, write) = (posix::READ, posix::WRITE);
    let more = segment.spill(0, file, &[(5, 3), (9, 40)]);
    let one = words(
        posix::WORDS,
        &[
            (read + d::CALLS, 7),
            (read + d::BYTES, 700),
            (read + d::SEQUENTIAL, 6),
            (read + d::CONSECUTIVE, 5),
            (read + d::MAX_BYTE, 699),
            (read + d::LAST_BYTE, 699),
            (read + d::TIME, 4_000_000_000),
            (read + d::START, tick(2_000_000_000)),
            (read + d::END, tick(3_000_000_000)),
            (read + d::MAX_TIME, 3_000_000_000),
            (read + d::MAX_TIME_SIZE, 100),
            (read + d::SIZES, 7),
            (posix::LAST_KIND, 1),
            (posix::RW_SWITCHES, 2),
            (posix::MEM_NOT_ALIGNED, 3),
            (posix::FILE_NOT_ALIGNED, 4),
            (posix::ACCESS, 100),
            (posix::ACCESS + 1, 64),
            (posix::ACCESS + 4, 7),
            (posix::ACCESS + 5, 2),
            (posix::ACCESS_MORE, more),
            (posix::OPENS, 2),
            (posix::SEEKS, 1),
            (posix::STATS, 3),
            (posix::FSYNCS, 1),
            (posix::MODE, 0o600),
            (posix::OPEN_START, tick(1_000_000_000)),
            (posix::OPEN_END, tick(1_500_000_000)),
            (posix::META_TIME, 1_000_000_000),
        ],
    );
    let two = words(
        posix::WORDS,
        &[
            (read + d::CALLS, 1),
            (read + d::BYTES, 64),
            (read + d::MAX_BYTE, 5000),
            (read + d::TIME, 2_000_000_000),
            (read + d::START, tick(1_750_000_000)),
            (read + d::END, tick(2_500_000_000)),
            (read + d::MAX_TIME, 2_000_000_000),
            (read + d::MAX_TIME_SIZE, 64),
            (read + d::SIZES, 1),
            (write + d::CALLS, 2),
            (write + d::BYTES, 8192),
            (write + d::MAX_BYTE, 9000),
            (write + d::TIME, 2_000_000),
            (write + d::START, tick(4_000_000_000)),
            (write + d::END, tick(5_000_000_000)),
            (write + d::MAX_TIME, 1_000_000),
            (write + d::MAX_TIME_SIZE, 4096),
            (write + d::SIZES + 2, 2),
            (posix::RW_SWITCHES, 1),
            (posix::ACCESS, 4096),
            (posix::ACCESS + 1, 64),
            (posix::ACCESS + 4, 2),
            (posix::ACCESS + 5, 1),
            (posix::STRIDE, 4096),
            (posix::STRIDE + 4, 1),
            (posix::OPENS, 1),
            (posix::DUPS, 1),
            (posix::RENAME_TARGETS, 1),
            (posix::RENAMED_FROM, u64::MAX - 5),
            (posix::OPEN_START, tick(1_200_000_000)),
            (posix::OPEN_END, tick(1_600_000_000)),
            (posix::CLOSE_START, tick(6_000_000_000)),
            (posix::CLOSE_END, tick(6_500_000_000)),
            (posix::META_TIME, 500_000_000),
        ],
    );
    segment.record(1, 0, file, one);
    segment.record(1, 1, file, two);
    segment
}

#[test]
fn threads_of_a_file_become_one_record() {
    let log = Log::from_bytes(encode(&two_threads().bytes(), Options::default())).unwrap();
    assert!(log.damage().is_empty(), "{:?}", log.damage());
    let (ints, floats) = only(&log, Module::Posix, "/scratch/data");
    let expected = [
        (p::OPENS, 3),
        (p::DUPS, 1),
        (p::READS, 8),
        (p::WRITES, 2),
        (p::SEEKS, 1),
        (p::STATS, 3),
        (p::MMAPS, 0),
        (p::FSYNCS, 1),
        (p::RENAME_TARGETS, 1),
        (p::RENAMED_FROM, -6),
        (p::MODE, 0o600),
        (p::BYTES_READ, 764),
        (p::BYTES_WRITTEN, 8192),
        (p::MAX_BYTE_READ, 5000),
        (p::MAX_BYTE_WRITTEN, 9000),
        (p::CONSEC_READS, 5),
        (p::SEQ_READS, 6),
        (p::RW_SWITCHES, 3),
        (p::MEM_NOT_ALIGNED, 3),
        (p::MEM_ALIGNMENT, 8),
        (p::FILE_NOT_ALIGNED, 4),
        (p::FILE_ALIGNMENT, 4096),
        (p::MAX_READ_TIME_SIZE, 100),
        (p::MAX_WRITE_TIME_SIZE, 4096),
        (p::SIZE_READ_0_100, 8),
        (p::SIZE_WRITE_1K_10K, 2),
        (p::STRIDE1_STRIDE, 4096),
        (p::STRIDE1_COUNT, 1),
        // 9 is only in the table's continuation; 64 was seen by both; 5 and 64 tie, 64 is larger.
        (p::ACCESS1_ACCESS, 9),
        (p::ACCESS1_COUNT, 40),
        (p::ACCESS2_ACCESS, 100),
        (p::ACCESS2_COUNT, 7),
        (p::ACCESS3_ACCESS, 64),
        (p::ACCESS3_COUNT, 3),
        (p::ACCESS4_ACCESS, 5),
        (p::ACCESS4_COUNT, 3),
    ];
    let expected: BTreeMap<usize, i64> = expected.into_iter().collect();
    for (index, &value) in ints.iter().enumerate() {
        assert_eq!(value, expected.get(&index).copied().unwrap_or(0), "{}", p::INT[index]);
    }
    let expected = [
        (p::F_OPEN_START_TIMESTAMP, 1.0),
        (p::F_OPEN_END_TIMESTAMP, 1.6),
        (p::F_READ_START_TIMESTAMP, 1.75),
        (p::F_READ_END_TIMESTAMP, 3.0),
        (p::F_WRITE_START_TIMESTAMP, 4.0),
        (p::F_WRITE_END_TIMESTAMP, 5.0),
        (p::F_CLOSE_START_TIMESTAMP, 6.0),
        (p::F_CLOSE_END_TIMESTAMP, 6.5),
        (p::F_READ_TIME, 3.0),
        (p::F_WRITE_TIME, 0.001),
        (p::F_META_TIME, 0.75),
        (p::F_MAX_READ_TIME, 1.5),
        (p::F_MAX_WRITE_TIME, 0.0005),
    ];
    let expected: BTreeMap<usize, f64> = expected.into_iter().collect();
    for (index, &value) in floats.iter().enumerate() {
        let expected = expected.get(&index).copied().unwrap_or(0.0);
        assert!((value - expected).abs() < 1e-9, "{}: {value}", p::FLOAT[index]);
    }
}

#[test]
fn the_job_says_who_when_and_where() {
    let mut segment = two_threads();
    segment.lanes.push(maker::Lane { dropped: vec![(Loss::Budget, 12)], ..Default::default() });
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let job = log.job();
    let numbers = job.numbers;
    assert_eq!((numbers.uid, numbers.jobid, numbers.nprocs), (1000, 77, 1));
    assert_eq!((numbers.start_sec, numbers.start_nsec), (1_700_000_000, 250_000_000));
    assert_eq!((numbers.end_sec, numbers.end_nsec), (1_700_000_010, 250_000_000));
    assert_eq!(job.exe, b"./app --in data");
    let mounts: Vec<_> =
        job.mounts.iter().map(|mount| (&mount.point[..], &mount.kind[..])).collect();
    assert_eq!(mounts, [(&b"/"[..], &b"ext4"[..]), (b"/scratch", b"lustre")]);
    let metadata = String::from_utf8(job.metadata.clone()).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        metadata,
        format!(
            "lib_ver=netra-{version}\nnetra_pid=4242\nnetra_state=ended\nnetra_dropped_budget=12\n\
             netra_job=host.1.2\nnetra_host=node17\n"
        )
    );
    let ranked = Options { rank: Some(Rank(5)), nprocs: Some(8), ..Options::default() };
    let log = Log::from_bytes(encode(&segment.bytes(), ranked)).unwrap();
    assert_eq!(log.job().numbers.nprocs, 8);
    assert!(counters(&log, Module::Posix).keys().all(|key| key.1 == Rank(5)));
}

#[test]
fn a_long_command_line_is_cut_and_mounts_that_fit_stay() {
    let mut segment = two_threads();
    segment.command = "x".repeat(2990);
    segment.mounts =
        vec![("/with space", "ext4"), ("/a/rather/long/mount/point", "nfs4"), ("/", "xfs")];
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    assert_eq!(log.job().exe.len(), 2990);
    assert_eq!(log.job().mounts.len(), 1);
    segment.command = format!("{}\nb", "y".repeat(5000));
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    assert_eq!(log.job().exe.len(), 3015);
    assert!(log.job().exe.ends_with(b"yy<TRUNCATED>"));
}

#[test]
fn a_killed_process_ends_when_it_was_last_seen() {
    let mut segment = two_threads();
    (segment.state, segment.end) = (State::Running, 0);
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let numbers = log.job().numbers;
    // The close ended 6.5 s after the start, 0.25 s into a second.
    assert_eq!((numbers.end_sec, numbers.end_nsec), (1_700_000_006, 750_000_000));
    assert!(log.job().metadata().any(|pair| pair == (b"netra_state", b"killed")));
}

#[test]
fn streams_are_counted_and_idle_standard_ones_left_out() {
    let mut segment = Segment::default();
    let (out, err, own) = (segment.file("<STDOUT>"), segment.file("<STDERR>"), segment.file("/a"));
    let opened = words(stdio::WORDS, &[(stdio::OPENS, 1)]);
    segment.record(9, 0, out, words(stdio::WORDS, &[(stdio::OPENS, 1), (stdio::WRITE, 3)]));
    segment.record(9, 0, err, opened.clone());
    segment.record(
        9,
        0,
        own,
        words(
            stdio::WORDS,
            &[
                (stdio::OPENS, 1),
                (stdio::FDOPENS, 1),
                (stdio::SEEKS, 2),
                (stdio::FLUSHES, 3),
                (stdio::READ + stdio::CALLS, 4),
                (stdio::READ + stdio::BYTES, 50),
                (stdio::READ + stdio::MAX_BYTE, 49),
                (stdio::READ + stdio::TIME, 2_000_000_000),
                (stdio::READ + stdio::START, tick(1_000_000_000)),
                (stdio::READ + stdio::END, tick(2_000_000_000)),
                (stdio::WRITE + stdio::BYTES, 60),
                (stdio::WRITE + stdio::TIME, 1_000_000_000),
                (stdio::CLOSE_START, tick(3_000_000_000)),
                (stdio::CLOSE_END, tick(3_500_000_000)),
                (stdio::META_TIME, 500_000_000),
            ],
        ),
    );
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let all = counters(&log, Module::Stdio);
    assert_eq!(all.len(), 2);
    assert!(!all.contains_key(&(RecordId::of(b"<STDERR>"), Rank(0))));
    let (ints, floats) = only(&log, Module::Stdio, "/a");
    assert_eq!(ints, [1, 1, 4, 0, 2, 3, 60, 50, 49, 0, 0, 0, 0, 0]);
    assert_eq!(floats[s::F_META_TIME], 0.25);
    assert_eq!(floats[s::F_READ_TIME], 1.0);
    assert_eq!(floats[s::F_WRITE_TIME], 0.5);
    assert_eq!(floats[s::F_READ_START_TIMESTAMP], 1.0);
    assert_eq!(floats[s::F_READ_END_TIMESTAMP], 2.0);
    assert_eq!(floats[s::F_CLOSE_END_TIMESTAMP], 3.5);
    assert!(counters(&log, Module::Posix).is_empty());
}

/// Offsets and lengths of a file's writes and reads, and their starts in nanoseconds.
type Traced = (Vec<(i64, i64, i64)>, usize);

fn traced(log: &Log) -> BTreeMap<RecordId, Traced> {
    let mut all = BTreeMap::new();
    let mut records = log.records(Module::DxtPosix);
    while let Some(record) = records.next_record() {
        let Record::Dxt(mut record) = record else { panic!("a trace") };
        assert_eq!(record.head.host, b"node17");
        let (id, writes) =
            (record.head.id, usize::try_from(record.head.writes).expect("made to fit"));
        let mut segments = Vec::new();
        while let Some((_, piece)) = record.segments.next_piece() {
            for segment in piece {
                let start = (segment.start * 1e9).round() as i64;
                assert!(((segment.end - segment.start) - 1e-6).abs() < 1e-12);
                assert_eq!(segment.thread, None, "released readers refuse traces with threads");
                segments.push((segment.offset, segment.length, start));
            }
        }
        assert!(all.insert(id, (segments, writes)).is_none());
    }
    all
}

fn traced_segment() -> Segment {
    let mut segment = Segment::default();
    let (a, b) = (segment.file("/scratch/a"), segment.file("/scratch/b"));
    for file in [a, b] {
        segment.record(1, 0, file, words(posix::WORDS, &[(posix::OPENS, 1)]));
    }
    let short = Event { result: 10, ..event(Function::Read, a, tick(9000), 0, 100) };
    let failed = Event { result: -5, failed: true, ..event(Function::Read, a, tick(9500), 0, 100) };
    let thread = Event { offset: 501, ..event(Function::Thread, 0, tick(7000), 0, 0) };
    segment.lanes = vec![
        maker::Lane {
            tid: 500,
            events: vec![
                event(Function::Open, a, tick(10), 0, 3),
                event(Function::Pwrite, a, tick(1000), 4096, 4096),
                event(Function::Pwrite, a, tick(5000), 0, 4096),
                event(Function::Fwrite, a, tick(6000), 0, 1),
                thread,
                event(Function::Pread, b, tick(8000), 7, 8),
                short,
                failed,
                event(Function::Write, 0, tick(9900), 0, 9),
            ],
            dropped: Vec::new(),
        },
        maker::Lane {
            tid: 502,
            events: vec![
                event(Function::Write, a, tick(3000), 8192, 4096),
                event(Function::Read, a, tick(4000), 8192, 0),
            ],
            dropped: Vec::new(),
        },
    ];
    segment
}

#[test]
fn traces_go_by_file_writes_first_in_the_order_of_their_start() {
    for flags in [0, PACKED] {
        let mut segment = traced_segment();
        segment.flags = flags;
        let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
        let all = traced(&log);
        let (segments, writes) = &all[&RecordId::of(b"/scratch/a")];
        assert_eq!(*writes, 3);
        assert_eq!(
            segments[..],
            [
                (4096, 4096, 1000),
                (8192, 4096, 3000),
                (0, 4096, 5000),
                (8192, 0, 4000),
                (0, 10, 9000),
            ]
        );
        let (segments, writes) = &all[&RecordId::of(b"/scratch/b")];
        assert_eq!((*writes, &segments[..]), (0, &[(7, 8, 8000)][..]));
        assert_eq!(all.len(), 2);
        assert_eq!(log.header().regions().filter(|region| region.partial).count(), 0);
    }
}

#[test]
fn long_traces_of_many_threads_are_sorted() {
    let mut segment = Segment::default();
    let file = segment.file("/scratch/a");
    segment.record(1, 0, file, words(posix::WORDS, &[(posix::OPENS, 1)]));
    for lane in 0..3_u64 {
        let mut events = Vec::new();
        for call in 0..5000_u64 {
            let start = tick(10_000 * call + 100 * lane);
            let wide = call % 7 == 0;
            let function = if call % 2 == 0 { Function::Pwrite } else { Function::Pread };
            let mut event = event(function, file, start, (call * 8).cast_signed(), 8);
            event.result -= i64::from(wide);
            events.push(event);
        }
        let tid = u32::try_from(lane).unwrap() + 10;
        segment.lanes.push(maker::Lane { tid, events, dropped: Vec::new() });
    }
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let (segments, writes) = &traced(&log)[&RecordId::of(b"/scratch/a")];
    assert_eq!((segments.len(), *writes), (15_000, 7500));
    for (at, segment) in segments.iter().enumerate() {
        let (reads, at) = (i64::from(at >= 7500), (at % 7500) as i64);
        let (call, lane) = (at / 3 * 2 + reads, at % 3);
        let start = 10_000 * call + 100 * lane;
        let length = if call % 7 == 0 { 7 } else { 8 };
        assert_eq!(*segment, (call * 8, length, start));
    }
}

#[test]
fn what_ran_out_is_marked() {
    let mut segment = traced_segment();
    segment.lanes[1].dropped = vec![(Loss::Budget, 4), (Loss::Excluded, 2)];
    segment.partial = 1 << Module::Posix.code();
    segment.record(1, 0, OTHER_FILE, words(posix::WORDS, &[(posix::OPENS, 11)]));
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let partial = log.header().regions().filter(|region| region.partial);
    let partial: Vec<_> = partial.filter_map(|region| region.module).collect();
    assert_eq!(partial, [Module::Posix, Module::DxtPosix]);
    assert_eq!(only(&log, Module::Posix, "<other files>").0[p::OPENS], 11);
    segment.partial = 0;
    segment.lanes[1].dropped = vec![(Loss::Excluded, 2)];
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    assert_eq!(log.header().regions().filter(|region| region.partial).count(), 0);
}

#[test]
fn heat_maps_of_threads_get_one_width_and_the_length_of_the_run() {
    // Ten seconds: bins of 0.1 s up to 100, of 0.4 s up to 25.
    let heatmaps = vec![
        (1, 100_000_000, vec![(0, 1, 2), (3, 10, 0), (4, 100, 0), (99, 7, 7), (120, 5, 0)]),
        (1, 400_000_000, vec![(0, 1000, 0), (24, 0, 2000)]),
        (9, 100_000_000, vec![(0, 0, 0)]),
    ];
    let segment = Segment { heatmaps, ..Segment::default() };
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let mut records = log.records(Module::Heatmap);
    let Some(Record::Heatmap(map)) = records.next_record() else { panic!("a heat map") };
    assert_eq!((map.id, map.rank), (RecordId::of(b"heatmap:POSIX"), Rank(0)));
    assert_eq!(map.width.0, 0.4);
    let mut writes = [0; 25];
    (writes[0], writes[1], writes[24]) = (1011, 100, 12);
    let mut reads = [0; 25];
    (reads[0], reads[24]) = (2, 2007);
    assert_eq!((map.writes, map.reads), (&writes[..], &reads[..]));
    assert!(records.next_record().is_none(), "a map without bytes is left out");
}

#[test]
fn long_runs_widen_the_bins() {
    let mut segment = Segment { end: START + 25_000_000_000, ..Segment::default() };
    segment.heatmaps = vec![(9, 100_000_000, vec![(0, 1, 0), (1, 2, 0), (199, 3, 0)])];
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let mut records = log.records(Module::Heatmap);
    let Some(Record::Heatmap(map)) = records.next_record() else { panic!("a heat map") };
    assert_eq!((map.width.0, map.writes.len()), (0.2, 125));
    assert_eq!((map.writes[0], map.writes[99], map.writes[100]), (3, 3, 0));
}

/// The packed segment behind a log.
fn section(log: &[u8]) -> &[u8] {
    let trailer =
        Trailer::decode(log.last_chunk::<TRAILER>().expect("made to fit")).expect("a trailer");
    assert_eq!(trailer.blocks, 1);
    let block = &log[usize::try_from(trailer.offset).expect("made to fit")..];
    assert_eq!(trailer.offset % 8, 0);
    let head = Head::decode(block.first_chunk::<HEAD>().expect("made to fit")).expect("a block");
    assert_eq!((head.kind, head.compression, head.stored_len), (1, 0, head.raw_len));
    let bytes = &block[HEAD..][..usize::try_from(head.stored_len).expect("made to fit")];
    assert_eq!(netra_darshan::checksum::crc32(bytes), head.crc);
    bytes
}

#[test]
fn the_section_holds_the_packed_segment_which_gives_the_same_log() {
    let mut segment = traced_segment();
    segment.records.extend(two_threads().records);
    segment.notes = "budget: not a size\n".to_owned();
    segment.heatmaps = vec![(1, 100_000_000, vec![(0, 1, 2)])];
    let live = segment.bytes();
    let log = encode(&live, Options::default());
    let packed = section(&log);
    assert!(packed.len() < live.len() / 3, "{} of {}", packed.len(), live.len());
    let (view, whole) = (View::new(packed).unwrap(), View::new(&live).unwrap());
    assert_eq!(view.flags(), PACKED);
    assert_eq!((view.command(), view.end()), (whole.command(), Some(END)));
    assert_eq!(view.notes().collect::<Vec<_>>(), [b"budget: not a size"]);
    for (one, other) in view.lanes().zip(whole.lanes()) {
        assert_eq!(one.events().collect::<Vec<_>>(), other.events().collect::<Vec<_>>());
        assert_eq!(one.calls().collect::<Vec<_>>(), other.calls().collect::<Vec<_>>());
    }
    // Packing what is packed changes nothing, so the log is the same to the last byte.
    assert_eq!(encode(packed, Options::default()), log);
    // Nor does the size of the buffer change what a reader sees.
    let small = Log::from_bytes(encode_with(&live, Options::default(), 100)).unwrap();
    let log = Log::from_bytes(log).unwrap();
    assert_eq!(counters(&small, Module::Posix), counters(&log, Module::Posix));
    assert_eq!(traced(&small), traced(&log));
}

#[test]
fn a_process_that_did_nothing_has_an_empty_log() {
    let log = Log::from_bytes(encode(&Segment::default().bytes(), Options::default())).unwrap();
    assert_eq!(log.modules().count(), 0);
    assert!(log.damage().is_empty(), "{:?}", log.damage());
    assert_eq!(log.job().exe, b"./app --in data");
}

#[test]
fn a_log_can_carry_the_segment_alone() {
    let bytes = traced_segment().bytes();
    let options = Options { without_records: true, ..Options::default() };
    let log = encode(&bytes, options);
    assert_eq!(View::new(section(&log)).unwrap().records().count(), 2);
    let log = Log::from_bytes(log).unwrap();
    assert_eq!((log.modules().count(), log.names().iter().count()), (0, 0));
    assert!(log.damage().is_empty(), "{:?}", log.damage());
}

#[test]
fn a_full_disk_or_too_little_memory_is_said() {
    let bytes = traced_segment().bytes();
    let view = View::new(&bytes).unwrap();
    let mut words = vec![0; encode::needed(&view)];
    let mut sink = Memory { room: Some(2000), ..Memory::default() };
    let full = encode::log(view, Options::default(), &mut sink, &mut words, &mut [0; 4096]);
    assert_eq!(full, Err(encode::Error::Sink));
    assert_eq!(sink.bytes[..16], [0; 16], "not taken for a log");
    let mut sink = Memory::default();
    let short = encode::log(view, Options::default(), &mut sink, &mut words[..3], &mut [0; 4096]);
    assert_eq!(short, Err(encode::Error::Scratch));
    let none = encode::log(view, Options::default(), &mut sink, &mut words, &mut []);
    assert_eq!(none, Err(encode::Error::Scratch));
}

#[test]
fn bent_segments_give_some_log() {
    let bytes = {
        let mut segment = traced_segment();
        segment.records.extend(two_threads().records);
        segment.heatmaps = vec![(1, 100_000_000, vec![(0, 1, 2)])];
        segment.flags = PACKED;
        segment.bytes()
    };
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..3000 {
        let mut bent = bytes.clone();
        for _ in 0..4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 33) as usize % bent.len();
            bent[at] = (random >> 20) as u8;
        }
        if round % 3 == 0 {
            bent.truncate((random >> 40) as usize % bytes.len());
        }
        let Ok(view) = View::new(&bent) else { continue };
        let mut words = vec![0; encode::needed(&view)];
        let mut sink = Memory::default();
        encode::log(view, Options::default(), &mut sink, &mut words, &mut [0; 4096]).unwrap();
        Log::from_bytes(sink.bytes).unwrap();
    }
}

/// A program of Darshan's, if it is installed.
fn tool(name: &str, log: &std::path::Path) -> Option<std::process::Output> {
    match Command::new(name).arg(log).env("LC_ALL", "C").output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: {name}: {error}");
            None
        }
    }
}

#[test]
fn darshans_own_tools_read_it() {
    let mut segment = traced_segment();
    segment.records.extend(two_threads().records);
    segment.heatmaps = vec![(1, 100_000_000, vec![(0, 1, 2)])];
    let path = std::env::temp_dir().join(format!("netra-encode-{}.darshan", std::process::id()));
    for (segment, modules) in [(segment, 3), (Segment::default(), 0)] {
        std::fs::write(&path, encode(&segment.bytes(), Options::default())).unwrap();
        if let Some(output) = tool("darshan-parser", &path) {
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("# exe: ./app --in data\n"), "{text}");
            assert!(text.contains("# metadata: netra_host = node17\n"), "{text}");
            assert_eq!(text.matches(" module: ").count(), modules, "{text}");
            let id = RecordId::of(b"/scratch/a");
            let line =
                format!("POSIX\t0\t{id}\tPOSIX_BYTES_READ\t764\t/scratch/a\t/scratch\tlustre\n");
            assert_eq!(text.contains(&line), modules > 0, "{text}");
        }
        if modules > 0
            && let Some(output) = tool("darshan-dxt-parser", &path)
        {
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.contains("# DXT, write_count: 3, read_count: 2\n"), "{text}");
        }
        pydarshan(&path, modules);
    }
    std::fs::remove_file(&path).unwrap();
}

fn pydarshan(path: &std::path::Path, modules: usize) {
    let Some(python) = std::env::var_os("NETRA_TEST_PYTHON") else {
        eprintln!("skipped: PyDarshan: NETRA_TEST_PYTHON is not set");
        return;
    };
    let script = "import sys, darshan\n\
        report = darshan.DarshanReport(sys.argv[1], read_all=True)\n\
        print(len(report.modules))\n\
        if 'POSIX' in report.records:\n\
        \x20   table = report.records['POSIX'].to_df()['counters']\n\
        \x20   print(int(table['POSIX_BYTES_READ'].sum()))\n\
        if 'DXT_POSIX' in report.modules:\n\
        \x20   report.mod_read_all_dxt_records('DXT_POSIX')\n\
        \x20   for record in report.records['DXT_POSIX'].to_df():\n\
        \x20       print(len(record['write_segments']), len(record['read_segments']))\n";
    let output = Command::new(python).args(["-c", script]).arg(path).output().expect("made to fit");
    assert!(output.status.success(), "{output:?}");
    let expected =
        if modules > 0 { format!("{modules}\n764\n3 2\n0 1\n") } else { "0\n".to_owned() };
    assert_eq!(String::from_utf8(output.stdout).expect("made to fit"), expected);
}
