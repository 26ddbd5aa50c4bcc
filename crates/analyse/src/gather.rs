//! Records of data sets and variables, added up by file and rank while they are read.
//!
//! A file may hold thousands of data sets, each with a record of every rank; nothing here tells the data sets of a file
//! apart. Sums are the same in whatever order records come: times are added as whole numbers, and sizes are all kept
//! until the most common ones are known. Records that were summed over ranks stay as they are, because each knows
//! its own fastest and slowest rank.

use std::collections::BTreeMap;

use netra_event::{Rank, RecordId};

use crate::Usage;

/// Adds up records of one layer.
#[derive(Debug, Default)]
pub struct Gather {
    sums: BTreeMap<(RecordId, Rank), Sum>,
    /// Summed over ranks, each with the number of its record.
    shared: Vec<(RecordId, Usage)>,
}

/// All records of one rank about one file.
#[derive(Debug)]
struct Sum {
    usage: Usage,
    /// Reading, writing and metadata.
    seconds: [u128; 3],
    common: BTreeMap<u64, u64>,
    strides: BTreeMap<u64, u64>,
}

/// Parts of a second that times are added in: a power of two, so that a time is multiplied exactly.
const PARTS: f64 = (1_u64 << 60) as f64;

impl Gather {
    /// Adds a record, which has this number.
    pub fn add(&mut self, record: RecordId, usage: Usage) {
        if usage.rank.is_shared() {
            self.shared.push((record, usage));
            return;
        }
        match self.sums.get_mut(&(usage.file, usage.rank)) {
            Some(sum) => sum.add(&usage),
            None => {
                self.sums.insert((usage.file, usage.rank), Sum::of(usage));
            }
        }
    }

    /// The sums by file and rank, and behind them the records that are sums already, by their numbers.
    #[must_use]
    pub fn finish(mut self) -> Vec<Usage> {
        self.shared.sort_by_key(|(record, _)| *record);
        let sums = self.sums.into_values().map(Sum::finish);
        sums.chain(self.shared.into_iter().map(|(_, usage)| usage)).collect()
    }
}

impl Sum {
    fn of(usage: Usage) -> Sum {
        let (seconds, common) = (times(&usage), tally(&usage.common));
        Sum { seconds, common, strides: tally(&usage.strides), usage }
    }

    fn add(&mut self, other: &Usage) {
        self.seconds.iter_mut().zip(times(other)).for_each(|(sum, time)| *sum += time);
        count(&mut self.common, &other.common);
        count(&mut self.strides, &other.strides);
        self.usage.absorb_counts(other);
    }

    fn finish(self) -> Usage {
        let Sum { mut usage, seconds, common, strides } = self;
        let [read, write, meta] = seconds.map(|parts| parts as f64 / PARTS);
        (usage.read.seconds, usage.write.seconds, usage.meta) = (read, write, meta);
        (usage.common, usage.strides) = (most(common), most(strides));
        usage
    }
}

/// Times are finite and not negative: those that were not count as zero.
fn times(usage: &Usage) -> [u128; 3] {
    [usage.read.seconds, usage.write.seconds, usage.meta].map(|time| (time * PARTS) as u128)
}

fn tally(values: &[(u64, u64); 4]) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    count(&mut all, values);
    all
}

fn count(all: &mut BTreeMap<u64, u64>, values: &[(u64, u64); 4]) {
    for &(value, count) in values.iter().filter(|value| value.1 > 0) {
        *all.entry(value).or_default() += count;
    }
}

/// The four most common; ties go to the larger value.
fn most(all: BTreeMap<u64, u64>) -> [(u64, u64); 4] {
    let mut all: Vec<(u64, u64)> = all.into_iter().collect();
    all.sort_unstable_by_key(|&(value, count)| std::cmp::Reverse((count, value)));
    all.resize(4, (0, 0));
    [all[0], all[1], all[2], all[3]]
}

#[cfg(test)]
mod tests {
    use super::Gather;
    use crate::{Layer, Usage};
    use netra_event::{Rank, RecordId};

    /// A record of a data set, with numbers that follow from its own.
    fn record(number: u64) -> (RecordId, Usage) {
        let rank = Rank((number % 3).cast_signed() - 1);
        let mut usage = Usage::new(Layer::H5d, RecordId(number / 7), rank);
        usage.write.calls = number + 1;
        usage.write.bytes = 100 * number;
        usage.write.seconds = 0.1 * number as f64;
        (usage.write.longest, usage.write.longest_bytes) = ((number % 4) as f64, number);
        usage.meta = 1.0 / (number + 3) as f64;
        usage.common = [(number % 5, 3), (number % 6 + 10, 2), (0, 0), (0, 0)];
        (RecordId(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)), usage)
    }

    fn gathered(numbers: impl Iterator<Item = u64>) -> Vec<Usage> {
        let mut gather = Gather::default();
        numbers.map(record).for_each(|(id, usage)| gather.add(id, usage));
        gather.finish()
    }

    #[test]
    fn records_of_a_file_and_rank_are_one_whatever_their_order() {
        let all = gathered(0..70);
        // Ten files, of which each has two ranks of its own and records that are sums.
        let own = all.iter().filter(|usage| !usage.rank.is_shared()).count();
        assert_eq!((own, all.len() - own), (20, (0..70).filter(|n| n % 3 == 0).count()));
        assert_eq!(gathered((0..70).rev()), all);
        assert_eq!(gathered((0..70).map(|n| n * 27 % 70)), all);
        let first = &all[0];
        let mine = || (0..7).filter(|n| n % 3 == 1);
        assert_eq!((first.file, first.rank), (RecordId(0), Rank(0)));
        assert_eq!(first.write.calls, mine().map(|n| n + 1).sum::<u64>());
        assert_eq!(first.write.bytes, mine().map(|n| 100 * n).sum::<u64>());
        assert!((first.write.seconds - 0.5).abs() < 1e-12);
        assert_eq!(first.common, [(4, 3), (1, 3), (14, 2), (11, 2)]);
    }

    #[test]
    fn what_stands_alone_stays_as_it_is() {
        let (id, usage) = record(5);
        let mut gather = Gather::default();
        gather.add(id, usage.clone());
        let [one] = &gather.finish()[..] else { panic!("one record") };
        assert_eq!((one.write, one.file, one.rank), (usage.write, usage.file, usage.rank));
        assert!((one.meta - usage.meta).abs() < 1e-15);
    }
}
