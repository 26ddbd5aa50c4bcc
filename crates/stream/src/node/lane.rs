//! One lane of a running process, read behind its producer.
//!
//! What was read is acknowledged in two steps: [`Cursor::taken`] when its frame is in the spool,
//! [`Cursor::durable`] when the spool is on disk; only then may the process use the chunk again. A
//! daemon that dies in between reads those events once more, and they are known by their indices.

use std::collections::VecDeque;
use std::io;
use std::mem::offset_of;
use std::sync::atomic::{Ordering, fence};

use netra_event::SLOT_BYTES;
use netra_event::lane::{Lane, ack_word};
use netra_event::segment::{CHUNK_BYTES, CHUNK_SLOTS, LaneChunk};

use super::file::{LANE_BYTES, Place, SegmentFile};

/// Slots of a chunk, as indices count them.
const SLOTS: u64 = CHUNK_SLOTS as u64;
/// Chunks that go into one frame at most.
const CHUNKS_AT_ONCE: u64 = 8;

/// A lane's head, as it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) head: u64,
    pub(super) oldest: u32,
    pub(super) ready: bool,
}

impl Row {
    pub(super) fn new(bytes: &[u8; LANE_BYTES]) -> Row {
        let word =
            |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let head =
            bytes[offset_of!(Lane, head)..].first_chunk().map_or(0, |w| u64::from_le_bytes(*w));
        // Pairs with the Release that published the slots below this head: they are read later.
        fence(Ordering::Acquire);
        Row {
            head,
            oldest: word(offset_of!(Lane, oldest)),
            ready: word(offset_of!(Lane, ready)) != 0,
        }
    }
}

/// Slots that were read and not taken yet.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) from: u64,
    pub(super) bytes: Vec<u8>,
    chunk: Option<u32>,
}

impl Slots {
    pub(super) fn count(&self) -> u64 {
        (self.bytes.len() / SLOT_BYTES) as u64
    }
}

/// How far a lane was read.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) number: u32,
    /// Index of the next slot.
    pub(super) next: u64,
    /// The chunk in which it lies, or the one before if it is the first of the next.
    chunk: Option<u32>,
    /// Positions in the spool and the slots that are durable with them.
    waiting: VecDeque<(u64, u64)>,
    acknowledged: Option<u32>,
    /// The chain leads nowhere: the owner has written into it.
    broken: bool,
}

impl Cursor {
    /// Goes on at a slot that was not read before.
    pub(super) fn new(number: u32, next: u64) -> Cursor {
        let waiting = VecDeque::new();
        Cursor { number, next, chunk: None, waiting, acknowledged: None, broken: false }
    }

    /// Whether everything published was read, or the rest can not be.
    pub(super) fn is_done(&self, row: &Row) -> bool {
        self.broken || self.next >= row.head
    }

    /// Reads what was published, at most a few chunks of it.
    pub(super) fn read(
        &mut self,
        file: &SegmentFile,
        chunks: &Place,
        row: &Row,
    ) -> io::Result<Slots> {
        let mut slots = Slots { from: self.next, bytes: Vec::new(), chunk: self.chunk };
        if self.is_done(row) {
            return Ok(slots);
        }
        let mut at = self.next;
        for _ in 0..CHUNKS_AT_ONCE {
            let Some(number) = self.find(file, chunks, row, slots.chunk, at)? else { break };
            if slots.chunk.is_none() {
                // The first chunk that is still there may begin behind what was wanted.
                at = self.next;
                slots.from = at;
            }
            slots.chunk = Some(number);
            let base = at / SLOTS * SLOTS;
            let count = row.head.min(base + SLOTS).saturating_sub(at);
            let from = u64::from(number) * CHUNK_BYTES as u64 + (at - base + 1) * SLOT_BYTES as u64;
            let read = file.read(chunks, from, count * SLOT_BYTES as u64, &mut slots.bytes)?;
            if read as u64 != count * SLOT_BYTES as u64 {
                // The file was cut.
                let whole = slots.bytes.len() / SLOT_BYTES * SLOT_BYTES;
                slots.bytes.truncate(whole);
                self.broken = true;
                break;
            }
            at += count;
            if at >= row.head {
                break;
            }
        }
        Ok(slots)
    }

    /// The chunk that holds slot `at`, from the one that held the slot before it.
    fn find(
        &mut self,
        file: &SegmentFile,
        chunks: &Place,
        row: &Row,
        before: Option<u32>,
        at: u64,
    ) -> io::Result<Option<u32>> {
        let mut number = match before.or_else(|| row.oldest.checked_sub(1)) {
            Some(number) => number,
            None => {
                // Something is published, and there is no chunk that could hold it.
                self.broken = true;
                return Ok(None);
            }
        };
        let there = chunks.capacity / CHUNK_BYTES as u64;
        for step in 0..=there {
            let Some(head) = chunk_head(file, chunks, number)?.filter(|h| h.lane == self.number)
            else {
                break;
            };
            if step == 0 && before.is_none() && head.base > at {
                // Older chunks went to another reader.
                self.next = head.base;
                return Ok(Some(number));
            }
            if head.base == at / SLOTS * SLOTS {
                return Ok(Some(number));
            }
            match head.next.checked_sub(1).filter(|_| head.base < at) {
                Some(next) => number = next,
                None => break,
            }
        }
        self.broken = true;
        Ok(None)
    }

    /// The slots are in the spool; durable when everything before `position` is.
    pub(super) fn taken(&mut self, slots: &Slots, position: u64) {
        self.next = slots.from + slots.count();
        self.chunk = slots.chunk;
        self.waiting.push_back((position, self.next));
    }

    /// Everything before `committed` is durable: says what to acknowledge, if that is news. A chunk
    /// is given back once its successor was seen.
    pub(super) fn durable(&mut self, committed: u64) -> Option<u64> {
        let mut done = self.acknowledged.map_or(0, |chunks| u64::from(chunks) * SLOTS);
        while let Some(&(position, slots)) = self.waiting.front()
            && position <= committed
        {
            self.waiting.pop_front();
            done = slots;
        }
        let behind = done.min(self.next.saturating_sub(1));
        let chunks = u32::try_from(behind / SLOTS).ok()?;
        // The first word, of no chunks, says that somebody reads.
        if self.acknowledged == Some(chunks) {
            return None;
        }
        self.acknowledged = Some(chunks);
        Some(ack_word(chunks))
    }
}

struct ChunkHead {
    base: u64,
    next: u32,
    lane: u32,
}

fn chunk_head(file: &SegmentFile, chunks: &Place, number: u32) -> io::Result<Option<ChunkHead>> {
    let mut bytes = Vec::with_capacity(SLOT_BYTES);
    let from = u64::from(number) * CHUNK_BYTES as u64;
    if file.read(chunks, from, SLOT_BYTES as u64, &mut bytes)? < SLOT_BYTES {
        return Ok(None);
    }
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let base = offset_of!(LaneChunk, base);
    let base = bytes[base..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let (next, lane) = (word(offset_of!(LaneChunk, next)), word(offset_of!(LaneChunk, lane)));
    Ok(Some(ChunkHead { base, next, lane }))
}
