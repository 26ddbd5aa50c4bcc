//! The four most frequent values (access sizes, strides) of a file, over all its threads.

use super::group::Shards;
use netra_event::segment::shard::{COMMON_VALUES, SPILLED_VALUES};

/// Distinct values that are told apart; a thread keeps 32.
pub(super) const PAIRS: usize = 1024;

/// Where in a record the four values begin, their counts behind them, and where the rest is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) four: usize,
    pub(super) more: usize,
}

/// Values and counts.
pub(super) struct Frequent<'s> {
    pairs: &'s mut [[u64; 2]],
    used: usize,
}

impl<'s> Frequent<'s> {
    /// Sums what all threads counted. The memory need not be clean.
    pub(super) fn sum(shards: Shards<'_, '_>, place: Place, words: &'s mut [u64]) -> Frequent<'s> {
        let mut sum = Frequent { pairs: words.as_chunks_mut::<2>().0, used: 0 };
        for record in shards.clone() {
            for slot in 0..4_usize {
                let at = place.four.saturating_add(slot);
                sum.add(record.word(at), record.word(at.saturating_add(4)));
            }
            let more = shards.view.record_at(record.word(place.more));
            let Some(more) = more.filter(|more| more.module == COMMON_VALUES) else { continue };
            for pair in 0..SPILLED_VALUES {
                let at = pair.saturating_mul(2);
                sum.add(more.word(at), more.word(at.saturating_add(1)));
            }
        }
        sum
    }

    fn add(&mut self, value: u64, count: u64) {
        if value == 0 || count == 0 {
            return;
        }
        let used = self.pairs.get_mut(..self.used).unwrap_or_default();
        if let Some(pair) = used.iter_mut().find(|pair| pair[0] == value) {
            pair[1] = pair[1].saturating_add(count);
        } else if let Some(pair) = self.pairs.get_mut(self.used) {
            *pair = [value, count];
            self.used = self.used.saturating_add(1);
        }
    }

    /// The four with the highest counts, the larger value first among equals; zeros where there
    /// are fewer.
    pub(super) fn four(&self) -> [[u64; 2]; 4] {
        let mut four = [[0, 0]; 4];
        for &[value, count] in self.pairs.get(..self.used).unwrap_or_default() {
            let mut carried = [value, count];
            for slot in &mut four {
                if (carried[1], carried[0]) > (slot[1], slot[0]) {
                    core::mem::swap(slot, &mut carried);
                }
            }
        }
        four
    }
}
