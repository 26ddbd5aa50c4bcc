//! JSON, written as it comes: a log of any size passes through without being held.

use std::io::{Result, Write};

/// Writes JSON piece by piece, and keeps track of commas. Closing what was opened is the
/// caller's care.
#[derive(Debug)]
pub struct Json<'a, W> {
    out: &'a mut W,
    /// Whether the next member needs a comma before it.
    comma: bool,
}

impl<'a, W: Write> Json<'a, W> {
    /// Starts a document.
    pub fn new(out: &'a mut W) -> Json<'a, W> {
        Json { out, comma: false }
    }

    /// Opens an object or an array: `{` or `[`.
    pub fn open(&mut self, bracket: char) -> Result<()> {
        self.separate()?;
        self.comma = false;
        self.bracket(bracket)
    }

    /// Closes it: `}` or `]`.
    pub fn close(&mut self, bracket: char) -> Result<()> {
        self.comma = true;
        self.bracket(bracket)
    }

    fn bracket(&mut self, bracket: char) -> Result<()> {
        self.out.write_all(bracket.encode_utf8(&mut [0; 4]).as_bytes())
    }

    /// Puts the next member on a line of its own, for people who look.
    pub fn line(&mut self) -> Result<()> {
        self.separate()?;
        self.comma = false;
        self.out.write_all(b"\n")
    }

    /// Ends the document.
    pub fn finish(self) -> Result<()> {
        self.out.write_all(b"\n")
    }

    /// The name of the next member.
    pub fn key(&mut self, name: &str) -> Result<()> {
        self.quoted(name, b"\":")?;
        self.comma = false;
        Ok(())
    }

    /// A string.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.quoted(text, b"\"")
    }

    /// A string, which ends with these bytes: its quotation mark, and what may follow it.
    fn quoted(&mut self, text: &str, end: &[u8]) -> Result<()> {
        if is_ordinary(text.as_bytes()) {
            self.out.write_all(if self.comma { b",\"" } else { b"\"" })?;
            self.out.write_all(text.as_bytes())?;
            self.comma = true;
            self.out.write_all(end)
        } else {
            self.separate()?;
            serde_json::to_writer(&mut *self.out, text)?;
            self.out.write_all(&end[1..])
        }
    }

    /// Bytes that are nearly always text.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.text(&String::from_utf8_lossy(bytes))
    }

    /// A whole number.
    pub fn int(&mut self, value: i64) -> Result<()> {
        self.separate()?;
        self.out.write_all(itoa::Buffer::new().format(value).as_bytes())
    }

    /// A whole number without a sign.
    pub fn unsigned(&mut self, value: u64) -> Result<()> {
        self.separate()?;
        self.out.write_all(itoa::Buffer::new().format(value).as_bytes())
    }

    /// A number that reads back as the same; JSON has no word for what is not finite.
    pub fn float(&mut self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return self.null();
        }
        self.separate()?;
        // Most are whole, and most of these are 0: these need no search for the shortest way to say them.
        let whole = value as i64;
        if whole.unsigned_abs() < 1 << 50 && (whole as f64).to_bits() == value.to_bits() {
            self.out.write_all(itoa::Buffer::new().format(whole).as_bytes())?;
            return self.out.write_all(b".0");
        }
        write!(self.out, "{value:?}")
    }

    /// A document that was written before, as a member of this one.
    pub(crate) fn document(&mut self, text: &[u8]) -> Result<()> {
        self.separate()?;
        self.out.write_all(text)
    }

    /// True or false.
    pub fn truth(&mut self, value: bool) -> Result<()> {
        self.separate()?;
        write!(self.out, "{value}")
    }

    /// Nothing.
    pub fn null(&mut self) -> Result<()> {
        self.separate()?;
        self.out.write_all(b"null")
    }

    /// A comma where one is due; whatever follows will need one after it.
    fn separate(&mut self) -> Result<()> {
        if self.comma {
            self.out.write_all(b",")?;
        }
        self.comma = true;
        Ok(())
    }
}

/// Whether a string of these bytes stands in JSON as it is, looked at eight at a time.
fn is_ordinary(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().all(|word| is_ordinary_word(u64::from_le_bytes(*word)))
        && rest.iter().all(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
}

/// Whether none of eight bytes is a control character, a quotation mark or a backslash.
///
/// Taking away from a byte leaves its highest bit set where it was smaller than what was taken, unless that bit was set before: bytes of
/// other letters are ordinary. A byte that is ordinary may be taken for another when the one below it is not; the word is not ordinary then.
fn is_ordinary_word(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let odd = below(word, 0x20) | is(b'"') | is(b'\\');
    odd & (ONES << 7) == 0
}

#[cfg(test)]
mod tests {
    use super::{Json, is_ordinary};

    #[test]
    fn every_byte_that_json_writes_otherwise_is_noticed_at_every_place() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255u8 {
                    for around in [b' ', b'a', 0x7f, 0x80, 0xff] {
                        let mut bytes = vec![around; length];
                        bytes[at] = byte;
                        let want = byte >= 0x20 && byte != b'"' && byte != b'\\';
                        assert_eq!(is_ordinary(&bytes), want, "{bytes:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_are_said_as_rust_says_them() {
        let whole = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1e15,
            1e16,
            123_456_789.0,
            -4e15,
            2f64.powi(50),
            2f64.powi(63),
            -1e300,
        ];
        let others = [0.1, -0.5, 1e-7, 1.5e15, 0.000_123, f64::MIN_POSITIVE, f64::MAX];
        for value in whole.into_iter().chain(others) {
            let mut out = Vec::new();
            Json::new(&mut out).float(value).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{value:?}"));
        }
    }

    #[test]
    fn commas_stand_between_members() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.open('{').unwrap();
        json.key("a").unwrap();
        json.open('[').unwrap();
        json.int(-1).unwrap();
        json.unsigned(u64::MAX).unwrap();
        json.line().unwrap();
        json.float(0.1).unwrap();
        json.close(']').unwrap();
        json.key("b").unwrap();
        json.null().unwrap();
        json.key("c").unwrap();
        json.open('{').unwrap();
        json.close('}').unwrap();
        json.close('}').unwrap();
        json.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "{\"a\":[-1,18446744073709551615,\n0.1],\"b\":null,\"c\":{}}\n");
    }

    #[test]
    fn odd_values_are_still_json() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.open('[').unwrap();
        json.float(f64::NAN).unwrap();
        json.float(1e300).unwrap();
        json.text("say \"x\"\u{1b}\\").unwrap();
        json.bytes(b"\xff").unwrap();
        json.close(']').unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(read, serde_json::json!([null, 1e300, "say \"x\"\u{1b}\\", "\u{fffd}"]));
    }
}
