//! Reading a spool from a position on, behind whoever appends to it.

use std::io;
use std::sync::Arc;

use super::recovery::step;
use super::{HEADER_BYTES, Spool, Storage, Stored};
use crate::frame;

/// Bytes that are read at once; a frame that is larger gets the room it needs.
const AT_ONCE: usize = 256 << 10;

/// A part of a file that holds whole frames, to be read outside of any lock.
#[derive(Debug, Clone)]
pub struct Piece {
    name: String,
    base: u64,
    from: u64,
    until: u64,
}

/// Reads frames one after the other.
#[derive(Debug)]
pub struct Reader {
    storage: Arc<dyn Storage>,
    position: u64,
    open: Option<(String, Arc<dyn Stored>)>,
    bytes: Vec<u8>,
    /// Where in `bytes` the next frame is.
    at: usize,
    /// Bytes that were stepped over because they are not what was written.
    damaged: u64,
}

impl Reader {
    pub(super) fn new(storage: Arc<dyn Storage>, position: u64) -> Reader {
        Reader { storage, position, open: None, bytes: Vec::new(), at: 0, damaged: 0 }
    }

    /// The position of the next frame.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes that were not what was written, and were stepped over.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Goes to another position.
    pub fn seek(&mut self, position: u64) {
        self.position = position;
        self.bytes.clear();
        self.at = 0;
    }

    /// Lets the file go until there is more to read: one that was removed takes its room as long as somebody
    /// has it open.
    pub fn rest(&mut self) {
        self.open = None;
    }

    /// Whether frames are at hand that were read already.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.at < self.bytes.len()
    }

    /// What to read next, while the spool is at hand; none if there is nothing new.
    #[must_use]
    pub fn plan(&self, spool: &Spool) -> Option<Piece> {
        let (name, base, until) = spool.locate(self.position)?;
        Some(Piece { name, base, from: self.position.max(base), until })
    }

    /// Reads what was planned; then [`Reader::next`] gives it frame by frame.
    ///
    /// # Errors
    /// The file can not be read.
    pub fn fill(&mut self, piece: &Piece) -> io::Result<()> {
        if self.open.as_ref().is_none_or(|(name, _)| *name != piece.name) {
            self.open = Some((piece.name.clone(), self.storage.open(&piece.name)?));
        }
        let Some((_, file)) = &self.open else { return Ok(()) };
        self.position = piece.from;
        self.at = 0;
        let left = usize::try_from(piece.until - piece.from).unwrap_or(usize::MAX);
        let mut wanted = left.min(AT_ONCE);
        loop {
            self.bytes.resize(wanted, 0);
            let offset = HEADER_BYTES + (piece.from - piece.base);
            let read = file.read_at(offset, &mut self.bytes)?;
            self.bytes.truncate(read);
            let whole = whole_frames(&self.bytes);
            // A piece ends with a whole frame, so reading all of it is always enough.
            if whole > 0 || wanted >= left || read < wanted {
                let keep = if wanted >= left || read < wanted { read } else { whole };
                self.bytes.truncate(keep);
                return Ok(());
            }
            let needed =
                frame::peek(&self.bytes).ok().flatten().map_or(left, |head| frame::length(&head));
            wanted = needed.max(wanted * 2).min(left);
        }
    }

    /// The next frame that was read, whole and checked.
    #[expect(clippy::should_implement_trait, reason = "it lends what it gives")]
    pub fn next(&mut self) -> Option<&[u8]> {
        while self.at < self.bytes.len() {
            let found = step(&self.bytes[self.at..]);
            let from = self.at;
            self.at += found.bytes;
            self.position += found.bytes as u64;
            if found.whole {
                return Some(&self.bytes[from..from + found.bytes]);
            }
            self.damaged += found.bytes as u64;
        }
        None
    }
}

/// How many of the bytes are whole frames, going by their heads.
fn whole_frames(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Ok(Some(head)) = frame::peek(&bytes[at..]) {
        if at + frame::length(&head) > bytes.len() {
            break;
        }
        at += frame::length(&head);
    }
    at
}
