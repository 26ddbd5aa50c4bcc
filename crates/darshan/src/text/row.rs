//! The columns of a trace's line, filled in where they stand: nearly all numbers fit, and there are
//! millions of lines.

use super::number::PAIRS;

/// Module, rank, direction, segment, offset, length, start, end and two spaces.
pub(super) const WIDTH: usize = 90;

/// Where the columns end.
const SEGMENT: usize = 32;
const OFFSET: usize = 48;
const LENGTH: usize = 64;
const START: usize = 76;
const END: usize = 88;

/// The numbers of a line, if each fits into its column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    segment: u64,
    offset: u64,
    length: u64,
    start: u64,
    end: u64,
}

impl Row {
    /// Nothing where a number is too wide, is negative, or is hard to round.
    #[inline]
    pub(super) fn new(
        segment: u64,
        (offset, length): (i64, i64),
        (start, end): (f64, f64),
    ) -> Option<Row> {
        const COLUMN: u64 = 1_000_000_000_000_000;
        let (offset, length) = (offset.cast_unsigned(), length.cast_unsigned());
        if segment >= 100_000_000 || offset >= COLUMN || length >= COLUMN {
            return None;
        }
        Some(Row {
            segment,
            offset,
            length,
            start: ten_thousandths(start)?,
            end: ten_thousandths(end)?,
        })
    }

    /// Fills a line that has spaces where the numbers go.
    #[inline]
    pub(super) fn fill(&self, line: &mut [u8; WIDTH]) {
        put(line, SEGMENT, self.segment);
        put(line, OFFSET, self.offset);
        put(line, LENGTH, self.length);
        put_decimal(line, START, self.start);
        put_decimal(line, END, self.end);
    }
}

/// A time in units of its last decimal, rounded as exact arithmetic would. The product is off by less
/// than a thousandth, so only what is that close to a tie must be looked at exactly.
#[inline]
fn ten_thousandths(time: f64) -> Option<u64> {
    const LARGEST: f64 = 1e6;
    // The sign of −0 is printed, so it is not for here either.
    if !(time.is_sign_positive() && time < LARGEST) {
        return None;
    }
    let scaled = time * 1e4;
    let whole = scaled as u64;
    match scaled - whole as f64 {
        rest if rest < 0.499 => Some(whole),
        rest if rest > 0.501 => Some(whole + 1),
        _ => None,
    }
}

/// Writes a number that ends at `end`.
#[inline]
fn put(line: &mut [u8; WIDTH], mut end: usize, mut number: u64) {
    while number >= 100 {
        pair(line, end, number % 100);
        number /= 100;
        end -= 2;
    }
    if number >= 10 {
        pair(line, end, number);
    } else {
        line[end - 1] = b'0' + number as u8;
    }
}

#[inline]
fn put_decimal(line: &mut [u8; WIDTH], end: usize, number: u64) {
    let (whole, rest) = (number / 10_000, number % 10_000);
    pair(line, end, rest % 100);
    pair(line, end - 2, rest / 100);
    line[end - 5] = b'.';
    put(line, end - 5, whole);
}

#[inline]
fn pair(line: &mut [u8; WIDTH], end: usize, pair: u64) {
    let at = 2 * pair as usize;
    line[end - 2..end].copy_from_slice(&PAIRS[at..at + 2]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the formatting of the standard library makes of the same numbers.
    fn slow(segment: u64, offset: i64, length: i64, start: f64, end: f64) -> String {
        format!("{:23}{segment:9}{offset:16}{length:16}{start:12.4}{end:12.4}  ", "")
    }

    fn fast(segment: u64, offset: i64, length: i64, start: f64, end: f64) -> Option<String> {
        let mut line = [b' '; WIDTH];
        Row::new(segment, (offset, length), (start, end))?.fill(&mut line);
        Some(String::from_utf8(line.to_vec()).expect("digits"))
    }

    #[test]
    fn what_does_not_fit_is_left_to_others() {
        assert_eq!(fast(0, -1, 0, 0.0, 0.0), None);
        assert_eq!(fast(0, 0, 1_000_000_000_000_000, 0.0, 0.0), None);
        assert_eq!(fast(0, 0, 0, -0.0, 0.0), None);
        assert_eq!(fast(0, 0, 0, 0.0, f64::NAN), None);
        assert_eq!(fast(0, 0, 0, 0.0, 1e6), None);
        assert_eq!(fast(0, 0, 0, 0.000_05, 0.0), None);
        assert_eq!(fast(100_000_000, 0, 0, 0.0, 0.0), None);
    }

    #[test]
    fn the_widest_numbers_fit() {
        let (segment, number, time) = (99_999_999, 999_999_999_999_999, 999_999.999_9);
        let line = fast(segment, number, number, time, time).expect("fits");
        assert_eq!(line, slow(segment, number, number, time, time));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn whatever_fits_is_exact(
            segment in 0u64..100_000_000,
            offset in 0i64..1_000_000_000_000_000,
            length in 0i64..1 << 30,
            start in 0.0..1e6f64,
            end in 0.0..10.0f64,
        ) {
            if let Some(line) = fast(segment, offset, length, start, end) {
                prop_assert_eq!(line, slow(segment, offset, length, start, end));
            }
        }
    }
}
