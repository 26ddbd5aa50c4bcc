//! How many different bytes a set of ranges covers.

/// Sorts ranges by their start and counts the bytes in their union.
pub(super) fn covered(ranges: &mut [(u64, u64)]) -> u64 {
    ranges.sort_unstable();
    let mut covered = 0;
    let mut until = 0;
    for &(start, stop) in ranges.iter() {
        covered += stop.saturating_sub(start.max(until));
        until = until.max(stop);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::covered;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_marking_bytes(ranges in prop::collection::vec((0u64..64, 0u64..16), 0..20)) {
            let mut ranges: Vec<(u64, u64)> = ranges.into_iter().map(|(at, length)| (at, at + length)).collect();
            let marked = (0..80).filter(|byte| ranges.iter().any(|(start, stop)| (start..stop).contains(&byte)));
            let marked = marked.count() as u64;
            prop_assert_eq!(covered(&mut ranges), marked);
        }
    }
}
