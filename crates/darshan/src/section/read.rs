//! Finds the blocks of a section, and reads them one at a time.

use super::layout::{HEAD, Head, MAGIC, STORED, TRAILER, Trailer, VERSION, ZLIB, padding};
use crate::checksum::{Crc32, crc32};
use crate::damage::{Damage, Part, Reason};
use crate::read::{Header, Source, fill};
use crate::record::header::{Extent, SEAL_AT};
use flate2::{Decompress, FlushDecompress, Status};
use std::fmt;
use std::sync::Arc;

/// The most that deflate can do.
const RATIO: u64 = 1032;
/// Bytes that are looked at together, a multiple of eight.
const SEARCHED: usize = 64 << 10;
/// How many times a damaged section is read in search of its blocks.
const PATIENCE: u64 = 4;

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
    pub(crate) fn find(source: &Arc<dyn Source>, length: u64, header: &Header) -> Section {
        let Some(span) = Span::find(&**source, length, header) else { return Section::default() };
        let mut section = Section { blocks: Vec::new(), damage: span.damage };
        let Some(first) = span.first else { return section };
        let patience = PATIENCE.saturating_mul(span.end.saturating_sub(first));
        let mut walk = Walk { source, at: first, end: span.end, heads: 0, patience };
        let mut whole = true;
        for number in 0.. {
            // Where a head is lost the count is, too.
            let over = match span.blocks.filter(|_| whole) {
                Some(blocks) => number >= blocks,
                None => walk.at >= walk.end,
            };
            if over {
                break;
            }
            match walk.next() {
                Ok(block) => section.blocks.push(block),
                Err(reason) => {
                    whole = false;
                    // A cut is said once, with what is missing of the whole section.
                    if span.blocks.is_some() {
                        section.damage.push(damage(walk.at, reason));
                    }
                    if !walk.skip() {
                        break;
                    }
                    if let Ok(block) = walk.next() {
                        section.blocks.push(block);
                    }
                }
            }
        }
        // Without a trailer nobody says how many blocks there were.
        let known = whole && span.blocks.is_some();
        if known && span.heads.is_some_and(|heads| heads != walk.heads) {
            section.damage.push(damage(first, Reason::Checksum));
        }
        section
    }
}

fn damage(at: u64, reason: Reason) -> Damage {
    Damage { part: Part::Section, at, reason }
}

/// Where a section lies, as far as header and trailer say.
#[derive(Default)]
struct Span {
    /// Where the first block begins, unless it can not be read at all.
    first: Option<u64>,
    /// Where blocks end.
    end: u64,
    /// How many there are; nothing if that is lost.
    blocks: Option<u32>,
    /// What their marks add up to, where the header says.
    heads: Option<u32>,
    damage: Vec<Damage>,
}

impl Span {
    fn find(source: &dyn Source, length: u64, header: &Header) -> Option<Span> {
        // A header that is not as it was written is asked for nothing that the trailer says too.
        let seal = header.seal.filter(|seal| seal.fits);
        let end = seal.map_or(length, |seal| seal.behind.offset.saturating_add(seal.behind.length));
        if seal.is_some_and(|seal| seal.behind.length == 0) {
            return None;
        }
        let heads = seal.map(|seal| seal.heads);
        let Some(trailer) = trailer(source, end) else {
            return Span::without_trailer(source, length, header, heads);
        };
        let end = end.saturating_sub(TRAILER as u64);
        let mut span = Span { end, blocks: Some(trailer.blocks), heads, ..Span::default() };
        if trailer.version == VERSION {
            span.first = Some(trailer.offset);
        } else {
            let reason = Reason::Version { found: trailer.version, known: VERSION };
            span.damage.push(damage(end, reason));
        }
        // Header and trailer say both, or neither, that there is a seal.
        if seal.is_some_and(|seal| seal.behind.offset != trailer.offset || !trailer.sealed) {
            span.damage.push(damage(end, Reason::Checksum));
        }
        if header.seal.is_none() && trailer.sealed {
            let part = Part::Header;
            span.damage.push(Damage { part, at: SEAL_AT as u64, reason: Reason::Checksum });
        }
        Some(span)
    }

