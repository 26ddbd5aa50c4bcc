//! The records of one file by all ranks become one record of rank −1, by the rules that Darshan's
//! runtime has for it.

use super::rule::{Common, Float, Int, Ranking, Rules};
use super::total::Side;
use crate::read::{Counters, Extra};
use netra_event::{Module, Rank, RecordId};

/// A record that grows by the records of one rank after another.
#[derive(Debug, Clone)]
pub struct Shared {
    rules: Rules,
    id: RecordId,
    extra: Extra,
    ints: Vec<i64>,
    floats: Vec<f64>,
    time: Spread,
    bytes: Spread,
}

impl Shared {
    /// Begins with the record of one rank; nothing for modules whose records are never reduced.
    #[must_use]
    pub fn new(module: Module, first: &Counters<'_>) -> Option<Shared> {
        if matches!(module, Module::Null | Module::Bgq) {
            return None;
        }
        let rules = Rules::of(module)?;
        if rules.ints.len() != first.ints.len() || rules.floats.len() != first.floats.len() {
            return None;
        }
        let mut shared = Shared {
            id: first.id,
            extra: first.extra,
            ints: first.ints.to_vec(),
            floats: first.floats.to_vec(),
            time: Spread::default(),
            bytes: Spread::default(),
            rules,
        };
        if let Some(ranking) = shared.rules.ranking {
            let side = Side::of(first, &ranking);
            shared.set(&ranking, &side);
            shared.spread(&ranking, &side);
        }
        Some(shared)
    }

    /// Takes in the record of another rank.
    pub fn add(&mut self, record: &Counters<'_>) {
        let before = (self.ints.len(), self.floats.len());
        if before != (record.ints.len(), record.floats.len()) {
            return;
        }
        self.extra = record.extra;
        self.add_ints(record.ints);
        self.add_floats(record);
        for index in 0..self.rules.commons.len() {
            merge_common(&mut self.ints, record.ints, self.rules.commons[index]);
        }
        if let Some(ranking) = self.rules.ranking {
            let side = Side::of(record, &ranking);
            self.rank(&ranking, &side);
            self.spread(&ranking, &side);
        }
    }

    /// The record so far.
    #[must_use]
    pub fn record(&self) -> Counters<'_> {
        let Shared { id, extra, ints, floats, .. } = self;
        Counters { id: *id, rank: Rank::SHARED, ints, floats, extra: *extra }
    }

    fn add_ints(&mut self, ints: &[i64]) {
        for ((mine, &other), rule) in self.ints.iter_mut().zip(ints).zip(&self.rules.ints) {
            match rule {
                // Not monitored (−1) stays so, however many ranks say it.
                Int::Sum | Int::Unused => *mine = mine.wrapping_add(other).max(-1),
                Int::Max => *mine = other.max(*mine),
                Int::Last => *mine = other,
                Int::Any => *mine |= other,
                Int::Along => {}
            }
        }
    }

    fn add_floats(&mut self, record: &Counters<'_>) {
        let floats = self.floats.iter_mut().zip(record.floats).zip(&self.rules.floats);
        for ((mine, &other), rule) in floats {
            match *rule {
                Float::Sum => *mine += other,
                Float::Earliest if other != 0.0 && (*mine == 0.0 || other < *mine) => *mine = other,
                Float::Latest if other > *mine => *mine = other,
                Float::Longest { size } if other > *mine => {
                    *mine = other;
                    self.ints[size] = record.ints[size];
                }
                _ => {}
            }
        }
    }

    fn set(&mut self, at: &Ranking, side: &Side) {
        let Shared { ints, floats, .. } = self;
        (ints[at.fastest], ints[at.fastest_bytes], floats[at.fastest_time]) = side.fastest;
        (ints[at.slowest], ints[at.slowest_bytes], floats[at.slowest_time]) = side.slowest;
    }

    fn rank(&mut self, at: &Ranking, side: &Side) {
        let Shared { ints, floats, .. } = self;
        if side.fastest.2 < floats[at.fastest_time] {
            (ints[at.fastest], ints[at.fastest_bytes], floats[at.fastest_time]) = side.fastest;
        }
        if side.slowest.2 > floats[at.slowest_time] {
            (ints[at.slowest], ints[at.slowest_bytes], floats[at.slowest_time]) = side.slowest;
        }
    }

    fn spread(&mut self, at: &Ranking, side: &Side) {
        self.time.add(side.fastest.2);
        self.bytes.add(side.fastest.1 as f64);
        if let Some(variance) = at.variance {
            self.floats[variance.time] = self.time.variance();
            self.floats[variance.bytes] = self.bytes.variance();
        }
    }
}

/// A variance that grows by one value after another (Welford), without large squares that would
/// cancel each other out.
#[derive(Debug, Default, Clone, Copy)]
struct Spread {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    fn variance(self) -> f64 {
        self.squares / self.count
    }
}

