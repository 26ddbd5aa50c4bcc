//! Text of bounded length on the stack: paths, names and notes without an allocator.

/// Up to `N` bytes; what does not fit is cut, and said so.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
    cut: bool,
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text::new()
    }
}

impl<const N: usize> Text<N> {
    /// An empty text.
    #[must_use]
    pub const fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0, cut: false }
    }

    /// The same text again.
    #[must_use]
    pub fn copy(from: &Text<N>) -> Text<N> {
        Text { bytes: from.bytes, length: from.length, cut: from.cut }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) -> &mut Text<N> {
        let room = self.bytes.get_mut(self.length..).unwrap_or_default();
        let take = bytes.len().min(room.len());
        self.cut |= take < bytes.len();
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.length = self.length.saturating_add(take);
        self
    }

    /// Appends a number in decimal.
    pub fn number(&mut self, value: u64) -> &mut Text<N> {
        self.padded(value, 1)
    }

    /// Appends a number in decimal with at least `width` digits.
    pub fn padded(&mut self, value: u64, width: usize) -> &mut Text<N> {
        let mut digits = [b'0'; 20];
        let mut rest = value;
        let mut used = 0_usize;
        for digit in digits.iter_mut().rev() {
            if rest == 0 && used >= width {
                break;
            }
            // A remainder of ten fits a byte.
            *digit = b'0'.wrapping_add((rest % 10) as u8);
            rest /= 10;
            used = used.saturating_add(1);
        }
        let from = digits.len().saturating_sub(used);
        self.push(digits.get(from..).unwrap_or_default())
    }

    /// Appends a number with its sign.
    pub fn signed(&mut self, value: i64) -> &mut Text<N> {
        if value < 0 {
            self.push(b"-");
        }
        self.number(value.unsigned_abs())
    }

    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Whether something did not fit.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Forgets everything behind `length`, and that something was cut there.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        self.cut = false;
    }

    /// The text as the kernel takes paths, ended by NUL; none if it was cut or is full.
    #[must_use]
    pub fn path(&mut self) -> Option<&core::ffi::CStr> {
        if self.cut {
            return None;
        }
        *self.bytes.get_mut(self.length)? = 0;
        core::ffi::CStr::from_bytes_with_nul(self.bytes.get(..=self.length)?).ok()
    }
}

/// A number in decimal, if the bytes are nothing else.
#[must_use]
pub fn decimal(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() {
        return None;
    }
    bytes.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Bytes without white space at their ends.
#[must_use]
pub fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::{Text, decimal};

    #[test]
    fn numbers_are_written_as_people_write_them() {
        let mut text = Text::<64>::new();
        text.number(0).push(b" ").number(1234).push(b" ").padded(7, 3).push(b" ").signed(-5);
        assert_eq!(text.bytes(), b"0 1234 007 -5");
        assert_eq!(Text::<32>::new().number(u64::MAX).bytes(), b"18446744073709551615");
    }

    #[test]
    fn what_does_not_fit_is_cut_and_is_no_path() {
        let mut text = Text::<4>::new();
        assert_eq!(text.push(b"abc").path().map(|path| path.to_bytes()), Some(&b"abc"[..]));
        text.push(b"de");
        assert_eq!(text.bytes(), b"abcd");
        assert!(text.is_cut());
        assert_eq!(text.path(), None);
    }

    #[test]
    fn only_digits_are_a_number() {
        assert_eq!(decimal(b"0120"), Some(120));
        for wrong in [&b""[..], b"1 ", b"-1", b"18446744073709551616", b"x"] {
            assert_eq!(decimal(wrong), None);
        }
    }
}
