//! Logs of every module, version, byte order and compression, made here, against values that follow
//! from the counters' names alone. Needs nothing beside the repository.

mod generate;

use generate::{IDS, ORDERS, RANKS, Spec, bare, float, int, mix, uuid};
use netra_darshan::counter::{self, Table};
use netra_darshan::read::{Direction, Extra};
use netra_darshan::record::dxt::Segment;
use netra_darshan::{Log, Reason, Record};
use netra_event::{Module, Rank, RecordId};

/// What a record must say, whatever version it was stored in.
fn check(module: Module, version: u32, index: usize, record: Record<'_>) {
    assert_eq!((record.id(), record.rank()), (RecordId(IDS[index]), Rank(RANKS[index])));
    match record {
        Record::Counters(counters) => {
            let old = counter::table(module, version).expect("known");
            let new = counter::current(module).expect("known");
            for (name, &value) in new.int.iter().zip(counters.ints) {
                assert_eq!(value, expected_int(old, name, index), "{name} from {version}");
            }
            for (name, &value) in new.float.iter().zip(counters.floats) {
                let known = old.float.iter().any(|old| bare(old) == bare(name));
                let want = if known { float(name, index) } else { -1.0 };
                assert_eq!(value, want, "{name} from {version}");
            }
            assert_eq!(counters.extra, extra(module, version, index));
        }
        Record::Dxt(dxt) => check_dxt(module, version, index, dxt),
        Record::Lustre(lustre) => {
            // One unused component is left out, unless it is the only one.
            let components = if version == 1 { 1 } else { index.max(1) };
            let stripes = if version == 1 { index + 1 } else { 2 * components };
            let targets: Vec<i64> = (0..).take(stripes).collect();
            assert_eq!(lustre.components.len(), components);
            assert_eq!(lustre.targets, targets);
            let first = lustre.components[0].numbers;
            let want = if version == 1 {
                [1 << 20, stripes as i64, -1, -1, 0, -1, -1]
            } else {
                [1 << 20, 2, 0, 16, 0, -1, 0]
            };
            assert_eq!(first, want);
        }
        Record::Heatmap(heatmap) => {
            let bins: Vec<i64> = (0..6).map(|bin| int("BIN", index + bin)).collect();
            assert_eq!((heatmap.writes, heatmap.reads), (&bins[..3], &bins[3..]));
            assert_eq!(heatmap.width.0, 0.5);
        }
        Record::Mdhim(mdhim) => {
            let servers: Vec<i64> = (0..).take(index).collect();
            assert_eq!(mdhim.servers, servers);
            assert_eq!(mdhim.ints[0], int("MDHIM_PUTS", index));
            assert_eq!(mdhim.floats[3], float("MDHIM_F_GET_MAX_DURATION", index));
        }
        Record::Apmpi(apmpi) => {
            assert_eq!(apmpi.ints[395], int("MPI_WIN_SYNC_CALL_COUNT", index));
            assert_eq!(apmpi.floats[221], float("MPI_WIN_SYNC_MAX_TIME", index));
            assert_eq!(apmpi.sync[0], float("MPI_BARRIER_TOTAL_SYNC_TIME", index));
            assert_eq!(apmpi.global[1], float("MPI_TOTAL_COMM_SYNC_TIME", index));
            assert!(apmpi.node.starts_with(format!("node{index}\0").as_bytes()));
        }
        Record::Apxc(apxc) => {
            assert_eq!(apxc.place, [0, 1, 2, 3]);
            let last = counter::apxc::Name(counter::apxc::COUNT - 1).to_string();
            assert_eq!(apxc.ints.last(), Some(&int(&last, index)));
        }
        record => panic!("{record:?}"),
    }
}

fn expected_int(old: &Table, name: &str, index: usize) -> i64 {
    let known = old.int.iter().any(|old| bare(old) == bare(name));
    match name {
        "PNETCDF_FILE_OPENS" if !known => {
            int("PNETCDF_INDEP_OPENS", index) + int("PNETCDF_COLL_OPENS", index)
        }
        "POSIX_RENAMED_FROM" if !known => 0,
        _ if known => int(name, index),
        _ => -1,
    }
}

