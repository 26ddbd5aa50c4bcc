//! A hooked call: it is begun, the real function is called, and it is ended, which counts it,
//! records it and writes its event. The application's errno stays as the real function left it:
//! nothing here touches it.

use core::ffi::{c_char, c_int};
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use netra_event::{Event, Function, Loss, NO_FILE, NO_OFFSET};

use crate::arch;
use crate::files::{self, Behind};
use crate::lane;
use crate::life;
use crate::memory::{self, Private};
use crate::module::{Module, POSIX};
use crate::name;
use crate::real;
use crate::settings::SETTINGS;
use crate::shard::{self, Shard};
use crate::site;
use crate::time;
use crate::tls::{self, Slot, Thread};
use crate::transfer;
use netra_event::segment::shard::posix;

pub use crate::transfer::Transfer;

/// A call that has begun.
#[derive(Clone, Copy)]
pub struct Call {
    pub(crate) function: Function,
    pub(crate) site: usize,
    pub(crate) start: u64,
}

/// An open, as the application asked for it.
pub struct Opening {
    /// What a relative path is relative to.
    pub directory: c_int,
    /// The path: a C string that the real call took.
    pub path: *const c_char,
    /// Open flags.
    pub flags: c_int,
    /// Permissions, if the call had any.
    pub mode: u32,
}

impl Call {
    /// Begins a call; `site` is the application's return address.
    #[inline(always)]
    #[must_use]
    pub fn begin(function: Function, site: usize) -> Call {
        Call { function, site, start: time::now() }
    }

    /// The same call, begun at another moment: when an asynchronous transfer was asked for.
    #[must_use]
    pub fn since(self, start: Option<u64>) -> Call {
        Call { start: start.unwrap_or(self.start), ..self }
    }

    /// Ends an open; `descriptor` is what the real function returned.
    pub fn opened(self, opening: &Opening, descriptor: c_int) {
        let errno = real::errno();
        let Some(ended) = self.end() else { return };
        let path = if descriptor < 0 && errno == libc::EFAULT {
            None
        } else {
            // SAFETY: the real function took the same path: it would have said if it could not.
            unsafe { name::clean(ended.thread, opening.directory, opening.path) }
        };
        let flags = i64::from(opening.flags);
        if descriptor < 0 {
            // The name of what could not be opened is worth knowing, unless it is excluded.
            return match path.filter(|path| SETTINGS.records(&POSIX) && !name::excluded(path)) {
                Some(path) => ended.failed(name::of(path, name::PATH).0, flags, 0, errno),
                None => ended.skip(Loss::Excluded),
            };
        }
        // A path too long for us: the kernel knows it too.
        let open = match path {
            Some(path) => files::track(descriptor, path, opening.flags),
            None => {
                files::forget(descriptor);
                files::adopt(descriptor)
            }
        };
        let Some(open) = open else { return ended.skip(Loss::Excluded) };
        let file = open.file.load(Ordering::Relaxed);
        ended.with(&POSIX, file, |shard, ended| {
            shard.add::<{ posix::OPENS }>(1);
            if opening.mode != 0 {
                shard.set::<{ posix::MODE }>(u64::from(opening.mode));
            }
            shard.set::<{ posix::READ + LAST_BYTE }>(0);
            shard.set::<{ posix::WRITE + LAST_BYTE }>(0);
            shard.span::<{ posix::OPEN_START }, { posix::OPEN_END }, { posix::META_TIME }>(
                ended.call.start,
                ended.end,
            );
        });
        let descriptor = descriptor.cast_unsigned();
        ended.event(file, flags, u64::from(descriptor));
    }

