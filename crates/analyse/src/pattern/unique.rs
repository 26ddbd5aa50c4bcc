//! How many different bytes calls cover.

use super::traced::Rows;

/// The bytes in the union of all ranges. Sorts.
pub(super) fn covered(rows: &mut Rows<'_>) -> u64 {
    rows.sort_by_key(|row| row.offset);
    let mut covered = 0;
    let mut until = 0;
    for row in rows.iter() {
        covered += row.stop().saturating_sub(row.offset.max(until));
        until = until.max(row.stop());
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::covered;
    use crate::pattern::random;
    use crate::pattern::traced::Rows;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_marking_bytes(trace in random::trace()) {
            let within = |byte: &u64| trace.rows().any(|row| (row.offset..row.stop()).contains(byte));
            let marked = (0..100).filter(within).count() as u64;
            let mut numbers: Vec<u32> = (0..trace.len() as u32).collect();
            prop_assert_eq!(covered(&mut Rows { trace: &trace, numbers: &mut numbers }), marked);
        }
    }
}