fn extra(module: Module, version: u32, index: usize) -> Extra {
    let (pool, container) = (uuid(index), uuid(index + 1));
    match (module, version) {
        (Module::H5d, 1) => Extra::File(RecordId(0)),
        (Module::H5d | Module::PnetcdfVar, _) => Extra::File(RecordId(mix("FILE", index))),
        (Module::Dfs, _) => Extra::Dfs { pool, container },
        (Module::Daos, _) => {
            Extra::Daos { pool, container, object: (mix("HIGH", index), mix("LOW", index)) }
        }
        _ => Extra::None,
    }
}

fn check_dxt(module: Module, version: u32, index: usize, mut dxt: netra_darshan::read::Dxt<'_>) {
    assert_eq!((dxt.head.writes, dxt.head.reads), (2, index as u64));
    assert_eq!(dxt.head.host, format!("host{index}").as_bytes());
    let mut segments = Vec::new();
    while let Some((direction, piece)) = dxt.segments.next_piece() {
        segments.extend(piece.iter().map(|&segment| (direction, segment)));
    }
    let with_thread = version == counter::version(module);
    let with_offset = !(module == Module::DxtMpiio && version == 1);
    let want: Vec<(Direction, Segment)> = (0..2 + index)
        .map(|at| {
            let direction = if at < 2 { Direction::Write } else { Direction::Read };
            let segment = Segment {
                offset: if with_offset { 100 * at as i64 } else { -1 },
                length: 10 + index as i64,
                start: at as f64,
                end: at as f64 + 0.5,
                thread: with_thread.then_some(9000 + at as u64),
            };
            (direction, segment)
        })
        .collect();
    assert_eq!(segments, want);
}

/// Reads all records of a module, and finds nothing wrong.
fn check_module(log: &Log, module: Module, version: u32) {
    let mut records = log.records(module);
    let mut index = 0;
    while let Some(record) = records.next_record() {
        match record {
            Record::ApmpiHead(head) => {
                assert_eq!((head.id, head.sync), (RecordId(1), true));
                assert_eq!((head.variance_total, head.variance_sync), (0.25, 0.5));
            }
            Record::ApxcHead(head) => assert_eq!(head.numbers, [1, 2, 3, 4, 5, 6]),
            record => {
                check(module, version, index, record);
                index += 1;
            }
        }
    }
    assert_eq!(records.damage(), []);
    assert_eq!(index, 4, "{module} {version}");
}

#[test]
fn every_module_version_order_and_compression() {
    for &module in Module::ALL {
        for version in 1..=counter::version(module) {
            for order in ORDERS {
                for compression in 0..3 {
                    let bytes = Spec::new(order, compression).with(module, version).build();
                    let log = Log::from_bytes(bytes).expect("a log");
                    assert_eq!(log.damage(), []);
                    check_module(&log, module, version);
                }
            }
        }
    }
}

#[test]
fn every_log_version_knows_its_own_slots() {
    let old = [
        ("3.00", 3, Module::H5f, 1),
        ("3.00", 4, Module::PnetcdfFile, 1),
        ("3.00", 5, Module::Bgq, 1),
        ("3.10", 4, Module::PnetcdfFile, 2),
        ("3.10", 7, Module::Stdio, 1),
        ("3.10", 8, Module::DxtPosix, 1),
        ("3.20", 4, Module::H5d, 1),
        ("3.20", 5, Module::PnetcdfFile, 2),
        ("3.21", 4, Module::H5d, 2),
        ("3.21", 8, Module::Stdio, 2),
        ("3.21", 14, Module::Heatmap, 1),
        ("3.41", 9, Module::Stdio, 2),
    ];
    for (version, slot, module, module_version) in old {
        for order in ORDERS {
            let bytes = generate::records(module, module_version, order);
            let spec = Spec {
                version,
                modules: vec![(slot, module_version, bytes)],
                partial: 1 << slot,
                ..Spec::new(order, 0)
            };
            let log = Log::from_bytes(spec.build()).expect("a log");
            assert_eq!(log.modules().collect::<Vec<_>>(), [module], "{version} {slot}");
            // The bit of a module moves with its slot, in either byte order.
            assert_eq!(log.damage().len(), 1);
            assert_eq!(log.damage()[0].reason, Reason::Incomplete);
            check_module(&log, module, module_version);
            check_job(&log, version);
        }
    }
}

