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
pub const COUNT: usize = 3;
/// System calls on files.
pub static POSIX: Module = Module { name: "POSIX", code: 1, index: 0, words: shard::posix::WORDS };
/// C's buffered streams.
pub static STDIO: Module = Module { name: "STDIO", code: 9, index: 1, words: shard::stdio::WORDS };
/// The example: random bytes asked for (`hook/random.rs`).
pub static RANDOM: Module =
    Module { name: "RANDOM", code: shard::random::MODULE, index: 2, words: shard::random::WORDS };
/// Every module.
pub static ALL: [&Module; COUNT] = [&POSIX, &STDIO, &RANDOM];

// `shard::Shard` reaches every word of every module's record.
const _: () = assert!(shard::posix::WORDS >= shard::stdio::WORDS);
