//! Units as types: a length can not be compared with a ratio, nor nanoseconds with seconds.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub};

/// A number of bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A time or duration in nanoseconds; what machines get.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A time or duration in seconds; what people get, and what Darshan's logs hold.
#[derive(Debug, Default, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

macro_rules! arithmetic {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), Add::add)
            }
        }
    )*};
}
arithmetic!(Bytes, Nanos, Seconds);

impl From<Nanos> for Seconds {
    fn from(nanos: Nanos) -> Self {
        // Beyond 2^53 ns (104 days) the last digits are lost, which no reader of seconds sees.
        Seconds(nanos.0 as f64 / 1e9)
    }
}

/// Binary prefixes, three significant digits: `0 B`, `512 B`, `1.50 KiB`, `12.3 MiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIX: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut prefix = 0;
        // 999.5 would print as 1000, so the next prefix begins there.
        while value >= 999.5 && prefix + 1 < PREFIX.len() {
            value /= 1024.0;
            prefix += 1;
        }
        write!(f, "{value:.0$} {1}", digits(value), PREFIX[prefix])
    }
}

/// A second and above in seconds, below in ms, µs or ns, three significant digits.
impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let (value, unit) = match size {
            0.0 => return f.write_str("0 s"),
            s if s >= 0.9995 || s.is_nan() => (self.0, "s"),
            s if s >= 0.9995e-3 => (self.0 * 1e3, "ms"),
            s if s >= 0.9995e-6 => (self.0 * 1e6, "µs"),
            _ => (self.0 * 1e9, "ns"),
        };
        write!(f, "{value:.0$} {unit}", digits(value))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Seconds::from(*self).fmt(f)
    }
}

/// Decimals that leave three significant digits.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[track_caller]
    fn shows(value: impl fmt::Display, want: &str) {
        assert_eq!(value.to_string(), want);
    }

    #[test]
    fn bytes_keep_three_digits() {
        shows(Bytes(0), "0 B");
        shows(Bytes(1023), "1023 B");
        shows(Bytes(1024), "1.00 KiB");
        shows(Bytes(12_900_000), "12.3 MiB");
        shows(Bytes(1_048_064), "1.00 MiB");
        shows(Bytes(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn seconds_choose_their_unit() {
        shows(Seconds(0.0), "0 s");
        shows(Seconds(12.34), "12.3 s");
        shows(Seconds(0.99999), "1.00 s");
        shows(Seconds(0.00125), "1.25 ms");
        shows(Nanos(250), "250 ns");
        shows(Seconds(-3.0), "-3.00 s");
    }
}
