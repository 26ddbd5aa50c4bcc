//! Reads and writes on a descriptor: the hot path. A call whose descriptor and thread are known is
//! recorded right where it ends; everything else takes the way around, once.
//!
//! A signal handler that reads or writes while its thread is at this very work cannot be recorded at
//! once; it is put aside and recorded as soon as the interrupted call is.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{Ordering, compiler_fence};

use netra_event::{Function, Loss, NO_OFFSET};

use crate::call::{Call, Ended, Traced, let_in, stale};
use crate::files::{self, Behind, Open};
use crate::heatmap;
use crate::lane;
use crate::module::POSIX;
use crate::name;
use crate::real;
use crate::shard::{self, Moved};
use crate::time;
use crate::tls::{self, Slot, Thread, Waiting};

/// A read or write, as the application asked for it.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// The descriptor.
    pub descriptor: c_int,
    /// Where in the file; `None` means at the descriptor's position.
    pub at: Option<i64>,
    /// Bytes asked for.
    pub asked: usize,
    /// Whether all buffers are aligned to 8 bytes.
    pub aligned: bool,
}

/// What a read or write moved.
#[derive(Clone, Copy)]
pub struct Account {
    file: u32,
    aligned: bool,
    mask: u64,
    offset: u64,
    bytes: u64,
    asked: u64,
    end: u64,
}

impl Account {
    #[inline(always)]
    fn of<const WRITE: bool>(open: &Open, transfer: Transfer, bytes: u64, end: u64) -> Account {
        let offset = match transfer.at {
            Some(at) => at.cast_unsigned(),
            None => open.advance::<WRITE>(bytes),
        };
        let file = open.file.load(Ordering::Relaxed);
        let mask = open.mask.load(Ordering::Relaxed);
        let asked = transfer.asked as u64;
        Account { file, aligned: transfer.aligned, mask, offset, bytes, asked, end }
    }
}

impl Call {
    /// Ends a read or write on a descriptor; `done` is what the real function returned.
    #[inline(always)]
    pub fn moved<const WRITE: bool>(self, transfer: Transfer, done: isize) {
        let end = time::now();
        let slot = tls::slot();
        if let Some(entry) = files::entry(transfer.descriptor)
            && files::is_tracked(entry)
            && done >= 0
            && let Some(thread) = slot.free()
            && let Some(open) = files::open(entry)
        {
            self.keep_out(slot, thread);
            self.record::<WRITE>(thread, open, transfer, done.cast_unsigned() as u64, end);
            let_in(slot, thread);
        } else {
            // Single values: what is passed by reference would be stored on the hot path too.
            let Transfer { descriptor, at, asked, aligned } = transfer;
            let Call { function, site, start } = self;
            moved_slowly::<WRITE>(function, site, start, descriptor, at, asked, aligned, done, end);
        }
    }

    #[inline(always)]
    fn record<const WRITE: bool>(
        self,
        thread: &Thread,
        open: &Open,
        transfer: Transfer,
        bytes: u64,
        end: u64,
    ) {
        let account = Account::of::<WRITE>(open, transfer, bytes, end);
        self.account::<WRITE>(thread, account);
    }

    #[inline(always)]
    fn account<const WRITE: bool>(self, thread: &Thread, moved: Account) {
        let Account { file, mask, offset, bytes, asked, end, aligned } = moved;
        let start = self.start;
        if let Some(shard) = shard::of(thread, &POSIX, file) {
            shard.moved::<WRITE>(&Moved { offset, bytes, start, end, aligned, mask });
        }
        heatmap::add::<WRITE>(thread, &POSIX, start, end, bytes);
        let (offset, result) = (offset.cast_signed(), bytes.cast_signed());
        self.event(thread, end, Traced { file, offset, length: asked, result });
    }
}

/// A transfer whose file was known before it ended.
pub(crate) struct Known {
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) asked: u64,
    pub(crate) aligned: bool,
}

impl Ended {
    /// Records a transfer that asynchronous I/O made.
    pub(crate) fn transferred<const WRITE: bool>(&self, known: &Known) {
        let Known { file, offset, bytes, asked, aligned } = *known;
        let mask = name::mask(file);
        let moved = Account { file, aligned, mask, offset, bytes, asked, end: self.end };
        self.call.account::<WRITE>(self.thread, moved);
    }
}

