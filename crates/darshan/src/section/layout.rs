//! Bytes of the section: blocks with a head, and a trailer that ends the file.

use crate::checksum::{Crc32, crc32};

/// Bytes of a block's head.
pub const HEAD: usize = 32;
/// Begins a block: "NBLK".
pub const MAGIC: [u8; 4] = *b"NBLK";
/// Bytes of the trailer.
pub const TRAILER: usize = 32;
/// Begins the trailer.
pub const TRAILER_MAGIC: [u8; 8] = *b"NETRASEC";
/// Ends the trailer of a file whose header is sealed.
pub const SEALED: [u8; 4] = *b"SEAL";
/// The version of the section that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// A block with the packed segment of one process.
pub const KIND_SEGMENT: u16 = 1;
/// A block that says who there was in the job: lines of text.
pub const KIND_ATTENDANCE: u16 = 2;
/// The bytes are stored as they are.
pub const STORED: u16 = 0;
/// The bytes are one zlib stream.
pub const ZLIB: u16 = 1;

/// What stands before a block's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the block holds.
    pub kind: u16,
    /// [`STORED`] or [`ZLIB`].
    pub compression: u16,
    /// Bytes in the file, without padding.
    pub stored_len: u64,
    /// Bytes after decompression.
    pub raw_len: u64,
    /// [`crc32`] of the bytes in the file.
    pub crc: u32,
}

impl Head {
    /// The head's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.kind.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.compression.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stored_len.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.raw_len.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// What this head adds to the seal of its file when it stands `at` this byte of it.
    #[must_use]
    pub fn mark(&self, at: u64) -> u32 {
        let mut crc = Crc32::default();
        crc.update(&at.to_le_bytes());
        crc.update(&self.encode());
        crc.value()
    }

    /// Reads a head; nothing if it does not begin with the magic.
    #[must_use]
    pub fn decode(bytes: &[u8; HEAD]) -> Option<Head> {
        let (words, _) = bytes.as_chunks::<4>();
        let &[magic, kinds, s0, s1, r0, r1, crc, _] = words else { return None };
        let [k0, k1, c0, c1] = kinds;
        (magic == MAGIC).then(|| Head {
            kind: u16::from_le_bytes([k0, k1]),
            compression: u16::from_le_bytes([c0, c1]),
            stored_len: wide(s0, s1),
            raw_len: wide(r0, r1),
            crc: u32::from_le_bytes(crc),
        })
    }
}

/// What ends a file that has a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// The section's version.
    pub version: u32,
    /// Blocks.
    pub blocks: u32,
    /// Offset of the first block from the beginning of the file.
    pub offset: u64,
    /// Whether the file's header carries a seal; those of the first logs did not.
    pub sealed: bool,
}

impl Trailer {
    /// The trailer's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; TRAILER] {
        let mut bytes = [0; TRAILER];
        bytes[..8].copy_from_slice(&TRAILER_MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.blocks.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        let crc = crc32(&bytes[..24]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        if self.sealed {
            bytes[28..].copy_from_slice(&SEALED);
        }
        bytes
    }

    /// Reads a trailer; nothing unless magic and checksum are right.
    #[must_use]
    pub fn decode(bytes: &[u8; TRAILER]) -> Option<Trailer> {
        let (words, _) = bytes.as_chunks::<4>();
        let &[m0, m1, version, blocks, o0, o1, crc, sealed] = words else { return None };
        let right = wide(m0, m1) == u64::from_le_bytes(TRAILER_MAGIC)
            && u32::from_le_bytes(crc) == crc32(&bytes[..24]);
        right.then(|| Trailer {
            version: u32::from_le_bytes(version),
            blocks: u32::from_le_bytes(blocks),
            offset: wide(o0, o1),
            sealed: sealed == SEALED,
        })
    }
}

/// Bytes that follow a block of this length, so that the next one begins at a multiple of eight.
#[must_use]
pub const fn padding(length: u64) -> u64 {
    length.wrapping_neg() % 8
}

fn wide(low: [u8; 4], high: [u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_trailer_lead_back() {
        let head = Head { kind: 1, compression: 1, stored_len: 1 << 40, raw_len: 3, crc: 0xdead };
        assert_eq!(Head::decode(&head.encode()), Some(head));
        let trailer = Trailer { version: 1, blocks: 2, offset: 0x1_0000_0003, sealed: true };
        assert_eq!(Trailer::decode(&trailer.encode()), Some(trailer));
        let mut wrong = trailer.encode();
        wrong[17] ^= 1;
        assert_eq!(Trailer::decode(&wrong), None);
    }

    #[test]
    fn blocks_begin_at_multiples_of_eight() {
        assert_eq!([0, 1, 7, 8, 9].map(padding), [0, 7, 1, 0, 7]);
    }
}
