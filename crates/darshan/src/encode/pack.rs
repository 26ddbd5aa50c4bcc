//! The netra section: the segment itself without its unused space, behind the last region.

use super::output::Output;
use super::scratch::{self, Table};
use super::{Encoder, Error, Options, Sink, Step};
use crate::checksum::Crc32;
use crate::record::header::Extent;
use crate::record::put;
use crate::section::layout::{self, Head, Trailer};
use core::mem::offset_of;
use netra_event::SLOT_BYTES;
use netra_event::segment::{Entry, Header, LaneChunk, PACKED, REGIONS, Region, State, View};

/// Writes the section.
pub(super) fn write(encoder: &mut Encoder<'_>, words: &mut [u64]) -> Step {
    let Encoder { view, output, bytes, options, header, .. } = encoder;
    let packed = Packed::new(*view, options, words)?;
    pad(output)?;
    let offset = output.position();
    header.heads = packed.block(output, bytes)?.mark(offset);
    output
        .write(&Trailer { version: layout::VERSION, blocks: 1, offset, sealed: true }.encode())?;
    header.behind = Extent { offset, length: output.position().saturating_sub(offset) };
    Ok(())
}

/// The block of a segment: as long as it says when it is made, though the segment may go on growing.
pub struct Block<'v, 's>(Packed<'v, 's>);

impl<'v, 's> Block<'v, 's> {
    /// Measures a segment. `words` are scratch memory as for [`super::log`], kept for the block.
    ///
    /// # Errors
    /// There is too little scratch memory.
    pub fn new(
        view: View<'v>,
        options: &Options,
        words: &'s mut [u64],
    ) -> Result<Block<'v, 's>, Error> {
        Packed::new(view, options, words).map(Block)
    }

    /// Bytes of the block with its head and its padding: a multiple of eight.
    #[must_use]
    pub fn length(&self) -> u64 {
        (layout::HEAD as u64).saturating_add(self.0.total())
    }

    /// Writes the block; the sink's first byte is the block's. Gives its head, for the seal of the log.
    ///
    /// # Errors
    /// The sink refused, or there is no buffer.
    pub fn write(&self, sink: &mut dyn Sink, buffer: &mut [u8]) -> Result<Head, Error> {
        self.0.block(&mut Output::new(sink), buffer)
    }
}

/// Zeros up to a multiple of eight.
fn pad(output: &mut Output<'_>) -> Step {
    let missing = usize::try_from(layout::padding(output.position())).unwrap_or(0);
    output.write([0; 8].get(..missing).unwrap_or_default())
}

