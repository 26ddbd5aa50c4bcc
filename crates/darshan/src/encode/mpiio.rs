//! MPI-IO records: the words of all threads of a file as Darshan's counters.

use super::counted::{Counted, Counters, Part, Rule, join};
use super::frequent::{Frequent, Place};
use crate::counter::mpiio as to;
use netra_event::Module;
use netra_event::segment::shard::{direction as dir, mpiio as from};

pub(super) const COUNTED: Counted = Counted { module: Module::Mpiio, fill };

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
        rules[side + dir::START] = Rule::First;
        rules[side + dir::END] = Rule::Max;
        rules[side + dir::MAX_TIME] = Rule::Max;
        rules[side + dir::MAX_TIME_SIZE] = Rule::With(side + dir::MAX_TIME);
        side += from::WRITE;
    }
    rules[from::MODE] = Rule::Set(from::OPEN_END);
    rules[from::OPEN_START] = Rule::First;
    rules[from::OPEN_END] = Rule::Max;
    rules[from::CLOSE_START] = Rule::First;
    rules[from::CLOSE_END] = Rule::Max;
    rules
}

/// Counters that are a word as it is.
const COUNTS: [(usize, usize); 19] = [
    (to::INDEP_OPENS, from::INDEP_OPENS),
    (to::COLL_OPENS, from::COLL_OPENS),
    (to::INDEP_READS, from::INDEP_READS),
    (to::INDEP_WRITES, from::INDEP_WRITES),
    (to::COLL_READS, from::COLL_READS),
    (to::COLL_WRITES, from::COLL_WRITES),
    (to::SPLIT_READS, from::SPLIT_READS),
    (to::SPLIT_WRITES, from::SPLIT_WRITES),
    (to::NB_READS, from::NB_READS),
    (to::NB_WRITES, from::NB_WRITES),
    (to::SYNCS, from::SYNCS),
    (to::HINTS, from::HINTS),
    (to::VIEWS, from::VIEWS),
    (to::MODE, from::MODE),
    (to::BYTES_READ, from::READ + dir::BYTES),
    (to::BYTES_WRITTEN, from::WRITE + dir::BYTES),
    (to::RW_SWITCHES, from::RW_SWITCHES),
    (to::MAX_READ_TIME_SIZE, from::READ + dir::MAX_TIME_SIZE),
    (to::MAX_WRITE_TIME_SIZE, from::WRITE + dir::MAX_TIME_SIZE),
];
const SPANS: [(usize, usize); 5] = [
    (to::F_READ_TIME, from::READ + dir::TIME),
    (to::F_WRITE_TIME, from::WRITE + dir::TIME),
    (to::F_META_TIME, from::META_TIME),
    (to::F_MAX_READ_TIME, from::READ + dir::MAX_TIME),
    (to::F_MAX_WRITE_TIME, from::WRITE + dir::MAX_TIME),
];
const MOMENTS: [(usize, usize); 8] = [
    (to::F_OPEN_START_TIMESTAMP, from::OPEN_START),
    (to::F_READ_START_TIMESTAMP, from::READ + dir::START),
    (to::F_WRITE_START_TIMESTAMP, from::WRITE + dir::START),
    (to::F_CLOSE_START_TIMESTAMP, from::CLOSE_START),
    (to::F_OPEN_END_TIMESTAMP, from::OPEN_END),
    (to::F_READ_END_TIMESTAMP, from::READ + dir::END),
    (to::F_WRITE_END_TIMESTAMP, from::WRITE + dir::END),
    (to::F_CLOSE_END_TIMESTAMP, from::CLOSE_END),
];
const ACCESSES: Place = Place { four: from::ACCESS, more: from::ACCESS_MORE };

fn fill(part: &Part<'_, '_, '_>, pairs: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for (index, from) in COUNTS {
        counters.set(index, word(from));
    }
    for (sizes, side) in
        [(to::SIZE_READ_AGG_0_100, from::READ), (to::SIZE_WRITE_AGG_0_100, from::WRITE)]
    {
        for bin in 0..10_usize {
            let at = side.saturating_add(dir::SIZES).saturating_add(bin);
            counters.set(sizes.saturating_add(bin), word(at));
        }
    }
    for (index, from) in SPANS {
        counters.set_float(index, part.clock.span(word(from)));
    }
    for (index, from) in MOMENTS {
        counters.set_float(index, part.clock.moment(word(from)));
    }
    let four = Frequent::sum(part.shards.clone(), ACCESSES, pairs).four();
    for (slot, [value, count]) in four.into_iter().enumerate() {
        counters.set(to::ACCESS1_ACCESS.saturating_add(slot), value);
        counters.set(to::ACCESS1_COUNT.saturating_add(slot), count);
    }
    true
}
