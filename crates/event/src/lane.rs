//! A lane: one thread's events, a chain of chunks in shared memory with one writer and one reader.
//!
//! **Publishing.** The producer fills a slot with relaxed stores and then moves `head` with
//! Release; a reader that loads `head` with Acquire sees every slot below it complete. If either
//! side dies, the other is not stopped: what is below `head` stays readable, and a producer
//! without a reader runs into its budget and drops, counted by reason.
//!
//! **Acknowledging.** A reader frees whole chunks: it writes how many chunks of this lane it is
//! done with, and the complement of that number, as *one* aligned 64-bit word. A write torn at any
//! byte has halves that do not match and is ignored. The producer besides accepts only counts
//! that do not fall and lie below `head`, so no word that a reader (or a vandal) writes can make
//! it overrun memory; at worst it frees what the vandal claims to have read.
//!
//! **Reuse.** When its chunk is full the producer takes its own oldest chunk if that is
//! acknowledged, which is warm, else a new one within the budget.
//!
//! This file is compiled a second time with loom's atomics (`tests/lane.rs`).

use crate::Loss;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Reasons a lane has room for.
pub const REASONS: usize = 8;
/// Pages of call counts a lane can refer to.
pub const CALL_PAGES: usize = 8;

/// What was dropped for one reason. Times are ticks; 0 means none.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Dropped {
    /// How many events.
    pub count: AtomicU64,
    /// When the first was.
    pub first: AtomicU64,
    /// When the last was.
    pub last: AtomicU64,
}

/// The head of a lane. Its first line belongs to the producer, its second to the reader.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lane {
    /// Slots published since the lane began.
    pub head: AtomicU64,
    /// Slots among them that are not the first of an event: second ones and padding.
    pub extra: AtomicU64,
    /// Number of the oldest chunk still in the chain, plus one; 0 before the first.
    pub oldest: AtomicU32,
    line_0: [u32; 11],
    /// What the reader is done with; see [`ack_word`].
    pub ack: AtomicU64,
    line_1: [u64; 7],
    /// 1 when the lane is set up.
    pub ready: AtomicU32,
    /// The kernel's id of the thread that uses it now, or did last.
    pub tid: AtomicU32,
    /// `pthread_self()` of that thread.
    pub pthread: AtomicU64,
    /// Pages of call counts, 512 codes each: their numbers plus one, 0 where there is none.
    pub calls: [AtomicU32; CALL_PAGES],
    line_2: [u64; 2],
    /// Losses by the code of their reason.
    pub dropped: [Dropped; REASONS],
}

