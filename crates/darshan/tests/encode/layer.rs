//! HDF5, PnetCDF and Lustre: records of several threads become those of Darshan.

use super::maker::{Segment, tick, words};
use super::{Options, encode, only};
use netra_darshan::counter::{h5d, h5f, lustre, pnetcdf_file as pf, pnetcdf_var as pv};
use netra_darshan::read::Extra;
use netra_darshan::{Log, Record};
use netra_event::segment::shard::accesses::{HELD, MORE, NUMBERS, WIDTH, WORDS};
use netra_event::segment::shard::{self, COMMON_ACCESSES, flow};
use netra_event::{Module, RecordId};

const FILE: &str = "/scratch/data.h5";
const SET: &str = "/scratch/data.h5:/grp/set";

/// A table of accesses, each its first numbers and its count; `more` leads to the next table.
fn table(segment: &mut Segment, rows: &[(&[u64], u64)], more: u64) -> u64 {
    let mut words = vec![0; WORDS];
    for (place, (numbers, count)) in rows.iter().enumerate() {
        words[place * WIDTH..][..numbers.len()].copy_from_slice(numbers);
        words[place * WIDTH + NUMBERS] = *count;
    }
    words[MORE] = more;
    segment.record(COMMON_ACCESSES, 0, 0, words)
}

fn code(module: Module) -> u32 {
    u32::from(module.code())
}

/// Two threads of a data set; the second one's table of accesses goes on in another record.
fn segment() -> Segment {
    let mut segment = Segment::default();
    let (file, set) = (segment.file(FILE), segment.file(SET));
    segment.parents.push((set, file));
    let (read, write) = (shard::h5d::READ, shard::h5d::WRITE);
    let one = table(&mut segment, &[(&[480], 3), (&[48, 0, 0, 0, 3, 2, 0, 0, 0, 5, 1], 2)], 0);
    let full: Vec<(&[u64], u64)> = vec![(&[7], 1); HELD];
    let last = table(&mut segment, &[(&[480], 4)], 0);
    let two = table(&mut segment, &full, last);
    let record = |accesses: u64, first: u64, calls: u64| {
        words(
            shard::h5d::WORDS,
            &[
                (write + flow::CALLS, calls),
                (write + flow::BYTES, 100 * calls),
                (write + flow::TIME, 2_000_000_000 * calls),
                (write + flow::START, tick(first)),
                (write + flow::END, tick(first + 1)),
                (write + flow::MAX_TIME, 1_000_000_000 * calls),
                (write + flow::MAX_TIME_SIZE, 10 * calls),
                (write + flow::SIZES + 1, calls),
                (read + flow::CALLS, 1),
                (shard::h5d::RW_SWITCHES, 1),
                (shard::h5d::REGULAR_SELECTS, calls),
                (shard::h5d::OPENS, 1),
                (shard::h5d::OPEN_START, tick(first)),
                (shard::h5d::OPEN_END, tick(first + 500)),
                (shard::h5d::DIMENSIONS, 2),
                (shard::h5d::POINTS, 60 * calls),
                (shard::h5d::TYPE_SIZE, 8),
                (shard::h5d::CHUNK, 10),
                (shard::h5d::COLLECTIVE, calls - 1),
                (shard::h5d::ACCESSES, accesses),
            ],
        )
    };
    segment.record(code(Module::H5d), 0, set, record(one, 3_000_000_000, 1));
    segment.record(code(Module::H5d), 1, set, record(two, 5_000_000_000, 2));
    let opened = [(shard::h5f::OPENS, 1), (shard::h5f::FLUSHES, 2), (shard::h5f::USE_MPIIO, 1)];
    segment.record(code(Module::H5f), 0, file, words(shard::h5f::WORDS, &opened));
    segment.record(code(Module::H5f), 1, file, words(shard::h5f::WORDS, &opened));
    segment
}