    /// The section is cut or bent at its end, or there is none.
    fn without_trailer(
        source: &dyn Source,
        length: u64,
        header: &Header,
        heads: Option<u32>,
    ) -> Option<Span> {
        let behind = header.end().saturating_add(padding(header.end()));
        let sealed = header.seal.filter(|seal| seal.fits).map(|seal| seal.behind);
        let Some(Extent { offset, length: expected }) = sealed else {
            // Nobody says that there was one but its own first bytes.
            let mut first = [0; MAGIC.len()];
            let there = fill(source, behind, &mut first).is_ok() && first == MAGIC;
            let cut = damage(length, Reason::EndMissing);
            let span = Span { first: Some(behind), end: length, ..Span::default() };
            return there.then(|| Span { damage: vec![cut], ..span });
        };
        let end = offset.saturating_add(expected);
        let reason = if length < end {
            damage(length, Reason::FileCut { missing: end - length })
        } else {
            damage(end.saturating_sub(TRAILER as u64), Reason::Checksum)
        };
        let end = length.min(end.saturating_sub(TRAILER as u64));
        Some(Span { first: Some(offset), end, blocks: None, heads, damage: vec![reason] })
    }
}

/// The way from block to block.
struct Walk<'a> {
    source: &'a Arc<dyn Source>,
    at: u64,
    end: u64,
    heads: u32,
    /// Bytes that are still checked in search of a block: who writes many false heads gets no more.
    patience: u64,
}

impl Walk<'_> {
    fn next(&mut self) -> Result<Block, Reason> {
        let head = head(&**self.source, self.at, self.end)?;
        let offset = self.at + HEAD as u64;
        self.heads = self.heads.wrapping_add(head.mark(self.at));
        self.at = offset + head.stored_len + padding(head.stored_len);
        Ok(Block { source: self.source.clone(), head, offset })
    }

    /// Goes on to the next block whose bytes are what its head says; false if there is none.
    fn skip(&mut self) -> bool {
        let mut piece = vec![0; SEARCHED];
        let mut from = self.at.saturating_add(8);
        while from < self.end {
            let Ok(have @ 1..) = fill(&**self.source, from, &mut piece) else { return false };
            let found = piece[..have].chunks(8).zip((from..).step_by(8));
            for (_, at) in found.filter(|(bytes, _)| bytes.starts_with(&MAGIC)) {
                let mut there = Walk { at, ..*self };
                let Ok(block) = there.next() else { continue };
                let Some(left) = self.patience.checked_sub(block.head.stored_len) else {
                    return false;
                };
                self.patience = left;
                if block.check().is_ok() {
                    self.at = at;
                    return true;
                }
            }
            from += have as u64;
        }
        false
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

    /// Whether the bytes in the file are what the block's head says, without keeping them.
    ///
    /// # Errors
    /// As [`stored`](Block::stored).
    pub fn check(&self) -> Result<(), Damage> {
        let (mut crc, mut piece) = (Crc32::default(), vec![0; SEARCHED]);
        let (mut at, mut left) = (self.offset, self.head.stored_len);
        while left > 0 {
            let want = usize::try_from(left).unwrap_or(SEARCHED).min(SEARCHED);
            let have = fill(&*self.source, at, &mut piece[..want])
                .map_err(|error| self.damage(Reason::Io(error.kind())))?;
            if have == 0 {
                return Err(self.damage(Reason::FileCut { missing: left }));
            }
            crc.update(&piece[..have]);
            at += have as u64;
            left -= have as u64;
        }
        if crc.value() == self.head.crc { Ok(()) } else { Err(self.damage(Reason::Checksum)) }
    }

    fn damage(&self, reason: Reason) -> Damage {
        damage(self.offset, reason)
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
