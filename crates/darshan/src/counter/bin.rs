//! Size bins: the ten classes of transfer size that every `SIZE_*` family of counters has.

/// The largest size of each bin but the last, which has no bound.
pub const UPPER: [u64; 9] =
    [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30];

/// Bins of a family.
pub const COUNT: usize = UPPER.len() + 1;

/// The bin a size falls into, to be added to the index of a family's first counter.
#[must_use]
pub const fn of(size: u64) -> usize {
    let mut bin = 0;
    while bin < UPPER.len() && size > UPPER[bin] {
        bin += 1;
    }
    bin
}

#[cfg(test)]
mod tests {
    use super::{COUNT, UPPER, of};

    #[test]
    fn upper_bounds_belong_to_their_bin() {
        assert_eq!(of(0), 0);
        for (bin, &upper) in UPPER.iter().enumerate() {
            assert_eq!(of(upper), bin);
            assert_eq!(of(upper + 1), bin + 1);
        }
        assert_eq!(of(u64::MAX), COUNT - 1);
    }
}
