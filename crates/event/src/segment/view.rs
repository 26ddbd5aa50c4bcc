//! Reading a segment: safe, bounds-checked, over any bytes. A word that points nowhere gives
//! nothing instead of a panic, and no loop runs longer than the bytes are.

use core::fmt;
use core::mem::offset_of;

use super::{
    BINS, CALIBRATIONS, CALL_CODES, CHUNK_BYTES, Calibration, Entry, Header, LaneChunk, MAGIC,
    PACKED, REGIONS, Region, State, VERSION, table,
};
use crate::lane::{CALL_PAGES, Lane};
use crate::{Event, Loss, SLOT_BYTES};

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

    /// What became of the process; nothing for a code this build does not know.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        State::from_code(self.u32(offset_of!(Header, state)))
    }

    /// The segment's flags: [`super::PACKED`] and its like.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.u32(offset_of!(Header, flags))
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.u32(offset_of!(Header, pid))
    }

    /// The parent's process id.
    #[must_use]
    pub fn ppid(&self) -> u32 {
        self.u32(offset_of!(Header, ppid))
    }

    /// The process this one was forked from while netra was on.
    #[must_use]
    pub fn fork_parent(&self) -> Option<u32> {
        Some(self.u32(offset_of!(Header, fork_parent))).filter(|&pid| pid != 0)
    }

    /// Start of the process in the kernel's clock ticks since boot.
    #[must_use]
    pub fn process_start(&self) -> u64 {
        self.u64(offset_of!(Header, process_start))
    }

    /// The user.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.u32(offset_of!(Header, uid))
    }

    /// The rank, if it is known.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        self.u32(offset_of!(Header, rank_plus_one)).checked_sub(1)
    }

    /// Processes of the job, if known.
    #[must_use]
    pub fn nprocs(&self) -> Option<u32> {
        Some(self.u32(offset_of!(Header, nprocs))).filter(|&count| count != 0)
    }

    /// Darshan's number of the job.
    #[must_use]
    pub fn job_id(&self) -> i64 {
        self.u64(offset_of!(Header, job_id)).cast_signed()
    }

    /// Modules that summed files under one record, a bit each.
    #[must_use]
    pub fn partial(&self) -> u64 {
        self.u64(offset_of!(Header, partial))
    }

    /// Bytes of chunks that may be taken when nobody reads.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.u64(offset_of!(Header, budget))
    }

    /// When recording ended, CLOCK_REALTIME in nanoseconds.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        Some(self.u64(offset_of!(Header, end))).filter(|&end| end != 0)
    }

    /// The job's text key.
    #[must_use]
    pub fn job(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, job)))
    }

    /// The host's name.
    #[must_use]
    pub fn host(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, host)))
    }

    /// The executable's path.
    #[must_use]
    pub fn exe(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, exe)))
    }

    /// The command line.
    #[must_use]
    pub fn command(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, command)))
    }

    /// The path of the segment, if it is a file.
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, path)))
    }

    /// The kind of MPI that was found.
    #[must_use]
    pub fn mpi(&self) -> &'a [u8] {
        self.text(self.u64(offset_of!(Header, mpi)))
    }

    /// What the library complained about, a line each.
    pub fn notes(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let notes = self.region(Region::Notes).1;
        notes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty() && line[0] != 0)
    }

    /// The first calibration, the start of recording: ticks and nanoseconds.
    #[must_use]
    pub fn start(&self) -> (u64, u64) {
        self.calibration(0)
    }

    /// The newest calibration; equal to the first one if there is no other.
    #[must_use]
    pub fn newest(&self) -> (u64, u64) {
        let count = self.u64(offset_of!(Header, calibrations));
        // The first place is the start's for ever; the others take turns.
        match count {
            0 | 1 => self.start(),
            _ => self.calibration(1 + ((count - 2) % (CALIBRATIONS as u64 - 1)) as usize),
        }
    }

    fn calibration(&self, place: usize) -> (u64, u64) {
        let at = offset_of!(Header, calibration) + place * size_of::<Calibration>();
        (self.u64(at), self.u64(at + offset_of!(Calibration, realtime)))
    }

    /// Nanoseconds of a tick, from the first and the newest calibration; 1 if there is only one.
    #[must_use]
    pub fn tick(&self) -> f64 {
        let ((ticks, time), (ticks_2, time_2)) = (self.start(), self.newest());
        match (ticks_2.checked_sub(ticks), time_2.checked_sub(time)) {
            // Spans of ticks and nanoseconds lie far below 2^53 for runs of months.
            (Some(ticks @ 1..), Some(time @ 1..)) => time as f64 / ticks as f64,
            _ => 1.0,
        }
    }

    /// The moment of a tick, nanoseconds of CLOCK_REALTIME.
    #[must_use]
    pub fn time(&self, ticks: u64) -> u64 {
        let (start, time) = self.start();
        let since = ticks.wrapping_sub(start).cast_signed() as f64 * self.tick();
        // Saturates at the ends, which only damaged ticks reach.
        time.saturating_add_signed(since as i64)
    }

    /// Files by index; rows that are not complete are left out.
    pub fn files(&self) -> impl Iterator<Item = File<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::File>() }>(Region::Files)
            .filter_map(move |(index, row)| view.file_row(index, &row))
    }

    /// The file with this index.
    #[must_use]
    pub fn file(&self, index: u32) -> Option<File<'a>> {
        let row = self.row::<{ size_of::<table::File>() }>(Region::Files, index)?;
        self.file_row(index, &row)
    }

    fn file_row(&self, index: u32, row: &View<'a>) -> Option<File<'a>> {
        (row.u32(offset_of!(table::File, ready)) != 0).then(|| File {
            index,
            id: row.u64(offset_of!(table::File, id)),
            name: self.text(row.u64(offset_of!(table::File, name))),
            mount: row.u32(offset_of!(table::File, mount)).checked_sub(1),
            alignment: row.u32(offset_of!(table::File, alignment)),
            parent: row.u32(offset_of!(table::File, parent)),
            kind: row.u32(offset_of!(table::File, kind)),
            seen: row.u64(offset_of!(table::File, seen)),
        })
    }

    /// Mounted file systems.
    pub fn mounts(&self) -> impl Iterator<Item = Mount<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::Mount>() }>(Region::Mounts)
            .filter(|(_, row)| row.u32(offset_of!(table::Mount, ready)) != 0)
            .map(move |(index, row)| Mount {
                index,
                point: view.text(row.u64(offset_of!(table::Mount, point))),
                kind: view.text(row.u64(offset_of!(table::Mount, kind))),
                block_bytes: row.u32(offset_of!(table::Mount, block_bytes)),
            })
    }

    /// The executable and the libraries.
    pub fn objects(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::Object>() }>(Region::Objects).filter_map(
            move |(index, row)| {
                let ready = row.u32(offset_of!(table::Object, ready));
                let at = offset_of!(table::Object, build_id);
                let bytes = row.u32(offset_of!(table::Object, build_id_bytes)).min(20);
                (ready != 0).then(|| Object {
                    index,
                    base: row.u64(offset_of!(table::Object, base)),
                    start: row.u64(offset_of!(table::Object, start)),
                    end: row.u64(offset_of!(table::Object, end)),
                    name: view.text(row.u64(offset_of!(table::Object, name))),
                    build_id: row.slice(at as u64, u64::from(bytes)).unwrap_or(&[]),
                    loaded: ready == 1,
                })
            },
        )
    }

    /// The call site with this index.
    #[must_use]
    pub fn site(&self, index: u16) -> Option<Site<'a>> {
        let row = self.row::<{ size_of::<table::Site>() }>(Region::Sites, u32::from(index))?;
        if index == 0 || row.u32(offset_of!(table::Site, ready)) == 0 {
            return None;
        }
        let (stack, frames) =
            (row.u32(offset_of!(table::Site, stack)), row.u32(offset_of!(table::Site, frames)));
        let stacks = View { bytes: self.region(Region::Stacks).1 };
        Some(Site {
            address: row.u64(offset_of!(table::Site, address)),
            object: row.u32(offset_of!(table::Site, object)).checked_sub(1),
            stack: stacks.slice(u64::from(stack) * 8, u64::from(frames) * 8).unwrap_or(&[]),
        })
    }

    /// Records of all threads, files and modules, in the order they began.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records { all: View { bytes: self.region(Region::Records).1 }, at: 0 }
    }

    /// The record that lies at this byte of the records plus one, as `…_MORE` words refer to it.
    #[must_use]
    pub fn record_at(&self, reference: u64) -> Option<Record<'a>> {
        let at = usize::try_from(reference.checked_sub(1)?).ok()?;
        Records { all: View { bytes: self.region(Region::Records).1 }, at }.next()
    }

    /// Heatmaps of all threads and modules.
    pub fn heatmaps(&self) -> impl Iterator<Item = Heatmap<'a>> + use<'a> {
        self.rows::<{ size_of::<table::Heatmap>() }>(Region::Heatmaps)
            .filter(|(_, row)| row.u32(offset_of!(table::Heatmap, ready)) != 0)
            .map(|(_, row)| Heatmap {
                width: row.u64(offset_of!(table::Heatmap, width)),
                module: row.u32(offset_of!(table::Heatmap, module)),
                thread: row.u32(offset_of!(table::Heatmap, thread)),
                row,
            })
    }

    /// The lanes that were used.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'a>> + use<'a> {
        let segment = *self;
        segment.rows::<{ size_of::<Lane>() }>(Region::Lanes).filter_map(move |(number, row)| {
            (row.u32(offset_of!(Lane, ready)) != 0).then_some(LaneView { segment, number, row })
        })
    }

    /// The chunks, in the order they lie there.
    #[must_use]
    pub fn chunks(&self) -> Chunks<'a> {
        let packed = self.flags() & PACKED != 0;
        Chunks { all: View { bytes: self.region(Region::Chunks).1 }, at: 0, packed }
    }

    /// Kind and bytes of an extension, by the reference in an event.
    #[must_use]
    pub fn extension(&self, reference: u32) -> Option<(u32, &'a [u8])> {
        let all = View { bytes: self.region(Region::Extensions).1 };
        let at = u64::from(reference.checked_sub(1)?);
        let head = View { bytes: all.slice(at, 8)? };
        let bytes = u64::from(head.u32(offset_of!(table::Extension, bytes)));
        let kind = head.u32(offset_of!(table::Extension, kind));
        Some((kind, all.slice(at + 8, bytes.checked_sub(8)?)?))
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

/// A file's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its index, which events and records refer to.
    pub index: u32,
    /// The record id.
    pub id: u64,
    /// The name.
    pub name: &'a [u8],
    /// Index of its mount.
    pub mount: Option<u32>,
    /// Alignment of the file system, 0 if not known.
    pub alignment: u32,
    /// Index of the file it belongs to, else 0.
    pub parent: u32,
    /// 1 a path, 2 a stream without a path, 3 the other files, 4 an object inside a file.
    pub kind: u32,
    /// Ticks when it was first seen.
    pub seen: u64,
}

