//! PnetCDF records: the words of all threads of a file or a variable as Darshan's counters.

use super::access::Accesses;
use super::counted::{Counted, Counters, Part, Rule, join};
use super::flow::{self, Side};
use crate::counter::{pnetcdf_file as to_file, pnetcdf_var as to_var};
use netra_event::Module;
use netra_event::segment::shard::{pnetcdf_file as file, pnetcdf_var as var};

pub(super) const FILES: Counted = Counted { module: Module::PnetcdfFile, fill: fill_file };
pub(super) const VARIABLES: Counted = Counted { module: Module::PnetcdfVar, fill: fill_variable };

const FILE_RULES: [Rule; file::WORDS] = {
    let mut rules = [Rule::Sum; file::WORDS];
    rules[file::OPEN_START] = Rule::First;
    rules[file::OPEN_END] = Rule::Max;
    rules[file::CLOSE_START] = Rule::First;
    rules[file::CLOSE_END] = Rule::Max;
    rules[file::WAIT_START] = Rule::First;
    rules[file::WAIT_END] = Rule::Max;
    rules
};

/// The counters begin as the words do: creates, opens, redefs, waits, syncs, bytes, failures.
const FILE_COUNTS: usize = to_file::INT.len();

fn fill_file(part: &Part<'_, '_, '_>, _: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &FILE_RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for index in 0..FILE_COUNTS {
        counters.set(index, word(index));
    }
    for (index, from) in [
        (to_file::F_OPEN_START_TIMESTAMP, file::OPEN_START),
        (to_file::F_OPEN_END_TIMESTAMP, file::OPEN_END),
        (to_file::F_CLOSE_START_TIMESTAMP, file::CLOSE_START),
        (to_file::F_CLOSE_END_TIMESTAMP, file::CLOSE_END),
        (to_file::F_WAIT_START_TIMESTAMP, file::WAIT_START),
        (to_file::F_WAIT_END_TIMESTAMP, file::WAIT_END),
    ] {
        counters.set_float(index, part.clock.moment(word(from)));
    }
    counters.set_float(to_file::F_META_TIME, part.clock.span(word(file::META_TIME)));
    counters.set_float(to_file::F_WAIT_TIME, part.clock.span(word(file::WAIT_TIME)));
    true
}

const RULES: [Rule; var::WORDS] = {
    let rules = flow::rules([Rule::Sum; var::WORDS], var::READ);
    let mut rules = flow::rules(rules, var::WRITE);
    rules[var::OPEN_START] = Rule::First;
    rules[var::OPEN_END] = Rule::Max;
    rules[var::IS_RECORD] = Rule::Max;
    rules[var::DIMENSIONS] = Rule::Set(var::OPEN_END);
    rules[var::POINTS] = Rule::Set(var::OPEN_END);
    rules[var::TYPE_SIZE] = Rule::Set(var::OPEN_END);
    rules
};

const SIDES: [Side; 2] = [
    Side {
        from: var::READ,
        bytes: to_var::BYTES_READ,
        max_time_size: to_var::MAX_READ_TIME_SIZE,
        sizes: to_var::SIZE_READ_AGG_0_100,
        start: to_var::F_READ_START_TIMESTAMP,
        end: to_var::F_READ_END_TIMESTAMP,
        time: to_var::F_READ_TIME,
        max_time: to_var::F_MAX_READ_TIME,
    },
    Side {
        from: var::WRITE,
        bytes: to_var::BYTES_WRITTEN,
        max_time_size: to_var::MAX_WRITE_TIME_SIZE,
        sizes: to_var::SIZE_WRITE_AGG_0_100,
        start: to_var::F_WRITE_START_TIMESTAMP,
        end: to_var::F_WRITE_END_TIMESTAMP,
        time: to_var::F_WRITE_TIME,
        max_time: to_var::F_MAX_WRITE_TIME,
    },
];

/// Modes and kinds of calls stand in the same order in record and log.
const MODES: usize = to_var::BYTES_READ - to_var::INDEP_READS;
const KINDS: usize = to_var::MAX_READ_TIME_SIZE - to_var::PUT_VAR;
const _: () = assert!(MODES == var::KINDS - var::MODES && KINDS == var::OPENS - var::KINDS);
const _: () = assert!(file::WAIT_FAILURES + 1 == FILE_COUNTS);

fn fill_variable(part: &Part<'_, '_, '_>, pairs: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for mode in 0..MODES {
        let from = var::MODES.saturating_add(mode);
        counters.set(to_var::INDEP_READS.saturating_add(mode), word(from));
    }
    for kind in 0..KINDS {
        counters.set(to_var::PUT_VAR.saturating_add(kind), word(var::KINDS.saturating_add(kind)));
    }
    for (index, from) in [
        (to_var::OPENS, var::OPENS),
        (to_var::RW_SWITCHES, var::RW_SWITCHES),
        (to_var::NDIMS, var::DIMENSIONS),
        (to_var::NPOINTS, var::POINTS),
        (to_var::DATATYPE_SIZE, var::TYPE_SIZE),
        (to_var::IS_RECORD_VAR, var::IS_RECORD),
    ] {
        counters.set(index, word(from));
    }
    for side in &SIDES {
        side.set(part, &words, counters);
    }
    let clock = part.clock;
    counters.set_float(to_var::F_OPEN_START_TIMESTAMP, clock.moment(word(var::OPEN_START)));
    counters.set_float(to_var::F_OPEN_END_TIMESTAMP, clock.moment(word(var::OPEN_END)));
    counters.set_float(to_var::F_META_TIME, clock.span(word(var::META_TIME)));
    let accesses = Accesses::sum(part.shards.clone(), var::ACCESSES, pairs);
    accesses.set(counters, to_var::ACCESS1_ACCESS, to_var::ACCESS1_COUNT);
    true
}
