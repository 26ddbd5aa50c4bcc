//! POSIX records: the words of all threads of a file as Darshan's counters.

use super::counted::{Counted, Counters, Part, Rule, is_standard_stream, join};
use super::frequent::{Frequent, Place};
use crate::counter::posix as to;
use netra_event::Module;
use netra_event::segment::shard::{direction as dir, posix as from};

pub(super) const COUNTED: Counted = Counted { module: Module::Posix, fill };

/// The buffer alignment that `MEM_NOT_ALIGNED` is about.
const MEM_ALIGNMENT: u64 = 8;

const RULES: [Rule; from::WORDS] = rules();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler, which refuses a place that is not there"
)]
const fn rules() -> [Rule; from::WORDS] {
    let mut rules = [Rule::Sum; from::WORDS];
    let mut side = from::READ;
    while side <= from::WRITE {
        rules[side + dir::MAX_BYTE] = Rule::Max;
        rules[side + dir::START] = Rule::First;
        rules[side + dir::END] = Rule::Max;
        rules[side + dir::MAX_TIME] = Rule::Max;
        rules[side + dir::MAX_TIME_SIZE] = Rule::With(side + dir::MAX_TIME);
        side += from::WRITE;
    }
    rules[from::RENAMED_FROM] = Rule::Set(from::RENAME_TARGETS);
    rules[from::MODE] = Rule::Set(from::OPEN_END);
    rules[from::OPEN_START] = Rule::First;
    rules[from::OPEN_END] = Rule::Max;
    rules[from::CLOSE_START] = Rule::First;
    rules[from::CLOSE_END] = Rule::Max;
    rules
}

/// Counters that are a word as it is.
const COUNTS: [(usize, usize); 17] = [
    (to::OPENS, from::OPENS),
    (to::FILENOS, from::FILENOS),
    (to::DUPS, from::DUPS),
    (to::SEEKS, from::SEEKS),
    (to::STATS, from::STATS),
    (to::MMAPS, from::MMAPS),
    (to::FSYNCS, from::FSYNCS),
    (to::FDSYNCS, from::FDSYNCS),
    (to::RENAME_SOURCES, from::RENAME_SOURCES),
    (to::RENAME_TARGETS, from::RENAME_TARGETS),
    (to::RENAMED_FROM, from::RENAMED_FROM),
    (to::MODE, from::MODE),
    (to::RW_SWITCHES, from::RW_SWITCHES),
    (to::MEM_NOT_ALIGNED, from::MEM_NOT_ALIGNED),
    (to::FILE_NOT_ALIGNED, from::FILE_NOT_ALIGNED),
    (to::READS, from::READ + dir::CALLS),
    (to::WRITES, from::WRITE + dir::CALLS),
];

/// Where the counters of a direction stand.
struct Side {
    from: usize,
    counts: [(usize, usize); 5],
    sizes: usize,
    start: usize,
    end: usize,
    time: usize,
    max_time: usize,
}

const SIDES: [Side; 2] = [
    Side {
        from: from::READ,
        counts: [
            (to::BYTES_READ, dir::BYTES),
            (to::MAX_BYTE_READ, dir::MAX_BYTE),
            (to::CONSEC_READS, dir::CONSECUTIVE),
            (to::SEQ_READS, dir::SEQUENTIAL),
            (to::MAX_READ_TIME_SIZE, dir::MAX_TIME_SIZE),
        ],
        sizes: to::SIZE_READ_0_100,
        start: to::F_READ_START_TIMESTAMP,
        end: to::F_READ_END_TIMESTAMP,
        time: to::F_READ_TIME,
        max_time: to::F_MAX_READ_TIME,
    },
    Side {
        from: from::WRITE,
        counts: [
            (to::BYTES_WRITTEN, dir::BYTES),
            (to::MAX_BYTE_WRITTEN, dir::MAX_BYTE),
            (to::CONSEC_WRITES, dir::CONSECUTIVE),
            (to::SEQ_WRITES, dir::SEQUENTIAL),
            (to::MAX_WRITE_TIME_SIZE, dir::MAX_TIME_SIZE),
        ],
        sizes: to::SIZE_WRITE_0_100,
        start: to::F_WRITE_START_TIMESTAMP,
        end: to::F_WRITE_END_TIMESTAMP,
        time: to::F_WRITE_TIME,
        max_time: to::F_MAX_WRITE_TIME,
    },
];

fn fill(part: &Part<'_, '_, '_>, pairs: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for (index, from) in COUNTS {
        counters.set(index, word(from));
    }
    let alignment = match part.file.alignment {
        // As Darshan says it of a file under no known mount.
        0 => u64::MAX,
        known => u64::from(known),
    };
    counters.set(to::FILE_ALIGNMENT, alignment);
    counters.set(to::MEM_ALIGNMENT, MEM_ALIGNMENT);
    let clock = part.clock;
    for side in &SIDES {
        let at = |field: usize| word(side.from.saturating_add(field));
        for (index, field) in side.counts {
            counters.set(index, at(field));
        }
        for bin in 0..10_usize {
            counters.set(side.sizes.saturating_add(bin), at(dir::SIZES.saturating_add(bin)));
        }
        counters.set_float(side.start, clock.moment(at(dir::START)));
        counters.set_float(side.end, clock.moment(at(dir::END)));
        counters.set_float(side.time, clock.span(at(dir::TIME)));
        counters.set_float(side.max_time, clock.span(at(dir::MAX_TIME)));
    }
    for (index, from) in [
        (to::F_OPEN_START_TIMESTAMP, from::OPEN_START),
        (to::F_OPEN_END_TIMESTAMP, from::OPEN_END),
        (to::F_CLOSE_START_TIMESTAMP, from::CLOSE_START),
        (to::F_CLOSE_END_TIMESTAMP, from::CLOSE_END),
    ] {
        counters.set_float(index, clock.moment(word(from)));
    }
    counters.set_float(to::F_META_TIME, clock.span(word(from::META_TIME)));
    frequent(part, ACCESSES, (to::ACCESS1_ACCESS, to::ACCESS1_COUNT), pairs, counters);
    frequent(part, STRIDES, (to::STRIDE1_STRIDE, to::STRIDE1_COUNT), pairs, counters);
    let calls = word(from::READ + dir::CALLS) | word(from::WRITE + dir::CALLS);
    // What only calls touched that Darshan has no counter for (a directory that was looked at, a
    // file that was removed) has no record in Darshan's log either; the section keeps it.
    let counted = COUNTS.iter().any(|&(_, from)| word(from) != 0);
    calls != 0 || (counted && !is_standard_stream(&part.file))
}

const ACCESSES: Place = Place { four: from::ACCESS, more: from::ACCESS_MORE };
const STRIDES: Place = Place { four: from::STRIDE, more: from::STRIDE_MORE };

fn frequent(
    part: &Part<'_, '_, '_>,
    place: Place,
    (values, counts): (usize, usize),
    pairs: &mut [u64],
    counters: &mut Counters,
) {
    let four = Frequent::sum(part.shards.clone(), place, pairs).four();
    for (slot, [value, count]) in four.into_iter().enumerate() {
        counters.set(values.saturating_add(slot), value);
        counters.set(counts.saturating_add(slot), count);
    }
}
