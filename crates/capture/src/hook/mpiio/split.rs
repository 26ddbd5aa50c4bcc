//! Collective reads and writes in two halves: counted when they begin, timed until they end.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::{Function, Loss, NO_OFFSET};

use super::data::{Asked, Begun, Class, Moved, begin, count, ended_late, failed};
use super::handle::{self, Place};
use crate::call::Call;
use crate::got::Taken;
use crate::module::MPIIO;
use crate::mpi;
use crate::nest::{self, Said};
use crate::slot_hook;

/// The first half of a split call; a file has one at a time.
#[derive(Default)]
pub(super) struct Half {
    function: AtomicU32,
    start: AtomicU64,
    site: AtomicUsize,
    number: AtomicU32,
    at: AtomicU64,
    bytes: AtomicU64,
}

impl Half {
    fn set(&self, call: Call, number: u32, moved: Moved) {
        self.start.store(call.start, Ordering::Relaxed);
        self.site.store(call.site, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
        self.at.store(moved.at.cast_unsigned(), Ordering::Relaxed);
        self.bytes.store(moved.bytes, Ordering::Relaxed);
        self.function.store(u32::from(call.function.code()), Ordering::Release);
    }

    /// What began, if anything did; its place is free again.
    fn take(&self, file: u32) -> Option<(Call, u32, Moved)> {
        let code = u16::try_from(self.function.swap(0, Ordering::AcqRel)).ok()?;
        let call = Call {
            function: Function::from_code(code)?,
            site: self.site.load(Ordering::Relaxed),
            start: self.start.load(Ordering::Relaxed),
        };
        let moved = Moved {
            file,
            at: self.at.load(Ordering::Relaxed).cast_signed(),
            bytes: self.bytes.load(Ordering::Relaxed),
        };
        Some((call, self.number.load(Ordering::Relaxed), moved))
    }
}

impl Begun {
    /// The first half is done.
    fn half(self, done: c_int) {
        let (asked, at) = (self.asked, self.at);
        let Some(open) = self.open.filter(|_| done == 0) else {
            let open = self.open;
            let Some(within) = self.outer.leave() else { return };
            return match open {
                Some(open) => failed(&within, open.file(), at, done),
                None => within.skip(Loss::Excluded),
            };
        };
        // SAFETY: the library has just taken the call.
        let moved = unsafe { self.moved(open) };
        let (call, number) = (self.outer.call(), self.outer.number());
        self.outer.pass();
        if let Some(held) = call.hold() {
            held.with(&MPIIO, moved.file, |shard, _| count(shard, &asked, moved.bytes));
            open.half.set(call, number, moved);
        }
    }
}

/// Makes the second half of a call.
fn second(function: Function, handle: usize, taken: Taken, real: impl FnOnce() -> c_int) -> c_int {
    let outer = mpi::known(taken.real).and_then(|_| nest::enter(function, taken));
    let done = real();
    let Some(outer) = outer else { return done };
    let open = handle::find(handle);
    {
        let Some(within) = outer.leave() else { return done };
        match open {
            None => within.skip(Loss::Excluded),
            Some(open) if done != 0 => failed(&within, open.file(), NO_OFFSET, done),
            Some(open) => within.say(&Said {
                file: open.file(),
                offset: NO_OFFSET,
                length: 0,
                result: 0,
                failed: false,
                extension: 0,
            }),
        }
    }
    if let Some((call, number, moved)) = open.and_then(|open| open.half.take(open.file())) {
        ended_late(call, number, moved);
    }
    done
}

/// Hooks of both halves of calls that begin at a pointer.
macro_rules! pointed {
    ($($name:ident $large:ident $end:ident = $function:ident $second:ident, $place:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, buffer: usize, count: c_int, datatype: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Split, handle, place: Place::$place, count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype) };
            if let Some(begun) = begun {
                begun.half(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, buffer: usize, count: i64, datatype: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Split, handle, place: Place::$place, count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype) };
            if let Some(begun) = begun {
                begun.half(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($end), "`.")]
        fn $end(handle: usize, buffer: usize, status: usize) -> c_int, real, taken => {
            // SAFETY: the caller's contract is the real function's.
            second(Function::$second, handle, taken, || unsafe { real(handle, buffer, status) })
        }
    )*}};
}
/// The same for calls that have an offset.
macro_rules! at {
    ($($name:ident $large:ident $end:ident = $function:ident $second:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, offset: i64, buffer: usize, count: c_int, datatype: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Split, handle, place: Place::At(offset), count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype) };
            if let Some(begun) = begun {
                begun.half(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, offset: i64, buffer: usize, count: i64, datatype: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Split, handle, place: Place::At(offset), count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype) };
            if let Some(begun) = begun {
                begun.half(done);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($end), "`.")]
        fn $end(handle: usize, buffer: usize, status: usize) -> c_int, real, taken => {
            // SAFETY: the caller's contract is the real function's.
            second(Function::$second, handle, taken, || unsafe { real(handle, buffer, status) })
        }
    )*}};
}

pointed! {
    read_all_begin read_all_begin_c read_all_end = MpiFileReadAllBegin MpiFileReadAllEnd, Pointer;
    read_ordered_begin read_ordered_begin_c read_ordered_end = MpiFileReadOrderedBegin MpiFileReadOrderedEnd, Shared;
    write_all_begin write_all_begin_c write_all_end = MpiFileWriteAllBegin MpiFileWriteAllEnd, Pointer;
    write_ordered_begin write_ordered_begin_c write_ordered_end = MpiFileWriteOrderedBegin MpiFileWriteOrderedEnd, Shared;
}
at! {
    read_at_all_begin read_at_all_begin_c read_at_all_end = MpiFileReadAtAllBegin MpiFileReadAtAllEnd;
    write_at_all_begin write_at_all_begin_c write_at_all_end = MpiFileWriteAtAllBegin MpiFileWriteAtAllEnd;
}
