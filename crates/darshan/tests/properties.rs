//! Promises that hold for any records: what is written is read back, merged ranks are the reduced
//! record, and bytes may come in any pieces.

use netra_darshan::convert::{self, Anonymise, convert};
use netra_darshan::counter::{self, posix};
use netra_darshan::diff::{Difference, diff};
use netra_darshan::merge::{self, merge};
use netra_darshan::read::{Counters, DxtHead, Extra, Heatmap, Job, Lustre, Mount, Source};
use netra_darshan::record::dxt::Segment;
use netra_darshan::record::header::Compression;
use netra_darshan::record::lustre::Component;
use netra_darshan::write::Writer;
use netra_darshan::{Log, Record};
use netra_event::{Module, Rank, RecordId, Seconds};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{self, Cursor};

/// A record that can be kept and compared.
#[derive(Debug, Clone, PartialEq)]
enum Kept {
    Counters { id: u64, rank: i64, ints: Vec<i64>, floats: Vec<f64>, extra: Extra },
    Lustre { id: u64, rank: i64, components: Vec<Component>, targets: Vec<i64> },
    Heatmap { id: u64, rank: i64, width: f64, writes: Vec<i64>, reads: Vec<i64> },
    Dxt { head: DxtHead, segments: Vec<Segment> },
}

impl Kept {
    fn write(&self, module: Module, writer: &mut Writer<Cursor<Vec<u8>>>) {
        let base = |id: &u64, rank: &i64| (RecordId(*id), Rank(*rank));
        let done = match self {
            Kept::Counters { id, rank, ints, floats, extra } => {
                let (id, rank) = base(id, rank);
                let record = Counters { id, rank, ints, floats, extra: *extra };
                writer.record(module, Record::Counters(record))
            }
            Kept::Lustre { id, rank, components, targets } => {
                let (id, rank) = base(id, rank);
                writer.record(module, Record::Lustre(Lustre { id, rank, components, targets }))
            }
            Kept::Heatmap { id, rank, width, writes, reads } => {
                let (id, rank) = base(id, rank);
                let width = Seconds(*width);
                let record = Heatmap { id, rank, width, writes, reads };
                writer.record(module, Record::Heatmap(record))
            }
            Kept::Dxt { head, segments } => writer
                .begin_trace(module, head)
                .and_then(|()| writer.segments(segments))
                .and_then(|()| writer.end_trace()),
        };
        done.expect("memory can be written");
    }

    fn read(record: Record<'_>) -> Kept {
        match record {
            Record::Counters(record) => Kept::Counters {
                id: record.id.0,
                rank: record.rank.0,
                ints: record.ints.to_vec(),
                floats: record.floats.to_vec(),
                extra: record.extra,
            },
            Record::Lustre(record) => Kept::Lustre {
                id: record.id.0,
                rank: record.rank.0,
                components: record.components.to_vec(),
                targets: record.targets.to_vec(),
            },
            Record::Heatmap(record) => Kept::Heatmap {
                id: record.id.0,
                rank: record.rank.0,
                width: record.width.0,
                writes: record.writes.to_vec(),
                reads: record.reads.to_vec(),
            },
            Record::Dxt(mut dxt) => {
                let head = dxt.head.clone();
                let mut segments = Vec::new();
                while let Some((_, piece)) = dxt.segments.next_piece() {
                    segments.extend_from_slice(piece);
                }
                Kept::Dxt { head, segments }
            }
            record => panic!("not made here: {record:?}"),
        }
    }
}

const COUNTED: [Module; 11] = [
    Module::Null,
    Module::Posix,
    Module::Mpiio,
    Module::H5f,
    Module::H5d,
    Module::PnetcdfFile,
    Module::PnetcdfVar,
    Module::Bgq,
    Module::Stdio,
    Module::Dfs,
    Module::Daos,
];

