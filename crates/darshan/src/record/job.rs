//! The job: who ran what, when, on how many processes.
//!
//! The region is the struct, 1024 bytes of `key=value` lines, and one string that ends with a NUL:
//! the command line, then `\n<file system type>\t<mount point>` for each mount.

use super::put;

/// Bytes of the struct, with its metadata.
pub const SIZE: usize = METADATA_AT + METADATA;
/// Bytes of the struct before log version 3.41.
pub const OLD_SIZE: usize = OLD_METADATA_AT + METADATA;
/// Offset of the metadata.
pub const METADATA_AT: usize = 56;
/// Offset of the metadata before log version 3.41, when there were no nanoseconds.
pub const OLD_METADATA_AT: usize = 40;
/// Bytes of metadata, one of them a NUL.
pub const METADATA: usize = 1024;
/// What readers count on as the most that a job takes, the string included.
pub const REGION: usize = 4096;

/// The struct's numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The user.
    pub uid: i64,
    /// Seconds since 1970.
    pub start_sec: i64,
    /// And nanoseconds; 0 in logs before 3.41.
    pub start_nsec: i64,
    /// Seconds since 1970.
    pub end_sec: i64,
    /// And nanoseconds; 0 in logs before 3.41.
    pub end_nsec: i64,
    /// Processes.
    pub nprocs: i64,
    /// The scheduler's number, or a process id.
    pub jobid: i64,
}

impl Job {
    /// The struct's bytes up to the metadata.
    #[must_use]
    pub fn encode(&self) -> [u8; METADATA_AT] {
        let mut bytes = [0; METADATA_AT];
        let Job { uid, start_sec, start_nsec, end_sec, end_nsec, nprocs, jobid } = *self;
        let numbers = [uid, start_sec, start_nsec, end_sec, end_nsec, nprocs, jobid];
        for (place, number) in numbers.into_iter().enumerate() {
            put(&mut bytes, 8 * place, number.cast_unsigned());
        }
        bytes
    }
}
