//! A process's segment, put together again from the parts that arrived, without its events: names,
//! files, call sites, counters. [`Image::view`] reads it as any segment is read.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::Arc;

use netra_event::frame::Producer;
use netra_event::segment::{Entry, Header, REGIONS, View};

use super::table::{HEADER, Part};
use crate::pack::{Malformed, Packer, Unpacker};

/// What a process may make us keep.
pub const LARGEST_IMAGE: usize = 64 << 20;

/// All that is known of a process's segment but its events. Parts may come twice, and older images
/// may be filled again: what is there already stays the same.
#[derive(Debug, Clone, Default)]
pub struct Image {
    header: Vec<u8>,
    regions: BTreeMap<u32, (u32, Vec<u8>)>,
    whole: Vec<u8>,
    bytes: usize,
}

impl Image {
    /// Takes parts; false if some were left out because they are too much or lie behind a gap.
    pub fn take<'a>(&mut self, parts: impl Iterator<Item = Part<'a>>) -> bool {
        let mut complete = true;
        for part in parts {
            complete &= self.part(&part);
        }
        self.assemble();
        complete
    }

    fn part(&mut self, part: &Part<'_>) -> bool {
        if part.region == HEADER {
            if part.bytes.len() != size_of::<Header>() {
                return false;
            }
            self.header = part.bytes.to_vec();
            return true;
        }
        let (stride, held) = self.regions.entry(part.region).or_default();
        *stride = part.stride;
        let Ok(from) = usize::try_from(part.offset) else { return false };
        let Some(until) = from.checked_add(part.bytes.len()) else { return false };
        let more = until.saturating_sub(held.len());
        if from > held.len() || self.bytes.saturating_add(more) > LARGEST_IMAGE {
            return false;
        }
        self.bytes += more;
        held.resize(held.len() + more, 0);
        held[from..until].copy_from_slice(part.bytes);
        true
    }

    /// Puts header and regions one behind the other, as a reader of segments wants them.
    fn assemble(&mut self) {
        self.whole.clear();
        if self.header.is_empty() {
            return;
        }
        self.whole.extend_from_slice(&self.header);
        let directory = offset_of!(Header, directory);
        self.whole[directory..].fill(0);
        for (row, (&region, (stride, held))) in self.regions.iter().enumerate().take(REGIONS) {
            let (offset, length) = (self.whole.len() as u64, held.len() as u64);
            let at = directory + row * size_of::<Entry>();
            for (field, value) in [
                (offset_of!(Entry, kind), u64::from(region) | u64::from(*stride) << 32),
                (offset_of!(Entry, offset), offset),
                (offset_of!(Entry, capacity), length),
                (offset_of!(Entry, used), length),
            ] {
                self.whole[at + field..][..8].copy_from_slice(&value.to_le_bytes());
            }
            self.whole.extend_from_slice(held);
            self.whole.resize(self.whole.len().next_multiple_of(8), 0);
        }
    }

    /// The segment as far as it is known; none before its header came.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        View::new(&self.whole).ok()
    }

    /// Header, regions and directory as one segment without events.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.whole
    }

    /// For safekeeping.
    #[must_use]
    pub fn pack(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.text(&self.header).count(self.regions.len());
        for (&region, (stride, held)) in &self.regions {
            packer.word(region).word(*stride).text(held);
        }
        packer.bytes
    }

    /// What was kept safe.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn unpack(bytes: &[u8]) -> Result<Image, Malformed> {
        let mut unpacker = Unpacker::new(bytes);
        let mut image = Image { header: unpacker.text()?.to_vec(), ..Image::default() };
        if !image.header.is_empty() && image.header.len() != size_of::<Header>() {
            return Err(unpacker.malformed("no header of a segment"));
        }
        for _ in 0..unpacker.count(12)? {
            let (region, stride) = (unpacker.word()?, unpacker.word()?);
            let bytes = unpacker.text()?;
            image.part(&Part { region, stride, offset: 0, bytes });
        }
        unpacker.end()?;
        image.assemble();
        Ok(image)
    }
}

/// The images of all processes whose events may still come; lent as they are, and copied when they
/// change meanwhile.
pub type Images = BTreeMap<Producer, Arc<Image>>;

#[cfg(test)]
mod tests {
    use super::*;
    use netra_event::segment::{MAGIC, Region, VERSION};

    fn header() -> Vec<u8> {
        let mut bytes = vec![0; size_of::<Header>()];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes
    }

    fn names<'a>(offset: u64, bytes: &'a [u8]) -> Part<'a> {
        Part { region: Region::Names as u32, stride: 1, offset, bytes }
    }

    #[test]
    fn parts_become_a_segment_and_may_come_twice() {
        let mut image = Image::default();
        assert!(image.view().is_none());
        let head = header();
        let head = Part { region: HEADER, stride: 0, offset: 0, bytes: &head };
        assert!(image.take([head, names(0, b"abc")].into_iter()));
        assert!(image.take([names(3, b"def"), names(0, b"abc")].into_iter()));
        assert_eq!(image.view().unwrap().text(2 | 3 << 32), b"cde");
        let kept = Image::unpack(&image.pack()).unwrap();
        assert_eq!(kept.bytes(), image.bytes());
    }

    #[test]
    fn gaps_and_floods_are_refused() {
        let mut image = Image::default();
        assert!(!image.take([names(5, b"far")].into_iter()));
        assert!(!image.take([names(u64::MAX, b"far")].into_iter()));
        let flood = vec![1; LARGEST_IMAGE + 1];
        assert!(!image.take([names(0, &flood)].into_iter()));
        assert!(image.take([names(0, b"near")].into_iter()));
        assert!(Image::unpack(b"\xff\xff\xff\xff").is_err());
    }
}
