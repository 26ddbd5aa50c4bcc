//! Reading a segment: safe, bounds-checked, over any bytes. A word that points nowhere gives
//! nothing instead of a panic, and no loop runs longer than the bytes are.

mod head;
mod lane;
mod row;

use core::fmt;
use core::mem::offset_of;

use super::{Entry, Header, MAGIC, REGIONS, Region, VERSION};

pub use lane::{Calls, ChunkView, Chunks, Events, LaneView};
pub use row::{File, Heatmap, Module, Mount, Object, Record, Records, Site};

/// Why bytes are not a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There are fewer bytes than a header has.
    Short {
        /// How many there are.
        found: usize,
    },
    /// They do not begin as a segment does (or its process never finished setting it up).
    NotASegment,
    /// Written by a newer netra.
    TooNew {
        /// Its version.
        found: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Short { found } => {
                write!(f, "{found} bytes are too few for a segment ({})", size_of::<Header>())
            }
            Error::NotASegment => f.write_str("not a netra segment"),
            Error::TooNew { found } => {
                write!(f, "segment has format {found}; this netra reads up to {VERSION}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// A segment's bytes.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes of a segment, live or packed.
    ///
    /// # Errors
    /// They are none, or a newer one.
    pub fn new(bytes: &'a [u8]) -> Result<View<'a>, Error> {
        if bytes.len() < size_of::<Header>() {
            return Err(Error::Short { found: bytes.len() });
        }
        let view = View { bytes };
        if view.u64(offset_of!(Header, magic)) != u64::from_le_bytes(MAGIC) {
            return Err(Error::NotASegment);
        }
        match view.u32(offset_of!(Header, version)) {
            found if found > VERSION => Err(Error::TooNew { found }),
            _ => Ok(view),
        }
    }

    /// All bytes, as they were given.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// A region's stride and the bytes in use, as far as they are there.
    #[must_use]
    pub fn region(&self, kind: Region) -> (u32, &'a [u8]) {
        let directory = (0..REGIONS)
            .map(|row| offset_of!(Header, directory) + row * size_of::<Entry>())
            .find(|&at| self.u32(at + offset_of!(Entry, kind)) == kind as u32);
        let Some(at) = directory else { return (0, &[]) };
        let offset = self.u64(at + offset_of!(Entry, offset));
        let used = self.u64(at + offset_of!(Entry, used));
        let used = used.min(self.u64(at + offset_of!(Entry, capacity)));
        // A file cut short still gives what it has.
        let there = (self.bytes.len() as u64).saturating_sub(offset);
        let bytes = self.slice(offset, used.min(there)).unwrap_or(&[]);
        (self.u32(at + offset_of!(Entry, stride)), bytes)
    }

    /// A text of the names; empty if the reference leads outside.
    #[must_use]
    pub fn text(&self, reference: u64) -> &'a [u8] {
        let names = View { bytes: self.region(Region::Names).1 };
        names.slice(reference & 0xffff_ffff, reference >> 32).unwrap_or(&[])
    }

    fn rows<const N: usize>(
        &self,
        kind: Region,
    ) -> impl Iterator<Item = (u32, View<'a>)> + use<'a, N> {
        let bytes = self.region(kind).1;
        (0..).zip(bytes.chunks_exact(N).map(|bytes| View { bytes }))
    }

    fn row<const N: usize>(&self, kind: Region, index: u32) -> Option<View<'a>> {
        let all = View { bytes: self.region(kind).1 };
        all.slice(u64::from(index) * N as u64, N as u64).map(|bytes| View { bytes })
    }

    fn slice(&self, at: u64, bytes: u64) -> Option<&'a [u8]> {
        let (at, bytes) = (usize::try_from(at).ok()?, usize::try_from(bytes).ok()?);
        self.bytes.get(at..)?.get(..bytes)
    }

    fn u32(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..).and_then(|tail| tail.first_chunk::<4>());
        u32::from_le_bytes(*bytes.unwrap_or(&[0; 4]))
    }

    fn u64(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..).and_then(|tail| tail.first_chunk::<8>());
        u64::from_le_bytes(*bytes.unwrap_or(&[0; 8]))
    }
}
