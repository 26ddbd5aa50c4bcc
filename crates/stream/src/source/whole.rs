//! A segment with all its events again: what a daemon has kept of its lanes goes back in front of what
//! its own chunks still hold.

use std::collections::BTreeMap;
use std::mem::offset_of;

use netra_event::SLOT_BYTES;
use netra_event::segment::{Entry, Header, LaneChunk, PACKED, REGIONS, Region, View};

use super::Segment;
use crate::sink::Kept;

/// Slots of one lane without a hole: the index of the first, and their bytes.
type Run = (u64, Vec<u8>);

impl Segment {
    /// The same segment, packed, with these slots and its own.
    #[must_use]
    pub fn with_events(&self, kept: &Kept) -> Segment {
        let view = self.view();
        let chunks = chunks(&runs(&view, kept));
        let mut bytes = view.bytes()[..size_of::<Header>()].to_vec();
        let directory = offset_of!(Header, directory);
        bytes[directory..].fill(0);
        let regions = (1..=REGIONS as u32).filter_map(Region::from_code);
        let mut row = directory;
        for region in regions {
            let (stride, own) = view.region(region);
            let held = if region == Region::Chunks { &chunks } else { own };
            if held.is_empty() {
                continue;
            }
            let length = held.len() as u64;
            for (field, value) in [
                (offset_of!(Entry, kind), region as u64 | u64::from(stride) << 32),
                (offset_of!(Entry, offset), bytes.len() as u64),
                (offset_of!(Entry, capacity), length),
                (offset_of!(Entry, used), length),
            ] {
                bytes[row + field..][..8].copy_from_slice(&value.to_le_bytes());
            }
            row += size_of::<Entry>();
            bytes.extend_from_slice(held);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        let flags = view.flags() | PACKED;
        bytes[offset_of!(Header, flags)..][..4].copy_from_slice(&flags.to_le_bytes());
        let total = bytes.len() as u64;
        bytes[offset_of!(Header, total_bytes)..][..8].copy_from_slice(&total.to_le_bytes());
        // The header is the one that was read.
        Segment::from_bytes(self.path(), bytes).unwrap_or_else(|_| self.clone())
    }
}

/// All slots of each lane, in order, each once.
fn runs(view: &View<'_>, kept: &Kept) -> BTreeMap<u32, Vec<Run>> {
    let mut pieces: BTreeMap<u32, Vec<(u64, &[u8])>> = BTreeMap::new();
    for (&lane, ranges) in kept {
        pieces
            .entry(lane)
            .or_default()
            .extend(ranges.iter().map(|(from, b)| (*from, b.as_slice())));
    }
    for chunk in view.chunks() {
        let head = view.lanes().find(|lane| lane.number == chunk.lane).map_or(0, |l| l.head());
        let published = usize::try_from(head.saturating_sub(chunk.base)).unwrap_or(usize::MAX);
        let slots = &chunk.slots[..chunk.slots.len().min(published)];
        pieces.entry(chunk.lane).or_default().push((chunk.base, slots.as_flattened()));
    }
    pieces.into_iter().map(|(lane, pieces)| (lane, join(pieces))).collect()
}

/// Puts pieces together; what two of them hold is taken once.
fn join(mut pieces: Vec<(u64, &[u8])>) -> Vec<Run> {
    pieces.sort_by_key(|&(from, bytes)| (from, std::cmp::Reverse(bytes.len())));
    let mut runs: Vec<Run> = Vec::new();
    for (from, bytes) in pieces.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let end = runs.last().map_or(0, |(first, held)| first + (held.len() / SLOT_BYTES) as u64);
        match runs.last_mut() {
            Some((_, held)) if from <= end => {
                let known = usize::try_from(end - from).unwrap_or(usize::MAX);
                let known = known.saturating_mul(SLOT_BYTES).min(bytes.len());
                held.extend_from_slice(&bytes[known..]);
            }
            _ => runs.push((from, bytes.to_vec())),
        }
    }
    runs
}

/// The region of chunks: one a run, as long as it is.
fn chunks(lanes: &BTreeMap<u32, Vec<Run>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (&lane, runs) in lanes {
        for (base, slots) in runs {
            let mut head = [0; SLOT_BYTES];
            let count = u32::try_from(slots.len() / SLOT_BYTES).unwrap_or(u32::MAX);
            head[offset_of!(LaneChunk, base)..][..8].copy_from_slice(&base.to_le_bytes());
            head[offset_of!(LaneChunk, lane)..][..4].copy_from_slice(&lane.to_le_bytes());
            head[offset_of!(LaneChunk, slots_held)..][..4].copy_from_slice(&count.to_le_bytes());
            bytes.extend_from_slice(&head);
            bytes.extend_from_slice(&slots[..count as usize * SLOT_BYTES]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_pieces_are_joined_once() {
        let slots = |from: u64, to: u64| -> Vec<u8> {
            (from..to).flat_map(|index| [index as u8; SLOT_BYTES]).collect()
        };
        let (a, b, c, d) = (slots(0, 5), slots(3, 8), slots(8, 9), slots(20, 21));
        let joined = join(vec![(20, &d), (3, &b), (0, &a), (0, &a[..32]), (8, &c)]);
        assert_eq!(joined, [(0, slots(0, 9)), (20, slots(20, 21))]);
    }
}