    /// Ends a close. The descriptor was detached before the real call, because another thread may
    /// be given its number the moment it is closed.
    pub fn closed(self, descriptor: c_int, was: Behind, done: c_int) {
        let errno = real::errno();
        let number = u64::from(descriptor.cast_unsigned());
        let Some(ended) = self.end_quietly() else {
            if let Behind::File(open) = was {
                open.release();
            }
            return;
        };
        let file = match was {
            Behind::File(open) => {
                let file = open.file.load(Ordering::Relaxed);
                open.release();
                Some(file)
            }
            Behind::Ignored | Behind::Unknown => None,
        };
        if done < 0 {
            return ended.failed_behind(file, (NO_OFFSET, number), errno);
        }
        let Some(file) = file else { return ended.skip(Loss::Excluded) };
        ended.with(&POSIX, file, |shard, ended| {
            shard.set::<{ posix::READ + LAST_BYTE }>(0);
            shard.set::<{ posix::WRITE + LAST_BYTE }>(0);
            shard.span::<{ posix::CLOSE_START }, { posix::CLOSE_END }, { posix::META_TIME }>(
                ended.call.start,
                ended.end,
            );
        });
        ended.event(file, NO_OFFSET, number);
    }

    /// Ends a call on a descriptor that moves no data. `count` adds to the record if it succeeded;
    /// the event has this offset and length.
    pub fn on_descriptor(
        self,
        descriptor: c_int,
        done: i64,
        (offset, length): (i64, u64),
        count: impl FnOnce(&Shard, &Ended),
    ) {
        let errno = real::errno();
        let Some(ended) = self.end_unless_child() else { return };
        let behind = match files::behind(descriptor) {
            Behind::Unknown => files::adopt(descriptor),
            Behind::Ignored => None,
            Behind::File(open) => Some(open),
        };
        if done < 0 {
            let file = behind.map(|open| open.file.load(Ordering::Relaxed));
            return ended.failed_behind(file, (offset, length), errno);
        }
        let Some(open) = behind else { return ended.skip(Loss::Excluded) };
        let file = open.file.load(Ordering::Relaxed);
        ended.with(&POSIX, file, count);
        ended.event(file, offset, length);
    }

    /// Ends a call on a path that moves no data.
    ///
    /// # Safety
    /// `path` is null or a C string that the real call took.
    pub unsafe fn on_path(
        self,
        directory: c_int,
        path: *const c_char,
        done: i64,
        (offset, length): (i64, u64),
        count: impl FnOnce(&Shard, &Ended),
    ) {
        let errno = real::errno();
        let Some(ended) = self.end() else { return };
        let path = if done < 0 && errno == libc::EFAULT {
            None
        } else {
            // SAFETY: the caller vouches, and the real call would have said if it could not.
            unsafe { name::clean(ended.thread, directory, path) }
        };
        let Some(path) = path.filter(|path| SETTINGS.records(&POSIX) && !name::excluded(path))
        else {
            return ended.skip(Loss::Excluded);
        };
        let (file, _) = name::of(path, name::PATH);
        if done < 0 {
            return ended.failed(file, offset, length, errno);
        }
        ended.with(&POSIX, file, count);
        ended.event(file, offset, length);
    }

    /// Ends a call now and counts it; none where it must leave no trace: inside our own work (it is
    /// counted as re-entrant), in a child of vfork, or with netra off.
    #[inline(always)]
    #[must_use]
    pub fn end(self) -> Option<Ended> {
        let end = time::now();
        let slot = tls::slot();
        if let Some(thread) = slot.free() {
            self.keep_out(slot, thread);
            return Some(Ended { call: self, end, thread, slot });
        }
        self.end_at(end)
    }

    /// Counts a call that has ended, of a thread that is at nothing else, and marks it as being at work
    /// until [`let_in`]. No closure in between: it would be a function of its own.
    #[inline(always)]
    pub(crate) fn keep_out(self, slot: &Slot, thread: &Thread) {
        slot.mark();
        compiler_fence(Ordering::SeqCst);
        lane::count(thread, self.function);
    }

    /// Stops the clock for bookkeeping, without ending the call: it is counted when it ends, later.
    #[must_use]
    pub fn hold(self) -> Option<Ended> {
        let slot = tls::slot();
        let thread = slot.free()?;
        slot.mark();
        compiler_fence(Ordering::SeqCst);
        Some(Ended { call: self, end: time::now(), thread, slot })
    }

