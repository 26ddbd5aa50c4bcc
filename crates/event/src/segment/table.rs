//! The rows of a segment's regions, as they lie in memory. A row is complete when its `ready`
//! word is not 0; it is written last, with Release.

use super::BINS;
use crate::sync::{AtomicU32, AtomicU64};

/// A file; its index is its number in events and records. Index 0 stays empty.
#[derive(Debug, Default)]
#[repr(C)]
pub struct File {
    /// The record id: hash of the name, as in logs.
    pub id: AtomicU64,
    /// Its name, a text.
    pub name: AtomicU64,
    /// Index of its mount plus one, 0 if none matches.
    pub mount: AtomicU32,
    /// Alignment of the file system in bytes, 0 if not known.
    pub alignment: AtomicU32,
    /// Index of the file it belongs to (an HDF5 data set's file), else 0.
    pub parent: AtomicU32,
    /// 1 a path, 2 a stream without a path, 3 the other files, 4 an object inside a file.
    pub kind: AtomicU32,
    /// Ticks when it was first seen.
    pub seen: AtomicU64,
    reserved: [u64; 2],
    /// Not 0 when the row is complete.
    pub ready: AtomicU32,
    reserved_2: u32,
}

/// A mounted file system.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Mount {
    /// Where it is mounted, a text.
    pub point: AtomicU64,
    /// Its type, a text.
    pub kind: AtomicU64,
    /// Its block size, 0 if not asked yet.
    pub block_bytes: AtomicU32,
    /// Storage targets, on Lustre; 0 if not asked.
    pub targets: AtomicU32,
    /// Metadata targets, on Lustre; 0 if not asked.
    pub metadata_targets: AtomicU32,
    /// Not 0 when the row is complete.
    pub ready: AtomicU32,
}

/// The executable or a library, as it lies in memory.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Object {
    /// What to subtract from an address to get an offset in the file's own numbering.
    pub base: AtomicU64,
    /// Its first address.
    pub start: AtomicU64,
    /// The address behind its last.
    pub end: AtomicU64,
    /// Its path, a text.
    pub name: AtomicU64,
    /// The first 20 bytes of its build id, in three words.
    pub build_id: [AtomicU64; 3],
    /// Bytes of the build id, 0 if it has none.
    pub build_id_bytes: AtomicU32,
    /// 1 loaded, 2 unloaded again.
    pub ready: AtomicU32,
}

/// A place that calls. Index 0 stays empty.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Site {
    /// The return address.
    pub address: AtomicU64,
    /// Index of the object plus one, 0 if not known.
    pub object: AtomicU32,
    /// First word of its stack in the stacks.
    pub stack: AtomicU32,
    /// Frames of the stack, 0 if none was taken.
    pub frames: AtomicU32,
    /// Not 0 when the row is complete.
    pub ready: AtomicU32,
    reserved: u64,
}

/// What one thread counted of one file for one module; its words follow (see [`super::shard`]).
#[derive(Debug, Default)]
#[repr(C)]
pub struct Record {
    /// Bytes of this head and its words; written first, so that readers get past it.
    pub bytes: AtomicU32,
    /// Code of the module, or [`super::shard::COMMON_VALUES`]; written last, 0 before.
    pub module: AtomicU32,
    /// Number of the lane.
    pub thread: AtomicU32,
    /// Index of the file.
    pub file: AtomicU32,
}

/// Bytes moved over time by one thread in one module.
#[derive(Debug)]
#[repr(C)]
pub struct Heatmap {
    /// Width of a bin in nanoseconds: 100 ms, doubled as often as needed.
    pub width: AtomicU64,
    /// Code of the module.
    pub module: AtomicU32,
    /// Number of the lane.
    pub thread: AtomicU32,
    /// Not 0 when the row is complete.
    pub ready: AtomicU32,
    reserved: [u32; 3],
    /// Bytes written.
    pub written: [AtomicU64; BINS],
    /// Bytes read.
    pub read: [AtomicU64; BINS],
}

/// An extension; its bytes follow, padded to 8.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Extension {
    /// Bytes of this head and what follows; written last.
    pub bytes: AtomicU32,
    /// What it holds: see [`super::extension`].
    pub kind: AtomicU32,
}

/// A module that no other format knows, as it describes itself: so readers need not know it.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Module {
    /// Its code in records.
    pub code: AtomicU32,
    /// Not 0 when the row is complete.
    pub ready: AtomicU32,
    /// What people call it, a text.
    pub name: AtomicU64,
    /// The names of a record's words from the first on, a text with spaces between. What begins with
    /// `F_` is a time in ticks; everything adds up over threads.
    pub counters: AtomicU64,
    reserved: u64,
}

const _: () = assert!(size_of::<Module>() == 32);
const _: () = assert!(size_of::<File>() == 64);
const _: () = assert!(size_of::<Mount>() == 32);
const _: () = assert!(size_of::<Object>() == 64);
const _: () = assert!(size_of::<Site>() == 32);
const _: () = assert!(size_of::<Record>() == 16);
const _: () = assert!(size_of::<Heatmap>() == 3232);
const _: () = assert!(size_of::<Extension>() == 8);