fn counters(module: Module) -> impl Strategy<Value = Kept> {
    let table = counter::current(module).expect("has counters");
    let ints = vec(any::<i64>(), table.int.len());
    let floats = vec(-1.0..1e9f64, table.float.len());
    let more = (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<(u64, u64)>());
    (any::<u64>(), -1..100i64, ints, floats, more).prop_map(
        move |(id, rank, ints, floats, more)| {
            let (pool, container, object) = more;
            let extra = match module {
                Module::H5d | Module::PnetcdfVar => Extra::File(RecordId(object.0)),
                Module::Dfs => Extra::Dfs { pool, container },
                Module::Daos => Extra::Daos { pool, container, object },
                _ => Extra::None,
            };
            Kept::Counters { id, rank, ints, floats, extra }
        },
    )
}

fn lustre() -> impl Strategy<Value = Kept> {
    let component = (0..1i64 << 40, 0..5i64, any::<[u8; 15]>());
    (any::<u64>(), -1..100i64, vec(component, 0..4)).prop_map(|(id, rank, parts)| {
        let count: i64 = parts.iter().map(|part| part.1).sum();
        let components = parts.into_iter().map(|(size, count, name)| {
            let mut pool = [0; 16];
            pool[..15].copy_from_slice(&name);
            Component { numbers: [size, count, 0, 16, 0, -1, 0], pool }
        });
        Kept::Lustre { id, rank, components: components.collect(), targets: (0..count).collect() }
    })
}

fn heatmap() -> impl Strategy<Value = Kept> {
    let bins = vec((any::<i64>(), any::<i64>()), 5);
    (any::<u64>(), 0..100i64, bins).prop_map(|(id, rank, bins)| {
        let (writes, reads) = bins.into_iter().unzip();
        Kept::Heatmap { id, rank, width: 0.1, writes, reads }
    })
}

fn dxt() -> impl Strategy<Value = Kept> {
    let segment = (any::<i64>(), any::<i64>(), 0.0..1e6f64, 0.0..1e6f64, 1..u64::MAX);
    let segment = segment.prop_map(|(offset, length, start, end, thread)| Segment {
        offset,
        length,
        start,
        end,
        thread: Some(thread),
    });
    let parts = (vec(segment, 0..40), 0..40usize, "[a-z]{0,63}");
    (any::<u64>(), 0..100i64, parts).prop_map(|(id, rank, (segments, writes, host))| {
        let writes = writes.min(segments.len()) as u64;
        let head = DxtHead {
            id: RecordId(id),
            rank: Rank(rank),
            host: host.into_bytes(),
            writes,
            reads: segments.len() as u64 - writes,
        };
        Kept::Dxt { head, segments }
    })
}

fn any_module() -> impl Strategy<Value = (Module, Vec<Kept>)> {
    let counted = (0..COUNTED.len())
        .prop_flat_map(|at| (Just(COUNTED[at]), vec(counters(COUNTED[at]), 1..4)));
    prop_oneof![
        4 => counted,
        1 => (Just(Module::Lustre), vec(lustre(), 1..6)),
        1 => (Just(Module::Heatmap), vec(heatmap(), 1..6)),
        1 => (Just(Module::DxtPosix), vec(dxt(), 1..6)),
        1 => (Just(Module::DxtMpiio), vec(dxt(), 1..6)),
    ]
}

fn job(start_sec: i64, nprocs: i64) -> Job {
    let mount = |point: &str, kind: &str| Mount { point: point.into(), kind: kind.into() };
    Job {
        numbers: netra_darshan::record::job::Job {
            uid: 5,
            start_sec,
            start_nsec: 1,
            end_sec: start_sec + 10,
            nprocs,
            jobid: 77,
            ..Default::default()
        },
        metadata: b"lib_ver=1\nh=x\n".to_vec(),
        exe: b"./app --fast".to_vec(),
        mounts: vec![mount("/", "ext4"), mount("/scratch", "lustre")],
    }
}