/// A segment's regions, as long as they were at one moment.
struct Packed<'v, 's> {
    view: View<'v>,
    regions: [Option<(Region, u32, &'v [u8])>; REGIONS],
    /// For each chunk how many of its slots are kept; nothing if the segment is packed already.
    kept: Option<&'s [u64]>,
    /// When recording ended, where the segment does not say it itself.
    ended: Option<u64>,
}

impl<'v, 's> Packed<'v, 's> {
    fn new(view: View<'v>, options: &Options, words: &'s mut [u64]) -> Step<Packed<'v, 's>> {
        let ended = options.ended;
        let mut regions = [None; REGIONS];
        for (place, code) in regions.iter_mut().zip(1_u32..) {
            let Some(region) = Region::from_code(code) else { continue };
            if region == Region::Chunks && options.untraced {
                continue;
            }
            let (stride, bytes) = view.region(region);
            *place = (!bytes.is_empty()).then_some((region, stride, bytes));
        }
        if view.flags() & PACKED != 0 {
            return Ok(Packed { view, regions, kept: None, ended });
        }
        let mut table = Table(words);
        let heads = table.take(scratch::lanes(&view))?;
        let kept = table.take(view.chunks().count())?;
        for lane in view.lanes() {
            let number = usize::try_from(lane.number).unwrap_or(usize::MAX);
            if let Some(head) = heads.get_mut(number) {
                *head = lane.head();
            }
        }
        for (chunk, kept) in view.chunks().zip(kept.iter_mut()) {
            let lane = usize::try_from(chunk.lane).unwrap_or(usize::MAX);
            let published = heads.get(lane).copied().unwrap_or(0).saturating_sub(chunk.base);
            *kept = published.min(chunk.slots.len() as u64);
        }
        Ok(Packed { view, regions, kept: Some(kept), ended })
    }

    /// Writes the segment as a block; gives its head.
    fn block(&self, output: &mut Output<'_>, buffer: &mut [u8]) -> Step<Head> {
        let offset = output.position();
        output.write(&[0; layout::HEAD])?;
        let mut copy = Copy { output, buffer, crc: Crc32::default(), count: 0 };
        self.write(&mut copy)?;
        let Copy { crc, count, .. } = copy;
        let head = Head {
            kind: layout::KIND_SEGMENT,
            compression: layout::STORED,
            stored_len: count,
            raw_len: count,
            crc: crc.value(),
        };
        output.overwrite(offset, &head.encode())?;
        pad(output)?;
        Ok(head)
    }

    /// Bytes of the packed segment: its regions are padded, so it is a multiple of eight.
    fn total(&self) -> u64 {
        let regions = self.regions.iter().flatten();
        let lengths = regions.map(|&(region, _, bytes)| self.length(region, bytes));
        let padded = lengths.map(|length| length.saturating_add(layout::padding(length)));
        padded.fold(size_of::<Header>() as u64, u64::saturating_add)
    }

    /// Bytes of a region in the packed segment.
    fn length(&self, region: Region, bytes: &[u8]) -> u64 {
        match self.kept {
            Some(kept) if region == Region::Chunks => {
                let chunk = |&slots: &u64| match slots {
                    0 => 0,
                    slots => slots.saturating_add(1).saturating_mul(SLOT_BYTES as u64),
                };
                kept.iter().map(chunk).fold(0, u64::saturating_add)
            }
            _ => bytes.len() as u64,
        }
    }

    fn write(&self, copy: &mut Copy<'_, '_>) -> Step {
        copy.write(&self.header())?;
        for &(region, _, bytes) in self.regions.iter().flatten() {
            match self.kept {
                Some(kept) if region == Region::Chunks => self.chunks(kept, copy)?,
                _ => copy.write(bytes)?,
            }
            copy.pad()?;
        }
        Ok(())
    }

    /// The segment's header with the regions' new places.
    fn header(&self) -> [u8; size_of::<Header>()] {
        let mut header = [0; size_of::<Header>()];
        let directory = offset_of!(Header, directory);
        for (to, from) in header.iter_mut().zip(self.view.bytes()).take(directory) {
            *to = *from;
        }
        let mut at = size_of::<Header>() as u64;
        for (row, &(region, stride, bytes)) in self.regions.iter().flatten().enumerate() {
            let entry = directory.saturating_add(row.saturating_mul(size_of::<Entry>()));
            let length = self.length(region, bytes);
            // Kind and stride share a word.
            put(&mut header, entry, region as u64 | u64::from(stride) << 32);
            for (field, value) in [
                (offset_of!(Entry, offset), at),
                (offset_of!(Entry, capacity), length),
                (offset_of!(Entry, used), length),
            ] {
                put(&mut header, entry.saturating_add(field), value);
            }
            at = at.saturating_add(length).saturating_add(layout::padding(length));
        }
        // State and flags share a word.
        let state = self.view.state().map_or(0, |state| state as u64);
        let state = if self.ended.is_some() { State::Clean as u64 } else { state };
        if let Some(ended) = self.ended {
            put(&mut header, offset_of!(Header, end), ended);
        }
        let flags = self.view.flags() | PACKED;
        put(&mut header, offset_of!(Header, state), state | u64::from(flags) << 32);
        put(&mut header, offset_of!(Header, total_bytes), at);
        header
    }

    fn chunks(&self, kept: &[u64], copy: &mut Copy<'_, '_>) -> Step {
        for (chunk, &slots) in self.view.chunks().zip(kept) {
            if slots == 0 {
                continue;
            }
            let mut head = [0; SLOT_BYTES];
            put(&mut head, offset_of!(LaneChunk, base), chunk.base);
            // The number of the next chunk has no meaning any more; the lane follows it.
            put(&mut head, offset_of!(LaneChunk, next), u64::from(chunk.lane) << 32);
            put(&mut head, offset_of!(LaneChunk, slots_held), slots);
            copy.write(&head)?;
            let count = usize::try_from(slots).unwrap_or(0);
            copy.write(chunk.slots.get(..count).unwrap_or_default().as_flattened())?;
        }
        Ok(())
    }
}

// What is put as one word lies in one word.
const _: () = assert!(offset_of!(LaneChunk, next) == 8 && offset_of!(LaneChunk, lane) == 12);
const _: () = assert!(offset_of!(Header, state) == 16 && offset_of!(Header, flags) == 20);
const _: () = assert!(offset_of!(Entry, kind) == 0 && offset_of!(Entry, stride) == 4);

/// Copies bytes that others may be changing: through a buffer, so that what is written is what the
/// checksum was made of.
struct Copy<'o, 'a> {
    output: &'o mut Output<'a>,
    buffer: &'o mut [u8],
    crc: Crc32,
    count: u64,
}

impl Copy<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> Step {
        if self.buffer.is_empty() {
            return Err(Error::Scratch);
        }
        for piece in bytes.chunks(self.buffer.len().max(1)) {
            for (to, from) in self.buffer.iter_mut().zip(piece) {
                *to = *from;
            }
            let held = self.buffer.get(..piece.len()).unwrap_or_default();
            self.crc.update(held);
            self.output.write(held)?;
        }
        self.count = self.count.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn pad(&mut self) -> Step {
        let missing = usize::try_from(layout::padding(self.count)).unwrap_or(0);
        self.write([0; 8].get(..missing).unwrap_or_default())
    }
}
