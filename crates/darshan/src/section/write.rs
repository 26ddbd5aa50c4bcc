//! Appends a section to a log that is being written.

use super::layout::{Head, STORED, TRAILER, Trailer, VERSION, ZLIB, padding};
use crate::checksum::crc32;
use crate::record::header::Extent;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Write};

/// A section that grows behind the last region.
#[derive(Debug)]
pub(crate) struct Appender {
    first: u64,
    at: u64,
    blocks: u32,
    heads: u32,
}

impl Appender {
    /// Begins at the next multiple of eight.
    pub(crate) fn begin(out: &mut dyn Write, at: u64) -> io::Result<Appender> {
        pad(out, at)?;
        let first = at + padding(at);
        Ok(Appender { first, at: first, blocks: 0, heads: 0 })
    }

    /// Appends a block, compressed where that makes it smaller.
    pub(crate) fn block(&mut self, out: &mut dyn Write, kind: u16, raw: &[u8]) -> io::Result<()> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(raw)?;
        let packed = encoder.finish()?;
        let (compression, stored) =
            if packed.len() < raw.len() { (ZLIB, &packed[..]) } else { (STORED, raw) };
        let raw_len = raw.len() as u64;
        self.stored(out, Head { kind, compression, stored_len: 0, raw_len, crc: 0 }, stored)
    }

    /// Appends a block whose bytes are already as they shall be in the file.
    pub(crate) fn stored(
        &mut self,
        out: &mut dyn Write,
        head: Head,
        stored: &[u8],
    ) -> io::Result<()> {
        let stored_len = stored.len() as u64;
        let head = Head { stored_len, crc: crc32(stored), ..head };
        let bytes = head.encode();
        out.write_all(&bytes)?;
        out.write_all(stored)?;
        pad(out, stored_len)?;
        self.heads = self.heads.wrapping_add(head.mark(self.at));
        self.at += bytes.len() as u64 + stored_len + padding(stored_len);
        self.blocks += 1;
        Ok(())
    }

    /// Ends the section; gives where it lies and the sum of its heads, for the seal.
    pub(crate) fn finish(self, out: &mut dyn Write) -> io::Result<(Extent, u32)> {
        let (version, blocks, offset) = (VERSION, self.blocks, self.first);
        out.write_all(&Trailer { version, blocks, offset, sealed: true }.encode())?;
        Ok((Extent { offset, length: self.at + TRAILER as u64 - offset }, self.heads))
    }
}

fn pad(out: &mut dyn Write, length: u64) -> io::Result<()> {
    let zeros = usize::try_from(padding(length)).unwrap_or(0);
    out.write_all(&[0; 8][..zeros])
}
