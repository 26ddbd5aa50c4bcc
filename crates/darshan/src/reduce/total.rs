//! The total over all records of a module, by the rules of `darshan-parser --total`.
//!
//! Some of those rules are odd (common values are not put in order again after their counts have
//! grown, and modules differ in what they do with "not monitored"); they are kept, because people
//! compare the numbers.

use super::rule::{Common, Float, Int, Ranking, Rules};
use crate::read::Counters;
use netra_event::{Module, Rank, RecordId};

/// A running total.
#[derive(Debug, Clone)]
pub struct Total {
    module: Module,
    rules: Rules,
    ints: Vec<i64>,
    floats: Vec<f64>,
    /// The record that all records so far belong to; none before the first, 0 once they differ.
    id: Option<RecordId>,
}

impl Total {
    /// An empty total, for modules that Darshan makes totals of.
    #[must_use]
    pub fn new(module: Module) -> Option<Total> {
        let known = [Module::Posix, Module::Mpiio, Module::Stdio, Module::Dfs, Module::Daos];
        let rules = known.contains(&module).then(|| Rules::of(module))??;
        Some(Total {
            module,
            ints: vec![0; rules.ints.len()],
            floats: vec![0.0; rules.floats.len()],
            rules,
            id: None,
        })
    }

    /// The totals of whole numbers, in the order of the module's counters.
    #[must_use]
    pub fn ints(&self) -> &[i64] {
        &self.ints
    }

    /// The totals of floats.
    #[must_use]
    pub fn floats(&self) -> &[f64] {
        &self.floats
    }

    /// Takes in a record.
    pub fn add(&mut self, record: &Counters<'_>) {
        let first = self.id.is_none();
        let same = *self.id.get_or_insert(record.id) == record.id;
        if !same {
            self.id = Some(RecordId(0));
        }
        self.add_ints(record.ints);
        for index in 0..self.rules.commons.len() {
            let common = self.rules.commons[index];
            // A module's own habit: no first value, nothing to look at.
            if self.module != Module::Mpiio || record.ints[common.values] != 0 {
                merge_common(&mut self.ints, record.ints, common);
            }
        }
        self.add_floats(record);
        if let Some(ranking) = self.rules.ranking {
            self.rank(&ranking, &Side::of(record, &ranking), first, same);
        }
    }

    fn add_ints(&mut self, ints: &[i64]) {
        let clamped = !matches!(self.module, Module::Mpiio | Module::Stdio);
        for ((total, &value), rule) in self.ints.iter_mut().zip(ints).zip(self.rules.ints.iter()) {
            match rule {
                Int::Sum | Int::Any => {
                    *total = total.wrapping_add(value);
                    if clamped && *total < 0 {
                        *total = -1;
                    }
                }
                Int::Max => *total = value.max(*total),
                Int::Last => *total = value,
                Int::Along | Int::Unused => {}
            }
        }
    }

    fn add_floats(&mut self, record: &Counters<'_>) {
        let floats = self.floats.iter_mut().zip(record.floats).zip(self.rules.floats.iter());
        for ((total, &value), rule) in floats {
            match *rule {
                Float::Sum => *total += value,
                Float::Earliest if value > 0.0 && (*total == 0.0 || value < *total) => {
                    *total = value;
                }
                Float::Latest if value > *total => *total = value,
                Float::Longest { size } if value > *total => {
                    *total = value;
                    self.ints[size] = record.ints[size];
                }
                _ => {}
            }
        }
    }

    fn rank(&mut self, at: &Ranking, side: &Side, first: bool, same: bool) {
        let Total { ints, floats, .. } = self;
        if !same {
            for index in [at.fastest, at.fastest_bytes, at.slowest, at.slowest_bytes] {
                ints[index] = -1;
            }
            floats[at.fastest_time] = 0.0;
            floats[at.slowest_time] = 0.0;
            return;
        }
        if first || side.fastest.2 < floats[at.fastest_time] {
            (ints[at.fastest], ints[at.fastest_bytes], floats[at.fastest_time]) = side.fastest;
        }
        if first || side.slowest.2 > floats[at.slowest_time] {
            (ints[at.slowest], ints[at.slowest_bytes], floats[at.slowest_time]) = side.slowest;
        }
    }
}

/// What a record says about fast and slow ranks: rank, bytes, time.
pub(super) struct Side {
    pub(super) fastest: (i64, i64, f64),
    pub(super) slowest: (i64, i64, f64),
}

impl Side {
    pub(super) fn of(record: &Counters<'_>, at: &Ranking) -> Side {
        let (ints, floats) = (record.ints, record.floats);
        if record.rank == Rank::SHARED {
            return Side {
                fastest: (ints[at.fastest], ints[at.fastest_bytes], floats[at.fastest_time]),
                slowest: (ints[at.slowest], ints[at.slowest_bytes], floats[at.slowest_time]),
            };
        }
        let bytes = ints[at.bytes_read].wrapping_add(ints[at.bytes_written]);
        let time = floats[at.read_time] + floats[at.write_time] + floats[at.meta_time];
        let own = (record.rank.0, bytes, time);
        Side { fastest: own, slowest: own }
    }
}

/// First every value that is already there adds its count; then the others are put in before the
/// first slot that is not larger.
fn merge_common(total: &mut [i64], record: &[i64], common: Common) {
    let Common { values, counts, .. } = common;
    let mut known = [false; 4];
    for (slot, known) in known.iter_mut().enumerate() {
        for mine in 0..4 {
            if total[values + mine] == record[values + slot] {
                let count = &mut total[counts + mine];
                *count = count.wrapping_add(record[counts + slot]);
                *known = true;
            }
        }
    }
    for slot in (0..4).filter(|&slot| !known[slot]) {
        let (value, count) = (record[values + slot], record[counts + slot]);
        let place =
            (0..4).find(|&mine| (total[counts + mine], total[values + mine]) <= (count, value));
        let Some(place) = place.filter(|_| value != 0) else { break };
        total[values + place..values + 4].rotate_right(1);
        total[counts + place..counts + 4].rotate_right(1);
        total[values + place] = value;
        total[counts + place] = count;
    }
}