/// A mounted file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount<'a> {
    /// Its index.
    pub index: u32,
    /// Where it is mounted.
    pub point: &'a [u8],
    /// Its type.
    pub kind: &'a [u8],
    /// Its block size, 0 if nobody asked.
    pub block_bytes: u32,
}

/// The executable or a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<'a> {
    /// Its index.
    pub index: u32,
    /// What to subtract from an address.
    pub base: u64,
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Path.
    pub name: &'a [u8],
    /// Build id, at most 20 bytes.
    pub build_id: &'a [u8],
    /// Whether it was still loaded.
    pub loaded: bool,
}

/// A place that calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site<'a> {
    /// Return address.
    pub address: u64,
    /// Index of its object.
    pub object: Option<u32>,
    stack: &'a [u8],
}

impl<'a> Site<'a> {
    /// Return addresses from the call outwards, if a stack was taken.
    pub fn stack(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.stack.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

/// What one thread counted of one file for one module.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Code of the module, or [`super::shard::COMMON_VALUES`].
    pub module: u32,
    /// Number of the lane.
    pub thread: u32,
    /// Index of the file.
    pub file: u32,
    /// Where it lies: what [`View::record_at`] finds it by.
    pub reference: u64,
    words: View<'a>,
}

impl Record<'_> {
    /// A word of the record (see [`super::shard`]); 0 behind its end.
    #[must_use]
    pub fn word(&self, index: usize) -> u64 {
        index.checked_mul(8).map_or(0, |at| self.words.u64(at))
    }
}

