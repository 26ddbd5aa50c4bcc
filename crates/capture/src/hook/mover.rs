//! Bytes that go from one descriptor to another inside the kernel: a read of the one file and a
//! write of the other. The call's own event is the read; the write is a part with an event of its own. Where both
//! ends are files each has half of the time, or a copy would take twice as long as it took.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

use libc::{iovec, off_t, ssize_t};
use netra_event::{Function, Loss, NO_FILE, NO_OFFSET};

use super::posix::named;
use crate::call::{Call, Ended};
use crate::files::{self, Behind, Open};
use crate::real as libc_real;
use crate::transfer::Known;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn sendfile(to: c_int, from: c_int, offset: *mut off_t, bytes: usize) -> ssize_t, else -1;
        fn copy_file_range(from: c_int, from_offset: *mut off_t, to: c_int, to_offset: *mut off_t, bytes: usize, flags: c_uint) -> ssize_t, else -1;
        fn splice(from: c_int, from_offset: *mut off_t, to: c_int, to_offset: *mut off_t, bytes: usize, flags: c_uint) -> ssize_t, else -1;
        fn tee(from: c_int, to: c_int, bytes: usize, flags: c_uint) -> ssize_t, else -1;
        fn vmsplice(to: c_int, parts: *const iovec, count: usize, flags: c_uint) -> ssize_t, else -1;
    }
}

/// One end of a move: a descriptor, and where the kernel left its explicit offset, if it had one.
pub(super) struct End {
    descriptor: c_int,
    after: Option<off_t>,
}

impl End {
    /// # Safety
    /// `offset` is null or what the real call took, which moved it on.
    pub(super) unsafe fn new(descriptor: c_int, offset: *const off_t) -> End {
        // SAFETY: the caller vouches.
        End { descriptor, after: unsafe { offset.as_ref() }.copied() }
    }

    fn open(&self) -> Option<&'static Open> {
        match files::behind(self.descriptor) {
            Behind::File(open) => Some(open),
            Behind::Ignored => None,
            Behind::Unknown => files::adopt(self.descriptor),
        }
    }

    /// Records this end: its counters, and the event of a call or a part of one.
    fn record<const WRITE: bool>(&self, ended: &Ended, open: &Open, asked: usize, bytes: u64) {
        let offset = match self.after {
            Some(after) => after.cast_unsigned().wrapping_sub(bytes),
            None => open.advance::<WRITE>(bytes),
        };
        let file = open.file.load(Ordering::Relaxed);
        ended.transferred::<WRITE>(&Known {
            file,
            offset,
            bytes,
            asked: asked as u64,
            aligned: true,
        });
    }
}

/// The written end of a call.
fn target_of(function: Function) -> Function {
    match function {
        Function::Sendfile => Function::SendfileTo,
        Function::Splice => Function::SpliceTo,
        _ => Function::CopyFileRangeTo,
    }
}

/// When the read of a call ends and the write begins.
fn middle(start: u64, end: u64, (reads, writes): (bool, bool)) -> u64 {
    match (reads, writes) {
        (true, true) => start.wrapping_add(end.wrapping_sub(start) / 2),
        (false, true) => start,
        (_, false) => end,
    }
}

/// Ends a move of `done` bytes.
pub(super) fn moved(call: Call, from: &End, to: &End, asked: usize, done: ssize_t) {
    let errno = libc_real::errno();
    let Some(mut ended) = call.end() else { return };
    let (source, target) = (from.open(), to.open());
    let Some(named) = source.or(target) else { return ended.skip(Loss::Excluded) };
    let Ok(bytes) = u64::try_from(done) else {
        let file = named.file.load(Ordering::Relaxed);
        return ended.failed(file, NO_OFFSET, asked as u64, errno);
    };
    let (start, end) = (ended.start(), ended.end);
    let middle = middle(start, end, (source.is_some(), target.is_some()));
    ended.end = middle;
    match source {
        Some(open) => from.record::<false>(&ended, open, asked, bytes),
        // What came from a pipe or the like was read by nobody.
        None => ended.event_with(NO_FILE, NO_OFFSET, asked as u64, bytes.cast_signed()),
    }
    if let Some(open) = target {
        let function = target_of(call.function);
        let part = ended.part(Call { function, start: middle, ..call }, end);
        to.record::<true>(&part, open, asked, bytes);
    }
}

named! {
    /// `sendfile(2)`.
    fn [sendfile](to: c_int, from: c_int, offset: *mut off_t, bytes: usize, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Sendfile, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(to, from, offset, bytes) };
        // SAFETY: of a call that failed the offset is not looked at.
        let source = unsafe { End::new(from, if done < 0 { core::ptr::null() } else { offset }) };
        moved(call, &source, &End { descriptor: to, after: None }, bytes, done);
        done
    }
}

/// Hooks with an offset at both ends. All six registers are arguments: there is no call site.
macro_rules! both_ends {
    ($($name:ident = $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(2)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name(from: c_int, from_offset: *mut off_t, to: c_int, to_offset: *mut off_t, bytes: usize, flags: c_uint) -> ssize_t {
            let call = Call::begin(Function::$function, 0);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$name(from, from_offset, to, to_offset, bytes, flags) };
            let looked_at = |offset: *mut off_t| if done < 0 { core::ptr::null() } else { offset.cast_const() };
            // SAFETY: of a call that failed the offsets are not looked at.
            let (source, target) = unsafe { (End::new(from, looked_at(from_offset)), End::new(to, looked_at(to_offset))) };
            moved(call, &source, &target, bytes, done);
            done
        }
    )*};
}
both_ends! {
    copy_file_range = CopyFileRange;
    splice = Splice;
}

/// Ends a call between pipes, or from memory into one: pipes have no file.
pub(super) fn between_pipes(call: Call, done: ssize_t) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    if done < 0 {
        ended.failed(NO_FILE, NO_OFFSET, 0, errno);
    } else {
        ended.alone(NO_OFFSET, done.cast_unsigned() as u64);
    }
}

named! {
    /// `tee(2)`.
    fn [tee](from: c_int, to: c_int, bytes: usize, flags: c_uint, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Tee, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(from, to, bytes, flags) };
        between_pipes(call, done);
        done
    }
}
named! {
    /// `vmsplice(2)`.
    fn [vmsplice](to: c_int, parts: *const iovec, count: usize, flags: c_uint, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Vmsplice, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(to, parts, count, flags) };
        between_pipes(call, done);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::middle;

    /// The ends of one call, as shares of its time.
    #[track_caller]
    fn shares(start: u64, end: u64, ends: (bool, bool), want: (u64, u64)) {
        let middle = middle(start, end, ends);
        assert_eq!((middle - start, end - middle), want);
    }

    #[test]
    fn two_files_share_the_time_and_one_has_all_of_it() {
        shares(100, 200, (true, true), (50, 50));
        shares(100, 103, (true, true), (1, 2));
        shares(100, 200, (true, false), (100, 0));
        shares(100, 200, (false, true), (0, 100));
    }
}