impl Lane {
    /// Counts an event that is not recorded.
    #[inline]
    pub fn count_dropped(&self, reason: Loss, now: u64) {
        // The array is longer than the codes; a code beyond it would be counted nowhere, and
        // `segment` asserts that there is none.
        if let Some(dropped) = self.dropped.get(usize::from(reason as u8)) {
            // One writer: load and store do not race.
            let count = dropped.count.load(Ordering::Relaxed);
            if count == 0 {
                dropped.first.store(now, Ordering::Relaxed);
            }
            dropped.last.store(now, Ordering::Relaxed);
            dropped.count.store(count.wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// A chunk: its head takes the room of one slot, `N` slots follow.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Chunk<const N: usize> {
    /// Index in the lane of its first slot.
    pub base: AtomicU64,
    /// Number of the next chunk of the lane, plus one; 0 while there is none.
    pub next: AtomicU32,
    /// Number of the lane.
    pub lane: AtomicU32,
    /// Slots that follow: `N`, or fewer in a packed segment.
    pub slots_held: AtomicU32,
    reserved: [u32; 3],
    /// The events.
    pub slots: [Cell; N],
}

/// A slot in shared memory.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Cell([AtomicU64; 4]);

impl Cell {
    /// Fills the slot; it becomes visible with `head`.
    #[inline(always)]
    pub fn write(&self, words: [u64; 4]) {
        self.0[0].store(words[0], Ordering::Relaxed);
        self.0[1].store(words[1], Ordering::Relaxed);
        self.0[2].store(words[2], Ordering::Relaxed);
        self.0[3].store(words[3], Ordering::Relaxed);
    }

    /// The words of a slot below `head`.
    #[must_use]
    pub fn read(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|word: usize| self.0[word].load(Ordering::Relaxed))
    }
}

impl<const N: usize> Default for Chunk<N> {
    fn default() -> Self {
        Chunk {
            base: AtomicU64::new(0),
            next: AtomicU32::new(0),
            lane: AtomicU32::new(0),
            slots_held: AtomicU32::new(0),
            reserved: [0; 3],
            slots: core::array::from_fn(|_| Cell::default()),
        }
    }
}

/// Where chunks come from.
pub trait Chunks<'a, const N: usize> {
    /// The chunk with this number.
    fn chunk(&self, number: u32) -> Option<&'a Chunk<N>>;
    /// A chunk that nobody uses, and how many of its slots may be touched; or why there is none.
    ///
    /// # Errors
    /// The budget is spent, or no space can be reserved.
    fn take(&self) -> Result<(u32, usize), Loss>;
    /// Lets all slots of a chunk be touched.
    ///
    /// # Errors
    /// No space can be reserved.
    fn complete(&self, number: u32) -> Result<(), Loss>;
}

/// The writing end. All zeroes is a valid one that has no chunk yet.
#[derive(Debug, Default)]
pub struct Producer<'a, const N: usize> {
    chunk: Option<&'a Chunk<N>>,
    at: usize,
    /// Slots of the chunk that may be touched.
    room: usize,
    /// Its number.
    number: u32,
    acked: u32,
}

impl<'a, const N: usize> Producer<'a, N> {
    /// Writes an event of one slot, or says that there is no room: [`Producer::grow`], then again.
    #[inline(always)]
    pub fn push(&mut self, lane: &Lane, words: [u64; 4]) -> bool {
        if self.at >= self.room {
            return false;
        }
        let Some(slot) = self.chunk.and_then(|chunk| chunk.slots.get(self.at)) else {
            return false;
        };
        slot.write(words);
        self.at = self.at.wrapping_add(1);
        // Only this thread writes `head`. Pairs with the Acquire of whoever reads the slots.
        let head = lane.head.load(Ordering::Relaxed);
        lane.head.store(head.wrapping_add(1), Ordering::Release);
        true
    }

    /// Writes an event of two slots; both lie in one chunk and appear together.
    pub fn push_wide(&mut self, lane: &Lane, first: [u64; 4], second: [u64; 4]) -> bool {
        let Some(chunk) = self.chunk else { return false };
        let after = self.at.wrapping_add(1);
        if after >= self.room && self.room < N {
            return false;
        }
        let (Some(one), two) = (chunk.slots.get(self.at), chunk.slots.get(after)) else {
            return false;
        };
        let Some(two) = two else {
            // One slot is left: it is padded, and the event goes to the next chunk.
            self.pad(lane, one);
            return false;
        };
        one.write(first);
        two.write(second);
        self.at = after.wrapping_add(1);
        bump(&lane.extra);
        let head = lane.head.load(Ordering::Relaxed);
        lane.head.store(head.wrapping_add(2), Ordering::Release);
        true
    }

    fn pad(&mut self, lane: &Lane, slot: &Cell) {
        slot.write([0; 4]);
        self.at = self.at.wrapping_add(1);
        bump(&lane.extra);
        let head = lane.head.load(Ordering::Relaxed);
        lane.head.store(head.wrapping_add(1), Ordering::Release);
    }