fn check_job(log: &Log, version: &str) {
    let (header, job) = (log.header(), log.job());
    assert_eq!(header.version.name(), version);
    assert_eq!((job.numbers.uid, job.numbers.nprocs, job.numbers.jobid), (1000, 4, 4242));
    assert_eq!((job.numbers.start_sec, job.numbers.end_sec), (1_700_000_000, 1_700_000_100));
    let nanos = if version == "3.41" { (123_456_789, 987_654_321) } else { (0, 0) };
    assert_eq!((job.numbers.start_nsec, job.numbers.end_nsec), nanos);
    assert_eq!(job.exe, b"/bin/app arg1 arg2");
    let metadata: Vec<_> = job.metadata().collect();
    assert_eq!(metadata, [(&b"lib_ver"[..], &b"9.9.9"[..]), (b"h", b"a=b;c=d")]);
    let names: Vec<_> = log.names().iter().collect();
    let want = generate::NAMES.map(|(id, name)| (RecordId(id), name.as_bytes()));
    assert_eq!(names, want);
    let place = log.names().place(RecordId(IDS[2]));
    assert_eq!((place.mount, place.kind), (&b"/scratch"[..], &b"lustre"[..]));
    let place = log.names().place(RecordId(IDS[1]));
    assert_eq!((place.mount, place.kind), (&b"/"[..], &b"ext4"[..]));
    let place = log.names().place(RecordId(IDS[3]));
    assert_eq!((place.name, place.mount), (None, &b"UNKNOWN"[..]));
}

#[test]
fn streams_of_the_first_posix_version_are_left_out() {
    for order in ORDERS {
        let mut bytes = generate::records(Module::Posix, 1, order);
        let fopens = 16 + 6 * 8;
        let low = if order == generate::Order::Little { fopens } else { fopens + 7 };
        bytes[low] = 3;
        let spec = Spec { modules: vec![(1, 1, bytes)], ..Spec::new(order, 0) };
        let log = Log::from_bytes(spec.build()).expect("a log");
        let mut records = log.records(Module::Posix);
        let mut ids = Vec::new();
        while let Some(record) = records.next_record() {
            ids.push(record.id().0);
        }
        assert_eq!(ids, IDS[1..]);
    }
}

#[test]
fn heat_maps_off_by_one_bin_are_fitted_to_the_first() {
    let mut bytes = generate::Bytes::new(generate::Order::Little);
    for (rank, bins) in [(0, 2i64), (1, 3), (2, 1)] {
        bytes.u64(5).i64(rank).f64(0.1).i64(bins).u64(0).u64(0);
        for bin in 0..2 * bins {
            bytes.i64(10 * rank + bin);
        }
    }
    let spec =
        Spec { modules: vec![(15, 1, bytes.bytes)], ..Spec::new(generate::Order::Little, 0) };
    let log = Log::from_bytes(spec.build()).expect("a log");
    let mut records = log.records(Module::Heatmap);
    let mut seen = Vec::new();
    while let Some(Record::Heatmap(heatmap)) = records.next_record() {
        seen.push((heatmap.writes.to_vec(), heatmap.reads.to_vec()));
    }
    let want = [(vec![0, 1], vec![2, 3]), (vec![10, 11], vec![13, 14]), (vec![20, 0], vec![21, 0])];
    assert_eq!(seen, want);
}
