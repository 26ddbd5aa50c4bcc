//! Durations of calls, counted by size: percentiles without keeping every call.
//!
//! Four buckets an octave from 64 ns to four minutes, so that a percentile is right to within a tenth.

use netra_event::Nanos;

/// Buckets an octave, as a power of two.
const FINE: u32 = 2;
/// Everything shorter is in the first bucket: 2^6 ns.
const FIRST: u32 = 6;
/// Everything longer is in the last: 2^38 ns, four and a half minutes.
const LAST: u32 = 38;
const BUCKETS: usize = ((LAST - FIRST) << FINE) as usize;

/// How many calls took how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    counts: [u32; BUCKETS],
    total: u64,
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { counts: [0; BUCKETS], total: 0 }
    }
}

impl Latency {
    /// A call.
    pub fn add(&mut self, took: u64) {
        let at = bucket(took);
        self.counts[at] = self.counts[at].saturating_add(1);
        self.total += 1;
    }

    /// Takes another's calls in.
    pub fn fold(&mut self, other: &Latency) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total += other.total;
    }

    /// Calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.total
    }

    /// The duration that this share of calls does not exceed; nothing without calls.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Nanos> {
        let wanted = (share.clamp(0.0, 1.0) * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += u64::from(count);
            if seen >= wanted {
                return Some(Nanos(middle(at)));
            }
        }
        None
    }
}

fn bucket(took: u64) -> usize {
    let octave = took.max(1).ilog2();
    if octave < FIRST {
        return 0;
    }
    if octave >= LAST {
        return BUCKETS - 1;
    }
    let fine = (took >> (octave - FINE)) & ((1 << FINE) - 1);
    (((octave - FIRST) << FINE) as usize) + fine as usize
}

/// The middle of a bucket.
fn middle(at: usize) -> u64 {
    let octave = FIRST + (at >> FINE) as u32;
    let (step, fine) = (1u64 << (octave - FINE), (at & ((1 << FINE) - 1)) as u64);
    (1u64 << octave) + fine * step + step / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_a_tenth() {
        let mut latency = Latency::default();
        for took in 1..=1000u64 {
            latency.add(took * 1000);
        }
        for (share, exact) in [(0.5, 500_000.0), (0.95, 950_000.0), (0.99, 990_000.0)] {
            let Nanos(found) = latency.percentile(share).unwrap();
            assert!((found as f64 / exact - 1.0).abs() < 0.125, "{share}: {found}");
        }
        assert_eq!(latency.calls(), 1000);
    }

    #[test]
    fn every_duration_has_its_bucket() {
        let mut before = 0;
        for shift in 0..64 {
            for took in [1u64 << shift, (1u64 << shift) + (1u64 << shift) / 2] {
                let at = bucket(took);
                assert!(at >= before && at < BUCKETS, "{took}");
                before = at;
            }
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
        assert_eq!(Latency::default().percentile(0.5), None);
    }

    #[test]
    fn folding_adds_up() {
        let (mut a, mut b) = (Latency::default(), Latency::default());
        a.add(100);
        b.add(1 << 30);
        b.add(1 << 30);
        a.fold(&b);
        assert_eq!(a.calls(), 3);
        assert!(a.percentile(0.3).unwrap() < Nanos(1000));
        assert!(a.percentile(0.9).unwrap() > Nanos(1 << 29));
    }
}
