//! Finds the blocks of a section, and reads them one at a time.

use super::layout::{HEAD, Head, STORED, TRAILER, Trailer, VERSION, ZLIB, padding};
use crate::checksum::crc32;
use crate::damage::{Damage, Part, Reason};
use crate::read::Source;
use crate::read::fill;
use flate2::{Decompress, FlushDecompress, Status};
use std::fmt;
use std::sync::Arc;

/// The most that deflate can do.
const RATIO: u64 = 1032;

/// The section of a log; one without blocks where a log has none.
#[derive(Debug, Default)]
pub struct Section {
    blocks: Vec<Block>,
    damage: Vec<Damage>,
}

/// A block, whose bytes mean nothing to this crate.
#[derive(Clone)]
pub struct Block {
    source: Arc<dyn Source>,
    /// What the block says about itself.
    pub head: Head,
    /// Where its bytes begin in the file.
    pub offset: u64,
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("head", &self.head).field("offset", &self.offset).finish()
    }
}

impl Section {
    /// The blocks that can be read, in their order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What is wrong with the section.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Walks the heads; bytes are read when they are asked for.
    pub(crate) fn find(source: &Arc<dyn Source>, length: u64) -> Section {
        let mut section = Section::default();
        let Some(trailer) = trailer(&**source, length) else { return section };
        let mut at = trailer.offset;
        let mut stop = |at, reason| {
            section.damage.push(Damage { part: Part::Section, at, reason });
        };
        if trailer.version != VERSION {
            stop(
                length - TRAILER as u64,
                Reason::Version { found: trailer.version, known: VERSION },
            );
            return section;
        }
        let end = length - TRAILER as u64;
        for _ in 0..trailer.blocks {
            match head(&**source, at, end) {
                Ok(head) => {
                    let offset = at + HEAD as u64;
                    section.blocks.push(Block { source: source.clone(), head, offset });
                    at = offset + head.stored_len + padding(head.stored_len);
                }
                Err(reason) => {
                    stop(at, reason);
                    break;
                }
            }
        }
        section
    }
}

/// The trailer of a file, if it ends with a valid one.
pub(crate) fn trailer(source: &dyn Source, length: u64) -> Option<Trailer> {
    let at = length.checked_sub(TRAILER as u64)?;
    let mut bytes = [0; TRAILER];
    (fill(source, at, &mut bytes).ok()? == TRAILER).then(|| Trailer::decode(&bytes))?
}

fn head(source: &dyn Source, at: u64, end: u64) -> Result<Head, Reason> {
    let mut bytes = [0; HEAD];
    let room = end.checked_sub(at).and_then(|room| room.checked_sub(HEAD as u64));
    let have = fill(source, at, &mut bytes).map_err(|error| Reason::Io(error.kind()))?;
    let head = if have == HEAD { Head::decode(&bytes) } else { None };
    let (Some(room), Some(head)) = (room, head) else { return Err(Reason::RecordMagic) };
    if head.stored_len > room || head.stored_len + padding(head.stored_len) > room {
        return Err(Reason::FileCut { missing: head.stored_len.saturating_sub(room).max(1) });
    }
    if head.raw_len > head.stored_len.saturating_mul(RATIO) {
        return Err(Reason::Bomb { produced: head.raw_len });
    }
    Ok(head)
}

impl Block {
    /// The block's bytes as they are in the file.
    ///
    /// # Errors
    /// If they can not be read or their checksum does not fit.
    pub fn stored(&self) -> Result<Vec<u8>, Damage> {
        // The length was found to lie in the file.
        let length = usize::try_from(self.head.stored_len).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        let have = fill(&*self.source, self.offset, &mut bytes)
            .map_err(|error| self.damage(Reason::Io(error.kind())))?;
        if have < length {
            return Err(self.damage(Reason::FileCut { missing: (length - have) as u64 }));
        }
        if crc32(&bytes) != self.head.crc {
            return Err(self.damage(Reason::Checksum));
        }
        Ok(bytes)
    }

    /// The block's bytes.
    ///
    /// # Errors
    /// If they can not be read, or are not what the block's head says.
    pub fn bytes(&self) -> Result<Vec<u8>, Damage> {
        let stored = self.stored()?;
        match self.head.compression {
            STORED if self.head.raw_len == self.head.stored_len => Ok(stored),
            ZLIB => inflate(&stored, self.head.raw_len).ok_or(self.damage(Reason::Corrupt)),
            _ => Err(self.damage(Reason::Corrupt)),
        }
    }

    fn damage(&self, reason: Reason) -> Damage {
        Damage { part: Part::Section, at: self.offset, reason }
    }
}

/// One stream that gives exactly `length` bytes, and no memory before they come.
fn inflate(stored: &[u8], length: u64) -> Option<Vec<u8>> {
    const STEP: usize = 256 << 10;
    let length = usize::try_from(length).ok()?;
    let mut inflate = Decompress::new(true);
    let mut bytes = Vec::new();
    loop {
        let (taken, made) = (usize::try_from(inflate.total_in()).ok()?, bytes.len());
        bytes.resize(length.min(made + STEP), 0);
        let rest = stored.get(taken..)?;
        let status = inflate.decompress(rest, &mut bytes[made..], FlushDecompress::None).ok()?;
        let now = usize::try_from(inflate.total_out()).ok()?;
        bytes.truncate(now);
        if status == Status::StreamEnd {
            return (now == length).then_some(bytes);
        }
        let stuck = now == made && usize::try_from(inflate.total_in()).ok()? == taken;
        if stuck {
            return None;
        }
    }
}
