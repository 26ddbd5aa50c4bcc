//! Hints: what the application asked of the library for a file, and what the library uses.

use core::ffi::c_int;

use netra_event::segment::extension::{Hint, Origin, Writer};

use super::{Mpi, text};

/// Hints of one file that are kept.
const MOST: c_int = 64;
/// Bytes of a key, and of a value with its NUL: the most that any library has.
const KEY: usize = 256;
const VALUE: usize = 1025;

impl Mpi {
    /// Adds the hints of an info object.
    ///
    /// # Safety
    /// The library has just taken or given this object.
    pub(crate) unsafe fn hints(self, info: usize, origin: Origin, writer: &mut Writer) {
        let mut count = 0;
        if info == self.abi().info_null() {
            return;
        }
        // SAFETY: the caller vouches; `count` outlives the call.
        let counted = unsafe { self.info_get_nkeys(info, &raw mut count) };
        if counted != Some(0) {
            return;
        }
        for number in 0..count.min(MOST) {
            let (mut key, mut value, mut found) = ([0_u8; KEY], [0_u8; VALUE], 0);
            // SAFETY: as above; keys and values have the room that the library may use.
            let got = unsafe {
                self.info_get_nthkey(info, number, key.as_mut_ptr()) == Some(0)
                    && self.info_get(
                        info,
                        key.as_ptr(),
                        (VALUE as c_int).wrapping_sub(1),
                        value.as_mut_ptr(),
                        &raw mut found,
                    ) == Some(0)
            };
            if got
                && found != 0
                && !writer.hint(&Hint { origin, key: text(&key), value: text(&value) })
            {
                return;
            }
        }
    }

    /// Adds the hints that the library uses for a file.
    ///
    /// # Safety
    /// The library has just taken or given this handle.
    pub(crate) unsafe fn hints_used(self, handle: usize, writer: &mut Writer) {
        let mut info = 0_u64;
        // SAFETY: the caller vouches; `info` is as wide as any handle.
        unsafe {
            if self.file_get_info(handle, &raw mut info) != Some(0) {
                return;
            }
            let used = self.abi().load((&raw const info).expose_provenance());
            self.hints(used, Origin::Used, writer);
            self.info_free(&raw mut info);
        }
    }
}