    /// As [`Call::end`], for calls that a child makes between fork and exec: there they are no
    /// reason to set it up.
    #[must_use]
    pub fn end_unless_child(self) -> Option<Ended> {
        if life::is_child() { self.end_quietly() } else { self.end() }
    }

    /// As [`Call::end`], for calls that are no reason to set a process up, because they end what
    /// others began: until something else is, they are only counted.
    #[must_use]
    pub fn end_quietly(self) -> Option<Ended> {
        if life::is_ready() {
            return self.end();
        }
        if tls::slot().borrowed.get() == 0 {
            self.count_early(|private| &private.early_any);
        }
        None
    }

    /// Counts a call before there is a lane to count it in.
    fn count_early(self, why: impl FnOnce(&Private) -> &AtomicU32) {
        if let Some(private) = memory::private()
            && let Some(count) = private.early.get(usize::from(self.function.code()))
        {
            count.fetch_add(1, Ordering::Relaxed);
            why(private).fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline(never)]
    pub(crate) fn end_at(self, end: u64) -> Option<Ended> {
        let slot = tls::slot();
        if slot.borrowed.get() != 0 {
            return None;
        }
        if slot.busy.get() != 0 && !stale(slot) {
            match slot.attached() {
                Some(thread) => lane::skip(thread, self.function, Loss::Reentrant, end),
                None => self.count_early(|private| &private.early_inside),
            }
            return None;
        }
        slot.mark();
        compiler_fence(Ordering::SeqCst);
        let thread = match slot.attached() {
            Some(thread) => Some(thread),
            None => life::ready_since(Some(self.start)).and_then(|()| lane::attach(slot)),
        };
        let Some(thread) = thread else {
            slot.busy.set(0);
            return None;
        };
        lane::count(thread, self.function);
        Some(Ended { call: self, slot, thread, end })
    }

    /// Writes the event.
    #[inline(always)]
    pub(crate) fn event(self, thread: &Thread, end: u64, traced: Traced) {
        if !SETTINGS.traces() {
            return lane::drop_excluded(thread);
        }
        let Traced { file, offset, length, result } = traced;
        let duration = end.wrapping_sub(self.start);
        let site = site::of(self.site);
        let code = self.function.code();
        let plain = (length | duration) >> 32 == 0
            && result == length.cast_signed()
            && thread.parent.get() == 0;
        let words = [
            self.start,
            offset.cast_unsigned(),
            length | duration << 32,
            u64::from(file) | u64::from(code) << 32 | u64::from(site) << 48,
        ];
        if !(plain && lane::push_words(thread, words)) {
            event_slowly(thread, self.start, duration, offset, length, result, file, code, site);
        }
    }
}

/// The work that [`Call::keep_out`] began is done; what waited for it is recorded.
#[inline(always)]
pub(crate) fn let_in(slot: &'static Slot, thread: &'static Thread) {
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
    if slot.waiting.load(Ordering::Relaxed) != 0 {
        transfer::record_waiting(slot, thread);
    }
}

/// An event that needs two slots or another chunk. Single values, as for [`moved_slowly`].
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see the caller")]
fn event_slowly(
    thread: &Thread,
    start: u64,
    duration: u64,
    offset: i64,
    length: u64,
    result: i64,
    file: u32,
    code: u16,
    site: u16,
) {
    let parent = thread.parent.get();
    let (failed, number, extension) = (false, 0, 0);
    lane::push(
        thread,
        &Event {
            start,
            duration,
            offset,
            length,
            result,
            file,
            code,
            failed,
            site,
            parent,
            number,
            extension,
        },
    );
}

const LAST_BYTE: usize = netra_event::segment::shard::direction::LAST_BYTE;

/// Whether the bookkeeping that a busy mark stands for was left by `longjmp` out of a signal
/// handler: its frame is gone if we are above it on the same stack.
pub(crate) fn stale(slot: &Slot) -> bool {
    const STACK: usize = 8 << 20;
    let above = arch::stack_pointer().wrapping_sub(slot.busy.get());
    above != 0 && above < STACK
}

pub(crate) struct Traced {
    pub(crate) file: u32,
    pub(crate) offset: i64,
    pub(crate) length: u64,
    pub(crate) result: i64,
}

/// A call that has ended and is being recorded. Dropped, it lets the thread's next call in.
pub struct Ended {
    /// The call.
    pub call: Call,
    /// When it ended.
    pub end: u64,
    /// The thread that made it.
    pub thread: &'static Thread,
    slot: &'static Slot,
}

impl Drop for Ended {
    fn drop(&mut self) {
        let_in(self.slot, self.thread);
    }
}

impl Ended {
    /// A call that was put aside: whoever records it keeps others out meanwhile.
    pub(crate) fn aside(
        call: Call,
        end: u64,
        (slot, thread): (&'static Slot, &'static Thread),
    ) -> ManuallyDrop<Ended> {
        ManuallyDrop::new(Ended { call, end, thread, slot })
    }