fn write(job: &Job, compression: Compression, modules: &[(Module, Vec<Kept>)]) -> Vec<u8> {
    let names = [(RecordId(1), &b"/scratch/a"[..]), (RecordId(2), b"/b")];
    let mut writer = Writer::new(Cursor::new(Vec::new()), compression, job, names).expect("memory");
    writer.keep_threads(true).expect("memory");
    for (module, records) in modules {
        records.iter().for_each(|record| record.write(*module, &mut writer));
    }
    writer.finish().expect("memory").into_inner()
}

fn read(log: &Log, module: Module) -> Vec<Kept> {
    let mut records = log.records(module);
    let mut kept = Vec::new();
    while let Some(record) = records.next_record() {
        kept.push(Kept::read(record));
    }
    assert_eq!(records.damage(), []);
    kept
}

/// Gives bytes in pieces of its own choice.
struct Choppy(Vec<u8>, Vec<usize>);

impl Source for Choppy {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let most = self.1[offset as usize % self.1.len()];
        let count = bytes.len().min(most);
        self.0.read_at(offset, &mut bytes[..count])
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn what_is_written_is_read_back(
        (module, records) in any_module(),
        compression in 0u8..3,
        steps in vec(1usize..700, 1..20),
    ) {
        let compression = Compression::from_code(compression).expect("known");
        let job = job(1000, 4);
        let bytes = write(&job, compression, &[(module, records.clone())]);
        let log = Log::from_bytes(bytes.clone()).expect("a log");
        prop_assert_eq!(log.damage(), []);
        prop_assert_eq!(log.job(), &job);
        prop_assert_eq!(log.names().get(RecordId(2)), Some(&b"/b"[..]));
        prop_assert_eq!(&read(&log, module), &records);
        // The same bytes, however they come in.
        let pieces = Log::new(Choppy(bytes, steps)).expect("a log");
        prop_assert_eq!(&read(&pieces, module), &records);
        let mut differences = Vec::new();
        diff(&log, &pieces, &mut |difference| differences.push(difference));
        prop_assert_eq!(differences, []);
    }

    #[test]
    fn merged_ranks_are_the_reduced_record(
        ranks in vec((vec(0..1i64 << 40, 69), vec(0.001..1e4f64, 17)), 2..9),
    ) {
        let nprocs = ranks.len() as i64;
        let logs = (0..).zip(&ranks).map(|(rank, (ints, floats))| {
            let record = Kept::Counters {
                id: 1,
                rank,
                ints: ints.clone(),
                floats: floats.clone(),
                extra: Extra::None,
            };
            let bytes = write(&job(1000, nprocs), Compression::Zlib, &[(Module::Posix, vec![record])]);
            Log::from_bytes(bytes).expect("a log")
        });
        let options = merge::Options { shared: true, ..merge::Options::default() };
        let (out, merged) = merge(logs.collect(), options, Cursor::new(Vec::new())).expect("memory");
        prop_assert_eq!(merged.reduced, 1);
        let log = Log::from_bytes(out.into_inner()).expect("a log");
        let all = read(&log, Module::Posix);
        let [Kept::Counters { id: 1, rank: -1, ints, floats, .. }] = &all[..] else {
            return Err(TestCaseError::fail(format!("{all:?}")));
        };
        let int = |at: usize| ranks.iter().map(move |rank| rank.0[at]);
        let float = |at: usize| ranks.iter().map(move |rank| rank.1[at]);
        for at in [posix::OPENS, posix::BYTES_READ, posix::SIZE_WRITE_0_100, posix::RW_SWITCHES] {
            prop_assert_eq!(ints[at], int(at).sum::<i64>());
        }
        for at in [posix::MAX_BYTE_READ, posix::MAX_BYTE_WRITTEN] {
            prop_assert_eq!(Some(ints[at]), int(at).max());
        }
        let least = float(posix::F_OPEN_START_TIMESTAMP).fold(f64::MAX, f64::min);
        prop_assert_eq!(floats[posix::F_OPEN_START_TIMESTAMP], least);
        let most = float(posix::F_CLOSE_END_TIMESTAMP).fold(0.0, f64::max);
        prop_assert_eq!(floats[posix::F_CLOSE_END_TIMESTAMP], most);
        check_ranking(&ranks, ints, floats)?;
    }

