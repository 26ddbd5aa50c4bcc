//! HDF5 records: the words of all threads of a file or a data set as Darshan's counters. What Darshan
//! has no place for (attributes, groups) is in the packed segment.

use super::access::Accesses;
use super::counted::{Counted, Counters, Part, Rule, join};
use super::flow::{self, Side};
use crate::counter::{h5d, h5f};
use netra_event::Module;
use netra_event::segment::shard::{flow as flow_words, h5d as data_set, h5f as file};

pub(super) const FILES: Counted = Counted { module: Module::H5f, fill: fill_file };
pub(super) const DATA_SETS: Counted = Counted { module: Module::H5d, fill: fill_data_set };

const FILE_RULES: [Rule; file::WORDS] = {
    let mut rules = [Rule::Sum; file::WORDS];
    rules[file::USE_MPIIO] = Rule::Max;
    rules[file::OPEN_START] = Rule::First;
    rules[file::OPEN_END] = Rule::Max;
    rules[file::CLOSE_START] = Rule::First;
    rules[file::CLOSE_END] = Rule::Max;
    rules
};

fn fill_file(part: &Part<'_, '_, '_>, _: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &FILE_RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    counters.set(h5f::OPENS, word(file::OPENS));
    counters.set(h5f::FLUSHES, word(file::FLUSHES));
    counters.set(h5f::USE_MPIIO, word(file::USE_MPIIO));
    for (index, from) in [
        (h5f::F_OPEN_START_TIMESTAMP, file::OPEN_START),
        (h5f::F_OPEN_END_TIMESTAMP, file::OPEN_END),
        (h5f::F_CLOSE_START_TIMESTAMP, file::CLOSE_START),
        (h5f::F_CLOSE_END_TIMESTAMP, file::CLOSE_END),
    ] {
        counters.set_float(index, part.clock.moment(word(from)));
    }
    counters.set_float(h5f::F_META_TIME, part.clock.span(word(file::META_TIME)));
    true
}

const RULES: [Rule; data_set::WORDS] = rules();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler, which refuses a place that is not there"
)]
const fn rules() -> [Rule; data_set::WORDS] {
    let rules = flow::rules([Rule::Sum; data_set::WORDS], data_set::READ);
    let mut rules = flow::rules(rules, data_set::WRITE);
    rules[data_set::OPEN_START] = Rule::First;
    rules[data_set::OPEN_END] = Rule::Max;
    rules[data_set::CLOSE_START] = Rule::First;
    rules[data_set::CLOSE_END] = Rule::Max;
    rules[data_set::COLLECTIVE] = Rule::Max;
    rules[data_set::DEPRECATED] = Rule::Max;
    let mut property = data_set::DIMENSIONS;
    while property < data_set::COLLECTIVE {
        rules[property] = Rule::Set(data_set::OPEN_END);
        property += 1;
    }
    rules
}

const SIDES: [Side; 2] = [
    Side {
        from: data_set::READ,
        bytes: h5d::BYTES_READ,
        max_time_size: h5d::MAX_READ_TIME_SIZE,
        sizes: h5d::SIZE_READ_AGG_0_100,
        start: h5d::F_READ_START_TIMESTAMP,
        end: h5d::F_READ_END_TIMESTAMP,
        time: h5d::F_READ_TIME,
        max_time: h5d::F_MAX_READ_TIME,
    },
    Side {
        from: data_set::WRITE,
        bytes: h5d::BYTES_WRITTEN,
        max_time_size: h5d::MAX_WRITE_TIME_SIZE,
        sizes: h5d::SIZE_WRITE_AGG_0_100,
        start: h5d::F_WRITE_START_TIMESTAMP,
        end: h5d::F_WRITE_END_TIMESTAMP,
        time: h5d::F_WRITE_TIME,
        max_time: h5d::F_MAX_WRITE_TIME,
    },
];

/// Counters that are a word as it is.
const COUNTS: [(usize, usize); 18] = [
    (h5d::OPENS, data_set::OPENS),
    (h5d::READS, data_set::READ + flow_words::CALLS),
    (h5d::WRITES, data_set::WRITE + flow_words::CALLS),
    (h5d::FLUSHES, data_set::FLUSHES),
    (h5d::RW_SWITCHES, data_set::RW_SWITCHES),
    (h5d::REGULAR_HYPERSLAB_SELECTS, data_set::REGULAR_SELECTS),
    (h5d::IRREGULAR_HYPERSLAB_SELECTS, data_set::IRREGULAR_SELECTS),
    (h5d::POINT_SELECTS, data_set::POINT_SELECTS),
    (h5d::DATASPACE_NDIMS, data_set::DIMENSIONS),
    (h5d::DATASPACE_NPOINTS, data_set::POINTS),
    (h5d::DATATYPE_SIZE, data_set::TYPE_SIZE),
    (h5d::CHUNK_SIZE_D1, data_set::CHUNK),
    (h5d::CHUNK_SIZE_D2, data_set::CHUNK + 1),
    (h5d::CHUNK_SIZE_D3, data_set::CHUNK + 2),
    (h5d::CHUNK_SIZE_D4, data_set::CHUNK + 3),
    (h5d::CHUNK_SIZE_D5, data_set::CHUNK + 4),
    (h5d::USE_MPIIO_COLLECTIVE, data_set::COLLECTIVE),
    (h5d::USE_DEPRECATED, data_set::DEPRECATED),
];

fn fill_data_set(part: &Part<'_, '_, '_>, pairs: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for (index, from) in COUNTS {
        counters.set(index, word(from));
    }
    for side in &SIDES {
        side.set(part, &words, counters);
    }
    for (index, from) in [
        (h5d::F_OPEN_START_TIMESTAMP, data_set::OPEN_START),
        (h5d::F_OPEN_END_TIMESTAMP, data_set::OPEN_END),
        (h5d::F_CLOSE_START_TIMESTAMP, data_set::CLOSE_START),
        (h5d::F_CLOSE_END_TIMESTAMP, data_set::CLOSE_END),
    ] {
        counters.set_float(index, part.clock.moment(word(from)));
    }
    counters.set_float(h5d::F_META_TIME, part.clock.span(word(data_set::META_TIME)));
    let accesses = Accesses::sum(part.shards.clone(), data_set::ACCESSES, pairs);
    accesses.set(counters, h5d::ACCESS1_ACCESS, h5d::ACCESS1_COUNT);
    true
}
