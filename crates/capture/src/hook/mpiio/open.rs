//! Opening and closing.

use core::ffi::{c_char, c_int};

use netra_event::segment::extension::{HINTS, Origin, Writer};
use netra_event::segment::shard::mpiio;
use netra_event::{Loss, NO_OFFSET};

use super::data::failed;
use super::handle::{self, is_sequential};
use crate::extension;
use crate::module::MPIIO;
use crate::mpi::{self, Mpi};
use crate::name;
use crate::nest::{self, Said, Within};
use crate::settings::SETTINGS;
use crate::slot_hook;
use netra_event::Function;

/// An open as the application asked for it.
struct Opening {
    comm: usize,
    name: *const c_char,
    mode: c_int,
    info: usize,
}

/// Our number of a file that a call names; none if it is not recorded.
///
/// # Safety
/// `name` is the C string that the library took.
pub(super) unsafe fn named(within: &Within, name: *const c_char) -> Option<u32> {
    if name.is_null() || !SETTINGS.records(&MPIIO) {
        return None;
    }
    // SAFETY: the caller vouches.
    let path = unsafe { name::clean(within.thread, libc::AT_FDCWD, mpi::path(name)) }?;
    (!name::excluded(path)).then(|| name::of(path, name::PATH).0)
}

slot_hook! {
    /// `MPI_File_open`.
    fn open(comm: usize, name: *const c_char, mode: c_int, info: usize, handle: *mut usize) -> c_int, real, taken => {
        let mpi = mpi::known(taken.real);
        let outer = mpi.and_then(|_| nest::enter(Function::MpiFileOpen, taken));
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(comm, name, mode, info, handle) };
        // Where MPI was begun unseen, it is known here that it was begun.
        if let (Some(mpi), 0) = (mpi, done) {
            mpi::introduce(mpi);
        }
        if let (Some(outer), Some(mpi)) = (outer, mpi)
            && let Some(within) = outer.leave()
        {
            // SAFETY: the library has taken all of these, and on success has put a handle there.
            unsafe { opened(mpi, &within, &Opening { comm, name, mode, info }, (done, handle)) };
        }
        done
    }
    /// `MPI_File_close`.
    fn close(handle: *mut usize) -> c_int, real, taken => {
        let outer = mpi::known(taken.real).and_then(|_| nest::enter(Function::MpiFileClose, taken));
        // SAFETY: the caller gives the address of a handle.
        let was = if handle.is_null() { 0 } else { unsafe { handle.read() } };
        // Another thread may be given the handle the moment it is closed.
        let open = handle::find(was).filter(|_| outer.is_some());
        let file = open.map(handle::Handle::file);
        if let Some(open) = open {
            open.forget();
        }
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(handle) };
        let Some(within) = outer.and_then(nest::Enclosing::leave) else { return done };
        match file {
            None => within.skip(Loss::Excluded),
            Some(file) if done != 0 => failed(&within, file, NO_OFFSET, done),
            Some(file) => {
                within.with(&MPIIO, file, |shard, ended| {
                    shard.span::<{ mpiio::CLOSE_START }, { mpiio::CLOSE_END }, { mpiio::META_TIME }>(
                        ended.start(),
                        ended.end,
                    );
                });
                within.say(&Said { file, offset: NO_OFFSET, length: 0, result: 0, failed: false, extension: 0 });
            }
        }
        done
    }
}

/// Records an open.
///
/// # Safety
/// The library has just taken all of it; where it succeeded, it has put a handle there.
unsafe fn opened(
    mpi: Mpi,
    within: &Within,
    opening: &Opening,
    (done, handle): (c_int, *mut usize),
) {
    // SAFETY: the caller vouches.
    let Some(file) = (unsafe { named(within, opening.name) }) else {
        return within.skip(Loss::Excluded);
    };
    if done != 0 {
        return failed(within, file, NO_OFFSET, done);
    }
    // SAFETY: the caller vouches.
    let (handle, size) = unsafe { (handle.read(), mpi.size(opening.comm)) };
    handle::add(handle, file, is_sequential(mpi, opening.mode));
    let mode = mpi.abi().classic_mode(opening.mode);
    let hinted = mpi.abi().clean(opening.info) != mpi.abi().info_null();
    within.with(&MPIIO, file, |shard, ended| {
        if size == 1 {
            shard.add::<{ mpiio::INDEP_OPENS }>(1);
        } else {
            shard.add::<{ mpiio::COLL_OPENS }>(1);
        }
        shard.add::<{ mpiio::HINTS }>(u64::from(hinted));
        shard.set::<{ mpiio::MODE }>(u64::from(mode.cast_unsigned()));
        shard.span::<{ mpiio::OPEN_START }, { mpiio::OPEN_END }, { mpiio::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    // SAFETY: the library has just taken and given these.
    let extension = unsafe { hints(mpi, within, Some(handle), opening.info) };
    within.say(&Said {
        file,
        offset: i64::from(mode),
        length: u64::from(size),
        result: u64::from(size).cast_signed(),
        failed: false,
        extension,
    });
}

/// Keeps the hints that were given and those that are used for a file; the event's extension.
///
/// # Safety
/// The library has just taken both.
pub(super) unsafe fn hints(mpi: Mpi, within: &Within, used: Option<usize>, given: usize) -> u32 {
    if !SETTINGS.traces() {
        return 0;
    }
    let mut writer = Writer::default();
    // SAFETY: the caller vouches.
    unsafe {
        mpi.hints(mpi.abi().clean(given), Origin::Given, &mut writer);
        if let Some(handle) = used {
            mpi.hints_used(handle, &mut writer);
        }
    }
    extension::put(within.thread, HINTS, &writer)
}
