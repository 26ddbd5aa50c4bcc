//! Records: what one thread counts of one file for one module. Only that thread writes, so plain
//! loads and stores do; the words lie in the segment, where others read them.

use core::sync::atomic::{AtomicU64, Ordering};

use netra_darshan::counter::bin;
use netra_event::segment::shard::{COMMON_VALUES, SPILLED_VALUES, direction, posix};
use netra_event::segment::{OTHER_FILE, PARTIAL, Region, table};

use crate::arena::ARENA;
use crate::memory;
use crate::module::Module;
use crate::tls::{CACHED, Thread};

/// The words of a record. Shorter records of other modules are seen through the same type; what
/// lies behind their end belongs to the next record and is never addressed.
#[derive(Clone, Copy)]
pub struct Shard(&'static [AtomicU64; posix::WORDS]);

/// The part of the records that only those of the "other files" may take: one of so many.
const KEPT_BACK: u64 = 8;

impl Shard {
    /// A word.
    #[inline(always)]
    #[must_use]
    pub fn get<const AT: usize>(&self) -> u64 {
        const { assert!(AT < posix::WORDS) };
        self.word(AT).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Sets a word.
    #[inline(always)]
    pub fn set<const AT: usize>(&self, value: u64) {
        if let Some(word) = self.word(AT) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Adds to a word.
    #[inline(always)]
    pub fn add<const AT: usize>(&self, value: u64) {
        if let Some(word) = self.word(AT) {
            add(word, value);
        }
    }

    /// Raises a word.
    #[inline(always)]
    pub fn raise<const AT: usize>(&self, value: u64) {
        if let Some(word) = self.word(AT)
            && value.cast_signed() > word.load(Ordering::Relaxed).cast_signed()
        {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// A word whose place is known at run time only.
    #[must_use]
    pub fn at(&self, place: usize) -> u64 {
        self.word(place).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Sets such a word.
    pub fn set_at(&self, place: usize, value: u64) {
        if let Some(word) = self.word(place) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Adds to such a word.
    pub fn add_at(&self, place: usize, value: u64) {
        if let Some(word) = self.word(place) {
            add(word, value);
        }
    }

    /// Counts a span of time without data: start of the first, end of the last, and their sum.
    #[inline(always)]
    pub fn span<const START: usize, const END: usize, const SUM: usize>(
        &self,
        start: u64,
        end: u64,
    ) {
        if self.get::<START>() == 0 {
            self.set::<START>(start);
        }
        self.set::<END>(end);
        self.add::<SUM>(end.wrapping_sub(start));
    }

    /// The words from a place on, to count in them together.
    #[inline(always)]
    pub(crate) fn from<const AT: usize>(&self) -> &'static [AtomicU64] {
        self.0.get(AT..).unwrap_or_default()
    }

    #[inline(always)]
    fn word(&self, at: usize) -> Option<&'static AtomicU64> {
        self.0.get(at)
    }
}

#[inline(always)]
fn add(word: &AtomicU64, value: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(value), Ordering::Relaxed);
}

/// A data call that succeeded.
pub struct Moved {
    /// Where it began in the file.
    pub offset: u64,
    /// Bytes it moved.
    pub bytes: u64,
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// Whether its buffers are aligned in memory.
    pub aligned: bool,
    /// Bits of the offset that are zero where the file is aligned.
    pub mask: u64,
}

impl Shard {
    /// Counts a read or a write as Darshan's POSIX module defines its counters.
    #[inline(always)]
    pub fn moved<const WRITE: bool>(&self, call: &Moved) {
        if WRITE {
            self.direction::<{ posix::WRITE }>(call);
        } else {
            self.direction::<{ posix::READ }>(call);
        }
        let kind = if WRITE { 2 } else { 1 };
        let last = self.get::<{ posix::LAST_KIND }>();
        if last != kind {
            self.add::<{ posix::RW_SWITCHES }>(u64::from(last != 0));
            self.set::<{ posix::LAST_KIND }>(kind);
        }
        if !call.aligned {
            self.add::<{ posix::MEM_NOT_ALIGNED }>(1);
        }
        if call.offset & call.mask != 0 {
            self.add::<{ posix::FILE_NOT_ALIGNED }>(1);
        }
        if call.bytes != 0 {
            self.common::<{ posix::ACCESS }, { posix::ACCESS_MORE }>(call.bytes);
        }
    }

    #[inline(always)]
    fn direction<const AT: usize>(&self, call: &Moved) {
        let Some(words) =
            self.0.get(AT..).and_then(|words| words.first_chunk::<{ direction::WORDS }>())
        else {
            return;
        };
        add(&words[direction::CALLS], 1);
        add(&words[direction::BYTES], call.bytes);
        let last = words[direction::LAST_BYTE].load(Ordering::Relaxed).cast_signed();
        let offset = call.offset.cast_signed();
        if offset > last {
            add(&words[direction::SEQUENTIAL], 1);
            let stride = offset.wrapping_sub(last).wrapping_sub(1).cast_unsigned();
            if stride == 0 {
                add(&words[direction::CONSECUTIVE], 1);
            } else if last != 0 {
                self.common::<{ posix::STRIDE }, { posix::STRIDE_MORE }>(stride);
            }
        }
        let last = offset.wrapping_add(call.bytes.cast_signed()).wrapping_sub(1);
        words[direction::LAST_BYTE].store(last.cast_unsigned(), Ordering::Relaxed);
        if last > words[direction::MAX_BYTE].load(Ordering::Relaxed).cast_signed() {
            words[direction::MAX_BYTE].store(last.cast_unsigned(), Ordering::Relaxed);
        }
        if let Some(size) = words.get(direction::SIZES.wrapping_add(bin::of(call.bytes))) {
            add(size, 1);
        }
        let took = call.end.wrapping_sub(call.start);
        add(&words[direction::TIME], took);
        if words[direction::START].load(Ordering::Relaxed) == 0 {
            words[direction::START].store(call.start, Ordering::Relaxed);
        }
        words[direction::END].store(call.end, Ordering::Relaxed);
        if took > words[direction::MAX_TIME].load(Ordering::Relaxed) {
            words[direction::MAX_TIME].store(took, Ordering::Relaxed);
            words[direction::MAX_TIME_SIZE].store(call.bytes, Ordering::Relaxed);
        }
    }

    /// Counts a value among the four kept here: `AT` holds the values, four behind their counts.
    #[inline(always)]
    pub(crate) fn common<const AT: usize, const MORE: usize>(&self, value: u64) {
        let Some(words) = self.0.get(AT..).and_then(|words| words.first_chunk::<8>()) else {
            return;
        };
        if words[0].load(Ordering::Relaxed) == value {
            add(&words[4], 1);
        } else {
            common_slowly(words, self.word(MORE), value);
        }
    }
}

#[inline(never)]
fn common_slowly(words: &[AtomicU64; 8], more: Option<&'static AtomicU64>, value: u64) {
    let (values, counts) = words.split_at(4);
    for (known, count) in values.iter().zip(counts) {
        let held = known.load(Ordering::Relaxed);
        if held == value || held == 0 {
            known.store(value, Ordering::Relaxed);
            add(count, 1);
            return;
        }
    }
    if let Some(more) = more {
        common_spilled(more, value);
    }
}

/// The table goes on in a record of its own: 28 more values, further ones are not counted.
#[cold]
fn common_spilled(more: &AtomicU64, value: u64) {
    let Some(table) = table::<{ SPILLED_VALUES * 2 }>(more, COMMON_VALUES) else { return };
    for [known, count] in table.as_chunks::<2>().0 {
        let held = known.load(Ordering::Relaxed);
        if held == value || held == 0 {
            known.store(value, Ordering::Relaxed);
            add(count, 1);
            return;
        }
    }
}

/// The thread's record of a file.
#[inline(always)]
#[must_use]
pub fn of(thread: &Thread, module: &Module, file: u32) -> Option<Shard> {
    let cached = thread.records.get(module.index)?.get(file as usize % CACHED)?;
    if cached.file.get() == file {
        return cached.shard.get();
    }
    let shard = find(thread, module, file)?;
    cached.shard.set(Some(shard));
    cached.file.set(file);
    Some(shard)
}

#[cold]
#[inline(never)]
fn find(thread: &Thread, module: &Module, file: u32) -> Option<Shard> {
    let place = thread.place.get().checked_sub(1)?;
    let first = memory::files().get(file as usize)?.records.get(module.index)?;
    let link = module.words.wrapping_sub(1);
    let mut reference = first.load(Ordering::Acquire);
    while let Some(at) = reference.checked_sub(1) {
        let (head, shard) = record(at)?;
        if head.thread.load(Ordering::Relaxed) == place {
            return Some(shard);
        }
        reference = shard.word(link)?.load(Ordering::Acquire);
    }
    module.describe();
    if file == OTHER_FILE {
        partial(module);
    }
    let all = file == OTHER_FILE;
    let Some(at) = take(module.code, place, file, module.words, all) else {
        return if file == OTHER_FILE { None } else { other(thread, module) };
    };
    let (_, shard) = record(at)?;
    let mut head = first.load(Ordering::Acquire);
    loop {
        shard.word(link)?.store(head, Ordering::Relaxed);
        let new = at.wrapping_add(1);
        match first.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(shard),
            Err(now) => head = now,
        }
    }
}

/// The table that continues a record, taken if there is none yet. `reference` is the word of the record
/// that leads to it.
pub(crate) fn table<const N: usize>(
    reference: &AtomicU64,
    module: u32,
) -> Option<&'static [AtomicU64; N]> {
    if reference.load(Ordering::Relaxed) == 0 {
        let at = take(module, 0, 0, N, false)?;
        reference.store(at.wrapping_add(1), Ordering::Relaxed);
    }
    let at = reference.load(Ordering::Relaxed).wrapping_sub(1);
    let words = at.wrapping_add(size_of::<table::Record>() as u64);
    // SAFETY: the record was taken with this many words, all atomics.
    unsafe { ARENA.at(Region::Records, words) }
}

/// A record that is written once and not counted in: a layout.
pub(crate) struct Written {
    words: u64,
    count: usize,
}

impl Written {
    /// Takes room for a record of so many words.
    pub(crate) fn take(module: &Module, file: u32, words: usize) -> Option<Written> {
        let Some(at) = take(module.code, 0, file, words, false) else {
            partial(module);
            return None;
        };
        Some(Written { words: at.checked_add(size_of::<table::Record>() as u64)?, count: words })
    }

    /// Sets the word at a place, and goes on to the next.
    pub(crate) fn set(&self, at: &mut usize, value: u64) {
        let place = self.words.wrapping_add((*at as u64).wrapping_mul(8));
        // SAFETY: words of a record that was taken; atomics only.
        let word = unsafe { ARENA.at::<AtomicU64>(Region::Records, place) };
        if let Some(word) = word.filter(|_| *at < self.count) {
            word.store(value, Ordering::Relaxed);
        }
        *at = at.wrapping_add(1);
    }
}

/// The record in which everything is summed that has no room of its own.
fn other(thread: &Thread, module: &Module) -> Option<Shard> {
    partial(module);
    of(thread, module, OTHER_FILE)
}

/// Says that a module could not keep its files apart.
pub fn partial(module: &Module) {
    if let Some(header) = ARENA.header() {
        header.partial.fetch_or(1 << module.code, Ordering::Relaxed);
        header.flags.fetch_or(PARTIAL, Ordering::Relaxed);
    }
}

/// Takes room for a record and fills its head; `all` of the room, or not what is kept back.
fn take(module: u32, thread: u32, file: u32, words: usize, all: bool) -> Option<u64> {
    let bytes = (size_of::<table::Record>() as u64).checked_add((words as u64).checked_mul(8)?)?;
    let (entry, _) = ARENA.entry(Region::Records)?;
    let used = entry.used.load(Ordering::Relaxed);
    let capacity = entry.capacity.load(Ordering::Relaxed);
    let kept_back = if all { 0 } else { capacity / KEPT_BACK };
    if used.checked_add(bytes)?.checked_add(kept_back)? > capacity {
        return None;
    }
    let at = ARENA.take(Region::Records, bytes)?;
    // SAFETY: just taken, atomics only.
    let head = unsafe { ARENA.at::<table::Record>(Region::Records, at) }?;
    // First the length, so that readers get past it whatever becomes of us; last what it is.
    head.bytes.store(bytes as u32, Ordering::Release);
    head.thread.store(thread, Ordering::Relaxed);
    head.file.store(file, Ordering::Relaxed);
    head.module.store(module, Ordering::Release);
    Some(at)
}

fn record(at: u64) -> Option<(&'static table::Record, Shard)> {
    let words = at.checked_add(size_of::<table::Record>() as u64)?;
    // SAFETY: records are taken before they are referred to; atomics only. `at` keeps the whole
    // of `Shard` inside the mapping, also for shorter records.
    unsafe {
        Some((
            ARENA.at::<table::Record>(Region::Records, at)?,
            Shard(ARENA.at::<[AtomicU64; posix::WORDS]>(Region::Records, words)?),
        ))
    }
}
