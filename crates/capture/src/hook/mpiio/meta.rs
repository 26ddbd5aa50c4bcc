//! Calls that move no data: views, seeks, sizes, hints, flushing, deleting.

use core::ffi::{c_char, c_int};

use netra_event::segment::shard::{direction, mpiio};
use netra_event::{Function, Loss, NO_OFFSET};

use super::data::failed;
use super::handle;
use super::open::{hints, named};
use crate::got::Taken;
use crate::module::MPIIO;
use crate::mpi;
use crate::nest::{self, Said, Within};
use crate::shard::Shard;
use crate::slot_hook;

/// What a call on a handle says in its event, and where it is counted.
struct Call {
    function: Function,
    handle: usize,
    offset: i64,
    length: u64,
    counter: usize,
    /// The word that its time adds to.
    time: usize,
}

/// Makes a call on a handle; where it succeeds, `more` does what it needs beside, and gives the extension.
fn on_handle(
    call: &Call,
    taken: Taken,
    real: impl FnOnce() -> c_int,
    more: impl FnOnce(&Within, &'static handle::Handle) -> u32,
) -> c_int {
    let outer = mpi::known(taken.real).and_then(|_| nest::enter(call.function, taken));
    let done = real();
    let Some(within) = outer.and_then(nest::Enclosing::leave) else { return done };
    let Some(open) = handle::find(call.handle) else {
        within.skip(Loss::Excluded);
        return done;
    };
    if done != 0 {
        failed(&within, open.file(), call.offset, done);
        return done;
    }
    within.with(&MPIIO, open.file(), |shard: &Shard, ended| {
        shard.add_at(call.counter, 1);
        shard.add_at(call.time, ended.took());
    });
    let extension = more(&within, open);
    within.say(&Said {
        file: open.file(),
        offset: call.offset,
        length: call.length,
        result: call.length.cast_signed(),
        failed: false,
        extension,
    });
    done
}

slot_hook! {
    /// `MPI_File_sync`: its time is time of writing, as in Darshan.
    fn sync(handle: usize) -> c_int, real, taken => {
        let time = mpiio::WRITE.wrapping_add(direction::TIME);
        let call = Call { function: Function::MpiFileSync, handle, offset: NO_OFFSET, length: 0, counter: mpiio::SYNCS, time };
        // SAFETY: the caller's contract is the real function's.
        on_handle(&call, taken, || unsafe { real(handle) }, |_, _| 0)
    }
    /// `MPI_File_set_view`.
    fn set_view(handle: usize, displacement: i64, element: usize, tile: usize, representation: *const c_char, info: usize) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFileSetView, handle, offset: displacement, length: 0, counter: mpiio::VIEWS, time: mpiio::META_TIME };
        on_handle(
            &call,
            taken,
            // SAFETY: the caller's contract is the real function's.
            || unsafe { real(handle, displacement, element, tile, representation, info) },
            |within, open| {
                let Some(mpi) = mpi::met() else { return 0 };
                // SAFETY: the library has just taken these types.
                unsafe { open.view(mpi, displacement, (element, tile)) };
                if mpi.abi().clean(info) == mpi.abi().info_null() {
                    return 0;
                }
                within.with(&MPIIO, open.file(), |shard, _| shard.add::<{ mpiio::HINTS }>(1));
                // SAFETY: the library has just taken both.
                unsafe { hints(mpi, within, Some(handle), info) }
            },
        )
    }
    /// `MPI_File_set_info`.
    fn set_info(handle: usize, info: usize) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFileSetInfo, handle, offset: NO_OFFSET, length: 0, counter: mpiio::HINTS, time: mpiio::META_TIME };
        on_handle(
            &call,
            taken,
            // SAFETY: the caller's contract is the real function's.
            || unsafe { real(handle, info) },
            |within, _| {
                let Some(mpi) = mpi::met() else { return 0 };
                // SAFETY: the library has just taken both.
                unsafe { hints(mpi, within, Some(handle), info) }
            },
        )
    }
    /// `MPI_File_seek`.
    fn seek(handle: usize, offset: i64, from: c_int) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFileSeek, handle, offset, length: 0, counter: mpiio::SEEKS, time: mpiio::META_TIME };
        // SAFETY: the caller's contract is the real function's.
        on_handle(&call, taken, || unsafe { real(handle, offset, from) }, |_, _| 0)
    }
    /// `MPI_File_seek_shared`.
    fn seek_shared(handle: usize, offset: i64, from: c_int) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFileSeekShared, handle, offset, length: 0, counter: mpiio::SEEKS, time: mpiio::META_TIME };
        // SAFETY: the caller's contract is the real function's.
        on_handle(&call, taken, || unsafe { real(handle, offset, from) }, |_, _| 0)
    }
    /// `MPI_File_set_size`.
    fn set_size(handle: usize, size: i64) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFileSetSize, handle, offset: size, length: 0, counter: mpiio::SET_SIZES, time: mpiio::META_TIME };
        // SAFETY: the caller's contract is the real function's.
        on_handle(&call, taken, || unsafe { real(handle, size) }, |_, _| 0)
    }
    /// `MPI_File_preallocate`.
    fn preallocate(handle: usize, size: i64) -> c_int, real, taken => {
        let call = Call { function: Function::MpiFilePreallocate, handle, offset: size, length: 0, counter: mpiio::PREALLOCATES, time: mpiio::META_TIME };
        // SAFETY: the caller's contract is the real function's.
        on_handle(&call, taken, || unsafe { real(handle, size) }, |_, _| 0)
    }
    /// `MPI_File_delete`: on a name, not on a handle.
    fn delete(name: *const c_char, info: usize) -> c_int, real, taken => {
        let outer = mpi::known(taken.real).and_then(|_| nest::enter(Function::MpiFileDelete, taken));
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(name, info) };
        let Some(within) = outer.and_then(nest::Enclosing::leave) else { return done };
        // SAFETY: the library has just taken the name.
        match unsafe { named(&within, name) } {
            None => within.skip(Loss::Excluded),
            Some(file) if done != 0 => failed(&within, file, NO_OFFSET, done),
            Some(file) => {
                within.with(&MPIIO, file, |shard, ended| {
                    shard.add::<{ mpiio::DELETES }>(1);
                    shard.add::<{ mpiio::META_TIME }>(ended.took());
                });
                within.say(&Said { file, offset: NO_OFFSET, length: 0, result: 0, failed: false, extension: 0 });
            }
        }
        done
    }
}
