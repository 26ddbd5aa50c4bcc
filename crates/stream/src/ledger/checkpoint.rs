//! The checkpoint: book and tallies at known positions of the spool, in one file that is replaced as a
//! whole. After a crash everything is made again from here and from the frames behind it; frames
//! before it may go.

use super::{Book, Tally};
use crate::pack::{Malformed, Packer, Unpacker};
use crate::sink::Mark;

const MAGIC: &[u8] = b"NTRCHECK";
const VERSION: u32 = 1;

/// How far a sink has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlet {
    /// Its name in the configuration.
    pub name: String,
    /// The position in the spool up to which it has everything, durable.
    pub position: u64,
    /// What it knows its state at that position by.
    pub mark: Mark,
    /// What it had got by then.
    pub tally: Tally,
}

/// A daemon's state at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The spool it speaks about.
    pub spool: u64,
    /// The position up to which the book goes.
    pub position: u64,
    /// What was received.
    pub book: Book,
    /// The sinks.
    pub outlets: Vec<Outlet>,
}

impl Checkpoint {
    /// The bytes of the file.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.long(self.spool).long(self.position);
        self.book.pack(&mut packer);
        packer.count(self.outlets.len());
        for outlet in &self.outlets {
            packer.text(outlet.name.as_bytes()).long(outlet.position).text(&outlet.mark);
            outlet.tally.pack(&mut packer);
        }
        let body = packer.bytes;
        let mut whole = Packer { bytes: MAGIC.to_vec() };
        whole.word(VERSION).word(crc32fast::hash(&body));
        whole.bytes.extend(body);
        whole.bytes
    }

    /// Reads the bytes of the file.
    ///
    /// # Errors
    /// They are not what was written.
    pub fn unpack(bytes: &[u8]) -> Result<Checkpoint, Malformed> {
        let mut unpacker = Unpacker::new(bytes);
        if unpacker.take(MAGIC.len())? != MAGIC || unpacker.word()? != VERSION {
            return Err(unpacker.malformed("not a checkpoint, or one of another version"));
        }
        if unpacker.word()? != crc32fast::hash(unpacker.rest()) {
            return Err(unpacker.malformed("the checksum does not match"));
        }
        let (spool, position) = (unpacker.long()?, unpacker.long()?);
        let book = Book::unpack(&mut unpacker)?;
        let mut outlets = Vec::new();
        for _ in 0..unpacker.count(20)? {
            let name = String::from_utf8_lossy(unpacker.text()?).into_owned();
            let (position, mark) = (unpacker.long()?, unpacker.text()?.to_vec());
            outlets.push(Outlet { name, position, mark, tally: Tally::unpack(&mut unpacker)? });
        }
        unpacker.end()?;
        Ok(Checkpoint { spool, position, book, outlets })
    }

    /// The position before which no frame is needed any more.
    #[must_use]
    pub fn oldest_needed(&self) -> u64 {
        let outlets = self.outlets.iter().map(|outlet| outlet.position);
        outlets.chain([self.position]).min().unwrap_or(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_damage_is_noticed() {
        let outlet =
            |name: &str| Outlet { name: name.to_owned(), position: 7, ..Outlet::default() };
        let checkpoint = Checkpoint {
            spool: 1,
            position: 9,
            book: Book::default(),
            outlets: vec![outlet("a"), outlet("")],
        };
        let bytes = checkpoint.pack();
        assert_eq!(Checkpoint::unpack(&bytes), Ok(checkpoint.clone()));
        assert_eq!(checkpoint.oldest_needed(), 7);
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            assert!(Checkpoint::unpack(&wrong).is_err(), "byte {at}");
        }
    }
}
