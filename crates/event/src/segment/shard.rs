//! The words of a record: what one thread counts of one file. Each word is a `u64`; times are
//! ticks. A record of the log is made from all threads' records of a file, here only their places
//! are fixed. A table, so that the writer inside the application and every reader agree.

/// The module code of a record that continues another's table of common values.
pub const COMMON_VALUES: u32 = 0x100;
/// Pairs that such a record holds, each a value and then its count; with the four in the record
/// itself that makes Darshan's 32 distinct values.
pub const SPILLED_VALUES: usize = 28;

/// The module code of a record that holds a table of common accesses to a data set or variable.
pub const COMMON_ACCESSES: u32 = 0x101;

/// Such a record: accesses, each of 11 numbers (bytes, five lengths, five strides) and their count.
pub mod accesses {
    /// Numbers that make up an access.
    pub const NUMBERS: usize = 11;
    /// Words of an access with its count.
    pub const WIDTH: usize = NUMBERS + 1;
    /// Accesses in a record; with three more, linked, that makes Darshan's 32 distinct values.
    pub const HELD: usize = 8;
    /// Where the table goes on: byte offset in the records plus one.
    pub const MORE: usize = HELD * WIDTH;
    /// Words of the record.
    pub const WORDS: usize = MORE + 1;
    /// Records that a table may have.
    pub const LINKED: usize = 4;
}

/// One direction of a record of a layer that does not follow offsets.
pub mod flow {
    /// Calls.
    pub const CALLS: usize = 0;
    /// Bytes moved.
    pub const BYTES: usize = 1;
    /// Time spent.
    pub const TIME: usize = 2;
    /// Start of the first call.
    pub const START: usize = 3;
    /// End of the last call.
    pub const END: usize = 4;
    /// Duration of the slowest call.
    pub const MAX_TIME: usize = 5;
    /// Bytes it moved.
    pub const MAX_TIME_SIZE: usize = 6;
    /// Ten bins of sizes.
    pub const SIZES: usize = 7;
    /// Words of a direction.
    pub const WORDS: usize = 17;
}

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

/// An MPI-IO record. Both directions are laid out as in [`direction`]; of their words, those about
/// places in the file stay 0.
pub mod mpiio {
    use super::direction;

    /// The reading direction.
    pub const READ: usize = 0;
    /// The writing direction.
    pub const WRITE: usize = direction::WORDS;
    /// 1 if the last data call read, 2 if it wrote.
    pub const LAST_KIND: usize = 42;
    /// Changes between reading and writing.
    pub const RW_SWITCHES: usize = 43;
    /// Four access sizes, then their counts.
    pub const ACCESS: usize = 44;
    /// Where the table of access sizes goes on: byte offset in the records plus one.
    pub const ACCESS_MORE: usize = 52;
    /// Opens by one process alone.
    pub const INDEP_OPENS: usize = 53;
    /// Opens by several together.
    pub const COLL_OPENS: usize = 54;
    /// Reads by one process alone.
    pub const INDEP_READS: usize = 55;
    /// Writes by one process alone.
    pub const INDEP_WRITES: usize = 56;
    /// Reads by all together.
    pub const COLL_READS: usize = 57;
    /// Writes by all together.
    pub const COLL_WRITES: usize = 58;
    /// Reads in two halves.
    pub const SPLIT_READS: usize = 59;
    /// Writes in two halves.
    pub const SPLIT_WRITES: usize = 60;
    /// Reads that are waited for later.
    pub const NB_READS: usize = 61;
    /// Writes that are waited for later.
    pub const NB_WRITES: usize = 62;
    /// `MPI_File_sync`.
    pub const SYNCS: usize = 63;
    /// Opens and views with hints.
    pub const HINTS: usize = 64;
    /// `MPI_File_set_view`.
    pub const VIEWS: usize = 65;
    /// Mode of the last open.
    pub const MODE: usize = 66;
    /// Start of the first open.
    pub const OPEN_START: usize = 67;
    /// End of the last open.
    pub const OPEN_END: usize = 68;
    /// Start of the first close.
    pub const CLOSE_START: usize = 69;
    /// End of the last close.
    pub const CLOSE_END: usize = 70;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 71;
    /// Seeks; Darshan does not count them, nor the next three.
    pub const SEEKS: usize = 72;
    /// `MPI_File_set_size`.
    pub const SET_SIZES: usize = 73;
    /// `MPI_File_preallocate`.
    pub const PREALLOCATES: usize = 74;
    /// `MPI_File_delete`.
    pub const DELETES: usize = 75;
    /// Words of the record.
    pub const WORDS: usize = 78;
}

/// Codes of modules that describe themselves ([`super::table::Module`]) begin here; below are Darshan's.
pub const OWN_MODULES: u32 = 32;

/// A record of an HDF5 file.
pub mod h5f {
    /// Opens and creates.
    pub const OPENS: usize = 0;
    /// Flushes.
    pub const FLUSHES: usize = 1;
    /// 1 if it was opened through MPI-IO.
    pub const USE_MPIIO: usize = 2;
    /// Start of the first open.
    pub const OPEN_START: usize = 3;
    /// End of the last open.
    pub const OPEN_END: usize = 4;
    /// Start of the first close.
    pub const CLOSE_START: usize = 5;
    /// End of the last close.
    pub const CLOSE_END: usize = 6;
    /// Time in these calls.
    pub const META_TIME: usize = 7;
    /// Words of the record.
    pub const WORDS: usize = 10;
}

