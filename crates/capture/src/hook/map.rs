//! Mappings: bytes then move without a call, so how often and how much of a file is mapped is what
//! can be known.

use core::ffi::{c_int, c_void};

use libc::off_t;
use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use super::posix::named;
use crate::call::Call;
use crate::got::{Family, Row};
use crate::tls;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn msync(at: *mut c_void, bytes: usize, flags: c_int) -> c_int, else -1;
    }
}

/// The names of `mmap`: not exported, because other libraries write over the code of the function that they
/// find under its name.
pub static FAMILY: Family = Family {
    mark: c"mmap",
    prefix: b"mmap",
    rows: &[Row::mapping("mmap", map as *const ()), Row::mapping("mmap64", map as *const ())],
};

crate::slot_hook! {
    /// `mmap(2)` of a file: anonymous memory has passed by already.
    fn map(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, descriptor: c_int, offset: off_t) -> *mut c_void, real, taken => {
        let call = Call::begin(Function::Mmap, taken.site);
        let slot = tls::slot();
        let own = slot.borrowed.get() == 0;
        if own {
            slot.mapping.set(1);
        }
        // SAFETY: the caller's contract is the real function's.
        let place = unsafe { real(at, bytes, access, flags, descriptor, offset) };
        if own {
            slot.mapping.set(0);
        }
        mapped(call, descriptor, (offset, bytes), place);
        place
    }
}

/// Ends a mapping of a file.
pub(super) fn mapped(
    call: Call,
    descriptor: c_int,
    (offset, bytes): (off_t, usize),
    place: *mut c_void,
) {
    let done = if place == libc::MAP_FAILED { -1 } else { 0 };
    call.on_descriptor(descriptor, done, (offset, bytes as u64), |shard, ended| {
        shard.add::<{ posix::MMAPS }>(1);
        shard.add::<{ posix::BYTES_MAPPED }>(bytes as u64);
        shard.add::<{ posix::META_TIME }>(ended.took());
    });
}

named! {
    /// `msync(2)`: which file the memory belongs to is not known here.
    fn [msync](at: *mut c_void, bytes: usize, flags: c_int, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Msync, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(at, bytes, flags) };
        written_back(call, bytes);
        done
    }
}

/// Ends an `msync`.
pub(super) fn written_back(call: Call, bytes: usize) {
    if let Some(ended) = call.end() {
        ended.alone(NO_OFFSET, bytes as u64);
    }
}
