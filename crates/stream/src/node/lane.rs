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
    /// Slots that are durable; what was read before this daemon began is.
    done: u64,
    acknowledged: Option<u32>,
    /// The chain leads nowhere: the owner has written into it.
    broken: bool,
}

impl Cursor {
    /// Goes on at a slot that was not read before.
    pub(super) fn new(number: u32, next: u64) -> Cursor {
        let waiting = VecDeque::new();
        Cursor { number, next, chunk: None, waiting, done: next, acknowledged: None, broken: false }
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
            let count = row.head.min(base.saturating_add(SLOTS)).saturating_sub(at);
            let from = u64::from(number) * CHUNK_BYTES as u64 + (at - base + 1) * SLOT_BYTES as u64;
            let read = file.read(chunks, from, count * SLOT_BYTES as u64, &mut slots.bytes)?;
            if read as u64 != count * SLOT_BYTES as u64 {
                // The file was cut.
                let whole = slots.bytes.len() / SLOT_BYTES * SLOT_BYTES;
                slots.bytes.truncate(whole);
                self.broken = true;
                break;
            }
            at = at.saturating_add(count);
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
            if step == 0 && before.is_none() && head.base > at && head.base.is_multiple_of(SLOTS) {
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
        self.next = slots.from.saturating_add(slots.count());
        self.chunk = slots.chunk;
        self.waiting.push_back((position, self.next));
    }

    /// Everything before `committed` is durable: says what to acknowledge, if that is news. A chunk
    /// is given back once its successor was seen.
    pub(super) fn durable(&mut self, committed: u64) -> Option<u64> {
        while let Some(&(position, slots)) = self.waiting.front()
            && position <= committed
        {
            self.waiting.pop_front();
            self.done = slots;
        }
        let behind = self.done.min(self.next.saturating_sub(1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;

    use netra_event::lane::ack_chunks;

    const LANE: u32 = 3;
    const CHUNKS: u32 = 4;

    /// The producing side, on a file, as `netra_event::lane::Producer` does it in memory. Every
    /// slot holds its own index.
    struct Producer {
        file: File,
        head: u64,
        chain: VecDeque<(u32, u64)>,
        fresh: u32,
        acknowledged: u32,
        dropped: u64,
    }

    impl Producer {
        fn write(&self, number: u32, at: usize, bytes: &[u8]) {
            let offset = u64::from(number) * CHUNK_BYTES as u64 + at as u64;
            self.file.write_all_at(bytes, offset).unwrap();
        }

        fn push(&mut self, word: u64) {
            if self.chain.back().is_none_or(|&(_, base)| self.head == base + SLOTS)
                && !self.grow(word)
            {
                self.dropped += 1;
                return;
            }
            let &(number, base) = self.chain.back().unwrap();
            let at = ((self.head - base + 1) * SLOT_BYTES as u64) as usize;
            self.write(number, at, &self.head.to_le_bytes());
            self.head += 1;
        }

        fn grow(&mut self, word: u64) -> bool {
            if let Some(claimed) = ack_chunks(word)
                && claimed >= self.acknowledged
                && u64::from(claimed) <= self.head / SLOTS
            {
                self.acknowledged = claimed;
            }
            let done = |&(_, base): &(u32, u64)| base / SLOTS < u64::from(self.acknowledged);
            let number = if self.chain.len() > 1 && self.chain.front().is_some_and(done) {
                self.chain.pop_front().unwrap().0
            } else if self.fresh < CHUNKS {
                self.fresh += 1;
                self.fresh - 1
            } else {
                return false;
            };
            self.write(number, 0, &[0xee; CHUNK_BYTES]);
            self.write(number, offset_of!(LaneChunk, base), &self.head.to_le_bytes());
            self.write(number, offset_of!(LaneChunk, next), &0_u32.to_le_bytes());
            self.write(number, offset_of!(LaneChunk, lane), &LANE.to_le_bytes());
            if let Some(&(last, _)) = self.chain.back() {
                self.write(last, offset_of!(LaneChunk, next), &(number + 1).to_le_bytes());
            }
            self.chain.push_back((number, self.head));
            true
        }

        fn row(&self) -> Row {
            let oldest = self.chain.front().map_or(0, |&(number, _)| number + 1);
            Row { head: self.head, oldest, ready: true }
        }
    }

    fn random(state: &mut u64, below: u64) -> u64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    #[test]
    fn no_slot_is_freed_unread_though_daemon_dies_and_words_are_torn() {
        let (mut crashes, mut torn, mut dropped) = (0, 0, 0);
        for seed in 0..20 {
            let mut state = seed;
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("segment");
            let file = File::options().create_new(true).read(true).write(true).open(&path);
            let file = file.unwrap();
            let mut producer = Producer {
                file,
                head: 0,
                chain: VecDeque::new(),
                fresh: 0,
                acknowledged: 0,
                dropped: 0,
            };
            let uid = rustix::process::geteuid().as_raw();
            let segment = SegmentFile::open(&path, uid).unwrap().unwrap();
            let capacity = u64::from(CHUNKS) * CHUNK_BYTES as u64;
            let place = Place { stride: 0, offset: 0, capacity, used: capacity };
            let mut cursor = Cursor::new(LANE, 0);
            let (mut word, mut position, mut durable) = (0_u64, 0_u64, 0_u64);
            for _ in 0..300 {
                for _ in 0..random(&mut state, 700) {
                    producer.push(word);
                }
                let row = producer.row();
                let slots = cursor.read(&segment, &place, &row).unwrap();
                assert_eq!(slots.from, cursor.next, "seed {seed}: events were freed unread");
                for (index, slot) in (slots.from..).zip(slots.bytes.as_chunks::<SLOT_BYTES>().0) {
                    assert_eq!(slot.first_chunk(), Some(&index.to_le_bytes()), "seed {seed}");
                }
                if slots.count() > 0 {
                    position += slots.bytes.len() as u64;
                    cursor.taken(&slots, position);
                }
                // Some of what was taken is durable by now.
                let committed = position - random(&mut state, 100_000).min(position);
                let waiting = cursor.waiting.iter().filter(|(at, _)| *at <= committed);
                durable = waiting.map(|(_, slots)| *slots).max().unwrap_or(durable).max(durable);
                if let Some(new) = cursor.durable(committed) {
                    word = if random(&mut state, 4) == 0 {
                        torn += 1;
                        word & 0xffff_ffff | new & !0xffff_ffff
                    } else {
                        new
                    };
                }
                if random(&mut state, 20) == 0 {
                    crashes += 1;
                    cursor = Cursor::new(LANE, durable);
                    position = 0;
                }
            }
            assert!(!cursor.broken && producer.head > 10 * SLOTS, "seed {seed}");
            dropped += producer.dropped;
        }
        println!("20 seeds: {crashes} crashes, {torn} torn words, {dropped} events dropped");
        assert!(crashes > 50 && torn > 50 && dropped > 0);
    }
}
