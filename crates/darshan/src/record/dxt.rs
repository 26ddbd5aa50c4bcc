//! Extended traces: a head for each file and process, then its writes, then its reads.

use super::put;
use netra_event::{Rank, RecordId};

/// Bytes of the head.
pub const HEAD: usize = 104;
/// Bytes of a segment.
pub const SEGMENT: usize = 40;
/// Bytes of a segment in older versions, which do not know the thread.
pub const OLD_SEGMENT: usize = 32;
/// Offset of the host name.
pub const HOST_AT: usize = 24;
/// Bytes of the host name, one of them a NUL.
pub const HOST: usize = 64;
/// Offset of the number of writes.
pub const WRITES_AT: usize = 88;
/// Offset of the number of reads.
pub const READS_AT: usize = 96;

/// Encodes a head; a longer host name is cut.
#[must_use]
pub fn head(id: RecordId, rank: Rank, host: &[u8], writes: u64, reads: u64) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    put(&mut bytes, 0, id.0);
    put(&mut bytes, 8, rank.0.cast_unsigned());
    for (to, from) in bytes[HOST_AT..HOST_AT + HOST - 1].iter_mut().zip(host) {
        *to = *from;
    }
    put(&mut bytes, WRITES_AT, writes);
    put(&mut bytes, READS_AT, reads);
    bytes
}

/// One read or write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Where in the file; −1 where it is not known.
    pub offset: i64,
    /// Bytes.
    pub length: i64,
    /// Seconds since the job's start.
    pub start: f64,
    /// Seconds since the job's start.
    pub end: f64,
    /// `pthread_self` of the caller; older logs do not have it.
    pub thread: Option<u64>,
}

impl Segment {
    /// The segment's bytes without its thread: versions 1 (POSIX) and 2 (MPI-IO), which every
    /// release of Darshan's tools reads. The newest release, 3.5.0, does not know the next ones.
    #[must_use]
    pub fn encode_unthreaded(&self) -> [u8; OLD_SEGMENT] {
        let mut bytes = [0; OLD_SEGMENT];
        put(&mut bytes, 0, self.offset.cast_unsigned());
        put(&mut bytes, 8, self.length.cast_unsigned());
        put(&mut bytes, 16, self.start.to_bits());
        put(&mut bytes, 24, self.end.to_bits());
        bytes
    }

    /// The segment's bytes with its thread; without one, 0 stands for it.
    #[must_use]
    pub fn encode(&self) -> [u8; SEGMENT] {
        let mut bytes = [0; SEGMENT];
        bytes[..OLD_SEGMENT].copy_from_slice(&self.encode_unthreaded());
        put(&mut bytes, 32, self.thread.unwrap_or(0));
        bytes
    }
}