/// The records of a segment.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    all: View<'a>,
    at: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let head = size_of::<table::Record>();
        let bytes = self.all.u32(self.at) as usize;
        let words = self.all.bytes.get(self.at + head..)?.get(..bytes.checked_sub(head)?)?;
        let row = View { bytes: self.all.bytes.get(self.at..)? };
        let reference = self.at as u64 + 1;
        self.at += bytes;
        Some(Record {
            reference,
            module: row.u32(offset_of!(table::Record, module)),
            thread: row.u32(offset_of!(table::Record, thread)),
            file: row.u32(offset_of!(table::Record, file)),
            words: View { bytes: words },
        })
    }
}

/// Bytes over time of one thread and module.
#[derive(Debug, Clone, Copy)]
pub struct Heatmap<'a> {
    /// Width of a bin in nanoseconds.
    pub width: u64,
    /// Code of the module.
    pub module: u32,
    /// Number of the lane.
    pub thread: u32,
    row: View<'a>,
}

impl Heatmap<'_> {
    /// Bytes written in a bin.
    #[must_use]
    pub fn written(&self, bin: usize) -> u64 {
        self.bin(offset_of!(table::Heatmap, written), bin)
    }

    /// Bytes read in a bin.
    #[must_use]
    pub fn read(&self, bin: usize) -> u64 {
        self.bin(offset_of!(table::Heatmap, read), bin)
    }

    fn bin(&self, at: usize, bin: usize) -> u64 {
        if bin < BINS { self.row.u64(at + bin * 8) } else { 0 }
    }
}

