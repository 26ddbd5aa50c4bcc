//! Text of bounded length, line by line: a line that does not fit is left out whole.

/// Lines in the making.
pub(super) struct Lines<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> Lines<N> {
    pub(super) fn new() -> Lines<N> {
        Lines { bytes: [0; N], used: 0 }
    }

    /// Adds `key=value` and a newline. One byte always stays 0.
    pub(super) fn pair(&mut self, key: &[u8], value: &[u8]) {
        let before = self.used;
        let whole = self.push(key) && self.push(b"=") && self.push_line(value);
        if !whole || !self.push(b"\n") {
            for byte in self.bytes.iter_mut().skip(before) {
                *byte = 0;
            }
            self.used = before;
        }
    }

    /// Adds how many events were dropped for a reason.
    pub(super) fn dropped(&mut self, reason: &str, count: u64) {
        let mut key = [0_u8; 64];
        let text = b"netra_dropped_".iter().chain(reason.as_bytes());
        let used = key.iter_mut().zip(text).map(|(to, from)| *to = *from).count();
        self.number(key.get(..used).unwrap_or_default(), count);
    }

    /// Adds `key=number` and a newline.
    pub(super) fn number(&mut self, key: &[u8], number: u64) {
        let mut digits = [0_u8; 20];
        let (mut left, mut count) = (number, 0_usize);
        for digit in digits.iter_mut().rev() {
            // A remainder of ten is one digit.
            *digit = b'0'.saturating_add((left % 10) as u8);
            left /= 10;
            count = count.saturating_add(1);
            if left == 0 {
                break;
            }
        }
        let first = digits.len().saturating_sub(count);
        self.pair(key, digits.get(first..).unwrap_or_default());
    }

    /// The bytes, zeros behind the last line.
    pub(super) fn bytes(&self) -> &[u8; N] {
        &self.bytes
    }

    fn push_line(&mut self, text: &[u8]) -> bool {
        text.iter().all(|&byte| self.push(&[one_line(byte)]))
    }

    fn push(&mut self, text: &[u8]) -> bool {
        let end = self.used.saturating_add(text.len());
        if end >= N {
            return false;
        }
        for (to, from) in self.bytes.iter_mut().skip(self.used).zip(text) {
            *to = *from;
        }
        self.used = end;
        true
    }
}

/// A byte that does not end a line or a text.
pub(super) const fn one_line(byte: u8) -> u8 {
    if byte == b'\n' || byte == 0 { b' ' } else { byte }
}
