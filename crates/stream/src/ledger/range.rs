//! Which indices of a row have come: ranges, in order, with gaps between them.

use crate::pack::{Malformed, Packer, Unpacker};

/// Gaps that are remembered; beyond that the oldest is taken as filled, and counted as forgotten.
const GAPS: usize = 1024;

/// Ranges of indices, each `from .. to`, in order, that do not touch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranges {
    held: Vec<(u64, u64)>,
    forgotten: u64,
}

impl Ranges {
    /// Where the first hole of these indices begins and ends; none if all have come.
    #[must_use]
    pub fn missing(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let mut at = from;
        for &(begin, end) in &self.held {
            if begin > at {
                return (at < to).then_some((at, begin.min(to)));
            }
            at = at.max(end);
        }
        (at < to).then_some((at, to))
    }

    /// These have come.
    pub fn add(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let first = self.held.partition_point(|&(_, end)| end < from);
        let after = self.held.partition_point(|&(begin, _)| begin <= to);
        if first < after {
            let from = from.min(self.held[first].0);
            let to = to.max(self.held[after - 1].1);
            self.held.splice(first..after, [(from, to)]);
        } else {
            self.held.insert(first, (from, to));
        }
        if self.held.len() > GAPS {
            let (begin, end) = self.held.remove(0);
            self.forgotten += self.held[0].0 - end;
            self.held[0].0 = begin;
        }
    }

    /// The index behind the last that came.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.held.last().map_or(0, |&(_, end)| end)
    }

    /// The first index that has not come.
    #[must_use]
    pub fn first_missing(&self) -> u64 {
        self.held.first().map_or(0, |&(begin, end)| if begin == 0 { end } else { 0 })
    }

    /// How many have not come though later ones have.
    #[must_use]
    pub fn gaps(&self) -> u64 {
        let held: u64 = self.held.iter().map(|(from, to)| to - from).sum();
        self.end() - held
    }

    pub(super) fn pack(&self, packer: &mut Packer) {
        packer.long(self.forgotten).count(self.held.len());
        for &(from, to) in &self.held {
            packer.long(from).long(to);
        }
    }

    pub(super) fn unpack(unpacker: &mut Unpacker<'_>) -> Result<Ranges, Malformed> {
        let mut ranges = Ranges { held: Vec::new(), forgotten: unpacker.long()? };
        for _ in 0..unpacker.count(16)? {
            let (from, to) = (unpacker.long()?, unpacker.long()?);
            if from >= to || ranges.held.last().is_some_and(|&(_, end)| end >= from) {
                return Err(unpacker.malformed("ranges out of order"));
            }
            ranges.held.push((from, to));
        }
        Ok(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_say_what_a_set_says() {
        let mut state = 7_u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for _ in 0..20 {
                let from = random(50);
                let to = from + random(8);
                let hole = (from..to).find(|index| !set.contains(index));
                assert_eq!(ranges.missing(from, to).map(|hole| hole.0), hole);
                ranges.add(from, to);
                set.extend(from..to);
                let end = set.last().map_or(0, |last| last + 1);
                assert_eq!(ranges.end(), end);
                assert_eq!(ranges.gaps(), end - set.len() as u64);
                let first = (0..).find(|index| !set.contains(index)).unwrap();
                assert_eq!(ranges.first_missing(), first);
            }
            let mut packer = Packer::default();
            ranges.pack(&mut packer);
            assert_eq!(Ranges::unpack(&mut Unpacker::new(&packer.bytes)), Ok(ranges));
        }
    }

    #[test]
    fn memory_for_gaps_is_bounded() {
        let mut ranges = Ranges::default();
        for index in 0..GAPS as u64 + 10 {
            ranges.add(index * 2, index * 2 + 1);
        }
        assert_eq!((ranges.held.len(), ranges.forgotten), (GAPS, 10));
        assert_eq!(ranges.missing(0, 20), None);
    }
}
