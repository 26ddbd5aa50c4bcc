//! The registry of modules: each counts one layer of I/O in records of its own.
//!
//! A module is a row here (its name, its code in the segment, the words of a record) and a file
//! under `hook/`. The core gives it identity, names, memory, time, lanes and shutdown: a record
//! is found by `shard::of(thread, &MODULE, file)`, a call is timed and traced by `call::Call`.

use netra_event::segment::shard;

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
}

/// Modules there are.
pub const COUNT: usize = 9;
/// Modules that have a heatmap: the first ones.
pub const HEATED: usize = 3;
/// System calls on files.
pub static POSIX: Module = Module { name: "POSIX", code: 1, index: 0, words: shard::posix::WORDS };
/// C's buffered streams.
pub static STDIO: Module = Module { name: "STDIO", code: 9, index: 1, words: shard::stdio::WORDS };
/// `MPI_File_*`.
pub static MPIIO: Module = Module { name: "MPI-IO", code: 2, index: 2, words: shard::mpiio::WORDS };
/// The example: random bytes asked for (`hook/random.rs`).
pub static RANDOM: Module =
    Module { name: "RANDOM", code: shard::random::MODULE, index: 3, words: shard::random::WORDS };
/// HDF5 files, with their attributes and groups.
pub static H5F: Module = Module { name: "H5F", code: 3, index: 4, words: shard::h5f::WORDS };
/// HDF5 data sets.
pub static H5D: Module = Module { name: "H5D", code: 4, index: 5, words: shard::h5d::WORDS };
/// PnetCDF files.
pub static PNETCDF_FILE: Module =
    Module { name: "PNETCDF_FILE", code: 5, index: 6, words: shard::pnetcdf_file::WORDS };
/// PnetCDF variables.
pub static PNETCDF_VAR: Module =
    Module { name: "PNETCDF_VAR", code: 6, index: 7, words: shard::pnetcdf_var::WORDS };
/// Layouts of files on Lustre. A record has as many words as its layout needs.
pub static LUSTRE: Module =
    Module { name: "LUSTRE", code: 8, index: 8, words: shard::lustre::FIRST };
/// Every module.
pub static ALL: [&Module; COUNT] =
    [&POSIX, &STDIO, &MPIIO, &RANDOM, &H5F, &H5D, &PNETCDF_FILE, &PNETCDF_VAR, &LUSTRE];

// `shard::Shard` reaches every word of every module's record.
const _: () = assert!(shard::posix::WORDS >= shard::stdio::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::mpiio::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::h5d::WORDS);
const _: () = assert!(shard::posix::WORDS >= shard::pnetcdf_var::WORDS);
