//! Small JSON: one object a line, built in memory and written as a whole.

use netra_event::Nanos;

/// A line that is being built; it keeps its memory from line to line.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
}

impl Line {
    /// Begins a new line.
    pub(super) fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.push(b'{');
    }

    /// Ends it.
    pub(super) fn end(&mut self) -> &[u8] {
        self.bytes.extend_from_slice(b"}\n");
        &self.bytes
    }

    /// A member that is text; bytes that are not are replaced.
    pub(super) fn text(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.bytes.push(b'"');
        for chunk in value.utf8_chunks() {
            escape(&mut self.bytes, chunk.valid());
            if !chunk.invalid().is_empty() {
                self.bytes.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        self.bytes.push(b'"');
    }

    /// A whole number.
    pub(super) fn number(&mut self, key: &str, value: impl itoa::Integer) {
        self.key(key);
        self.bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// A whole number of 64 bits as text: numbers of JavaScript do not hold it.
    pub(super) fn id(&mut self, key: &str, value: u64) {
        self.text(key, itoa::Buffer::new().format(value).as_bytes());
    }

    /// What is JSON already.
    pub(super) fn raw(&mut self, key: &str, json: &[u8]) {
        self.key(key);
        self.bytes.extend_from_slice(json);
    }

    /// Bytes as hexadecimal digits.
    pub(super) fn hex(&mut self, key: &str, bytes: &[u8]) {
        self.key(key);
        self.bytes.push(b'"');
        for byte in bytes {
            self.bytes.extend_from_slice(&[digit(byte >> 4), digit(*byte)]);
        }
        self.bytes.push(b'"');
    }

    /// Seconds with six decimals.
    pub(super) fn seconds(&mut self, key: &str, value: Nanos) {
        self.key(key);
        seconds(&mut self.bytes, value);
    }

    /// Microseconds with three decimals, which is all that a clock knows.
    pub(super) fn micros(&mut self, key: &str, value: Nanos) {
        self.key(key);
        let mut digits = itoa::Buffer::new();
        self.bytes.extend_from_slice(digits.format(value.0 / 1000).as_bytes());
        self.bytes.push(b'.');
        let rest = digits.format(1000 + value.0 % 1000).as_bytes();
        self.bytes.extend_from_slice(rest.get(1..).unwrap_or_default());
    }

    /// Opens an object.
    pub(super) fn object(&mut self, key: &str) {
        self.key(key);
        self.bytes.push(b'{');
    }

    /// Closes it.
    pub(super) fn end_object(&mut self) {
        self.bytes.push(b'}');
    }

    /// True; what is not true is not said.
    pub(super) fn mark(&mut self, key: &str, value: bool) {
        if value {
            self.key(key);
            self.bytes.extend_from_slice(b"true");
        }
    }

    /// Opens an array with one object in it.
    pub(super) fn open(&mut self, key: &str) {
        self.key(key);
        self.bytes.extend_from_slice(b"[{");
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        self.bytes.extend_from_slice(b"}]");
    }

    fn key(&mut self, key: &str) {
        if self.bytes.last() != Some(&b'{') {
            self.bytes.push(b',');
        }
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
    }
}

/// Seconds with six decimals, which is what the connector's readers expect.
pub(super) fn seconds(bytes: &mut Vec<u8>, value: Nanos) {
    // Half a microsecond up, and no doubles in between: they would lose it.
    let micros = value.0.saturating_add(500) / 1000;
    let mut digits = itoa::Buffer::new();
    bytes.extend_from_slice(digits.format(micros / 1_000_000).as_bytes());
    bytes.push(b'.');
    let rest = digits.format(1_000_000 + micros % 1_000_000).as_bytes();
    bytes.extend_from_slice(rest.get(1..).unwrap_or_default());
}

/// The hexadecimal digit of the lower four bits.
fn digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value & 15)]
}

fn escape(bytes: &mut Vec<u8>, text: &str) {
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => bytes.extend_from_slice(&[b'\\', byte]),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\t' => bytes.extend_from_slice(b"\\t"),
            0..0x20 | 0x7f => {
                bytes.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            }
            _ => bytes.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_have_six_decimals() {
        for (nanos, want) in [
            (0, "0.000000"),
            (499, "0.000000"),
            (500, "0.000001"),
            (1_794_772_215_135_736_000, "1794772215.135736"),
            (999_999_999, "1.000000"),
            (u64::MAX, "18446744073.709551"),
        ] {
            let mut bytes = Vec::new();
            seconds(&mut bytes, Nanos(nanos));
            assert_eq!(String::from_utf8(bytes).unwrap(), want);
        }
    }

    proptest! {
        /// Whatever a name holds, the line is JSON and gives the name back.
        #[test]
        fn any_bytes_make_valid_json(name in prop::collection::vec(any::<u8>(), 0..60), value: i64) {
            let mut line = Line::default();
            line.begin();
            line.text("name", &name);
            line.number("value", value);
            line.mark("never", false);
            line.mark("always", true);
            let read: serde_json::Value = serde_json::from_slice(line.end()).unwrap();
            let want = String::from_utf8_lossy(&name);
            prop_assert_eq!(read["name"].as_str(), Some(&*want));
            prop_assert_eq!(read["value"].as_i64(), Some(value));
            prop_assert_eq!(read.get("never"), None);
            prop_assert_eq!(&read["always"], &serde_json::Value::Bool(true));
        }
    }
}
