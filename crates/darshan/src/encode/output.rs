//! Where the log goes: a position, and regions that are zlib streams of stored blocks.

use super::{Error, Sink, Step};
use crate::checksum::Adler32;
use crate::record::header::Extent;

/// A sink that knows how far it is.
pub(super) struct Output<'a> {
    sink: &'a mut dyn Sink,
    at: u64,
}

impl<'a> Output<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink) -> Output<'a> {
        Output { sink, at: 0 }
    }

    /// Bytes written.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Step {
        self.at = self.at.saturating_add(bytes.len() as u64);
        if self.sink.write(bytes) { Ok(()) } else { Err(Error::Sink) }
    }

    pub(super) fn overwrite(&mut self, at: u64, bytes: &[u8]) -> Step {
        if self.sink.overwrite(at, bytes) { Ok(()) } else { Err(Error::Sink) }
    }
}

/// What begins a zlib stream: deflate with a window of 32 KiB, and no dictionary.
const ZLIB_HEAD: [u8; 2] = [0x78, 0x01];
/// The most that a stored block holds.
const BLOCK: usize = 0xffff;

/// A region in the making: one zlib stream, or nothing if nothing is written.
pub(super) struct Region<'o, 'a> {
    output: &'o mut Output<'a>,
    buffer: &'o mut [u8],
    used: usize,
    start: Option<u64>,
    sum: Adler32,
    /// Whether the bytes go out as they are, for whoever puts a stream around them later.
    plain: bool,
}

/// Bytes of the stream of a region with this many bytes.
#[must_use]
pub const fn stream_length(bytes: u64) -> u64 {
    const BLOCK_HEAD: u64 = 5;
    const AROUND: u64 = 6;
    if bytes == 0 {
        return 0;
    }
    let heads = bytes.div_ceil(BLOCK as u64).saturating_mul(BLOCK_HEAD);
    bytes.saturating_add(heads).saturating_add(AROUND)
}

/// Writes a region that consists of these pieces; as long as [`stream_length`] says if the buffer has 64 KiB.
///
/// # Errors
/// The sink refused, or there is no buffer.
pub fn stream(pieces: &[&[u8]], sink: &mut dyn Sink, buffer: &mut [u8]) -> Result<(), Error> {
    let mut output = Output::new(sink);
    let mut region = Region::new(&mut output, buffer, false);
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        region.write(piece)?;
    }
    region.finish()?;
    Ok(())
}

impl<'o, 'a> Region<'o, 'a> {
    pub(super) fn new(
        output: &'o mut Output<'a>,
        buffer: &'o mut [u8],
        plain: bool,
    ) -> Region<'o, 'a> {
        let room = buffer.len().min(BLOCK);
        let buffer = buffer.get_mut(..room).unwrap_or_default();
        Region { output, buffer, used: 0, start: None, sum: Adler32::default(), plain }
    }

    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Step {
        if self.start.is_none() {
            self.start = Some(self.output.position());
            if !self.plain {
                self.output.write(&ZLIB_HEAD)?;
            }
        }
        if self.plain {
            return self.output.write(bytes);
        }
        while !bytes.is_empty() {
            let free = self.buffer.get_mut(self.used..).unwrap_or_default();
            let taken = free.len().min(bytes.len());
            if taken == 0 {
                self.block(false)?;
                if self.buffer.is_empty() {
                    return Err(Error::Scratch);
                }
                continue;
            }
            for (to, from) in free.iter_mut().zip(bytes) {
                *to = *from;
            }
            self.used = self.used.saturating_add(taken);
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes what is in the buffer as a stored block.
    fn block(&mut self, last: bool) -> Step {
        let bytes = self.buffer.get(..self.used).unwrap_or_default();
        // A block is at most 0xffff bytes long.
        let [low, high, ..] = (bytes.len() as u64).to_le_bytes();
        self.output.write(&[u8::from(last), low, high, !low, !high])?;
        self.output.write(bytes)?;
        self.sum.update(bytes);
        self.used = 0;
        Ok(())
    }

    /// Ends the stream and says where it lies; nowhere if nothing was written.
    pub(super) fn finish(mut self) -> Step<Extent> {
        let Some(offset) = self.start else { return Ok(Extent::default()) };
        if !self.plain {
            self.block(true)?;
            self.output.write(&self.sum.value().to_be_bytes())?;
        }
        Ok(Extent { offset, length: self.output.position().saturating_sub(offset) })
    }
}