/// A record of an HDF5 data set.
pub mod h5d {
    use super::flow;

    /// The reading direction.
    pub const READ: usize = 0;
    /// The writing direction.
    pub const WRITE: usize = flow::WORDS;
    /// 1 if the last data call read, 2 if it wrote.
    pub const LAST_KIND: usize = 34;
    /// Changes between reading and writing.
    pub const RW_SWITCHES: usize = 35;
    /// Calls with a regular hyperslab.
    pub const REGULAR_SELECTS: usize = 36;
    /// Calls with another hyperslab.
    pub const IRREGULAR_SELECTS: usize = 37;
    /// Calls with points.
    pub const POINT_SELECTS: usize = 38;
    /// Opens and creates.
    pub const OPENS: usize = 39;
    /// Flushes.
    pub const FLUSHES: usize = 40;
    /// Start of the first open.
    pub const OPEN_START: usize = 41;
    /// End of the last open.
    pub const OPEN_END: usize = 42;
    /// Start of the first close.
    pub const CLOSE_START: usize = 43;
    /// End of the last close.
    pub const CLOSE_END: usize = 44;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 45;
    /// Dimensions.
    pub const DIMENSIONS: usize = 46;
    /// Elements.
    pub const POINTS: usize = 47;
    /// Bytes of an element.
    pub const TYPE_SIZE: usize = 48;
    /// Five sizes of a chunk, the fastest dimension first.
    pub const CHUNK: usize = 49;
    /// 1 if collective transfer was asked for.
    pub const COLLECTIVE: usize = 54;
    /// 1 if it was opened by a deprecated function.
    pub const DEPRECATED: usize = 55;
    /// Where its common accesses are: byte offset in the records plus one.
    pub const ACCESSES: usize = 56;
    /// Changes of its extent. Darshan's log has no place for them.
    pub const EXTENDS: usize = 57;
    /// Words of the record.
    pub const WORDS: usize = 60;
}

/// A record of a PnetCDF file.
pub mod pnetcdf_file {
    /// Created.
    pub const CREATES: usize = 0;
    /// Opened.
    pub const OPENS: usize = 1;
    /// Back to define mode.
    pub const REDEFS: usize = 2;
    /// Independent waits.
    pub const INDEP_WAITS: usize = 3;
    /// Collective waits.
    pub const COLL_WAITS: usize = 4;
    /// Syncs.
    pub const SYNCS: usize = 5;
    /// Bytes read, by the library's own account.
    pub const BYTES_READ: usize = 6;
    /// Bytes written, by the library's own account.
    pub const BYTES_WRITTEN: usize = 7;
    /// Waits that failed.
    pub const WAIT_FAILURES: usize = 8;
    /// Start of the first open.
    pub const OPEN_START: usize = 9;
    /// End of the last open.
    pub const OPEN_END: usize = 10;
    /// Start of the first close.
    pub const CLOSE_START: usize = 11;
    /// End of the last close.
    pub const CLOSE_END: usize = 12;
    /// Start of the first wait.
    pub const WAIT_START: usize = 13;
    /// End of the last wait.
    pub const WAIT_END: usize = 14;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 15;
    /// Time in waits.
    pub const WAIT_TIME: usize = 16;
    /// Attributes written, read: calls. Darshan's log has no place for them.
    pub const ATTRIBUTE_WRITES: usize = 17;
    /// See above.
    pub const ATTRIBUTE_READS: usize = 18;
    /// Words of the record.
    pub const WORDS: usize = 20;
}

/// A record of a PnetCDF variable.
pub mod pnetcdf_var {
    use super::flow;

    /// The reading direction.
    pub const READ: usize = 0;
    /// The writing direction.
    pub const WRITE: usize = flow::WORDS;
    /// 1 if the last data call read, 2 if it wrote.
    pub const LAST_KIND: usize = 34;
    /// Changes between reading and writing.
    pub const RW_SWITCHES: usize = 35;
    /// Independent reads and writes, collective ones, non-blocking ones, in the order of the log.
    pub const MODES: usize = 36;
    /// Calls by function: 7 put, 7 get, 6 iput, 6 iget, 6 bput, in the order of the log.
    pub const KINDS: usize = 42;
    /// Defined or looked up.
    pub const OPENS: usize = 74;
    /// Start of the first of these.
    pub const OPEN_START: usize = 75;
    /// End of the last.
    pub const OPEN_END: usize = 76;
    /// Time in calls that move no data.
    pub const META_TIME: usize = 77;
    /// Dimensions.
    pub const DIMENSIONS: usize = 78;
    /// Elements, of one record where there are records.
    pub const POINTS: usize = 79;
    /// Bytes of an element.
    pub const TYPE_SIZE: usize = 80;
    /// 1 if it grows by records.
    pub const IS_RECORD: usize = 81;
    /// Where its common accesses are: byte offset in the records plus one.
    pub const ACCESSES: usize = 82;
    /// Words of the record.
    pub const WORDS: usize = 84;
}

/// A record of a file's layout on Lustre: a head, then components, then the storage targets of all
/// components in their order. The words of the head:
pub mod lustre {
    /// Components.
    pub const COMPONENTS: usize = 0;
    /// Storage targets of all components.
    pub const TARGETS: usize = 1;
    /// Where the components begin.
    pub const FIRST: usize = 2;
    /// Words of a component: seven numbers in the order of Darshan's counters, and 16 bytes of a pool's
    /// name in two words.
    pub const WIDTH: usize = 9;
}
