//! A running process's segment as a file: read with `pread`, never mapped, nothing believed. What
//! the process's owner writes or cuts there can only cost them their own events.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use netra_event::lane::Lane;
use netra_event::segment::{Entry, Header, REGIONS, Region};
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::{Error, Result};

/// Bytes of a lane's head.
pub(super) const LANE_BYTES: usize = size_of::<Lane>();

/// A region's place, as the directory says now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stride: u32,
    pub(super) offset: u64,
    pub(super) capacity: u64,
    pub(super) used: u64,
}

/// The header's bytes, and where the regions lie.
#[derive(Debug, Clone)]
pub(super) struct Front {
    pub(super) bytes: Vec<u8>,
    places: [Place; REGIONS],
}

impl Front {
    fn new(bytes: Vec<u8>) -> Front {
        let mut places = [Place::default(); REGIONS];
        let directory = bytes.get(offset_of!(Header, directory)..).unwrap_or_default();
        for row in directory.as_chunks::<{ size_of::<Entry>() }>().0 {
            let word =
                |at: usize| row[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            let kind = word(offset_of!(Entry, kind));
            let capacity = word(offset_of!(Entry, capacity));
            if let Some(place) = places.get_mut(kind as u32 as usize) {
                *place = Place {
                    stride: (kind >> 32) as u32,
                    offset: word(offset_of!(Entry, offset)),
                    capacity,
                    used: word(offset_of!(Entry, used)).min(capacity),
                };
            }
        }
        Front { bytes, places }
    }

    pub(super) fn place(&self, region: Region) -> Place {
        self.places.get(region as usize).copied().unwrap_or_default()
    }

    pub(super) fn word(&self, at: usize) -> u32 {
        let word = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_le_bytes(*word.unwrap_or(&[0; 4]))
    }
}

/// An open segment that nobody else reads.
#[derive(Debug)]
pub(super) struct SegmentFile {
    file: File,
}

impl SegmentFile {
    /// Opens a file of `owner`; none if another daemon reads it.
    pub(super) fn open(path: &Path, owner: u32) -> Result<Option<SegmentFile>> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
        let file = file.map_err(Error::io("opening", path))?;
        let about = file.metadata().map_err(Error::io("reading", path))?;
        if !about.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        if about.uid() != owner {
            let (found, expected) = (about.uid(), owner);
            return Err(Error::Owner { path: path.to_owned(), found, expected });
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(SegmentFile { file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(Error::io("locking", path)(error.into())),
        }
    }

    /// The header as it is now.
    pub(super) fn front(&self) -> io::Result<Front> {
        let mut bytes = vec![0; size_of::<Header>()];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(Front::new(bytes))
    }

    /// Reads bytes of a region, as many as there are; never beyond its capacity.
    pub(super) fn read(
        &self,
        place: &Place,
        from: u64,
        length: u64,
        out: &mut Vec<u8>,
    ) -> io::Result<usize> {
        let length = length.min(place.capacity.saturating_sub(from));
        let begin = out.len();
        out.resize(begin + usize::try_from(length).unwrap_or(0), 0);
        let mut filled = begin;
        while filled < out.len() {
            let at = place.offset.saturating_add(from).saturating_add((filled - begin) as u64);
            match self.file.read_at(&mut out[filled..], at) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        out.truncate(filled);
        Ok(filled - begin)
    }

    /// Writes a lane's acknowledgement: eight bytes, aligned, in one call. Torn, it is ignored by
    /// the process (`netra_event::lane`).
    pub(super) fn acknowledge(&self, place: &Place, lane: u32, word: u64) -> io::Result<()> {
        let row = u64::from(lane) * LANE_BYTES as u64 + offset_of!(Lane, ack) as u64;
        self.file.write_all_at(&word.to_le_bytes(), place.offset.saturating_add(row))
    }
}