/// Equal values add their counts; the four that occurred most often stay, the larger value first
/// where they occurred equally often.
fn merge_common(mine: &mut [i64], other: &[i64], common: Common) {
    let Common { values, width, counts } = common;
    let four = |of: &[i64]| -> Vec<(i64, Vec<i64>)> {
        let slots = (0..4).map(|slot| {
            let value = &of[values + slot * width..values + (slot + 1) * width];
            (of[counts + slot], value.to_vec())
        });
        slots.filter(|(count, _)| *count > 0).collect()
    };
    let mut all = four(mine);
    for (count, value) in four(other) {
        match all.iter_mut().find(|known| known.1 == value) {
            Some(known) => known.0 = known.0.saturating_add(count),
            None => all.push((count, value)),
        }
    }
    all.sort_by_key(|(count, value)| std::cmp::Reverse((*count, value.first().copied())));
    mine[values..values + 4 * width].fill(0);
    mine[counts..counts + 4].fill(0);
    for (slot, (count, value)) in all.into_iter().take(4).enumerate() {
        mine[values + slot * width..values + (slot + 1) * width].copy_from_slice(&value);
        mine[counts + slot] = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::posix::*;

    fn record<'a>(rank: i64, ints: &'a [i64], floats: &'a [f64]) -> Counters<'a> {
        Counters { id: RecordId(7), rank: Rank(rank), ints, floats, extra: Extra::None }
    }

    fn of(rank: i64) -> (Vec<i64>, Vec<f64>) {
        let mut ints = vec![0; INT.len()];
        let mut floats = vec![0.0; FLOAT.len()];
        ints[OPENS] = 1;
        ints[MMAPS] = -1;
        ints[MODE] = 0o644 + rank;
        ints[BYTES_READ] = 100 * (rank + 1);
        ints[MAX_BYTE_READ] = 1000 - rank;
        ints[ACCESS1_ACCESS] = 100 * (1 + rank % 2);
        ints[ACCESS1_COUNT] = 3;
        ints[MAX_READ_TIME_SIZE] = rank;
        floats[F_READ_TIME] = 1.0 + rank as f64;
        floats[F_MAX_READ_TIME] = 0.5 - rank as f64 / 10.0;
        floats[F_OPEN_START_TIMESTAMP] = if rank == 2 { 0.0 } else { 5.0 - rank as f64 };
        floats[F_OPEN_END_TIMESTAMP] = rank as f64;
        (ints, floats)
    }

    #[test]
    fn three_ranks_become_one_record() {
        let ranks: Vec<_> = (0..3).map(of).collect();
        let mut shared = Shared::new(Module::Posix, &record(0, &ranks[0].0, &ranks[0].1))
            .expect("POSIX is reduced");
        for (rank, (ints, floats)) in (1..).zip(&ranks[1..]) {
            shared.add(&record(rank, ints, floats));
        }
        let all = shared.record();
        assert_eq!(all.rank, Rank::SHARED);
        assert_eq!(all.ints[OPENS], 3);
        assert_eq!(all.ints[MMAPS], -1);
        assert_eq!(all.ints[MODE], 0o644 + 2);
        assert_eq!(all.ints[BYTES_READ], 600);
        assert_eq!(all.ints[MAX_BYTE_READ], 1000);
        // 100 came from two ranks, 200 from one.
        assert_eq!(all.ints[ACCESS1_ACCESS..ACCESS1_ACCESS + 4], [100, 200, 0, 0]);
        assert_eq!(all.ints[ACCESS1_COUNT..ACCESS1_COUNT + 4], [6, 3, 0, 0]);
        assert_eq!((all.ints[FASTEST_RANK], all.ints[FASTEST_RANK_BYTES]), (0, 100));
        assert_eq!((all.ints[SLOWEST_RANK], all.ints[SLOWEST_RANK_BYTES]), (2, 300));
        assert_eq!(all.ints[MAX_READ_TIME_SIZE], 0);
        assert_eq!(all.floats[F_MAX_READ_TIME], 0.5);
        assert_eq!(all.floats[F_READ_TIME], 6.0);
        assert_eq!(all.floats[F_FASTEST_RANK_TIME], 1.0);
        assert_eq!(all.floats[F_SLOWEST_RANK_TIME], 3.0);
        // Rank 2 never opened: its 0 is not the earliest time.
        assert_eq!(all.floats[F_OPEN_START_TIMESTAMP], 4.0);
        assert_eq!(all.floats[F_OPEN_END_TIMESTAMP], 2.0);
        // Of 1, 2, 3 seconds and of 100, 200, 300 bytes.
        assert!((all.floats[F_VARIANCE_RANK_TIME] - 2.0 / 3.0).abs() < 1e-12);
        assert!((all.floats[F_VARIANCE_RANK_BYTES] - 20_000.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn machines_are_not_reduced() {
        let counters = record(0, &[0; 11], &[0.0]);
        assert!(Shared::new(Module::Bgq, &counters).is_none());
    }
}
