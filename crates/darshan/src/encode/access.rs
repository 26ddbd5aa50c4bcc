//! The four most frequent accesses to a data set or variable, over all its threads. An access is
//! eleven numbers: bytes, five lengths, five strides.

use super::counted::Counters;
use super::group::Shards;
use netra_event::segment::shard::COMMON_ACCESSES;
use netra_event::segment::shard::accesses::{HELD, LINKED, MORE, NUMBERS, WIDTH};

type Row = [u64; WIDTH];

/// Accesses and their counts.
pub(super) struct Accesses<'s> {
    rows: &'s mut [Row],
    used: usize,
}

impl<'s> Accesses<'s> {
    /// Sums what all threads counted; `place` is the word that leads to a thread's table. The memory
    /// need not be clean.
    pub(super) fn sum(shards: Shards<'_, '_>, place: usize, words: &'s mut [u64]) -> Accesses<'s> {
        let mut sum = Accesses { rows: words.as_chunks_mut().0, used: 0 };
        for record in shards.clone() {
            let mut reference = record.word(place);
            for _ in 0..LINKED {
                let table = shards.view.record_at(reference);
                let Some(table) = table.filter(|table| table.module == COMMON_ACCESSES) else {
                    break;
                };
                for held in 0..HELD {
                    let from = held.saturating_mul(WIDTH);
                    let mut row = [0; WIDTH];
                    for (index, word) in row.iter_mut().enumerate() {
                        *word = table.word(from.saturating_add(index));
                    }
                    sum.add(&row);
                }
                reference = table.word(MORE);
            }
        }
        sum
    }

    fn add(&mut self, row: &Row) {
        let count = row.get(NUMBERS).copied().unwrap_or(0);
        if count == 0 {
            return;
        }
        let same = |known: &&mut Row| known.iter().zip(row).take(NUMBERS).all(|(a, b)| a == b);
        let used = self.rows.get_mut(..self.used).unwrap_or_default();
        if let Some(known) = used.iter_mut().find(same) {
            if let Some(total) = known.get_mut(NUMBERS) {
                *total = total.saturating_add(count);
            }
        } else if let Some(fresh) = self.rows.get_mut(self.used) {
            *fresh = *row;
            self.used = self.used.saturating_add(1);
        }
    }

    /// Sets the counters of the four with the highest counts, the larger first among equals.
    pub(super) fn set(&self, counters: &mut Counters, values: usize, counts: usize) {
        let mut four = [[0; WIDTH]; 4];
        for row in self.rows.get(..self.used).unwrap_or_default() {
            let mut carried = *row;
            for slot in &mut four {
                if key(&carried) > key(slot) {
                    core::mem::swap(slot, &mut carried);
                }
            }
        }
        for (slot, row) in four.iter().enumerate() {
            let first = values.saturating_add(slot.saturating_mul(NUMBERS));
            for (index, &number) in row.iter().take(NUMBERS).enumerate() {
                counters.set(first.saturating_add(index), number);
            }
            counters.set(counts.saturating_add(slot), row.get(NUMBERS).copied().unwrap_or(0));
        }
    }
}

/// Counts decide, then bytes.
fn key(row: &Row) -> (u64, u64) {
    (row.get(NUMBERS).copied().unwrap_or(0), row.first().copied().unwrap_or(0))
}
