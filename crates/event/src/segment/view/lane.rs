//! Lanes: calls by function, what was dropped, and the events that are still there.

use core::mem::offset_of;

use super::View;
use crate::lane::{CALL_PAGES, Lane};
use crate::segment::{CALL_CODES, CHUNK_BYTES, LaneChunk, PACKED, Region};
use crate::{Event, Loss, SLOT_BYTES};

impl<'a> View<'a> {
    /// The lanes that were used.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'a>> + use<'a> {
        let segment = *self;
        segment.rows::<{ size_of::<Lane>() }>(Region::Lanes).filter_map(move |(number, row)| {
            (row.u32(offset_of!(Lane, ready)) != 0).then_some(LaneView { segment, number, row })
        })
    }

    /// The chunks, in the order they lie there.
    #[must_use]
    pub fn chunks(&self) -> Chunks<'a> {
        let packed = self.flags() & PACKED != 0;
        Chunks { all: View { bytes: self.region(Region::Chunks).1 }, at: 0, packed }
    }
}

/// A lane and what is left of its events.
#[derive(Debug, Clone, Copy)]
pub struct LaneView<'a> {
    /// Its number: the thread's slot.
    pub number: u32,
    segment: View<'a>,
    row: View<'a>,
}

impl<'a> LaneView<'a> {
    /// Slots published.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.row.u64(offset_of!(Lane, head))
    }

    /// Events written, whether they are still here or not.
    #[must_use]
    pub fn produced(&self) -> u64 {
        self.head().saturating_sub(self.row.u64(offset_of!(Lane, extra)))
    }

    /// The kernel's id of the thread.
    #[must_use]
    pub fn tid(&self) -> u32 {
        self.row.u32(offset_of!(Lane, tid))
    }

    /// `pthread_self()` of the thread.
    #[must_use]
    pub fn pthread(&self) -> u64 {
        self.row.u64(offset_of!(Lane, pthread))
    }

    /// The word of the reader; see [`crate::lane::ack_chunks`].
    #[must_use]
    pub fn ack(&self) -> u64 {
        self.row.u64(offset_of!(Lane, ack))
    }

    /// Events dropped for a reason: how many, and the ticks of the first and the last.
    #[must_use]
    pub fn dropped(&self, reason: Loss) -> (u64, u64, u64) {
        let at = offset_of!(Lane, dropped) + usize::from(reason as u8) * 24;
        (self.row.u64(at), self.row.u64(at + 8), self.row.u64(at + 16))
    }

    /// Calls by code of the function, those that were made only.
    #[must_use]
    pub fn calls(&self) -> Calls<'a> {
        Calls { lane: *self, code: 0 }
    }

    /// The events that are still here, in order; slots that are none are skipped.
    #[must_use]
    pub fn events(&self) -> Events<'a> {
        let mine = |chunk: &ChunkView<'a>| chunk.lane == self.number;
        let first = self.segment.chunks().filter(mine).map(|chunk| chunk.base).min();
        let mut events = Events { lane: *self, slots: &[], at: 0, next: first.unwrap_or(0) };
        events.open();
        events
    }
}

/// Codes of functions and how often they were called.
#[derive(Debug, Clone)]
pub struct Calls<'a> {
    lane: LaneView<'a>,
    code: u16,
}

impl Iterator for Calls<'_> {
    type Item = (u16, u64);

    fn next(&mut self) -> Option<(u16, u64)> {
        let pages = View { bytes: self.lane.segment.region(Region::Calls).1 };
        while usize::from(self.code) < CALL_CODES * CALL_PAGES {
            let code = self.code;
            let (page, word) = (usize::from(code) / CALL_CODES, usize::from(code) % CALL_CODES);
            let number = self.lane.row.u32(offset_of!(Lane, calls) + page * 4);
            let Some(number) = number.checked_sub(1) else {
                self.code = ((page + 1) * CALL_CODES) as u16;
                continue;
            };
            self.code += 1;
            // 2^32 pages of 4 KiB do not overflow 64 bits.
            let at = number as usize * CALL_CODES * 8 + word * 8;
            match pages.u64(at) {
                0 => {}
                calls => return Some((code, calls)),
            }
        }
        None
    }
}

/// A chunk as it lies there.
#[derive(Debug, Clone, Copy)]
pub struct ChunkView<'a> {
    /// Number of its lane.
    pub lane: u32,
    /// Index in the lane of its first slot.
    pub base: u64,
    /// Its slots; those at or behind the lane's head hold nothing yet.
    pub slots: &'a [[u8; SLOT_BYTES]],
}

/// The chunks of a segment, in the order they lie there.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    all: View<'a>,
    at: usize,
    packed: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = ChunkView<'a>;

    fn next(&mut self) -> Option<ChunkView<'a>> {
        let row = View { bytes: self.all.bytes.get(self.at..)? };
        if row.bytes.len() < SLOT_BYTES {
            return None;
        }
        let held = row.u32(offset_of!(LaneChunk, slots_held)) as usize;
        let room = if self.packed { row.bytes.len() } else { CHUNK_BYTES.min(row.bytes.len()) };
        let slots = row.bytes.get(SLOT_BYTES..room)?.as_chunks::<SLOT_BYTES>().0;
        let slots = slots.get(..held.min(slots.len()))?;
        self.at += if self.packed { SLOT_BYTES * (1 + slots.len()) } else { CHUNK_BYTES };
        Some(ChunkView {
            lane: row.u32(offset_of!(LaneChunk, lane)),
            base: row.u64(offset_of!(LaneChunk, base)),
            slots,
        })
    }
}

/// The events of a lane.
#[derive(Debug, Clone)]
pub struct Events<'a> {
    lane: LaneView<'a>,
    slots: &'a [[u8; SLOT_BYTES]],
    at: usize,
    /// Index in the lane of the first slot behind `slots`.
    next: u64,
}

impl<'a> Events<'a> {
    /// Goes to the chunk that begins at `next`, if there is one with published slots.
    fn open(&mut self) -> bool {
        let (number, head, base) = (self.lane.number, self.lane.head(), self.next);
        let wanted = |chunk: &ChunkView<'a>| chunk.lane == number && chunk.base == base;
        let Some(chunk) = self.lane.segment.chunks().find(wanted) else { return false };
        let published = usize::try_from(head.saturating_sub(base)).unwrap_or(usize::MAX);
        self.slots = chunk.slots.get(..published.min(chunk.slots.len())).unwrap_or(&[]);
        self.at = 0;
        self.next = base.saturating_add(self.slots.len() as u64);
        !self.slots.is_empty()
    }

    fn slot(&mut self) -> Option<[u64; 4]> {
        let row = View { bytes: self.slots.get(self.at)? };
        self.at += 1;
        Some([row.u64(0), row.u64(8), row.u64(16), row.u64(24)])
    }
}

impl Iterator for Events<'_> {
    /// Index in the lane, and the event.
    type Item = (u64, Event);

    fn next(&mut self) -> Option<(u64, Event)> {
        loop {
            if self.at >= self.slots.len() && !self.open() {
                return None;
            }
            let index = self.next - (self.slots.len() - self.at) as u64;
            let first = self.slot()?;
            let second = if Event::is_wide(first) { self.slot() } else { None };
            if let Ok(event) = Event::decode(first, second) {
                return Some((index, event));
            }
        }
    }
}
