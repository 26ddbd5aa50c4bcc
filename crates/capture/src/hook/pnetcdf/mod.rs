//! PnetCDF: files and variables. Calls are reached through their callers' slots ([`crate::got`]).
//!
//! The library has some 900 functions, most of them one call for each C type; `untyped` takes the type out
//! of a name, so that a call is one row, whatever it is called with. Data calls (`data`) share one body:
//! verb, kind and mode stand in the row. What varies between copies of the library is asked of the copy
//! (`library`); nothing that is asked needs I/O or other processes.

mod data;
mod file;
mod library;
mod variable;

use netra_event::NO_OFFSET;

use crate::got::Family;
use crate::hook::recorded::{self, Copied, hooks};
use crate::nest::Said;
use library::Library;

/// The C types that calls are there for.
const TYPES: [&[u8]; 12] = [
    b"text",
    b"schar",
    b"uchar",
    b"short",
    b"ushort",
    b"int",
    b"uint",
    b"long",
    b"float",
    b"double",
    b"longlong",
    b"ulonglong",
];

/// A name in two parts, without the C type in it: `ncmpi_put_vara_double_all` is `ncmpi_put_vara` and
/// `_all`. Any other name comes back whole.
pub(crate) fn untyped(name: &[u8]) -> [&[u8]; 2] {
    let whole = [name, &[]];
    let mut words = name.split(|&byte| byte == b'_');
    if words.next() != Some(b"ncmpi") {
        return whole;
    }
    let (Some(verb), Some(kind), Some(word)) = (words.next(), words.next(), words.next()) else {
        return whole;
    };
    if !TYPES.contains(&word) {
        return whole;
    }
    let front = b"ncmpi__".len().wrapping_add(verb.len()).wrapping_add(kind.len());
    let back = front.wrapping_add(1).wrapping_add(word.len());
    match (name.get(..front), name.get(back..)) {
        (Some(front), Some(back)) => [front, back],
        _ => whole,
    }
}

/// A call of PnetCDF that has ended and is being recorded.
type Recorded = recorded::Recorded<Library>;

impl Copied for Library {
    fn of(real: *const ()) -> &'static Library {
        Library::of(real)
    }

    fn succeeded(&self, done: i64) -> bool {
        done == 0
    }
}

impl Recorded {
    /// Writes the event of a call; `done` is what it returned, 0 or an error below it.
    fn say(&self, file: u32, bytes: u64, done: i32, extension: u32) {
        let failed = !self.succeeded;
        let result = if failed { i64::from(done) } else { bytes.cast_signed() };
        let (offset, length) = (NO_OFFSET, bytes);
        self.within.say(&Said { file, offset, length, result, failed, extension });
    }
}

/// An object was unloaded: copies of PnetCDF are looked up anew.
pub(crate) fn doubt_copies() {
    Library::doubt_all();
}

/// The functions on files and variables that are hooked. A table.
pub static FILES: Family = Family {
    mark: c"ncmpi_create",
    prefix: b"ncmpi_",
    rows: crate::slot_rows! {
        ncmpi__enddef = file::enddef_with;
        ncmpi_abort = file::abort;
        ncmpi_begin_indep_data = file::begin_indep_data;
        ncmpi_close = file::close;
        ncmpi_create = file::create;
        ncmpi_def_dim = file::def_dim;
        ncmpi_def_var = variable::define;
        ncmpi_end_indep_data = file::end_indep_data;
        ncmpi_enddef = file::enddef;
        ncmpi_flush = file::flush;
        ncmpi_get_att = file::get_att;
        ncmpi_inq_varid = variable::look_up;
        ncmpi_open = file::open;
        ncmpi_put_att = file::put_att;
        ncmpi_redef = file::redef;
        ncmpi_sync = file::sync;
        ncmpi_sync_numrecs = file::sync_numrecs;
        ncmpi_wait = file::wait;
        ncmpi_wait_all = file::wait_all;
    },
};

pub use data::FAMILY as DATA;

#[cfg(test)]
mod tests {
    use super::untyped;

    #[test]
    fn a_name_loses_its_type_and_nothing_else() {
        for (name, front, back) in [
            ("ncmpi_put_vara_double_all", "ncmpi_put_vara", "_all"),
            ("ncmpi_get_var1_ulonglong", "ncmpi_get_var1", ""),
            ("ncmpi_put_att_text", "ncmpi_put_att", ""),
            ("ncmpi_iput_varn", "ncmpi_iput_varn", ""),
            ("ncmpi_put_var_all", "ncmpi_put_var_all", ""),
            ("ncmpi_open", "ncmpi_open", ""),
            ("H5Dwrite", "H5Dwrite", ""),
        ] {
            assert_eq!(untyped(name.as_bytes()), [front.as_bytes(), back.as_bytes()], "{name}");
        }
    }
}