    #[test]
    fn anonymised_logs_keep_their_numbers(records in vec(counters(Module::Posix), 1..4), key: u64) {
        let log = write(&job(1000, 4), Compression::Zlib, &[(Module::Posix, records)]);
        let log = Log::from_bytes(log).expect("a log");
        let options = convert::Options { anonymise: Anonymise::all(key), ..Default::default() };
        let (out, _) = convert(&log, &options, Cursor::new(Vec::new())).expect("memory");
        let hidden = Log::from_bytes(out.into_inner()).expect("a log");
        let text = format!("{:?} {:?}", hidden.job(), hidden.names().iter().collect::<Vec<_>>());
        prop_assert!(!text.contains("app") && !text.contains("scratch"), "{}", text);
        for (before, after) in read(&log, Module::Posix).iter().zip(&read(&hidden, Module::Posix)) {
            let (Kept::Counters { id: old, ints: a, floats: b, .. },
                 Kept::Counters { id: new, ints: c, floats: d, .. }) = (before, after) else {
                return Err(TestCaseError::fail("other records"));
            };
            prop_assert!(old != new || *old == 0);
            prop_assert_eq!(b, d);
            let same = (0..a.len()).filter(|&at| at != posix::RENAMED_FROM);
            prop_assert!(same.clone().all(|at| a[at] == c[at]));
        }
    }
}

/// Fastest, slowest and variance, computed the plain way.
fn check_ranking(
    ranks: &[(Vec<i64>, Vec<f64>)],
    ints: &[i64],
    floats: &[f64],
) -> Result<(), TestCaseError> {
    use posix::*;
    let times: Vec<f64> =
        ranks.iter().map(|(_, f)| f[F_READ_TIME] + f[F_WRITE_TIME] + f[F_META_TIME]).collect();
    let bytes: Vec<f64> =
        ranks.iter().map(|(i, _)| (i[BYTES_READ] + i[BYTES_WRITTEN]) as f64).collect();
    let fastest = (0..times.len()).reduce(|a, b| if times[b] < times[a] { b } else { a });
    let slowest = (0..times.len()).reduce(|a, b| if times[b] > times[a] { b } else { a });
    prop_assert_eq!(ints[FASTEST_RANK], fastest.expect("a rank") as i64);
    prop_assert_eq!(ints[SLOWEST_RANK], slowest.expect("a rank") as i64);
    prop_assert_eq!(ints[SLOWEST_RANK_BYTES] as f64, bytes[slowest.expect("a rank")]);
    prop_assert_eq!(floats[F_SLOWEST_RANK_TIME], times[slowest.expect("a rank")]);
    for (got, values) in [(F_VARIANCE_RANK_TIME, &times), (F_VARIANCE_RANK_BYTES, &bytes)] {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let want = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        prop_assert!(
            (floats[got] - want).abs() <= 1e-9 * want.max(1.0),
            "{} {}",
            floats[got],
            want
        );
    }
    Ok(())
}

#[test]
fn a_job_without_mounts_keeps_its_command_line() {
    let job = Job { mounts: Vec::new(), ..job(1, 1) };
    let log = Log::from_bytes(write(&job, Compression::Zlib, &[])).expect("a log");
    assert_eq!(log.job(), &job);
}

