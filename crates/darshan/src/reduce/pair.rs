//! Records as their bytes lie in a log, joined two by two: what ranks do with each other's records, without
//! memory of their own.

use super::join::{Side, Sum, begin, join};
use super::rule::{FLOATS, INTS, Rules};
use crate::counter;
use crate::record::{BASE, Layout, layout, put};
use netra_event::{Module, Rank};

/// How the records of a module are joined.
pub struct Pair {
    rules: Rules,
    layout: Layout,
}

/// A record's numbers.
struct Numbers {
    ints: [i64; INTS],
    floats: [f64; FLOATS],
}

impl Pair {
    /// For modules whose records are counters, as netra writes them.
    #[must_use]
    pub fn of(module: Module) -> Option<Pair> {
        if matches!(module, Module::Null | Module::Bgq | Module::Dfs | Module::Daos) {
            return None;
        }
        let layout = layout(module, counter::version(module))?;
        Some(Pair { rules: Rules::of(module)?, layout })
    }

    /// Bytes of a record.
    #[must_use]
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Makes the record of one rank ready to be joined, as one of rank −1.
    pub fn begin(&self, record: &mut [u8], rank: Rank) {
        let mut numbers = self.read(record);
        let Numbers { ints, floats } = &mut numbers;
        begin(&self.rules, rank.0, ints, floats);
        self.write(record, &numbers);
        put(record, 8, Rank::SHARED.0.cast_unsigned());
    }

    /// Joins a record of `ranks` ranks with one of `others` higher ranks; both have begun.
    pub fn join(&self, record: &mut [u8], ranks: u64, other: &[u8], others: u64) {
        let (mut numbers, other_numbers) = (self.read(record), self.read(other));
        let Numbers { ints, floats } = &mut numbers;
        let (own_ints, own_floats) = (self.layout.ints.min(INTS), self.layout.floats.min(FLOATS));
        let mut sum = Sum {
            ints: ints.get_mut(..own_ints).unwrap_or_default(),
            floats: floats.get_mut(..own_floats).unwrap_or_default(),
            ranks,
        };
        let side = Side {
            ints: other_numbers.ints.get(..own_ints).unwrap_or_default(),
            floats: other_numbers.floats.get(..own_floats).unwrap_or_default(),
            ranks: others,
        };
        join(&self.rules, &mut sum, &side);
        self.write(record, &numbers);
        // Which file a data set belongs to: the higher rank's word.
        let head = BASE..BASE.saturating_add(self.layout.head);
        if let (Some(to), Some(from)) = (record.get_mut(head.clone()), other.get(head)) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
        }
    }

    fn read(&self, record: &[u8]) -> Numbers {
        let mut numbers = Numbers { ints: [0; INTS], floats: [0.0; FLOATS] };
        let from = BASE.saturating_add(self.layout.head);
        let mut words = record.get(from..).unwrap_or_default().as_chunks::<8>().0.iter();
        for (to, from) in numbers.ints.iter_mut().take(self.layout.ints).zip(&mut words) {
            *to = i64::from_le_bytes(*from);
        }
        for (to, from) in numbers.floats.iter_mut().take(self.layout.floats).zip(&mut words) {
            *to = f64::from_le_bytes(*from);
        }
        numbers
    }

    fn write(&self, record: &mut [u8], numbers: &Numbers) {
        let from = BASE.saturating_add(self.layout.head);
        let mut words =
            record.get_mut(from..).unwrap_or_default().as_chunks_mut::<8>().0.iter_mut();
        for (from, to) in numbers.ints.iter().take(self.layout.ints).zip(&mut words) {
            *to = from.to_le_bytes();
        }
        for (from, to) in numbers.floats.iter().take(self.layout.floats).zip(&mut words) {
            *to = from.to_le_bytes();
        }
    }
}
