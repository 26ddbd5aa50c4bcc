//! Sorting many things by a number, digit by digit: where comparing would be most of the work.

/// Bits of a digit.
const DIGIT: u32 = 11;
/// Fewer are sorted by comparing them.
const FEW: usize = 512;

/// Sorts by a number; those that have the same stay in their order.
pub(super) fn sort_by_key<T: Copy>(items: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    let Some(first) = items.first().map(&key) else { return };
    if items.len() < FEW {
        items.sort_by_key(key);
        return;
    }
    // Digits in which all are alike need no look.
    let (mut differing, mut last, mut is_sorted) = (0, first, true);
    for item in items.iter() {
        let number = key(item);
        differing |= number ^ first;
        is_sorted &= last <= number;
        last = number;
    }
    if is_sorted {
        return;
    }
    let mut sorted = items.clone();
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
        let digit = |number: u64| (number >> shift) as usize % (1 << DIGIT);
        if digit(differing) == 0 {
            continue;
        }
        let mut places = [0_usize; 1 << DIGIT];
        items.iter().for_each(|item| places[digit(key(item))] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for item in items.iter() {
            let place = &mut places[digit(key(item))];
            sorted[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::sort_by_key;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn agrees_with_comparing(
            numbers in proptest::collection::vec(prop_oneof![0..9_u64, any::<u64>(), Just(u64::MAX)], 0..3000),
            shift in 0..60_u32,
        ) {
            let mut items: Vec<(u64, usize)> =
                numbers.into_iter().map(|number| number >> shift).zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut items, |item| item.0);
            prop_assert_eq!(items, expected);
        }
    }
}