    /// Takes the rest of a chunk of which only a part may be touched, or the next one: the oldest of this
    /// lane if the reader is done with it, else a new one.
    ///
    /// # Errors
    /// There is none; the event is to be dropped and counted for this reason.
    pub fn grow(&mut self, lane: &Lane, id: u32, from: &impl Chunks<'a, N>) -> Result<(), Loss> {
        if self.chunk.is_some() && self.room < N {
            from.complete(self.number)?;
            self.room = N;
            return Ok(());
        }
        let (number, room) = match self.reclaim(lane, from) {
            Some(number) => (number, N),
            None => from.take()?,
        };
        let Some(chunk) = from.chunk(number) else { return Err(Loss::Space) };
        chunk.next.store(0, Ordering::Relaxed);
        chunk.lane.store(id, Ordering::Relaxed);
        // `base` is set before any link leads here, and before `head` passes it.
        chunk.base.store(lane.head.load(Ordering::Relaxed), Ordering::Relaxed);
        chunk.slots_held.store(count(N), Ordering::Release);
        match self.chunk {
            // Pairs with the Acquire in `Consumer::step`.
            Some(last) => last.next.store(number.wrapping_add(1), Ordering::Release),
            None => lane.oldest.store(number.wrapping_add(1), Ordering::Release),
        }
        self.chunk = Some(chunk);
        (self.at, self.room, self.number) = (0, room, number);
        Ok(())
    }

    /// Unlinks the oldest chunk if it is acknowledged and not the current one.
    fn reclaim(&mut self, lane: &Lane, from: &impl Chunks<'a, N>) -> Option<u32> {
        // Pairs with the Release of the reader's acknowledgement: its reads of the slots are over.
        let claimed = ack_chunks(lane.ack.load(Ordering::Acquire))?;
        let filled = lane.head.load(Ordering::Relaxed) / u64::from(count(N).max(1));
        if claimed < self.acked || u64::from(claimed) > filled {
            return None;
        }
        self.acked = claimed;
        let number = lane.oldest.load(Ordering::Relaxed).checked_sub(1)?;
        let chunk = from.chunk(number)?;
        let next = chunk.next.load(Ordering::Relaxed);
        let ordinal = chunk.base.load(Ordering::Relaxed) / u64::from(count(N).max(1));
        if next == 0 || ordinal >= u64::from(claimed) {
            return None;
        }
        lane.oldest.store(next, Ordering::Release);
        Some(number)
    }
}

/// The reading end, as tests and measurements use it; a daemon reads the same way with `pread`.
#[derive(Debug, Default)]
pub struct Consumer {
    /// Index of the next slot.
    pub at: u64,
    chunk: Option<u32>,
}

impl Consumer {
    /// The next published slot, or none for now. Acknowledges every chunk it leaves.
    pub fn step<'a, const N: usize>(
        &mut self,
        lane: &Lane,
        from: &impl Chunks<'a, N>,
    ) -> Option<[u64; 4]> {
        // Pairs with the Release in `push`.
        if self.at >= lane.head.load(Ordering::Acquire) {
            return None;
        }
        let number = match self.chunk {
            Some(number) => number,
            None => lane.oldest.load(Ordering::Acquire).checked_sub(1)?,
        };
        let mut chunk = from.chunk(number)?;
        self.chunk = Some(number);
        let size = u64::from(count(N));
        let mut base = chunk.base.load(Ordering::Relaxed);
        if self.at >= base.wrapping_add(size) {
            // `head` is beyond this chunk, so its successor is linked.
            let next = chunk.next.load(Ordering::Acquire).checked_sub(1)?;
            chunk = from.chunk(next)?;
            self.chunk = Some(next);
            base = chunk.base.load(Ordering::Relaxed);
            let done = u32::try_from(base / size.max(1)).ok()?;
            lane.ack.store(ack_word(done), Ordering::Release);
        }
        let index = usize::try_from(self.at.checked_sub(base)?).ok()?;
        let words = chunk.slots.get(index)?.read();
        self.at = self.at.wrapping_add(1);
        Some(words)
    }
}

/// The acknowledgement of `chunks` chunks: the number and its complement in one word.
#[must_use]
pub const fn ack_word(chunks: u32) -> u64 {
    chunks as u64 | (!chunks as u64) << 32
}

/// The number of chunks a word acknowledges; none if it was never written, or is torn.
#[must_use]
pub const fn ack_chunks(word: u64) -> Option<u32> {
    let (low, high) = (word as u32, (word >> 32) as u32);
    if low == !high { Some(low) } else { None }
}

fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// A chunk's size as the layout stores it; chunks are far below 4 G slots.
const fn count(slots: usize) -> u32 {
    slots as u32
}
