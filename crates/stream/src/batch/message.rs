//! A published message: bytes under a tag.

use crate::pack::{Malformed, Packer, Unpacker};

/// What the bytes of a message are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// Anything.
    Bytes = 0,
    /// Text in UTF-8.
    Text = 1,
    /// One JSON value.
    Json = 2,
}

/// A published message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The tag it was published under.
    pub tag: &'a [u8],
    /// What its bytes are.
    pub form: Form,
    /// When it was published, nanoseconds since 1970.
    pub time: u64,
    /// Who published it: a user's number.
    pub uid: u32,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// The body of a frame.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.byte(self.form as u8).word(self.uid).long(self.time);
        packer.text(self.tag).text(self.bytes);
        packer.bytes
    }

    /// Reads the body of a frame.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let form = match unpacker.byte()? {
            0 => Form::Bytes,
            1 => Form::Text,
            2 => Form::Json,
            _ => return Err(unpacker.malformed("no such form of message")),
        };
        let (uid, time) = (unpacker.word()?, unpacker.long()?);
        let message = Message { form, uid, time, tag: unpacker.text()?, bytes: unpacker.text()? };
        unpacker.end()?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_whatever_its_bytes() {
        let message =
            Message { tag: b"io", form: Form::Bytes, time: 5, uid: 7, bytes: b"\0\xff\n" };
        assert_eq!(Message::unpack(&message.pack()), Ok(message));
        assert!(Message::unpack(b"\x09").is_err());
    }
}
