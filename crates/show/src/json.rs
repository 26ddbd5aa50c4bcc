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
        write!(self.out, "{bracket}")
    }

    /// Closes it: `}` or `]`.
    pub fn close(&mut self, bracket: char) -> Result<()> {
        self.comma = true;
        write!(self.out, "{bracket}")
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
        self.text(name)?;
        self.comma = false;
        self.out.write_all(b":")
    }

    /// A string.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.separate()?;
        let ordinary = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
        if text.as_bytes().iter().all(ordinary) {
            self.out.write_all(b"\"")?;
            self.out.write_all(text.as_bytes())?;
            self.out.write_all(b"\"")
        } else {
            Ok(serde_json::to_writer(&mut *self.out, text)?)
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

#[cfg(test)]
mod tests {
    use super::Json;

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
