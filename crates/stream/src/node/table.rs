//! The growing regions of a segment, sent as they grow, and its changing regions, sent as they are.

use std::io;

use netra_event::segment::{Region, table};

use super::file::{Front, SegmentFile};
use crate::batch::{HEADER, Part, pack_parts};

/// Regions that only grow, in the order in which they are read: those that refer to others first.
const GROWING: [Region; 8] = [
    Region::Extensions,
    Region::Sites,
    Region::Stacks,
    Region::Objects,
    Region::Files,
    Region::Mounts,
    Region::Notes,
    Region::Names,
];
/// Regions whose rows change all the time.
const CHANGING: [Region; 4] = [Region::Lanes, Region::Calls, Region::Records, Region::Heatmaps];
/// Bytes of one frame of parts; a larger region goes in several.
const AT_ONCE: u64 = 1 << 20;

/// How much of each region was sent.
#[derive(Debug, Default)]
pub(super) struct Progress {
    sent: [u64; GROWING.len()],
    /// Names of files whose rows were not complete when they were sent before.
    files_ready: u64,
}

/// Bodies of frames, and what is sent once they are taken.
#[derive(Debug, Default)]
pub(super) struct Grown {
    pub(super) bodies: Vec<Vec<u8>>,
    progress: Option<Progress>,
}

impl Progress {
    /// What has grown since the last time. A row may be taken before it is complete: rows of files
    /// are sent again until they are, with their names.
    pub(super) fn grown(&self, file: &SegmentFile, front: &Front) -> io::Result<Grown> {
        let mut owned = Vec::new();
        let mut after = Progress { sent: self.sent, files_ready: self.files_ready };
        let mut named = 0;
        for (at, region) in GROWING.into_iter().enumerate() {
            let mut place = front.place(region);
            if region == Region::Names {
                // A row that was completed just now may have a newer name than the header knew.
                place.used = place.used.max(named).min(place.capacity);
            }
            let from = match region {
                Region::Files => self.files_ready,
                _ => self.sent[at],
            };
            if place.used > from.max(self.sent[at])
                || (region == Region::Files && place.used > from)
            {
                let mut bytes = Vec::new();
                file.read(&place, from, place.used - from, &mut bytes)?;
                after.sent[at] = from + bytes.len() as u64;
                if region == Region::Files {
                    after.files_ready = from + complete_files(&bytes);
                    if after.files_ready == self.files_ready && after.sent[at] == self.sent[at] {
                        continue;
                    }
                    let names = names(file, front, &bytes)?;
                    let end = |(_, _, offset, bytes): &Owned| offset + bytes.len() as u64;
                    named = names.iter().map(end).max().unwrap_or(0);
                    owned.extend(names);
                }
                owned.push((region as u32, place.stride, from, bytes));
            }
        }
        let bodies = bodies(&owned);
        Ok(Grown { bodies, progress: Some(after) })
    }

    /// What was grown is in the spool.
    pub(super) fn taken(&mut self, grown: Grown) {
        if let Some(progress) = grown.progress {
            *self = progress;
        }
    }
}

/// Bytes of the rows at the beginning that are complete.
fn complete_files(rows: &[u8]) -> u64 {
    let ready = std::mem::offset_of!(table::File, ready);
    let rows = rows.as_chunks::<{ size_of::<table::File>() }>().0;
    // Index 0 stays empty.
    let complete =
        |(index, row): &(usize, &[u8; 64])| *index == 0 || row[ready..ready + 4] != [0; 4];
    (rows.iter().enumerate().take_while(complete).count() * size_of::<table::File>()) as u64
}

/// The names of rows that are complete, wherever they lie: their bytes may have been sent before they
/// were written.
fn names(file: &SegmentFile, front: &Front, rows: &[u8]) -> io::Result<Vec<Owned>> {
    let place = front.place(Region::Names);
    let at = std::mem::offset_of!(table::File, name);
    let mut names = Vec::new();
    for row in rows.as_chunks::<{ size_of::<table::File>() }>().0 {
        let text = row[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let (offset, length) = (text & 0xffff_ffff, text >> 32);
        let mut bytes = Vec::new();
        file.read(&place, offset, length, &mut bytes)?;
        if !bytes.is_empty() {
            names.push((Region::Names as u32, place.stride, offset, bytes));
        }
    }
    Ok(names)
}

/// Region, stride, offset, bytes.
pub(super) type Owned = (u32, u32, u64, Vec<u8>);

/// Bodies of frames that hold all parts, in order, none too large. Parts of the names go last: they
/// must not lie behind a gap.
fn bodies(owned: &[Owned]) -> Vec<Vec<u8>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (region, stride, offset, bytes) in owned {
        for (chunk, bytes) in (0_u64..).zip(bytes.chunks(AT_ONCE as usize)) {
            let offset = offset + chunk * AT_ONCE;
            parts.push(Part { region: *region, stride: *stride, offset, bytes });
        }
    }
    parts.sort_by_key(|part| (part.region, part.offset));
    let mut bodies = Vec::new();
    let mut begin = 0;
    let mut size = 0;
    for (at, part) in parts.iter().enumerate() {
        if size + part.bytes.len() > AT_ONCE as usize && at > begin {
            bodies.push(pack_parts(&parts[begin..at]));
            (begin, size) = (at, 0);
        }
        size += part.bytes.len();
    }
    if begin < parts.len() {
        bodies.push(pack_parts(&parts[begin..]));
    }
    bodies
}

/// The header and the changing regions as they are now; with `all`, the growing ones too, whole: the
/// last word about a process.
pub(super) fn snapshot(file: &SegmentFile, front: &Front, all: bool) -> io::Result<Vec<Vec<u8>>> {
    let mut owned = Vec::new();
    let growing = if all { &GROWING[..] } else { &[] };
    for &region in CHANGING.iter().chain(growing) {
        let place = front.place(region);
        let mut bytes = Vec::new();
        file.read(&place, 0, place.used, &mut bytes)?;
        owned.push((region as u32, place.stride, 0, bytes));
    }
    owned.push((HEADER, 0, 0, front.bytes.clone()));
    Ok(bodies(&owned))
}

/// Lanes and call counts alone: what an account needs.
pub(super) fn counts(file: &SegmentFile, front: &Front) -> io::Result<Vec<Owned>> {
    regions(file, front, &[Region::Lanes, Region::Calls, Region::Names])
}

/// The header and a few regions.
pub(super) fn regions(
    file: &SegmentFile,
    front: &Front,
    wanted: &[Region],
) -> io::Result<Vec<Owned>> {
    let mut owned = vec![(HEADER, 0, 0, front.bytes.clone())];
    for &region in wanted {
        let place = front.place(region);
        let mut bytes = Vec::new();
        file.read(&place, 0, place.used, &mut bytes)?;
        owned.push((region as u32, place.stride, 0, bytes));
    }
    Ok(owned)
}