/// A lane and what is left of its events.
#[derive(Debug, Clone, Copy)]
pub struct LaneView<'a> {
    /// Its number: the thread's slot.
    pub number: u32,
    segment: View<'a>,
    row: View<'a>,
}

impl<'a> LaneView<'a> {
    /// Slots published.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.row.u64(offset_of!(Lane, head))
    }

    /// Events written, whether they are still here or not.
    #[must_use]
    pub fn produced(&self) -> u64 {
        self.head().saturating_sub(self.row.u64(offset_of!(Lane, extra)))
    }

    /// The kernel's id of the thread.
    #[must_use]
    pub fn tid(&self) -> u32 {
        self.row.u32(offset_of!(Lane, tid))
    }

    /// `pthread_self()` of the thread.
    #[must_use]
    pub fn pthread(&self) -> u64 {
        self.row.u64(offset_of!(Lane, pthread))
    }

    /// The word of the reader; see [`crate::lane::ack_chunks`].
    #[must_use]
    pub fn ack(&self) -> u64 {
        self.row.u64(offset_of!(Lane, ack))
    }

    /// Events dropped for a reason: how many, and the ticks of the first and the last.
    #[must_use]
    pub fn dropped(&self, reason: Loss) -> (u64, u64, u64) {
        let at = offset_of!(Lane, dropped) + usize::from(reason as u8) * 24;
        (self.row.u64(at), self.row.u64(at + 8), self.row.u64(at + 16))
    }

    /// Calls by code of the function, those that were made only.
    #[must_use]
    pub fn calls(&self) -> Calls<'a> {
        Calls { lane: *self, code: 0 }
    }

    /// The events that are still here, in order; slots that are none are skipped.
    #[must_use]
    pub fn events(&self) -> Events<'a> {
        let mine = |chunk: &ChunkView<'a>| chunk.lane == self.number;
        let first = self.segment.chunks().filter(mine).map(|chunk| chunk.base).min();
        let mut events = Events { lane: *self, slots: &[], at: 0, next: first.unwrap_or(0) };
        events.open();
        events
    }
}

/// Codes of functions and how often they were called.
#[derive(Debug, Clone)]
pub struct Calls<'a> {
    lane: LaneView<'a>,
    code: u16,
}