#[test]
fn merging_moves_times_to_the_start_of_the_job() {
    let mut floats = vec![0.0; posix::FLOAT.len()];
    floats[posix::F_OPEN_START_TIMESTAMP] = 0.5;
    floats[posix::F_READ_TIME] = 0.25;
    floats[posix::F_CLOSE_START_TIMESTAMP] = -1.0;
    let log = |start: i64, rank: i64| {
        let record = Kept::Counters {
            id: 1,
            rank,
            ints: vec![0; posix::INT.len()],
            floats: floats.clone(),
            extra: Extra::None,
        };
        let segment = Segment { offset: 0, length: 1, start: 1.0, end: 2.0, thread: None };
        let head =
            DxtHead { id: RecordId(1), rank: Rank(rank), host: b"n".to_vec(), writes: 1, reads: 0 };
        let heatmap = Kept::Heatmap {
            id: 9,
            rank,
            width: if rank == 0 { 1.0 } else { 0.5 },
            writes: vec![1, 2, 3],
            reads: vec![4, 5, 6],
        };
        let modules = [
            (Module::Posix, vec![record]),
            (Module::DxtPosix, vec![Kept::Dxt { head, segments: vec![segment] }]),
            (Module::Heatmap, vec![heatmap]),
        ];
        Log::from_bytes(write(&job(start, 2), Compression::Zlib, &modules)).expect("a log")
    };
    let (out, merged) =
        merge(vec![log(1000, 0), log(1002, 1)], merge::Options::default(), Cursor::new(Vec::new()))
            .expect("memory");
    assert_eq!(merged.damage, []);
    let log = Log::from_bytes(out.into_inner()).expect("a log");
    assert_eq!((log.job().numbers.start_sec, log.job().numbers.end_sec), (1000, 1012));
    let Kept::Counters { floats, .. } = &read(&log, Module::Posix)[1] else { panic!("counters") };
    assert_eq!(floats[posix::F_OPEN_START_TIMESTAMP], 2.5);
    assert_eq!(floats[posix::F_READ_TIME], 0.25);
    assert_eq!(floats[posix::F_CLOSE_START_TIMESTAMP], -1.0);
    let Kept::Dxt { segments, .. } = &read(&log, Module::DxtPosix)[1] else { panic!("a trace") };
    assert_eq!((segments[0].start, segments[0].end), (3.0, 4.0));
    // Half-second bins become whole ones, two seconds late; all heat maps have the same bins.
    let heatmaps = read(&log, Module::Heatmap);
    let of = |rank, writes: [i64; 4], reads: [i64; 4]| Kept::Heatmap {
        id: 9,
        rank,
        width: 1.0,
        writes: writes.to_vec(),
        reads: reads.to_vec(),
    };
    assert_eq!(heatmaps, [of(0, [1, 2, 3, 0], [4, 5, 6, 0]), of(1, [0, 0, 3, 3], [0, 0, 9, 6])]);
}

#[test]
fn selecting_files_leaves_the_others_out() {
    let record = |id| Kept::Counters {
        id,
        rank: 0,
        ints: vec![3; posix::INT.len()],
        floats: vec![0.5; posix::FLOAT.len()],
        extra: Extra::None,
    };
    let modules = [(Module::Posix, vec![record(1), record(2), record(3)])];
    let log = Log::from_bytes(write(&job(1, 1), Compression::Zlib, &modules)).expect("a log");
    let select =
        |_: RecordId, name: Option<&[u8]>| name.is_some_and(|n| n.starts_with(b"/scratch"));
    let options = convert::Options { select: Some(&select), ..Default::default() };
    let (out, done) = convert(&log, &options, Cursor::new(Vec::new())).expect("memory");
    assert_eq!(done.records, 1);
    let some = Log::from_bytes(out.into_inner()).expect("a log");
    assert_eq!(read(&some, Module::Posix), [record(1)]);
    assert_eq!(some.names().iter().count(), 1);
    let mut differences = Vec::new();
    diff(&log, &some, &mut |difference| differences.push(difference));
    let only = |id| {
        let key =
            netra_darshan::diff::Key { module: Module::Posix, id: RecordId(id), rank: Rank(0) };
        Difference::OnlyInA(key)
    };
    assert_eq!(differences, [only(2), only(3)]);
}
