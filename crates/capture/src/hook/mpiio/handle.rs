//! Open MPI files: a table from the library's handle to our file, with its view as far as offsets need it.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::NO_OFFSET;

use super::split::Half;
use crate::memory;
use crate::mpi::Mpi;
use crate::mpi::abi::Kind;
use crate::settings::SETTINGS;

/// Files that can be open at a time; further ones are counted as calls only.
pub const HANDLES: usize = 4096;
/// Places that are looked at for a handle.
const PROBES: usize = 64;

/// The file has no positions that can be asked for.
const SEQUENTIAL: u32 = 1;
/// Offsets are counted in elements behind a displacement.
const VIEWED: u32 = 2;
/// The elements do not lie side by side.
const SCATTERED: u32 = 4;

/// An open file. All zeroes is a free place.
#[derive(Default)]
pub struct Handle {
    key: AtomicUsize,
    /// Our file.
    file: AtomicU32,
    flags: AtomicU32,
    displacement: AtomicU64,
    element: AtomicU64,
    /// The first half of a split call that waits for its second.
    pub(super) half: Half,
}

/// Where a call begins in its file.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// At an offset, in elements of the view.
    At(i64),
    /// At the process's own pointer.
    Pointer,
    /// At the pointer that all share: nobody asks for that, because it can take a lock.
    Shared,
}

fn places(handle: usize) -> impl Iterator<Item = &'static Handle> {
    let all = memory::mpi_files();
    // The lowest bits of an address say little.
    let first = (handle >> 4).checked_rem(all.len()).unwrap_or(0);
    all.iter().cycle().skip(first).take(if all.is_empty() { 0 } else { PROBES })
}

/// The open file of a handle, if it is recorded.
pub(super) fn find(handle: usize) -> Option<&'static Handle> {
    places(handle).find(|place| place.key.load(Ordering::Acquire) == handle)
}

/// Begins to follow a handle.
pub(super) fn add(handle: usize, file: u32, sequential: bool) {
    for place in places(handle) {
        let free = place.key.compare_exchange(0, handle, Ordering::AcqRel, Ordering::Relaxed);
        // A handle that is there already was closed unseen.
        if free.is_ok() || free == Err(handle) {
            place.file.store(file, Ordering::Relaxed);
            place.flags.store(if sequential { SEQUENTIAL } else { 0 }, Ordering::Relaxed);
            return;
        }
    }
}

impl Handle {
    /// Our file.
    pub(super) fn file(&self) -> u32 {
        self.file.load(Ordering::Relaxed)
    }

    /// Stops following it.
    pub(super) fn forget(&self) {
        self.key.store(0, Ordering::Release);
    }

    /// The file is seen through a view from now on.
    ///
    /// # Safety
    /// The library has just taken the element's type.
    pub(super) unsafe fn view(&self, mpi: Mpi, displacement: i64, (element, tile): (usize, usize)) {
        // SAFETY: the caller vouches.
        let bytes = unsafe { mpi.bytes(element, 1) };
        self.displacement.store(displacement.cast_unsigned(), Ordering::Relaxed);
        self.element.store(bytes, Ordering::Relaxed);
        let scattered = mpi.abi().clean(element) != mpi.abi().clean(tile)
            || displacement == mpi.abi().displacement_current;
        let old = self.flags.load(Ordering::Relaxed) & SEQUENTIAL;
        let new = old | VIEWED | if scattered { SCATTERED } else { 0 };
        self.flags.store(new, Ordering::Relaxed);
    }

    /// The byte at which a call begins that is about to be made, −1 where that is not known or nobody
    /// wants it.
    ///
    /// # Safety
    /// The handle is this file's, and the library knows it.
    pub(super) unsafe fn byte(&self, mpi: Mpi, handle: usize, place: Place) -> i64 {
        let flags = self.flags.load(Ordering::Relaxed);
        if !SETTINGS.traces() || flags & SEQUENTIAL != 0 {
            return NO_OFFSET;
        }
        let mut offset = NO_OFFSET;
        match place {
            Place::Shared => return NO_OFFSET,
            Place::At(at) => offset = at,
            Place::Pointer => {
                // SAFETY: the caller vouches; only this process is asked.
                if unsafe { mpi.file_get_position(handle, &raw mut offset) } != Some(0) {
                    return NO_OFFSET;
                }
            }
        }
        if flags & VIEWED == 0 || offset < 0 {
            return offset.max(NO_OFFSET);
        }
        if flags & SCATTERED == 0 {
            let bytes = offset.wrapping_mul(self.element.load(Ordering::Relaxed).cast_signed());
            return bytes.wrapping_add(self.displacement.load(Ordering::Relaxed).cast_signed());
        }
        // Open MPI's answer can be wrong or worse with some views.
        let mut bytes = NO_OFFSET;
        // SAFETY: as above.
        let asked = mpi.abi().kind != Kind::OpenMpi
            && unsafe { mpi.file_get_byte_offset(handle, offset, &raw mut bytes) } == Some(0);
        if asked { bytes } else { NO_OFFSET }
    }
}

/// Whether an open mode makes a file sequential.
pub(super) fn is_sequential(mpi: Mpi, mode: c_int) -> bool {
    mode & mpi.abi().sequential != 0
}