#[test]
fn threads_of_a_data_set_become_one_record() {
    let log = Log::from_bytes(encode(&segment().bytes(), Options::default())).unwrap();
    let (ints, _) = only(&log, Module::H5f, FILE);
    assert_eq!(ints, [2, 4, 1]);
    assert_eq!((ints[h5f::FLUSHES], ints[h5f::USE_MPIIO]), (4, 1));
    let (ints, floats) = only(&log, Module::H5d, SET);
    for (index, value) in [
        (h5d::OPENS, 2),
        (h5d::READS, 2),
        (h5d::WRITES, 3),
        (h5d::BYTES_WRITTEN, 300),
        (h5d::RW_SWITCHES, 2),
        (h5d::REGULAR_HYPERSLAB_SELECTS, 3),
        (h5d::MAX_WRITE_TIME_SIZE, 20),
        (h5d::SIZE_WRITE_AGG_100_1K, 3),
        (h5d::DATASPACE_NDIMS, 2),
        (h5d::DATASPACE_NPOINTS, 120),
        (h5d::DATATYPE_SIZE, 8),
        (h5d::CHUNK_SIZE_D1, 10),
        (h5d::USE_MPIIO_COLLECTIVE, 1),
        (h5d::ACCESS1_ACCESS, 7),
        (h5d::ACCESS1_COUNT, 8),
        (h5d::ACCESS2_ACCESS, 480),
        (h5d::ACCESS2_COUNT, 7),
        (h5d::ACCESS3_ACCESS, 48),
        (h5d::ACCESS3_LENGTH_D4, 3),
        (h5d::ACCESS3_STRIDE_D5, 1),
        (h5d::ACCESS3_COUNT, 2),
        (h5d::ACCESS4_COUNT, 0),
    ] {
        assert_eq!(ints[index], value, "{}", h5d::INT[index]);
    }
    for (index, value) in [
        (h5d::F_WRITE_TIME, 3.0),
        (h5d::F_MAX_WRITE_TIME, 1.0),
        (h5d::F_WRITE_START_TIMESTAMP, 3.0),
        (h5d::F_OPEN_START_TIMESTAMP, 3.0),
    ] {
        assert!((floats[index] - value).abs() < 1e-6, "{}", h5d::FLOAT[index]);
    }
    let mut records = log.records(Module::H5d);
    let Some(Record::Counters(record)) = records.next_record() else { panic!("a data set") };
    assert_eq!(record.extra, Extra::File(RecordId::of(FILE.as_bytes())));
}

#[test]
fn pnetcdf_keeps_its_kinds_and_modes() {
    let mut segment = Segment::default();
    let (file, variable) = (segment.file("/scratch/a.nc"), segment.file("/scratch/a.nc:v"));
    let counted: Vec<(usize, u64)> = (0..9).map(|word| (word, word as u64 + 1)).collect();
    let counted = words(shard::pnetcdf_file::WORDS, &counted);
    segment.record(code(Module::PnetcdfFile), 0, file, counted);
    let kinds = (0..32).map(|kind| (shard::pnetcdf_var::KINDS + kind, kind as u64 + 100));
    let modes = (0..6).map(|mode| (shard::pnetcdf_var::MODES + mode, mode as u64 + 50));
    let mut values: Vec<(usize, u64)> = kinds.chain(modes).collect();
    values.push((shard::pnetcdf_var::IS_RECORD, 1));
    let counted = words(shard::pnetcdf_var::WORDS, &values);
    segment.record(code(Module::PnetcdfVar), 0, variable, counted);
    let log = Log::from_bytes(encode(&segment.bytes(), Options::default())).unwrap();
    let (ints, _) = only(&log, Module::PnetcdfFile, "/scratch/a.nc");
    assert_eq!(ints, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(ints[pf::WAIT_FAILURES], 9);
    let (ints, _) = only(&log, Module::PnetcdfVar, "/scratch/a.nc:v");
    for (index, value) in [
        (pv::INDEP_READS, 50),
        (pv::NB_WRITES, 55),
        (pv::PUT_VAR, 100),
        (pv::GET_VAR, 107),
        (pv::IPUT_VAR, 114),
        (pv::IGET_VAR, 120),
        (pv::BPUT_VARN, 131),
        (pv::IS_RECORD_VAR, 1),
    ] {
        assert_eq!(ints[index], value, "{}", pv::INT[index]);
    }
}

/// The newest layout of a file is the one that counts.
#[test]
fn a_layout_is_the_newest_one() {
    let mut segment = Segment::default();
    let file = segment.file("/scratch/wide");
    let pool = u64::from_le_bytes(*b"flash\0\0\0");
    let eof = u64::MAX;
    let first = vec![1, 1, 1 << 20, 1, 0, 0x10, 0, 64 << 20, 1, 0, 0, 3];
    let second: Vec<u64> = [
        &[2, 3][..],
        &[1 << 20, 1, 0, 0x10, 0, 64 << 20, 1, 0, 0],
        &[4 << 20, 2, 0, 0x10, 64 << 20, eof, 1, pool, 0],
        &[3, 9, 4],
    ]
    .concat();
    segment.record(code(Module::Lustre), 0, file, first);
    segment.record(code(Module::Lustre), 0, file, second);
    let bytes = encode(&segment.bytes(), Options::default());
    let log = Log::from_bytes(bytes).unwrap();
    let mut records = log.records(Module::Lustre);
    let Some(Record::Lustre(record)) = records.next_record() else { panic!("a layout") };
    assert_eq!(log.names().get(record.id), Some(&b"/scratch/wide"[..]));
    let parts: Vec<_> = record.parts().collect();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[0].1, [3]);
    assert_eq!(parts[1].1, [9, 4]);
    assert_eq!(parts[1].0.numbers[lustre::STRIPE_SIZE], 4 << 20);
    assert_eq!(parts[1].0.numbers[lustre::EXT_END], -1);
    assert_eq!(&parts[1].0.pool[..6], b"flash\0");
    assert!(records.next_record().is_none() && records.damage().is_empty());
}
