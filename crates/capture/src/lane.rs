//! A thread's lane: attaching to one, counting calls, and pushing events; the protocol itself is
//! `netra_event::lane`.

use core::sync::atomic::{AtomicU64, Ordering};

use netra_event::lane::{Chunks, Lane, ack_chunks};
use netra_event::segment::{CALL_CODES, CHUNK_BYTES, CHUNK_SLOTS, LaneChunk, Region};
use netra_event::{Event, FAILED, Function, Loss, NO_FILE, SLOT_BYTES, WIDE};

use crate::arch;
use crate::arena::ARENA;
use crate::memory::{self, Private};
use crate::settings::SETTINGS;
use crate::sys;
use crate::time;
use crate::tls::{Slot, Thread};

/// A page of call counts.
pub type Page = &'static [AtomicU64; CALL_CODES];

/// The segment's chunks: within the budget, or within the second limit while somebody reads.
struct Pool {
    limit: u64,
}

impl Chunks<'static, CHUNK_SLOTS> for Pool {
    fn chunk(&self, number: u32) -> Option<&'static LaneChunk> {
        // SAFETY: a chunk consists of atomics; its number came from `take`, or is checked against
        // the region's capacity.
        unsafe { ARENA.at(Region::Chunks, u64::from(number).checked_mul(CHUNK_BYTES as u64)?) }
    }

    fn take(&self) -> Result<(u32, usize), Loss> {
        let (entry, _) = ARENA.entry(Region::Chunks).ok_or(Loss::Space)?;
        let capacity = entry.capacity.load(Ordering::Relaxed).min(self.limit);
        const BYTES: u64 = CHUNK_BYTES as u64;
        let more = |used: u64| used.checked_add(BYTES).filter(|&new| new <= capacity);
        let taken = entry.used.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more);
        let offset = taken.map_err(|_| Loss::Budget)?;
        let number = u32::try_from(offset / BYTES).map_err(|_| Loss::Space)?;
        // A part of the first one was reserved when the segment was made: enough for a small program.
        let part = ARENA.reserved(Region::Chunks).saturating_sub(offset).min(BYTES) as usize;
        if let Some(slots) = (part / SLOT_BYTES).checked_sub(1) {
            return Ok((number, slots));
        }
        self.complete(number)?;
        Ok((number, CHUNK_SLOTS))
    }

    fn complete(&self, number: u32) -> Result<(), Loss> {
        const BYTES: u64 = CHUNK_BYTES as u64;
        let (entry, _) = ARENA.entry(Region::Chunks).ok_or(Loss::Space)?;
        let offset = u64::from(number).wrapping_mul(BYTES);
        let from = offset.max(ARENA.reserved(Region::Chunks));
        let place = entry.offset.load(Ordering::Relaxed).wrapping_add(from);
        // The chunk is ours alone: nobody else can touch the range that is reserved here.
        let done = ARENA.reserve(place, offset.wrapping_add(BYTES).saturating_sub(from));
        if done { Ok(()) } else { Err(Loss::Space) }
    }
}

/// Gives the calling thread a lane. Without one its calls pass uncounted; that happens only beyond
/// 4,096 threads at a time (fewer where memory is limited), or without a segment, and is counted in the first lane.
pub fn attach(slot: &Slot) -> Option<&'static Thread> {
    let (private, threads) = (memory::private()?, memory::threads());
    let link = |place: u32| threads.get(place as usize).map(|thread| &thread.next_free);
    let Some(place) = private.threads_free.take(threads.len(), link) else {
        lost_thread();
        return None;
    };
    if private.threads_free.used() > 1 {
        memory::more_threads();
    }
    let thread = threads.get(place as usize)?;
    // Written first, as in `life::ready`: the place may be new.
    thread.parent.set(0);
    if thread.lane.get().is_none() {
        set_up(thread, place)?;
    }
    let lane = thread.lane.get()?;
    lane.tid.store(sys::ask(libc::SYS_gettid), Ordering::Relaxed);
    lane.pthread.store(arch::thread_pointer(), Ordering::Relaxed);
    lane.ready.store(1, Ordering::Release);
    thread.place.set(place.wrapping_add(1));
    thread.owner.set(core::ptr::from_ref(slot).addr());
    thread.nested.clear();
    slot.thread.set(Some(thread));
    crate::life::watch_thread_end();
    begin(thread, lane);
    let inside = private.early_inside.swap(0, Ordering::Relaxed);
    if private.early_any.swap(0, Ordering::Relaxed) | inside != 0 {
        count_early(thread, private, inside);
    }
    Some(thread)
}

/// Counts the calls that were made before the process was set up; they are no events, so many of them because
/// they came from inside our own work.
fn count_early(thread: &Thread, private: &Private, mut inside: u32) {
    let now = time::now();
    for &function in Function::ALL {
        let Some(early) = private.early.get(usize::from(function.code())) else { return };
        for _ in 0..early.swap(0, Ordering::Relaxed) {
            let reason = if inside > 0 { Loss::Reentrant } else { Loss::Excluded };
            inside = inside.saturating_sub(1);
            skip(thread, function, reason, now);
        }
    }
}

