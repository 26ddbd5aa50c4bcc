//! STDIO records: the words of all threads of a stream as Darshan's counters.

use super::counted::{Counted, Counters, Part, Rule, is_standard_stream, join};
use crate::counter::stdio as to;
use netra_event::Module;
use netra_event::segment::shard::stdio as from;

pub(super) const COUNTED: Counted = Counted { module: Module::Stdio, fill };

const RULES: [Rule; from::WORDS] = rules();

const fn rules() -> [Rule; from::WORDS] {
    let mut rules = [Rule::Sum; from::WORDS];
    rules[from::READ + from::MAX_BYTE] = Rule::Max;
    rules[from::WRITE + from::MAX_BYTE] = Rule::Max;
    rules[from::READ + from::START] = Rule::First;
    rules[from::WRITE + from::START] = Rule::First;
    rules[from::READ + from::END] = Rule::Max;
    rules[from::WRITE + from::END] = Rule::Max;
    rules[from::OPEN_START] = Rule::First;
    rules[from::OPEN_END] = Rule::Max;
    rules[from::CLOSE_START] = Rule::First;
    rules[from::CLOSE_END] = Rule::Max;
    rules
}

const COUNTS: [(usize, usize); 10] = [
    (to::OPENS, from::OPENS),
    (to::FDOPENS, from::FDOPENS),
    (to::SEEKS, from::SEEKS),
    (to::FLUSHES, from::FLUSHES),
    (to::READS, from::READ + from::CALLS),
    (to::WRITES, from::WRITE + from::CALLS),
    (to::BYTES_READ, from::READ + from::BYTES),
    (to::BYTES_WRITTEN, from::WRITE + from::BYTES),
    (to::MAX_BYTE_READ, from::READ + from::MAX_BYTE),
    (to::MAX_BYTE_WRITTEN, from::WRITE + from::MAX_BYTE),
];
const SPANS: [(usize, usize); 3] = [
    (to::F_META_TIME, from::META_TIME),
    (to::F_READ_TIME, from::READ + from::TIME),
    (to::F_WRITE_TIME, from::WRITE + from::TIME),
];
const MOMENTS: [(usize, usize); 8] = [
    (to::F_OPEN_START_TIMESTAMP, from::OPEN_START),
    (to::F_OPEN_END_TIMESTAMP, from::OPEN_END),
    (to::F_CLOSE_START_TIMESTAMP, from::CLOSE_START),
    (to::F_CLOSE_END_TIMESTAMP, from::CLOSE_END),
    (to::F_READ_START_TIMESTAMP, from::READ + from::START),
    (to::F_READ_END_TIMESTAMP, from::READ + from::END),
    (to::F_WRITE_START_TIMESTAMP, from::WRITE + from::START),
    (to::F_WRITE_END_TIMESTAMP, from::WRITE + from::END),
];

fn fill(part: &Part<'_, '_, '_>, _: &mut [u64], counters: &mut Counters) -> bool {
    let words = join(part.shards.clone(), &RULES);
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    for (index, from) in COUNTS {
        counters.set(index, word(from));
    }
    for (index, from) in SPANS {
        counters.set_float(index, part.clock.span(word(from)));
    }
    for (index, from) in MOMENTS {
        counters.set_float(index, part.clock.moment(word(from)));
    }
    let calls = word(from::READ + from::CALLS) | word(from::WRITE + from::CALLS);
    calls != 0 || !is_standard_stream(&part.file)
}
