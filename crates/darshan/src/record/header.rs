//! The header: where each region lies, never compressed.

use super::put;
use crate::checksum::crc32;

/// Bytes of a header of the current log version.
pub const SIZE: usize = 1328;
/// Bytes of a header of the log versions before 3.41.
pub const OLD_SIZE: usize = 360;
/// Module slots of the current log version.
pub const SLOTS: usize = 64;
/// Module slots of the log versions before 3.41.
pub const OLD_SLOTS: usize = 16;
/// Tells a Darshan log, and its byte order.
pub const MAGIC: i64 = 6_567_223;
/// The log version that is written.
pub const VERSION: [u8; 8] = *b"3.41\0\0\0\0";

/// Offset of the magic number, in every version.
pub const MAGIC_AT: usize = 8;
/// Offset of the compression method, in every version.
pub const COMPRESSION_AT: usize = 16;
/// Offset of the bits that tell which modules are incomplete.
pub const PARTIAL_AT: usize = 24;
/// Offset of the place of the names; offset and length, eight bytes each.
pub const NAMES_AT: usize = 32;
/// Offset of the places of the modules, sixteen bytes each.
pub const MODULES_AT: usize = 48;
/// Offset of the modules' versions, four bytes each.
pub const VERSIONS_AT: usize = MODULES_AT + 16 * SLOTS;

/// Marks a header that is sealed: the seal stands in the slots of three modules that do not exist, where
/// tools that look for modules with records find none.
pub const SEAL: u64 = u64::from_le_bytes(*b"NETRASUM");
/// Offset of the mark: where the last slot says at which byte its records begin.
pub const SEAL_AT: usize = MODULES_AT + 16 * (SLOTS - 1);
/// Offset of the place where the netra section begins, 0 without one.
pub const BEHIND_AT: usize = MODULES_AT + 16 * (SLOTS - 2);
/// Offset of the section's length.
pub const BEHIND_LENGTH_AT: usize = MODULES_AT + 16 * (SLOTS - 3);
/// Offset of the CRC-32 of the header, made while these four bytes were 0.
pub const SUM_AT: usize = VERSIONS_AT + 4 * (SLOTS - 1);
/// Offset of the sum over the heads of the section's blocks ([`crate::section::layout::Head::mark`]).
pub const HEADS_AT: usize = VERSIONS_AT + 4 * (SLOTS - 2);

/// How the regions of a log are compressed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Compression {
    /// zlib streams; what Darshan writes.
    #[default]
    Zlib = 0,
    /// bzip2 streams.
    Bzip2 = 1,
    /// As it is: logs that live in a mapped file.
    None = 2,
}

impl Compression {
    /// The method with this code.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Compression> {
        match code {
            0 => Some(Compression::Zlib),
            1 => Some(Compression::Bzip2),
            2 => Some(Compression::None),
            _ => None,
        }
    }

    /// The name that tools print.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Zlib => "ZLIB",
            Compression::Bzip2 => "BZIP2",
            Compression::None => "NONE",
        }
    }
}

/// Where a region lies in the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From the beginning of the file.
    pub offset: u64,
    /// Bytes in the file, that is after compression.
    pub length: u64,
}

/// What a header of the current version says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// How every region is compressed.
    pub compression: Compression,
    /// Bit `n`: the module with code `n` ran out of memory, records are missing.
    pub partial: u64,
    /// The names of records.
    pub names: Extent,
    /// The regions of the modules, by code.
    pub modules: [Extent; SLOTS],
    /// The versions of the modules' records, by code.
    pub versions: [u32; SLOTS],
    /// The netra section behind the last region, its trailer included; empty without one.
    pub behind: Extent,
    /// The wrapping sum of the marks of its blocks.
    pub heads: u32,
}

impl Header {
    /// A header without any region.
    #[must_use]
    pub const fn new(compression: Compression) -> Header {
        Header {
            compression,
            partial: 0,
            names: Extent { offset: 0, length: 0 },
            modules: [Extent { offset: 0, length: 0 }; SLOTS],
            versions: [0; SLOTS],
            behind: Extent { offset: 0, length: 0 },
            heads: 0,
        }
    }

    /// The header's bytes, sealed.
    #[must_use]
    pub fn encode(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        put(&mut bytes, 0, u64::from_le_bytes(VERSION));
        put(&mut bytes, MAGIC_AT, MAGIC.cast_unsigned());
        bytes[COMPRESSION_AT] = self.compression as u8;
        put(&mut bytes, PARTIAL_AT, self.partial);
        put(&mut bytes, NAMES_AT, self.names.offset);
        put(&mut bytes, NAMES_AT + 8, self.names.length);
        for (slot, extent) in self.modules.iter().enumerate() {
            put(&mut bytes, MODULES_AT + 16 * slot, extent.offset);
            put(&mut bytes, MODULES_AT + 16 * slot + 8, extent.length);
        }
        let (_, places) = bytes.split_at_mut(VERSIONS_AT);
        for (place, version) in places.as_chunks_mut::<4>().0.iter_mut().zip(self.versions) {
            *place = version.to_le_bytes();
        }
        put(&mut bytes, SEAL_AT, SEAL);
        put(&mut bytes, BEHIND_AT, self.behind.offset);
        put(&mut bytes, BEHIND_LENGTH_AT, self.behind.length);
        bytes[HEADS_AT..HEADS_AT + 4].copy_from_slice(&self.heads.to_le_bytes());
        let sum = sum(&bytes);
        bytes[SUM_AT..SUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// What the seal says of a header with these bytes, whatever stands where the sum is.
#[must_use]
pub fn sum(bytes: &[u8; SIZE]) -> u32 {
    let mut bytes = *bytes;
    bytes[SUM_AT..SUM_AT + 4].copy_from_slice(&[0; 4]);
    crc32(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_darshan_looks_for_them() {
        let mut header = Header::new(Compression::Bzip2);
        header.partial = 1 << 63;
        header.names = Extent { offset: 2000, length: 30 };
        header.modules[60] = Extent { offset: 7, length: 8 };
        header.versions[60] = 9;
        header.behind = Extent { offset: 5, length: 6 };
        header.heads = 4;
        let bytes = header.encode();
        assert_eq!(&bytes[..5], b"3.41\0");
        assert_eq!(bytes[8..16], 6_567_223u64.to_le_bytes());
        assert_eq!(bytes[16..24], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[31], 0x80);
        assert_eq!(bytes[32..48], [0xd0, 7, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[1008], 7);
        assert_eq!(bytes[1016], 8);
        assert_eq!(bytes[1312], 9);
    }

    #[test]
    fn a_seal_takes_no_place_where_a_module_could_be_seen() {
        let mut header = Header::new(Compression::Zlib);
        header.behind = Extent { offset: 5, length: 6 };
        header.heads = 4;
        let bytes = header.encode();
        // Offsets of the slots 61 to 63; their lengths stay 0.
        assert_eq!(bytes[1024..1040], [6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[1040..1056], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[1056..1072], *b"NETRASUM\0\0\0\0\0\0\0\0");
        assert_eq!(bytes[1320..1324], [4, 0, 0, 0]);
        assert_eq!(bytes[1324..], sum(&bytes).to_le_bytes());
        let mut bent = bytes;
        bent[50] = 1;
        assert_ne!(sum(&bent), sum(&bytes));
    }
}
