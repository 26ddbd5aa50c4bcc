//! The spread over ranks: median, and who stands out.

use netra_event::Rank;

use crate::Thresholds;

/// The middle value; of an even number the mean of the two in the middle. Leaves the values in another order.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut middle, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    let before = below.iter().copied().max_by(f64::total_cmp);
    Some(before.filter(|_| !is_odd).map_or(middle, |before| (before + middle) / 2.0))
}

/// A rank that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Straggler {
    /// Which.
    pub rank: Rank,
    /// Its seconds.
    pub seconds: f64,
    /// Seconds beyond the median.
    pub beyond: f64,
}

/// The ranks whose time is far beyond the median, slowest first.
///
/// Far is measured in median absolute deviations, which a few stragglers cannot move and which do
/// not depend on the number of ranks; a floor in seconds and a ratio to the median keep small
/// differences among equals out.
#[must_use]
pub fn stragglers(times: &[(Rank, f64)], limit: &Thresholds) -> Vec<Straggler> {
    let mut values: Vec<f64> = times.iter().map(|time| time.1).collect();
    let Some(middle) = median(&mut values) else { return Vec::new() };
    values.iter_mut().for_each(|value| *value = (*value - middle).abs());
    let deviation = median(&mut values).unwrap_or(0.0) * GAUSS;
    let beyond = (limit.straggler_deviations.0 * deviation)
        .max(limit.straggler_seconds.0)
        .max(limit.straggler_ratio.0 * middle);
    let mut found: Vec<Straggler> = times
        .iter()
        .map(|&(rank, seconds)| Straggler { rank, seconds, beyond: seconds - middle })
        .filter(|straggler| straggler.beyond > beyond)
        .collect();
    found.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.rank.cmp(&b.rank)));
    found
}

/// Makes the median absolute deviation of a normal distribution its standard deviation.
const GAUSS: f64 = 1.4826;

#[cfg(test)]
mod tests {
    use super::{GAUSS, median, stragglers};
    use crate::Thresholds;
    use netra_event::Rank;
    use proptest::prelude::*;

    /// The median by counting: no value may have more than half of the others on either side.
    fn counted(values: &[f64]) -> f64 {
        let mut picked = Vec::new();
        for &value in values {
            let below = values.iter().filter(|other| **other < value).count();
            let above = values.iter().filter(|other| **other > value).count();
            let half = values.len() / 2;
            if below <= half && above <= half {
                picked.push(value);
            }
        }
        // Of an even number both middle values qualify, perhaps several times each.
        let low = picked.iter().copied().fold(f64::INFINITY, f64::min);
        let high = picked.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low + high) / 2.0
    }

    proptest! {
        #[test]
        fn agrees_with_counting(times in prop::collection::vec(0u32..200, 1..40)) {
            let times: Vec<f64> = times.into_iter().map(f64::from).collect();
            let middle = counted(&times);
            prop_assert_eq!(median(&mut times.clone()), Some(middle));
            let deviations: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
            let limit = Thresholds::default();
            let far = (limit.straggler_deviations.0 * GAUSS * counted(&deviations))
                .max(limit.straggler_seconds.0)
                .max(limit.straggler_ratio.0 * middle);
            let ranked: Vec<(Rank, f64)> = (0..).map(Rank).zip(times.iter().copied()).collect();
            let mut want: Vec<Rank> =
                ranked.iter().filter(|time| time.1 - middle > far).map(|time| time.0).collect();
            let mut got: Vec<Rank> = stragglers(&ranked, &limit).iter().map(|one| one.rank).collect();
            got.sort();
            want.sort();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn does_not_depend_on_the_number_of_ranks() {
        let limit = Thresholds::default();
        for ranks in [8, 512, 65_536] {
            let mut times: Vec<(Rank, f64)> = (0..ranks).map(|rank| (Rank(rank), 10.0)).collect();
            times[3].1 = 40.0;
            let found = stragglers(&times, &limit);
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].rank, found[0].beyond), (Rank(3), 30.0));
        }
    }

    #[test]
    fn small_differences_among_equals_are_none() {
        let times: Vec<(Rank, f64)> =
            (0..64).map(|rank| (Rank(rank), if rank == 9 { 0.09 } else { 0.01 })).collect();
        assert_eq!(stragglers(&times, &Thresholds::default()), []);
    }
}
