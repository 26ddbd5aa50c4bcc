//! HDF5: files, data sets, attributes and groups, in whatever copy of the library, serial or parallel,
//! and so NetCDF-4 as well. Calls are reached through their callers' slots ([`crate::got`]).
//!
//! A row of [`FAMILY`] is a function; its hook stands in the file of what it is about. `library` knows
//! what may be asked of the copy that was called, `space` what a call selects. Attributes and groups are
//! metadata: they are counted by file in a module of our own (`metadata`), and each call is an event.

mod attribute;
mod data_set;
mod file;
mod group;
mod library;
mod metadata;
mod object;
mod place;
mod space;

use core::ffi::c_int;

use netra_event::NO_OFFSET;

use crate::got::Family;
use crate::handle::{self, Described};
use crate::hook::recorded::{self, Copied, hooks};
use crate::nest::Said;
use library::{Id, Library};
pub use metadata::H5META;
pub(crate) use place::file as named_file;

/// What a failed call's event says: HDF5 gives no number.
const REFUSED: i64 = -(libc::EIO as i64);

/// A call of HDF5 that has ended and is being recorded.
type Recorded = recorded::Recorded<Library>;

impl Copied for Library {
    fn of(real: *const ()) -> &'static Library {
        Library::of(real)
    }

    fn succeeded(&self, done: i64) -> bool {
        self.id(done) >= 0
    }
}

impl Recorded {
    /// Writes the event of a call that moved no data of a data set.
    fn say(&self, file: u32, offset: i64, bytes: u64) {
        let (length, result) = (bytes, bytes.cast_signed());
        self.within.say(&Said { file, offset, length, result, failed: false, extension: 0 });
    }

    /// What an id stands for whose close returned `done`; forgotten if it is closed for good.
    fn let_go(&self, done: c_int, id: Id) -> Option<Described> {
        let key = self.library.key(id);
        if done < 0 || self.library.is_alive(id) { handle::find(key) } else { handle::remove(key) }
    }

    /// Writes the event of a call that failed.
    fn say_failed(&self, file: u32, bytes: u64) {
        self.within.say(&Said {
            file,
            offset: NO_OFFSET,
            length: bytes,
            result: REFUSED,
            failed: true,
            extension: 0,
        });
    }
}

/// An object was unloaded: copies of HDF5 are looked up anew.
pub(crate) fn doubt_copies() {
    Library::doubt_all();
}

/// The functions of HDF5 that are hooked. A table.
pub static FAMILY: Family = Family {
    mark: c"H5open",
    prefix: b"H5",
    rows: crate::slot_rows! {
        H5Aclose = attribute::close;
        H5Aclose_async = attribute::close_async;
        H5Acreate1 = attribute::create1;
        H5Acreate2 = attribute::create2;
        H5Acreate_async = attribute::create_async;
        H5Acreate_by_name = attribute::create_by_name;
        H5Acreate_by_name_async = attribute::create_by_name_async;
        H5Adelete = attribute::delete;
        H5Adelete_by_idx = attribute::delete_by_idx;
        H5Adelete_by_name = attribute::delete_by_name;
        H5Aopen = attribute::open;
        H5Aopen_async = attribute::open_async;
        H5Aopen_by_idx = attribute::open_by_idx;
        H5Aopen_by_idx_async = attribute::open_by_idx_async;
        H5Aopen_by_name = attribute::open_by_name;
        H5Aopen_by_name_async = attribute::open_by_name_async;
        H5Aopen_idx = attribute::open_idx;
        H5Aopen_name = attribute::open_name;
        H5Aread = attribute::read;
        H5Aread_async = attribute::read_async;
        H5Awrite = attribute::write;
        H5Awrite_async = attribute::write_async;
        H5Dclose = data_set::close;
        H5Dclose_async = data_set::close_async;
        H5Dcreate1 = data_set::create1;
        H5Dcreate2 = data_set::create2;
        H5Dcreate_anon = data_set::create_anon;
        H5Dcreate_async = data_set::create_async;
        H5Dextend = data_set::set_extent;
        H5Dflush = data_set::flush;
        H5Dopen1 = data_set::open1;
        H5Dopen2 = data_set::open2;
        H5Dopen_async = data_set::open_async;
        H5Dread = data_set::transfer::read;
        H5Dread_async = data_set::transfer::read_async;
        H5Dread_chunk = data_set::chunk::read;
        H5Dread_chunk1 = data_set::chunk::read;
        H5Dread_chunk2 = data_set::chunk::read2;
        H5Dread_multi = data_set::transfer::read_multi;
        H5Dread_multi_async = data_set::transfer::read_multi_async;
        H5Dset_extent = data_set::set_extent;
        H5Dset_extent_async = data_set::set_extent_async;
        H5Dwrite = data_set::transfer::write;
        H5Dwrite_async = data_set::transfer::write_async;
        H5Dwrite_chunk = data_set::chunk::write;
        H5Dwrite_multi = data_set::transfer::write_multi;
        H5Dwrite_multi_async = data_set::transfer::write_multi_async;
        H5Fclose = file::close;
        H5Fclose_async = file::close_async;
        H5Fcreate = file::create;
        H5Fcreate_async = file::create_async;
        H5Fflush = file::flush;
        H5Fflush_async = file::flush_async;
        H5Fopen = file::open;
        H5Fopen_async = file::open_async;
        H5Freopen = file::reopen;
        H5Gclose = group::close;
        H5Gclose_async = group::close_async;
        H5Gcreate1 = group::create1;
        H5Gcreate2 = group::create2;
        H5Gcreate_anon = group::create_anon;
        H5Gcreate_async = group::create_async;
        H5Gopen1 = group::open1;
        H5Gopen2 = group::open2;
        H5Gopen_async = group::open_async;
        H5Idec_ref = object::dec_ref;
        H5Oclose = object::close;
        H5Oclose_async = object::close_async;
        H5Oopen = object::open;
        H5Oopen_async = object::open_async;
        H5Oopen_by_addr = object::open_by_addr;
        H5Oopen_by_idx = object::open_by_idx;
        H5Oopen_by_token = object::open_by_token;
    },
};
