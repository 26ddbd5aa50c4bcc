//! The registry of modules: each counts one layer of I/O in records of its own.
//!
//! A module is a row (its name, its code in the segment, the words of a record) that [`ALL`] lists, and a
//! file under `hook/`; one that no other format knows has its row in that file too. The core gives it identity, names, memory, time, lanes and shutdown: a record
//! is found by `shard::of(thread, &MODULE, file)`, a call is timed and traced by `call::Call`.

use core::sync::atomic::Ordering;

use netra_event::segment::{Region, shard, table};

use crate::arena::ARENA;
use crate::hook::{hdf5, random};

/// A module.
pub struct Module {
    /// What people call it.
    pub name: &'static str,
    /// Its code in the segment; Darshan's where it has one.
    pub code: u32,
    /// Its place in [`ALL`].
    pub index: usize,
    /// Words of a record; the last one is the core's.
    pub words: usize,
    /// Names of the words from the first on, for a module that no other format knows: the segment
    /// then says what it is. Empty where a log has a place for the records.
    pub counters: &'static str,
}

/// Modules there are.
pub const COUNT: usize = 10;
/// Modules that have a heatmap: the first ones.
pub const HEATED: usize = 3;
/// System calls on files.
pub static POSIX: Module =
    Module { name: "POSIX", code: 1, index: 0, words: shard::posix::WORDS, counters: "" };
/// C's buffered streams.
pub static STDIO: Module =
    Module { name: "STDIO", code: 9, index: 1, words: shard::stdio::WORDS, counters: "" };
/// `MPI_File_*`.
pub static MPIIO: Module =
    Module { name: "MPI-IO", code: 2, index: 2, words: shard::mpiio::WORDS, counters: "" };
/// HDF5 files.
pub static H5F: Module =
    Module { name: "H5F", code: 3, index: 4, words: shard::h5f::WORDS, counters: "" };
/// HDF5 data sets.
pub static H5D: Module =
    Module { name: "H5D", code: 4, index: 5, words: shard::h5d::WORDS, counters: "" };
/// PnetCDF files.
pub static PNETCDF_FILE: Module = Module {
    name: "PNETCDF_FILE",
    code: 5,
    index: 6,
    words: shard::pnetcdf_file::WORDS,
    counters: "",
};
/// PnetCDF variables.
pub static PNETCDF_VAR: Module = Module {
    name: "PNETCDF_VAR",
    code: 6,
    index: 7,
    words: shard::pnetcdf_var::WORDS,
    counters: "",
};
/// Layouts of files on Lustre. A record has as many words as its layout needs.
pub static LUSTRE: Module =
    Module { name: "LUSTRE", code: 8, index: 8, words: shard::lustre::FIRST, counters: "" };
/// Every module.
pub static ALL: [&Module; COUNT] = [
    &POSIX,
    &STDIO,
    &MPIIO,
    &random::RANDOM,
    &H5F,
    &H5D,
    &PNETCDF_FILE,
    &PNETCDF_VAR,
    &LUSTRE,
    &hdf5::H5META,
];

// `shard::Shard` reaches every word of every module's record.
const _: () = assert!(shard::posix::WORDS >= shard::stdio::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::mpiio::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::h5d::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::pnetcdf_var::WORDS);

impl Module {
    /// Describes the module in the segment, where no other format does: at its first record of a thread,
    /// so rarely that saying it twice does no harm.
    pub(crate) fn describe(&self) {
        const ROW: u64 = size_of::<table::Module>() as u64;
        if self.counters.is_empty() || self.is_described() {
            return;
        }
        let (name, counters) = (self.name.as_bytes(), self.counters.as_bytes());
        let (name, counters) = (ARENA.text(name), ARENA.text(counters));
        let Some(at) = ARENA.take(Region::Modules, ROW) else { return };
        // SAFETY: just taken, atomics only.
        let Some(row) = (unsafe { ARENA.at::<table::Module>(Region::Modules, at) }) else { return };
        row.code.store(self.code, Ordering::Relaxed);
        row.name.store(name, Ordering::Relaxed);
        row.counters.store(counters, Ordering::Relaxed);
        row.ready.store(1, Ordering::Release);
    }

    fn is_described(&self) -> bool {
        const ROW: u64 = size_of::<table::Module>() as u64;
        let rows = ARENA.bytes(Region::Modules).len() as u64 / ROW;
        (0..rows).any(|row| {
            // SAFETY: rows below `used` are taken; atomics only.
            let row = unsafe { ARENA.at::<table::Module>(Region::Modules, row.wrapping_mul(ROW)) };
            row.is_some_and(|row| row.code.load(Ordering::Relaxed) == self.code)
        })
    }
}
