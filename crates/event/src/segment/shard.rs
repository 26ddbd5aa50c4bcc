//! The words of a record: what one thread counts of one file. Each word is a `u64`; times are
//! ticks. A record of the log is made from all threads' records of a file, here only their places
//! are fixed. A table, so that the writer inside the application and every reader agree.

/// The module code of a record that continues another's table of common values.
pub const COMMON_VALUES: u32 = 0x100;
/// Pairs that such a record holds, each a value and then its count; with the four in the record
/// itself that makes Darshan's 32 distinct values.
pub const SPILLED_VALUES: usize = 28;

/// One direction, reading or writing, of a POSIX record.
pub mod direction {
    /// Calls.
    pub const CALLS: usize = 0;
    /// Bytes moved.
    pub const BYTES: usize = 1;
    /// Calls that began behind the last byte of the one before.
    pub const SEQUENTIAL: usize = 2;
    /// Calls that began exactly behind it.
    pub const CONSECUTIVE: usize = 3;
    /// Highest byte reached.
    pub const MAX_BYTE: usize = 4;
    /// Last byte of the call before.
    pub const LAST_BYTE: usize = 5;
    /// Time spent.
    pub const TIME: usize = 6;
    /// Start of the first call.
    pub const START: usize = 7;
    /// End of the last call.
    pub const END: usize = 8;
    /// Duration of the slowest call.
    pub const MAX_TIME: usize = 9;
    /// Bytes it moved.
    pub const MAX_TIME_SIZE: usize = 10;
    /// Ten bins of sizes.
    pub const SIZES: usize = 11;
    /// Words of a direction.
    pub const WORDS: usize = 21;
}

/// A POSIX record.
pub mod posix {
    use super::direction;

    /// The reading direction.
    pub const READ: usize = 0;
    /// The writing direction.
    pub const WRITE: usize = direction::WORDS;
    /// 1 if the last data call read, 2 if it wrote.
    pub const LAST_KIND: usize = 42;
    /// Changes between reading and writing.
    pub const RW_SWITCHES: usize = 43;
    /// Buffers not aligned to 8.
    pub const MEM_NOT_ALIGNED: usize = 44;
    /// Offsets not aligned to the file system's block.
    pub const FILE_NOT_ALIGNED: usize = 45;
    /// Four access sizes, then their counts.
    pub const ACCESS: usize = 46;
    /// Four strides, then their counts.
    pub const STRIDE: usize = 54;
    /// Where the table of access sizes goes on: byte offset in the records plus one.
    pub const ACCESS_MORE: usize = 62;
    /// Where the table of strides goes on.
    pub const STRIDE_MORE: usize = 63;
    /// Opens of every kind, with duplicates.
    pub const OPENS: usize = 64;
    /// `fileno`.
    pub const FILENOS: usize = 65;
    /// Duplicated descriptors.
    pub const DUPS: usize = 66;
    /// Seeks.
    pub const SEEKS: usize = 67;
    /// Stats.
    pub const STATS: usize = 68;
    /// Mappings.
    pub const MMAPS: usize = 69;
    /// `fsync`.
    pub const FSYNCS: usize = 70;
    /// `fdatasync`.
    pub const FDSYNCS: usize = 71;
    /// Renamed away.
    pub const RENAME_SOURCES: usize = 72;
    /// Renamed to.
    pub const RENAME_TARGETS: usize = 73;
    /// Record id of what was renamed to this.
    pub const RENAMED_FROM: usize = 74;
    /// Permission argument of the last open that had one.
    pub const MODE: usize = 75;
    /// Start of the first open.
    pub const OPEN_START: usize = 76;
    /// End of the last open.
    pub const OPEN_END: usize = 77;
    /// Start of the first close.
    pub const CLOSE_START: usize = 78;
    /// End of the last close.
    pub const CLOSE_END: usize = 79;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 80;
    /// Bytes mapped.
    pub const BYTES_MAPPED: usize = 81;
    /// Other changes of names, sizes and rights.
    pub const METAS: usize = 82;
    /// Words of the record.
    pub const WORDS: usize = 84;
}

/// A STDIO record.
pub mod stdio {
    /// Opens.
    pub const OPENS: usize = 0;
    /// `fdopen`.
    pub const FDOPENS: usize = 1;
    /// Seeks.
    pub const SEEKS: usize = 2;
    /// Flushes.
    pub const FLUSHES: usize = 3;
    /// The reading direction; see `CALLS` and the others.
    pub const READ: usize = 4;
    /// The writing direction.
    pub const WRITE: usize = 10;
    /// In a direction: calls.
    pub const CALLS: usize = 0;
    /// In a direction: bytes.
    pub const BYTES: usize = 1;
    /// In a direction: highest byte reached.
    pub const MAX_BYTE: usize = 2;
    /// In a direction: time.
    pub const TIME: usize = 3;
    /// In a direction: start of the first call.
    pub const START: usize = 4;
    /// In a direction: end of the last call.
    pub const END: usize = 5;
    /// Start of the first open.
    pub const OPEN_START: usize = 16;
    /// End of the last open.
    pub const OPEN_END: usize = 17;
    /// Start of the first close.
    pub const CLOSE_START: usize = 18;
    /// End of the last close.
    pub const CLOSE_END: usize = 19;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 20;
    /// Words of the record.
    pub const WORDS: usize = 22;
}

/// A record of the example module: random bytes that the process asked for.
pub mod random {
    /// The module's code in a segment; Darshan has none for it.
    pub const MODULE: u32 = 32;
    /// Calls that gave bytes.
    pub const CALLS: usize = 0;
    /// Bytes given.
    pub const BYTES: usize = 1;
    /// Time spent.
    pub const TIME: usize = 2;
    /// Words of the record.
    pub const WORDS: usize = 4;
}
