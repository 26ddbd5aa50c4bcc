//! What HDF5 data sets and PnetCDF variables have in common: two directions without offsets.

use super::counted::{Counters, Part, Rule};
use netra_event::segment::shard::flow;

/// Where the counters of a direction stand.
pub(super) struct Side {
    /// The direction's first word.
    pub(super) from: usize,
    pub(super) bytes: usize,
    pub(super) max_time_size: usize,
    pub(super) sizes: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) time: usize,
    pub(super) max_time: usize,
}

impl Side {
    /// Sets the counters of the direction but that of its calls.
    pub(super) fn set(&self, part: &Part<'_, '_, '_>, words: &[u64], counters: &mut Counters) {
        let at = |field: usize| words.get(self.from.saturating_add(field)).copied().unwrap_or(0);
        counters.set(self.bytes, at(flow::BYTES));
        counters.set(self.max_time_size, at(flow::MAX_TIME_SIZE));
        for bin in 0..10_usize {
            counters.set(self.sizes.saturating_add(bin), at(flow::SIZES.saturating_add(bin)));
        }
        counters.set_float(self.start, part.clock.moment(at(flow::START)));
        counters.set_float(self.end, part.clock.moment(at(flow::END)));
        counters.set_float(self.time, part.clock.span(at(flow::TIME)));
        counters.set_float(self.max_time, part.clock.span(at(flow::MAX_TIME)));
    }
}

/// How the words of a direction that begins at `from` are joined.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs in the compiler, which refuses a place that is not there"
)]
pub(super) const fn rules<const N: usize>(mut rules: [Rule; N], from: usize) -> [Rule; N] {
    rules[from + flow::START] = Rule::First;
    rules[from + flow::END] = Rule::Max;
    rules[from + flow::MAX_TIME] = Rule::Max;
    rules[from + flow::MAX_TIME_SIZE] = Rule::With(from + flow::MAX_TIME);
    rules
}
