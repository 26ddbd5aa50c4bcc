//! Reads and writes that are waited for later. The call and its bytes count when it is made, its time and
//! its event when it is done (`request`).

use core::ffi::c_int;

use netra_event::{Function, Loss};

use super::data::{Asked, Begun, Class, begin, count, failed};
use super::handle::Place;
use super::request;
use crate::module::MPIIO;
use crate::slot_hook;

impl Begun {
    /// The call was made; `request` is where the library has put its handle.
    fn sent(self, done: c_int, request: usize) {
        let (mpi, asked, at) = (self.mpi, self.asked, self.at);
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
        let Some(held) = call.hold() else { return };
        held.with(&MPIIO, moved.file, |shard, _| count(shard, &asked, moved.bytes));
        let place = held.thread.place.get();
        drop(held);
        // SAFETY: the library has just put a handle there.
        let handle = unsafe { mpi.abi().load(request) };
        request::remember(mpi, handle, call, request::Sent { number, place, moved });
    }
}

/// Hooks of calls that have an offset.
macro_rules! at {
    ($($name:ident $large:ident = $function:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, offset: i64, buffer: usize, count: c_int, datatype: usize, request: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Later, handle, place: Place::At(offset), count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype, request) };
            if let Some(begun) = begun {
                begun.sent(done, request);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, offset: i64, buffer: usize, count: i64, datatype: usize, request: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Later, handle, place: Place::At(offset), count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, offset, buffer, count, datatype, request) };
            if let Some(begun) = begun {
                begun.sent(done, request);
            }
            done
        }
    )*}};
}
/// Hooks of calls that begin at a pointer.
macro_rules! pointed {
    ($($name:ident $large:ident = $function:ident, $place:ident;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_File_", stringify!($name), "`.")]
        fn $name(handle: usize, buffer: usize, count: c_int, datatype: usize, request: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Later, handle, place: Place::$place, count: i64::from(count), datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype, request) };
            if let Some(begun) = begun {
                begun.sent(done, request);
            }
            done
        }
        #[doc = concat!("`MPI_File_", stringify!($large), "`.")]
        fn $large(handle: usize, buffer: usize, count: i64, datatype: usize, request: usize) -> c_int, real, taken => {
            let asked = Asked { function: Function::$function, class: Class::Later, handle, place: Place::$place, count, datatype };
            let begun = begin(asked, taken);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real(handle, buffer, count, datatype, request) };
            if let Some(begun) = begun {
                begun.sent(done, request);
            }
            done
        }
    )*}};
}

at! {
    iread_at iread_at_c = MpiFileIreadAt;
    iread_at_all iread_at_all_c = MpiFileIreadAtAll;
    iwrite_at iwrite_at_c = MpiFileIwriteAt;
    iwrite_at_all iwrite_at_all_c = MpiFileIwriteAtAll;
}
pointed! {
    iread iread_c = MpiFileIread, Pointer;
    iread_all iread_all_c = MpiFileIreadAll, Pointer;
    iread_shared iread_shared_c = MpiFileIreadShared, Shared;
    iwrite iwrite_c = MpiFileIwrite, Pointer;
    iwrite_all iwrite_all_c = MpiFileIwriteAll, Pointer;
    iwrite_shared iwrite_shared_c = MpiFileIwriteShared, Shared;
}