    /// A part of the call that is recorded beside it, from its own start to `end`: it counts as one of its
    /// own function.
    pub(crate) fn part(&self, call: Call, end: u64) -> ManuallyDrop<Ended> {
        lane::count(self.thread, call.function);
        Ended::aside(call, end, (self.slot, self.thread))
    }

    /// When the call began.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.call.start
    }

    /// How long it took.
    #[must_use]
    pub fn took(&self) -> u64 {
        self.end.wrapping_sub(self.call.start)
    }

    /// Counts it in the thread's record of a file.
    pub fn with(&self, module: &Module, file: u32, count: impl FnOnce(&Shard, &Ended)) {
        if let Some(shard) = shard::of(self.thread, module, file) {
            count(&shard, self);
        }
    }

    /// Writes the event of a call whose result says no more than its length.
    pub fn event(&self, file: u32, offset: i64, length: u64) {
        let result = length.cast_signed();
        self.call.event(self.thread, self.end, Traced { file, offset, length, result });
    }

    /// Writes the event of a call with a result of its own.
    pub fn event_with(&self, file: u32, offset: i64, length: u64, result: i64) {
        self.call.event(self.thread, self.end, Traced { file, offset, length, result });
    }

    /// Writes the event of a call that has an extension (`crate::extension::put`; 0 is none).
    pub fn event_extended(
        &self,
        file: u32,
        (offset, length): (i64, u64),
        result: i64,
        extension: u32,
    ) {
        let site = if SETTINGS.traces() { site::of(self.call.site) } else { 0 };
        lane::push(
            self.thread,
            &Event {
                start: self.call.start,
                duration: self.took(),
                offset,
                length,
                result,
                file,
                code: self.call.function.code(),
                failed: false,
                site,
                parent: self.thread.parent.get(),
                number: 0,
                extension,
            },
        );
    }

    /// Writes the event of a call that failed.
    pub fn failed(&self, file: u32, offset: i64, length: u64, errno: c_int) {
        let site = if SETTINGS.traces() { site::of(self.call.site) } else { 0 };
        lane::push(
            self.thread,
            &Event {
                start: self.call.start,
                duration: self.took(),
                offset,
                length,
                result: i64::from(errno).wrapping_neg(),
                file,
                code: self.call.function.code(),
                failed: true,
                site,
                parent: self.thread.parent.get(),
                number: 0,
                extension: 0,
            },
        );
    }

    /// Writes the event of a call that failed on a descriptor. One that is no descriptor at all is
    /// worth an event too.
    pub(crate) fn failed_behind(
        &self,
        file: Option<u32>,
        (offset, length): (i64, u64),
        errno: c_int,
    ) {
        match file {
            Some(file) => self.failed(file, offset, length, errno),
            None if errno == libc::EBADF => self.failed(NO_FILE, offset, length, errno),
            None => self.skip(Loss::Excluded),
        }
    }

    /// The call has no event, for a reason.
    pub fn skip(&self, reason: Loss) {
        if let Some(lane) = self.thread.lane.get() {
            lane.count_dropped(reason, self.end);
        }
    }

    /// Writes the event of a call on no file.
    pub fn alone(&self, offset: i64, length: u64) {
        self.event(NO_FILE, offset, length);
    }
}