/// Ends a read or write that is not of the usual kind: it failed, its descriptor or its thread is
/// new, or it came from inside our own work.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see the caller")]
fn moved_slowly<const WRITE: bool>(
    function: Function,
    site: usize,
    start: u64,
    descriptor: c_int,
    at: Option<i64>,
    asked: usize,
    aligned: bool,
    done: isize,
    end: u64,
) {
    let call = Call { function, site, start };
    let transfer = Transfer { descriptor, at, asked, aligned };
    let outcome = Outcome { transfer, done, errno: real::errno(), end };
    if wait::<WRITE>(call, outcome) {
        return;
    }
    if let Some(ended) = call.end_at(end) {
        outcome.record::<WRITE>(&ended);
    }
}

/// How a read or write ended, as long as it is not known what it moved.
#[derive(Clone, Copy)]
pub struct Outcome {
    transfer: Transfer,
    done: isize,
    errno: c_int,
    end: u64,
}

impl Outcome {
    /// Finds out what stands behind the descriptor, and records the call.
    fn record<const WRITE: bool>(self, ended: &Ended) {
        let Outcome { transfer, done, errno, end } = self;
        let behind = match files::behind(transfer.descriptor) {
            // What moved is moved: the position we ask for now is the one behind it.
            Behind::Unknown => files::adopt(transfer.descriptor).inspect(|open| {
                let moved = done.max(0).cast_unsigned() as u64;
                open.seek(open.advance::<false>(0).wrapping_sub(moved));
            }),
            Behind::Ignored => None,
            Behind::File(open) => Some(open),
        };
        if done < 0 {
            let file = behind.map(|open| open.file.load(Ordering::Relaxed));
            let at = transfer.at.unwrap_or(NO_OFFSET);
            return ended.failed_behind(file, (at, transfer.asked as u64), errno);
        }
        let Some(open) = behind else { return ended.skip(Loss::Excluded) };
        let bytes = done.cast_unsigned() as u64;
        ended.call.record::<WRITE>(ended.thread, open, transfer, bytes, end);
    }
}

/// Puts a read or write aside that a signal handler made while this thread was at its bookkeeping;
/// false if it is no such call, or there is no room.
fn wait<const WRITE: bool>(call: Call, outcome: Outcome) -> bool {
    let slot = tls::slot();
    if slot.busy.get() == 0 || slot.borrowed.get() != 0 || stale(slot) {
        return false;
    }
    let Some(thread) = slot.attached() else { return false };
    // Another signal may come in between: the place is taken in one step.
    let place = slot.waiting.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(place) = thread.waiting.get(place) else {
        slot.waiting.fetch_sub(1, Ordering::Relaxed);
        return false;
    };
    // A file that is known moves its position now. Anything else is looked up later: that takes memory of
    // the thread's which may be in use.
    let Outcome { transfer, done, end, .. } = outcome;
    let known = files::tracked(transfer.descriptor).filter(|_| done >= 0);
    let moved = |open| Account::of::<WRITE>(open, transfer, done.cast_unsigned() as u64, end);
    place.set(Some(Waiting { write: WRITE, call, outcome, moved: known.map(moved) }));
    true
}

/// Records the calls that were put aside, and those that come meanwhile.
#[cold]
#[inline(never)]
pub(crate) fn record_waiting(slot: &'static Slot, thread: &'static Thread) {
    while slot.waiting.load(Ordering::Relaxed) != 0 {
        slot.mark();
        compiler_fence(Ordering::SeqCst);
        // Signals of now append behind these, so the number is looked at again until it stays.
        let mut done = 0;
        while done < slot.waiting.load(Ordering::Relaxed) {
            let place = thread.waiting.get(done as usize);
            if let Some(waiting) = place.and_then(Cell::take) {
                lane::count(thread, waiting.call.function);
                if waiting.write {
                    waiting.record::<true>(slot, thread);
                } else {
                    waiting.record::<false>(slot, thread);
                }
            }
            done = done.wrapping_add(1);
        }
        // What came after the last look stays for the next round: its place is not empty.
        let _all = slot.waiting.compare_exchange(done, 0, Ordering::Relaxed, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        slot.busy.set(0);
    }
}

impl Waiting {
    fn record<const WRITE: bool>(self, slot: &'static Slot, thread: &'static Thread) {
        match self.moved {
            Some(moved) => self.call.account::<WRITE>(thread, moved),
            None => {
                let ended = Ended::aside(self.call, self.outcome.end, (slot, thread));
                self.outcome.record::<WRITE>(&ended);
            }
        }
    }
}
