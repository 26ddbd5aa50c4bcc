//! Numbers as C's `printf` writes them, fast. Decimals are exact: a double is a whole number times a
//! power of two, so its decimals can be computed in 128 bits and rounded once, half to even.

/// A written number.
#[derive(Debug, Clone, Copy)]
pub struct Digits {
    bytes: [u8; Digits::ROOM],
    start: usize,
}

impl Digits {
    const ROOM: usize = 40;

    fn new() -> Digits {
        Digits { bytes: [0; Digits::ROOM], start: Digits::ROOM }
    }

    /// The characters.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn put(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    fn put_number(&mut self, mut number: u64) {
        while number >= 100 {
            self.put_pair(number % 100);
            number /= 100;
        }
        if number >= 10 {
            self.put_pair(number);
        } else {
            self.put(b'0' + number as u8);
        }
    }

    /// Exactly this many digits, with zeros in front.
    fn put_padded(&mut self, mut number: u64, digits: u32) {
        let mut left = digits;
        while left >= 2 {
            self.put_pair(number % 100);
            number /= 100;
            left -= 2;
        }
        if left == 1 {
            self.put(b'0' + (number % 10) as u8);
        }
    }

    fn put_pair(&mut self, pair: u64) {
        let at = 2 * pair as usize;
        self.start -= 2;
        self.bytes[self.start..self.start + 2].copy_from_slice(&PAIRS[at..at + 2]);
    }
}

/// The digits of 00 to 99.
pub(super) const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
};

/// `%lu`.
#[must_use]
pub fn unsigned(number: u64) -> Digits {
    let mut digits = Digits::new();
    digits.put_number(number);
    digits
}

/// `%ld`.
#[must_use]
pub fn signed(number: i64) -> Digits {
    let mut digits = unsigned(number.unsigned_abs());
    if number < 0 {
        digits.put(b'-');
    }
    digits
}

/// Appends `%.<decimals>f`; at most nine decimals.
pub fn push_fixed(text: &mut Vec<u8>, number: f64, decimals: u32) {
    push_padded(text, number, decimals, 0);
}

/// Appends `%<width>.<decimals>f`; at most nine decimals.
pub fn push_padded(text: &mut Vec<u8>, number: f64, decimals: u32, width: usize) {
    if let Some(digits) = fixed(number, decimals) {
        pad(text, digits.as_bytes(), width);
    } else {
        pad(text, rare(number, decimals).as_bytes(), width);
    }
}

/// Appends text, with spaces before it up to a width.
pub fn pad(text: &mut Vec<u8>, what: &[u8], width: usize) {
    let spaces = width.saturating_sub(what.len());
    text.resize(text.len() + spaces, b' ');
    text.extend_from_slice(what);
}

/// Numbers below 2^63; larger ones do not come up as times.
fn fixed(number: f64, decimals: u32) -> Option<Digits> {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    // Value = mantissa × 2^-shift. Without the hidden bit, numbers are too small to show anyway.
    let (mantissa, shift) = match exponent {
        0 => (fraction, 1074),
        0x7ff => return None,
        _ => (fraction | 1 << 52, 1075 - exponent),
    };
    if shift < -10 {
        return None;
    }
    let scale = 10u64.pow(decimals);
    let (whole, decimal) = if shift <= 0 {
        (mantissa << -shift, 0)
    } else if shift >= 127 {
        // Below 2^-74: less than half of the ninth decimal.
        (0, 0)
    } else {
        split(mantissa, shift as u32, scale)
    };
    let mut digits = Digits::new();
    if decimals > 0 {
        digits.put_padded(decimal, decimals);
        digits.put(b'.');
    }
    digits.put_number(whole);
    if number.is_sign_negative() {
        digits.put(b'-');
    }
    Some(digits)
}

/// The whole part and the decimals of `mantissa × 2^-shift`, rounded half to even.
fn split(mantissa: u64, shift: u32, scale: u64) -> (u64, u64) {
    let (whole, rest) = match shift {
        1..64 => (mantissa >> shift, mantissa & ((1 << shift) - 1)),
        _ => (0, mantissa),
    };
    let scaled = u128::from(rest) * u128::from(scale);
    let decimal = (scaled >> shift) as u64;
    let left = scaled & ((1 << shift) - 1);
    let half = 1u128 << (shift - 1);
    // With no decimals to look at, the whole part decides what is even.
    let odd = if scale == 1 { whole } else { decimal } & 1 == 1;
    let decimal = decimal + u64::from(left > half || (left == half && odd));
    if decimal == scale { (whole + 1, 0) } else { (whole, decimal) }
}

/// What is not a number, and what is too large for the fast way.
fn rare(number: f64, decimals: u32) -> String {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_nan() {
        format!("{sign}nan")
    } else if number.is_infinite() {
        format!("{sign}inf")
    } else {
        format!("{number:.0$}", decimals as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(number: f64, decimals: u32) -> String {
        let mut text = Vec::new();
        push_fixed(&mut text, number, decimals);
        String::from_utf8(text).expect("digits")
    }

    #[test]
    fn writes_what_c_writes() {
        assert_eq!(shown(0.0, 6), "0.000000");
        assert_eq!(shown(-0.0, 6), "-0.000000");
        assert_eq!(shown(-1.0, 6), "-1.000000");
        assert_eq!(shown(0.999_999_6, 6), "1.000000");
        assert_eq!(shown(0.000_000_5, 6), "0.000000");
        assert_eq!(shown(0.5, 0), "0");
        assert_eq!(shown(1.5, 0), "2");
        assert_eq!(shown(0.125, 2), "0.12");
        assert_eq!(shown(f64::NAN, 6), "nan");
        assert_eq!(shown(-f64::NAN, 6), "-nan");
        assert_eq!(shown(f64::NEG_INFINITY, 4), "-inf");
        assert_eq!(shown(1e300, 1), format!("{:.1}", 1e300));
        let mut text = b"x".to_vec();
        push_padded(&mut text, -2.5, 4, 12);
        assert_eq!(text, b"x     -2.5000");
    }

    #[test]
    fn whole_numbers() {
        for number in [0, 7, 10, 99, 100, 12_345, i64::MAX, i64::MIN, -1] {
            assert_eq!(signed(number).as_bytes(), number.to_string().as_bytes());
        }
        assert_eq!(unsigned(u64::MAX).as_bytes(), b"18446744073709551615");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        // The standard library writes exact decimals too, only slower.
        #[test]
        fn any_double_is_exact(bits: u64, decimals in 0u32..=9) {
            let number = f64::from_bits(bits);
            if number.is_finite() {
                prop_assert_eq!(shown(number, decimals), format!("{number:.0$}", decimals as usize));
            }
        }

        #[test]
        fn any_time_is_exact(number in -1.0e6..1.0e6f64, decimals in 0u32..=9) {
            prop_assert_eq!(shown(number, decimals), format!("{number:.0$}", decimals as usize));
        }

        // Halves and their like, which are what rounding is about.
        #[test]
        fn any_tie_is_even(number in 0u32..100_000, by in 0u32..12, decimals in 0u32..=9) {
            let number = f64::from(number) / f64::from(1u32 << by);
            prop_assert_eq!(shown(number, decimals), format!("{number:.0$}", decimals as usize));
        }

        #[test]
        fn any_whole_number(number: i64) {
            let (shown, want) = (signed(number), number.to_string());
            prop_assert_eq!(shown.as_bytes(), want.as_bytes());
        }
    }
}