impl Iterator for Calls<'_> {
    type Item = (u16, u64);

    fn next(&mut self) -> Option<(u16, u64)> {
        let pages = View { bytes: self.lane.segment.region(Region::Calls).1 };
        while usize::from(self.code) < CALL_CODES * CALL_PAGES {
            let code = self.code;
            let (page, word) = (usize::from(code) / CALL_CODES, usize::from(code) % CALL_CODES);
            let number = self.lane.row.u32(offset_of!(Lane, calls) + page * 4);
            let Some(number) = number.checked_sub(1) else {
                self.code = ((page + 1) * CALL_CODES) as u16;
                continue;
            };
            self.code += 1;
            // 2^32 pages of 4 KiB do not overflow 64 bits.
            let at = number as usize * CALL_CODES * 8 + word * 8;
            match pages.u64(at) {
                0 => {}
                calls => return Some((code, calls)),
            }
        }
        None
    }
}

/// A chunk as it lies there.
#[derive(Debug, Clone, Copy)]
pub struct ChunkView<'a> {
    /// Number of its lane.
    pub lane: u32,
    /// Index in the lane of its first slot.
    pub base: u64,
    /// Its slots; those at or behind the lane's head hold nothing yet.
    pub slots: &'a [[u8; SLOT_BYTES]],
}

/// The chunks of a segment, in the order they lie there.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    all: View<'a>,
    at: usize,
    packed: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = ChunkView<'a>;

    fn next(&mut self) -> Option<ChunkView<'a>> {
        let row = View { bytes: self.all.bytes.get(self.at..)? };
        if row.bytes.len() < SLOT_BYTES {
            return None;
        }
        let held = row.u32(offset_of!(LaneChunk, slots_held)) as usize;
        let room = if self.packed { row.bytes.len() } else { CHUNK_BYTES.min(row.bytes.len()) };
        let slots = row.bytes.get(SLOT_BYTES..room)?.as_chunks::<SLOT_BYTES>().0;
        let slots = slots.get(..held.min(slots.len()))?;
        self.at += if self.packed { SLOT_BYTES * (1 + slots.len()) } else { CHUNK_BYTES };
        Some(ChunkView {
            lane: row.u32(offset_of!(LaneChunk, lane)),
            base: row.u64(offset_of!(LaneChunk, base)),
            slots,
        })
    }
}

/// The events of a lane.
#[derive(Debug, Clone)]
pub struct Events<'a> {
    lane: LaneView<'a>,
    slots: &'a [[u8; SLOT_BYTES]],
    at: usize,
    /// Index in the lane of the first slot behind `slots`.
    next: u64,
}

impl<'a> Events<'a> {
    /// Goes to the chunk that begins at `next`, if there is one with published slots.
    fn open(&mut self) -> bool {
        let (number, head, base) = (self.lane.number, self.lane.head(), self.next);
        let wanted = |chunk: &ChunkView<'a>| chunk.lane == number && chunk.base == base;
        let Some(chunk) = self.lane.segment.chunks().find(wanted) else { return false };
        let published = usize::try_from(head.saturating_sub(base)).unwrap_or(usize::MAX);
        self.slots = chunk.slots.get(..published.min(chunk.slots.len())).unwrap_or(&[]);
        self.at = 0;
        self.next = base.saturating_add(self.slots.len() as u64);
        !self.slots.is_empty()
    }

    fn slot(&mut self) -> Option<[u64; 4]> {
        let row = View { bytes: self.slots.get(self.at)? };
        self.at += 1;
        Some([row.u64(0), row.u64(8), row.u64(16), row.u64(24)])
    }
}

impl Iterator for Events<'_> {
    /// Index in the lane, and the event.
    type Item = (u64, Event);

    fn next(&mut self) -> Option<(u64, Event)> {
        loop {
            if self.at >= self.slots.len() && !self.open() {
                return None;
            }
            let index = self.next - (self.slots.len() - self.at) as u64;
            let first = self.slot()?;
            let second = if Event::is_wide(first) { self.slot() } else { None };
            if let Ok(event) = Event::decode(first, second) {
                return Some((index, event));
            }
        }
    }
}
