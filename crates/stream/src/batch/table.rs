//! Parts of a segment: bytes of its regions, and where they belong.

use netra_event::segment::Region;

use crate::pack::{Malformed, Packer, Unpacker};

/// Stands for the segment's header in place of a region's code.
pub const HEADER: u32 = 0;

/// Bytes of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Code of the [`Region`], or [`HEADER`].
    pub region: u32,
    /// Bytes of an element, as the segment's directory has it.
    pub stride: u32,
    /// Where in the region they begin.
    pub offset: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The parts of one batch, each checked when the batch was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables<'a> {
    parts: Vec<Part<'a>>,
}

impl<'a> Tables<'a> {
    /// Reads the parts.
    ///
    /// # Errors
    /// They are cut, or name a region nobody knows.
    pub fn new(body: &'a [u8]) -> Result<Tables<'a>, Malformed> {
        let mut unpacker = Unpacker::new(body);
        let count = unpacker.count(20)?;
        let mut parts = Vec::with_capacity(count);
        for _ in 0..count {
            let (region, stride) = (unpacker.word()?, unpacker.word()?);
            if region != HEADER && Region::from_code(region).is_none() {
                return Err(unpacker.malformed("no such region"));
            }
            let offset = unpacker.long()?;
            parts.push(Part { region, stride, offset, bytes: unpacker.text()? });
        }
        unpacker.end()?;
        Ok(Tables { parts })
    }

    /// The parts.
    pub fn parts(&self) -> impl Iterator<Item = Part<'a>> + '_ {
        self.parts.iter().copied()
    }
}

/// The body that holds these parts.
#[must_use]
pub fn pack_parts(parts: &[Part<'_>]) -> Vec<u8> {
    let mut packer = Packer::default();
    packer.count(parts.len());
    for part in parts {
        packer.word(part.region).word(part.stride).long(part.offset).text(part.bytes);
    }
    packer.bytes
}
