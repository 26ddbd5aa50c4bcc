//! The records of one file by all ranks become one record of rank −1, by the rules that Darshan's
//! runtime has for it.

use super::join::{Side, Sum, begin, join};
use super::rule::{FLOATS, INTS, Rules};
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
    ranks: u64,
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
        let (mut ints, mut floats) = (first.ints.to_vec(), first.floats.to_vec());
        if first.rank != Rank::SHARED {
            begin(&rules, first.rank.0, &mut ints, &mut floats);
        }
        Some(Shared { id: first.id, extra: first.extra, ints, floats, ranks: 1, rules })
    }

    /// Takes in the record of another rank.
    pub fn add(&mut self, record: &Counters<'_>) {
        let (count, times) = (self.ints.len(), self.floats.len());
        if (count, times) != (record.ints.len(), record.floats.len()) {
            return;
        }
        let (mut ints, mut floats) = ([0; INTS], [0.0; FLOATS]);
        ints[..count].copy_from_slice(record.ints);
        floats[..times].copy_from_slice(record.floats);
        if record.rank != Rank::SHARED {
            begin(&self.rules, record.rank.0, &mut ints, &mut floats);
        }
        let other = Side { ints: &ints[..count], floats: &floats[..times], ranks: 1 };
        let mut sum = Sum { ints: &mut self.ints, floats: &mut self.floats, ranks: self.ranks };
        join(&self.rules, &mut sum, &other);
        self.ranks = sum.ranks;
        self.extra = record.extra;
    }

    /// The record so far.
    #[must_use]
    pub fn record(&self) -> Counters<'_> {
        let Shared { id, extra, ints, floats, .. } = self;
        Counters { id: *id, rank: Rank::SHARED, ints, floats, extra: *extra }
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
