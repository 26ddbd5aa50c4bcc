//! Data calls of layers that know no offsets: HDF5 data sets and PnetCDF variables count bytes, times,
//! sizes and whole accesses the same way.

use core::sync::atomic::{AtomicU64, Ordering};

use netra_darshan::counter::bin;
use netra_event::segment::shard::accesses::{HELD, LINKED, MORE, NUMBERS, WIDTH, WORDS};
use netra_event::segment::shard::{COMMON_ACCESSES, flow};

use crate::shard::{Shard, table};

/// A data call that succeeded.
pub struct Flow {
    /// Bytes it moved.
    pub bytes: u64,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// The time that counts: all of it, or its share where a call moved several things.
    pub took: u64,
}

impl Shard {
    /// Counts a call in the direction whose words begin at `AT`.
    pub fn flow<const AT: usize>(&self, call: &Flow) {
        let Some(words) = self.from::<AT>().first_chunk::<{ flow::WORDS }>() else { return };
        add(&words[flow::CALLS], 1);
        add(&words[flow::BYTES], call.bytes);
        add(&words[flow::TIME], call.took);
        if words[flow::START].load(Ordering::Relaxed) == 0 {
            words[flow::START].store(call.start, Ordering::Relaxed);
        }
        words[flow::END].store(call.end, Ordering::Relaxed);
        if call.took > words[flow::MAX_TIME].load(Ordering::Relaxed) {
            words[flow::MAX_TIME].store(call.took, Ordering::Relaxed);
            words[flow::MAX_TIME_SIZE].store(call.bytes, Ordering::Relaxed);
        }
        if let Some(size) = words.get(flow::SIZES.wrapping_add(bin::of(call.bytes))) {
            add(size, 1);
        }
    }

    /// Adds 1 to the word that lies so many behind `AT`.
    pub fn count<const AT: usize>(&self, behind: usize) {
        if let Some(word) = self.from::<AT>().get(behind) {
            add(word, 1);
        }
    }

    /// Counts changes between reading (1) and writing (2).
    pub fn switch<const LAST: usize, const SWITCHES: usize>(&self, kind: u64) {
        let last = self.get::<LAST>();
        if last != kind {
            self.add::<SWITCHES>(u64::from(last != 0));
            self.set::<LAST>(kind);
        }
    }

    /// Counts an access in the table that the word at `AT` leads to: 32 distinct ones, further ones are
    /// not counted, nor is one of no bytes.
    pub fn access<const AT: usize>(&self, access: &[u64; NUMBERS]) {
        let [reference, ..] = self.from::<AT>() else { return };
        if access[0] == 0 {
            return;
        }
        let mut reference = reference;
        for _ in 0..LINKED {
            let Some(words) = table::<WORDS>(reference, COMMON_ACCESSES) else { return };
            for row in words.as_chunks::<WIDTH>().0.iter().take(HELD) {
                if count(row, access) {
                    return;
                }
            }
            reference = &words[MORE];
        }
    }
}

/// Counts an access in a row that holds it, or none yet.
fn count(row: &[AtomicU64; WIDTH], access: &[u64; NUMBERS]) -> bool {
    let held = row[NUMBERS].load(Ordering::Relaxed);
    let same = || row.iter().zip(access).all(|(held, new)| held.load(Ordering::Relaxed) == *new);
    if held == 0 {
        for (to, from) in row.iter().zip(access) {
            to.store(*from, Ordering::Relaxed);
        }
    } else if !same() {
        return false;
    }
    row[NUMBERS].store(held.wrapping_add(1), Ordering::Relaxed);
    true
}

fn add(word: &AtomicU64, value: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(value), Ordering::Relaxed);
}
