//! AutoPerf's Cray XC records: one head for the log, then one record a blade.

/// Bytes of the head.
pub const HEAD: usize = 72;
/// Bytes of a record.
pub const RECORD: usize = 3184;
/// Tells the head: "AUTOPERF".
pub const MAGIC: i64 = 0x4155_544f_5045_5246;
