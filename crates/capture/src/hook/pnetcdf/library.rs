//! The copies of PnetCDF in a process, and what is asked of them.

use core::ffi::{c_char, c_int};

use crate::got::copy::{self, Copy};

/// Copies that are told apart.
const COPIES: usize = 2;

crate::copied_library! {
    /// A copy of PnetCDF.
    Library:
    variable_type = c"ncmpi_inq_vartype": fn(c_int, c_int, *mut c_int) -> c_int;
    variable_rank = c"ncmpi_inq_varndims": fn(c_int, c_int, *mut c_int) -> c_int;
    variable_dimensions = c"ncmpi_inq_vardimid": fn(c_int, c_int, *mut c_int) -> c_int;
    variable_name = c"ncmpi_inq_varname": fn(c_int, c_int, *mut c_char) -> c_int;
    dimension_length = c"ncmpi_inq_dimlen": fn(c_int, c_int, *mut i64) -> c_int;
    record_dimension = c"ncmpi_inq_unlimdim": fn(c_int, *mut c_int) -> c_int;
    bytes_put = c"ncmpi_inq_put_size": fn(c_int, *mut i64) -> c_int;
    bytes_got = c"ncmpi_inq_get_size": fn(c_int, *mut i64) -> c_int;
}

static LIBRARIES: [Library; COPIES] = [Library(Copy::new(1)), Library(Copy::new(2))];
static UNKNOWN: Library = Library(Copy::new(0));

impl Library {
    /// The copy that a function belongs to.
    pub(super) fn of(real: *const ()) -> &'static Library {
        copy::of(&LIBRARIES, &NAMES, real, |_| ()).unwrap_or(&UNKNOWN)
    }

    /// An object was unloaded.
    pub(super) fn doubt_all() {
        copy::doubt(&LIBRARIES);
    }

    /// What the handle of a file is known by. HDF5's have no highest bit.
    pub(super) fn file_key(&self, file: c_int) -> u64 {
        1 << 63 | u64::from(self.0.number) << 56 | u64::from(file.cast_unsigned() & 0xff_ffff) << 32
    }

    /// What the handle of a variable is known by.
    pub(super) fn variable_key(&self, file: c_int, variable: c_int) -> u64 {
        self.file_key(file) | u64::from(variable.wrapping_add(1).cast_unsigned())
    }
}
