//! One process's segment, read with `pread` into memory that is bounded by what is in use.
//!
//! The file may grow, be cut or be written by its owner while it is read. Regions that refer to
//! others are read before those they refer to, each with its length at that moment: lanes before
//! chunks, so that every slot below a lane's head is complete; names last.

use std::fs::{File, OpenOptions};
use std::mem::offset_of;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use netra_event::segment::{self, Entry, Header, REGIONS, Region, View};
use rustix::fs::OFlags;

use crate::memory;
use crate::{Error, Result};

/// What is read even if the system does not say how much memory it has.
const LEAST: u64 = 64 << 20;

/// In which order regions are read.
const ORDER: [Region; 13] = [
    Region::Lanes,
    Region::Calls,
    Region::Chunks,
    Region::Extensions,
    Region::Records,
    Region::Heatmaps,
    Region::Sites,
    Region::Stacks,
    Region::Objects,
    Region::Files,
    Region::Mounts,
    Region::Notes,
    Region::Names,
];

/// A segment's bytes, without the space it does not use.
#[derive(Debug, Clone)]
pub struct Segment {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Segment {
    /// Reads a file that must belong to `owner`.
    ///
    /// # Errors
    /// It can not be read, is somebody else's, is no segment, or claims too much.
    pub fn read(path: &Path, owner: Option<u32>) -> Result<Segment> {
        Segment::regions(path, owner, &ORDER)
    }

    /// Reads all but the events, which are by far the most of it.
    ///
    /// # Errors
    /// As for [`Segment::read`].
    pub fn peek(path: &Path, owner: Option<u32>) -> Result<Segment> {
        let few: Vec<Region> =
            ORDER.into_iter().filter(|&region| region != Region::Chunks).collect();
        Segment::regions(path, owner, &few)
    }

    fn regions(path: &Path, owner: Option<u32>, regions: &[Region]) -> Result<Segment> {
        // Neither a link nor a pipe may lead or hold us elsewhere.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = flags.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.map_err(Error::io("opening", path))?;
        let about = file.metadata().map_err(Error::io("reading", path))?;
        if !about.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        match owner {
            Some(expected) if about.uid() != expected => {
                Err(Error::Owner { path: path.to_owned(), found: about.uid(), expected })
            }
            _ => {
                // Half of what is free, so that a file of holes can not push others out.
                let limit = memory::available().map_or(LEAST, |free| (free / 2).max(LEAST));
                Reading { path, file: &file, limit }.segment(regions)
            }
        }
    }

    /// Takes the bytes of a segment that stood in a log.
    ///
    /// # Errors
    /// They are no segment.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Segment> {
        match View::new(&bytes) {
            Ok(_) => Ok(Segment { path: path.to_owned(), bytes }),
            Err(source) => Err(Error::Segment { path: path.to_owned(), source }),
        }
    }

    /// Where it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "both constructors have looked at these bytes"
    )]
    pub fn view(&self) -> View<'_> {
        View::new(&self.bytes).expect("the bytes were a segment when they were read")
    }
}

/// A segment that is being read.
struct Reading<'a> {
    path: &'a Path,
    file: &'a File,
    limit: u64,
}

impl Reading<'_> {
    fn segment(&self, regions: &[Region]) -> Result<Segment> {
        let mut bytes = self.part(0, size_of::<Header>() as u64)?;
        let damaged = |source| Error::Segment { path: self.path.to_owned(), source };
        View::new(&bytes).map_err(damaged)?;
        let directory = offset_of!(Header, directory);
        bytes[directory..].fill(0);
        for (row, region) in regions.iter().copied().enumerate() {
            let Some(entry) = self.entry(region)? else { continue };
            let held = self.part(entry.offset, entry.used.min(entry.capacity))?;
            let (offset, length) = (bytes.len() as u64, held.len() as u64);
            if offset.saturating_add(length) > self.limit {
                let (found, limit) = (offset.saturating_add(length), self.limit);
                return Err(Error::TooLarge { path: self.path.to_owned(), found, limit });
            }
            let at = directory + row * size_of::<Entry>();
            for (field, value) in [
                (offset_of!(Entry, kind), region as u64 | u64::from(entry.stride) << 32),
                (offset_of!(Entry, offset), offset),
                (offset_of!(Entry, capacity), length),
                (offset_of!(Entry, used), length),
            ] {
                bytes[at + field..][..8].copy_from_slice(&value.to_le_bytes());
            }
            bytes.extend(held);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        Ok(Segment { path: self.path.to_owned(), bytes })
    }

    /// A region's row, as it is now.
    fn entry(&self, region: Region) -> Result<Option<Row>> {
        let directory =
            self.part(offset_of!(Header, directory) as u64, (REGIONS * size_of::<Entry>()) as u64)?;
        let rows = directory.as_chunks::<{ size_of::<Entry>() }>().0;
        let found = rows.iter().map(Row::decode).find(|row| row.kind == region as u32);
        Ok(found.filter(|row| row.used > 0))
    }

    /// Bytes of the file, as many as there are.
    fn part(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let there = self.file.metadata().map_err(Error::io("reading", self.path))?.len();
        let length = length.min(there.saturating_sub(offset));
        if length > self.limit {
            let (found, limit) = (length, self.limit);
            return Err(Error::TooLarge { path: self.path.to_owned(), found, limit });
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], offset + filled as u64) {
                // It was cut while we read.
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("reading", self.path)(error)),
            }
        }
        bytes.truncate(filled);
        if offset == 0 && filled < size_of::<Header>() {
            let source = segment::Error::Short { found: filled };
            return Err(Error::Segment { path: self.path.to_owned(), source });
        }
        Ok(bytes)
    }
}

/// A region's row.
struct Row {
    kind: u32,
    stride: u32,
    offset: u64,
    capacity: u64,
    used: u64,
}

impl Row {
    fn decode(bytes: &[u8; size_of::<Entry>()]) -> Row {
        let word =
            |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        Row {
            kind: word(offset_of!(Entry, kind)) as u32,
            stride: (word(offset_of!(Entry, kind)) >> 32) as u32,
            offset: word(offset_of!(Entry, offset)),
            capacity: word(offset_of!(Entry, capacity)),
            used: word(offset_of!(Entry, used)),
        }
    }
}
