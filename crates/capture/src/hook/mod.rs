//! The hooks: one file a family. A hook begins a call, makes the real one, and ends it.

pub mod aio;
pub mod data;
pub mod directory;
pub mod hdf5;
pub mod jump;
pub mod libaio;
pub mod load;
pub mod map;
pub mod metadata;
pub mod mover;
pub mod mpiio;
pub mod pnetcdf;
pub mod posix;
pub mod process;
pub mod random;
pub mod raw;
mod recorded;
pub mod rename;
pub mod sandbox;
pub mod stat;
pub mod statx;
pub mod stdio;
pub mod temporary;
pub mod uring;
