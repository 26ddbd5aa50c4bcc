//! How a connection begins: who calls, and which versions both speak.

use crate::pack::{Malformed, Packer, Unpacker};

/// The versions of the conversation that this netra speaks, oldest and newest.
pub const VERSIONS: (u32, u32) = (1, 1);

/// What the caller says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The oldest and the newest version that it speaks.
    pub versions: (u32, u32),
    /// Its name, for people: host and role.
    pub name: String,
    /// Its spool, 0 if it has none.
    pub spool: u64,
    /// Its clock, nanoseconds since 1970.
    pub time: u64,
    /// What it comes for.
    pub purpose: Purpose,
}

/// What a caller comes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// To deliver frames.
    Deliver = 1,
    /// To publish messages.
    Publish = 2,
    /// To get messages.
    Subscribe = 3,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The version that is spoken from now on.
    pub version: u32,
    /// Bytes that may be on their way without an acknowledgement.
    pub window: u64,
    /// The answerer's clock when the hello came.
    pub time: u64,
}

/// The other answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why, for people.
    pub reason: String,
}

impl Hello {
    /// The newest version that both speak.
    ///
    /// # Errors
    /// There is none; the sentence says who is too old.
    pub fn agree(&self) -> Result<u32, String> {
        let (oldest, newest) = VERSIONS;
        let (their_oldest, their_newest) = self.versions;
        let common = newest.min(their_newest);
        if common >= oldest.max(their_oldest) {
            return Ok(common);
        }
        Err(format!(
            "no common version: {} speaks {their_oldest} to {their_newest}, here {oldest} to \
             {newest}; update the older of the two",
            self.name
        ))
    }

    /// The body of the frame.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.word(self.versions.0).word(self.versions.1).byte(self.purpose as u8);
        packer.long(self.spool).long(self.time).text(self.name.as_bytes());
        packer.bytes
    }

    /// Reads the body of the frame. What follows the fields known here is a newer caller's.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &[u8]) -> Result<Hello, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let versions = (unpacker.word()?, unpacker.word()?);
        let purpose = match unpacker.byte()? {
            1 => Purpose::Deliver,
            2 => Purpose::Publish,
            3 => Purpose::Subscribe,
            _ => return Err(unpacker.malformed("no such purpose")),
        };
        let (spool, time) = (unpacker.long()?, unpacker.long()?);
        let name = unpacker.text()?;
        let name = String::from_utf8_lossy(&name[..name.len().min(256)]).into_owned();
        Ok(Hello { versions, name, spool, time, purpose })
    }
}

impl Welcome {
    /// The body of the frame.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.word(self.version).long(self.window).long(self.time);
        packer.bytes
    }

    /// Reads the body of the frame.
    ///
    /// # Errors
    /// It is none.
    pub fn unpack(body: &[u8]) -> Result<Welcome, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let (version, window) = (unpacker.word()?, unpacker.long()?);
        Ok(Welcome { version, window, time: unpacker.long()? })
    }
}

impl Refusal {
    /// Reads the body of the frame: its text.
    #[must_use]
    pub fn unpack(body: &[u8]) -> Refusal {
        let text = body.get(..body.len().min(1024)).unwrap_or_default();
        Refusal { reason: String::from_utf8_lossy(text).into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(versions: (u32, u32)) -> Hello {
        let name = "n1 node".to_owned();
        Hello { versions, name, spool: 5, time: 6, purpose: Purpose::Deliver }
    }

    #[test]
    fn greetings_come_back_also_from_newer_callers() {
        let mut bytes = hello((1, 3)).pack();
        bytes.extend(b"of a newer version");
        assert_eq!(Hello::unpack(&bytes), Ok(hello((1, 3))));
        let welcome = Welcome { version: 1, window: 2, time: 3 };
        assert_eq!(Welcome::unpack(&welcome.pack()), Ok(welcome));
    }

    #[test]
    fn the_newest_common_version_is_spoken() {
        assert_eq!(hello((1, 9)).agree(), Ok(1));
        assert_eq!(hello((1, 1)).agree(), Ok(1));
        let refused = hello((2, 9)).agree().unwrap_err();
        assert!(refused.contains("speaks 2 to 9, here 1 to 1"), "{refused}");
        assert!(hello((0, 0)).agree().is_err());
    }
}
