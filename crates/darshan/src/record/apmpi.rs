//! AutoPerf's MPI records: one head for the log, then one record a rank.

/// Bytes of the head.
pub const HEAD: usize = 48;
/// Bytes of a record.
pub const RECORD: usize = 5232;
/// Tells the head: "APMPI".
pub const MAGIC: i64 = 0x41_504d_5049;
/// Bytes of the host name that ends a record.
pub const NODE: usize = 128;
