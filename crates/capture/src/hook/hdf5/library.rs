//! The copies of HDF5 in a process. Each has its own ids, its own version and its own functions, which
//! are looked up once, when a call of that copy is first recorded.
//!
//! What is asked of a copy is asked after the application's own call succeeded, which left its error
//! stack empty, and never where an answer could need other processes: names are put together from what
//! calls were given. Only for places that were opened out of our sight is `H5Iget_name` asked, which may
//! search the file, and not where metadata is read collectively.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::sync::atomic::Ordering;

use crate::got::copy::{self, Copy};

/// An id of the application's: 32 bits before HDF5 1.10, 64 since.
pub(super) type Id = i64;

/// Copies that are told apart; later ones are counted, but nothing is asked of them.
const COPIES: usize = 8;

crate::copied_library! {
    /// A copy of HDF5.
    Library:
    start_swmr_write = c"H5Fstart_swmr_write": fn(Id) -> c_int;
    file_name = c"H5Fget_name": fn(Id, *mut c_char, usize) -> isize;
    kind = c"H5Iget_type": fn(Id) -> c_int;
    is_valid = c"H5Iis_valid": fn(Id) -> c_int;
    path = c"H5Iget_name": fn(Id, *mut c_char, usize) -> isize;
    data_set_space = c"H5Dget_space": fn(Id) -> Id;
    data_set_type = c"H5Dget_type": fn(Id) -> Id;
    data_set_plan = c"H5Dget_create_plist": fn(Id) -> Id;
    chunk_bytes = c"H5Dget_chunk_storage_size": fn(Id, *const u64, *mut u64) -> c_int;
    attribute_space = c"H5Aget_space": fn(Id) -> Id;
    close_space = c"H5Sclose": fn(Id) -> c_int;
    close_type = c"H5Tclose": fn(Id) -> c_int;
    close_plan = c"H5Pclose": fn(Id) -> c_int;
    type_bytes = c"H5Tget_size": fn(Id) -> usize;
    extent_dimensions = c"H5Sget_simple_extent_ndims": fn(Id) -> c_int;
    extent_points = c"H5Sget_simple_extent_npoints": fn(Id) -> i64;
    selected_points = c"H5Sget_select_npoints": fn(Id) -> i64;
    selected_kind = c"H5Sget_select_type": fn(Id) -> c_int;
    selected_bounds = c"H5Sget_select_bounds": fn(Id, *mut u64, *mut u64) -> c_int;
    is_regular = c"H5Sis_regular_hyperslab": fn(Id) -> c_int;
    regular = c"H5Sget_regular_hyperslab": fn(Id, *mut u64, *mut u64, *mut u64, *mut u64) -> c_int;
    layout = c"H5Pget_layout": fn(Id) -> c_int;
    chunk = c"H5Pget_chunk": fn(Id, c_int, *mut u64) -> c_int;
    transfer_mode = c"H5Pget_dxpl_mpio": fn(Id, *mut c_int) -> c_int;
    collective_metadata = c"H5Pget_all_coll_metadata_ops": fn(Id, *mut u8) -> c_int;
    access_mpio = c"H5Pget_fapl_mpio": fn(Id, *mut c_void, *mut c_void) -> c_int;
    handler_is_new = c"H5Eauto_is_v2": fn(Id, *mut c_uint) -> c_int;
    old_handler = c"H5Eget_auto1": fn(*mut usize, *mut usize) -> c_int;
    set_old_handler = c"H5Eset_auto1": fn(usize, usize) -> c_int;
    handler = c"H5Eget_auto2": fn(Id, *mut usize, *mut usize) -> c_int;
    set_handler = c"H5Eset_auto2": fn(Id, usize, usize) -> c_int;
    clear_errors = c"H5Eclear2": fn(Id) -> c_int;
}

static LIBRARIES: [Library; COPIES] = [
    Library(Copy::new(1)),
    Library(Copy::new(2)),
    Library(Copy::new(3)),
    Library(Copy::new(4)),
    Library(Copy::new(5)),
    Library(Copy::new(6)),
    Library(Copy::new(7)),
    Library(Copy::new(8)),
];
static UNKNOWN: Library = Library(Copy::new(0));

impl Library {
    /// The copy that a function belongs to.
    pub(super) fn of(real: *const ()) -> &'static Library {
        copy::of(&LIBRARIES, &NAMES, real, Library::meet).unwrap_or(&UNKNOWN)
    }

    /// Looks how wide the ids of a copy are. They became wide with a version that brought this function;
    /// asking for the version would clear the application's error stack.
    fn meet(&self) {
        self.0.trait_word.store(u32::from(self.start_swmr_write().is_none()), Ordering::Relaxed);
    }

    /// An object was unloaded.
    pub(super) fn doubt_all() {
        copy::doubt(&LIBRARIES);
    }

    /// An id as a number: what stands above 32 bits is chance in old versions.
    pub(super) fn id(&self, raw: Id) -> Id {
        // The low half is the id there, with its sign.
        if self.0.trait_word.load(Ordering::Relaxed) != 0 { Id::from(raw as i32) } else { raw }
    }

    /// An id together with its copy: what handles are known by.
    pub(super) fn key(&self, raw: Id) -> u64 {
        self.id(raw).cast_unsigned() ^ u64::from(self.0.number) << 48
    }

    /// Whether an id that was closed is still one: others may refer to it (`H5Iinc_ref`).
    pub(super) fn is_alive(&self, raw: Id) -> bool {
        // SAFETY: any number may be asked about.
        self.is_valid().is_some_and(|ask| unsafe { ask(raw) } > 0)
    }

    /// Asks something that may well be refused, without a word on the application's error stack or
    /// from its error handler; false as well where that cannot be promised.
    pub(super) fn ask_quietly(&self, ask: impl FnOnce() -> bool) -> bool {
        let (mut function, mut data, mut new) = (0, 0, 1);
        if let Some(handler_is_new) = self.handler_is_new() {
            // SAFETY: a number of ours; 0 is the default stack.
            unsafe { handler_is_new(0, &raw mut new) };
        }
        let (Some(clear), Some(get), Some(set), Some(get_old), Some(set_old)) = (
            self.clear_errors(),
            self.handler(),
            self.set_handler(),
            self.old_handler(),
            self.set_old_handler(),
        ) else {
            return false;
        };
        // SAFETY: two words of ours; what is put back is what was there.
        unsafe {
            let held = if new == 0 {
                get_old(&raw mut function, &raw mut data)
            } else {
                get(0, &raw mut function, &raw mut data)
            };
            if held < 0 {
                return false;
            }
            if new == 0 {
                set_old(0, 0)
            } else {
                set(0, 0, 0)
            };
            let answer = ask();
            clear(0);
            if new == 0 {
                set_old(function, data)
            } else {
                set(0, function, data)
            };
            answer
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_old_versions_have_32_bits() {
        let (old, new) = (Library(Copy::new(1)), Library(Copy::new(2)));
        old.meet();
        // Nothing was looked up: a copy without the function of 1.10.
        let chance = 0x7fff_1234_0500_0001;
        assert_eq!(old.id(chance), 0x0500_0001);
        assert_eq!(old.id(0xffff_ffff), -1, "an int that failed");
        assert_eq!(new.id(chance), chance);
        assert_eq!(old.key(chance), 0x0500_0001 ^ 1 << 48);
        assert_ne!(old.key(5), new.key(5), "copies give out the same numbers");
    }
}
