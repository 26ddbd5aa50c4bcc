//! Numbers and texts as bytes and back: what the bodies of frames, checkpoints and greetings are
//! made of. Little-endian; a text is its length (u32) and its bytes.

/// Writes.
#[derive(Debug, Default, Clone)]
pub struct Packer {
    /// What was written.
    pub bytes: Vec<u8>,
}

impl Packer {
    /// A single byte.
    pub fn byte(&mut self, value: u8) -> &mut Packer {
        self.bytes.push(value);
        self
    }

    /// Four bytes.
    pub fn word(&mut self, value: u32) -> &mut Packer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Eight bytes.
    pub fn long(&mut self, value: u64) -> &mut Packer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A text; what is beyond 4 GiB is left out.
    pub fn text(&mut self, text: &[u8]) -> &mut Packer {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.word(length);
        self.bytes.extend_from_slice(&text[..length as usize]);
        self
    }

    /// How many entries follow.
    pub fn count(&mut self, count: usize) -> &mut Packer {
        self.word(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// The bytes ended too early, or say what can not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed at byte {at}: {what}")]
pub struct Malformed {
    /// Where.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// Reads.
#[derive(Debug, Clone, Copy)]
pub struct Unpacker<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Unpacker<'a> {
    /// Begins at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Unpacker<'a> {
        Unpacker { bytes, at: 0 }
    }

    /// A complaint about this place.
    #[must_use]
    pub fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }

    /// Whether all was read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// What was not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// That many bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let taken = self.rest().get(..length).ok_or(self.malformed("the bytes end"))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A single byte.
    ///
    /// # Errors
    /// There is none.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    /// Four bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn word(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn long(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A text.
    ///
    /// # Errors
    /// It is longer than what is left.
    pub fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.word()?;
        self.take(length as usize)
    }

    /// How many entries follow; `least` is what each takes at least, so that a claim is never
    /// believed beyond the bytes.
    ///
    /// # Errors
    /// They do not fit in what is left.
    pub fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.word()? as usize;
        match count.checked_mul(least.max(1)) {
            Some(bytes) if bytes <= self.rest().len() => Ok(count),
            _ => Err(self.malformed("more entries than bytes")),
        }
    }

    /// Everything was to be read by now.
    ///
    /// # Errors
    /// Something is left.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.is_at_end() { Ok(()) } else { Err(self.malformed("bytes behind the end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let mut packer = Packer::default();
        packer.byte(1).word(2).long(3).text(b"four").count(0);
        let mut unpacker = Unpacker::new(&packer.bytes);
        assert_eq!(unpacker.byte(), Ok(1));
        assert_eq!(unpacker.word(), Ok(2));
        assert_eq!(unpacker.long(), Ok(3));
        assert_eq!(unpacker.text(), Ok(&b"four"[..]));
        assert_eq!(unpacker.count(100), Ok(0));
        assert_eq!(unpacker.end(), Ok(()));
    }

    #[test]
    fn claims_beyond_the_bytes_are_refused() {
        let mut packer = Packer::default();
        packer.word(1000).byte(1);
        assert!(Unpacker::new(&packer.bytes).text().is_err());
        assert!(Unpacker::new(&packer.bytes).count(1).is_err());
        assert!(Unpacker::new(&packer.bytes).long().is_err());
        let end = Unpacker::new(b"x").end();
        assert_eq!(end, Err(Malformed { at: 0, what: "bytes behind the end" }));
    }
}