/// Takes what a place needs in the segment; once, later threads find it there.
fn set_up(thread: &'static Thread, place: u32) -> Option<()> {
    // Beside the pages of counts, which are looked for before they are written.
    thread.numbered.set(0);
    let row = u64::from(place).checked_mul(size_of::<Lane>() as u64)?;
    // Rows are taken in the order of their numbers, but two threads may come at once: take until
    // ours is within.
    let (entry, _) = ARENA.entry(Region::Lanes)?;
    while entry.used.load(Ordering::Acquire) <= row {
        ARENA.take(Region::Lanes, size_of::<Lane>() as u64)?;
    }
    // SAFETY: a lane consists of atomics, and its row is taken.
    thread.lane.set(Some(unsafe { ARENA.at::<Lane>(Region::Lanes, row) }?));
    thread.calls.set(Some(page(thread, 0)?));
    Some(())
}

/// Marks in the lane that another thread writes into it now.
fn begin(thread: &Thread, lane: &Lane) {
    let now = time::now();
    let tid = lane.tid.load(Ordering::Relaxed);
    count(thread, Function::Thread);
    push(
        thread,
        &Event {
            start: now,
            duration: 0,
            offset: i64::from(tid),
            length: 0,
            result: 0,
            file: NO_FILE,
            code: Function::Thread.code(),
            failed: false,
            site: 0,
            parent: 0,
            number: 0,
            extension: 0,
        },
    );
}

#[cold]
fn lost_thread() {
    // SAFETY: a lane consists of atomics; the first row exists if any does.
    if let Some(lane) = unsafe { ARENA.at::<Lane>(Region::Lanes, 0) } {
        lane.count_dropped(Loss::Threads, time::now());
    }
}

/// The page that counts a function's calls.
#[cold]
#[inline(never)]
fn page(thread: &Thread, index: usize) -> Option<Page> {
    let place = thread.pages.get(index)?;
    if let Some(page) = place.get() {
        return Some(page);
    }
    const BYTES: u64 = size_of::<[AtomicU64; CALL_CODES]>() as u64;
    let offset = ARENA.take(Region::Calls, BYTES)?;
    // SAFETY: a page consists of atomics, and was just taken.
    let page = unsafe { ARENA.at::<[AtomicU64; CALL_CODES]>(Region::Calls, offset) }?;
    let number = u32::try_from(offset / BYTES).ok()?.wrapping_add(1);
    thread.lane.get()?.calls.get(index)?.store(number, Ordering::Release);
    place.set(Some(page));
    Some(page)
}

/// Counts a call, whatever becomes of it. One instruction adds, so that a signal handler may come
/// in between.
#[inline(always)]
pub fn count(thread: &Thread, function: Function) {
    let code = usize::from(function.code());
    let page = if code < CALL_CODES {
        // SAFETY: a thread is recorded only once `attach` gave it its first page.
        Some(unsafe { thread.calls.get().unwrap_unchecked() })
    } else {
        page(thread, code / CALL_CODES)
    };
    if let Some(word) = page.and_then(|page| page.get(code % CALL_CODES)) {
        arch::increment(word);
    }
}

/// Writes the words of an event of one slot, if there is room in the chunk at hand.
#[inline(always)]
pub fn push_words(thread: &Thread, words: [u64; 4]) -> bool {
    // SAFETY: a thread is recorded only once `attach` gave it a lane.
    let lane = unsafe { thread.lane.get().unwrap_unchecked() };
    // SAFETY: the producer belongs to this thread, and the busy mark keeps its signal handlers
    // away while a hook is at work.
    unsafe { &mut *thread.producer.get() }.push(lane, words)
}

/// Counts a call that a setting keeps out of the trace.
#[inline(always)]
pub fn drop_excluded(thread: &Thread) {
    // SAFETY: a thread is recorded only once `attach` gave it a lane.
    let lane = unsafe { thread.lane.get().unwrap_unchecked() };
    if let Some(dropped) = lane.dropped.get(Loss::Excluded as usize) {
        arch::increment(&dropped.count);
    }
}

/// Writes an event, or counts it as dropped.
#[inline(never)]
pub fn push(thread: &Thread, event: &Event) {
    let Some(lane) = thread.lane.get() else { return };
    if !SETTINGS.traces() {
        lane.count_dropped(Loss::Excluded, event.start);
        return;
    }
    // SAFETY: as in `push`, whose borrow has ended.
    let producer = unsafe { &mut *thread.producer.get() };
    let flags = if event.failed { WIDE | FAILED } else { WIDE };
    // At most three times: in what may be touched of the chunk at hand, in the rest of it, in the next.
    for _ in 0..3 {
        let written = if event.fits_one_slot() {
            producer.push(lane, event.first(0))
        } else {
            producer.push_wide(lane, event.first(flags), event.second())
        };
        if written {
            return;
        }
        // A reader that came says so with its first word, of no chunks yet; one that is sure to
        // come is waited for.
        let came = ack_chunks(lane.ack.load(Ordering::Relaxed)).is_some();
        let read = came || SETTINGS.streams();
        let limit = if read { SETTINGS.most() } else { SETTINGS.budget() };
        let pool = Pool { limit: limit.next_multiple_of(CHUNK_BYTES as u64) };
        if let Err(reason) = producer.grow(lane, thread.place.get().wrapping_sub(1), &pool) {
            lane.count_dropped(reason, event.start);
            return;
        }
    }
}

/// Counts a call that is not an event, for a reason.
pub fn skip(thread: &Thread, function: Function, reason: Loss, now: u64) {
    count(thread, function);
    if let Some(lane) = thread.lane.get() {
        lane.count_dropped(reason, now);
    }
}
