//! The segment: everything one process has recorded, in one mapped file that others read at any
//! moment and after its death. `docs/format/segment.md` is the page of grammar.
//!
//! It begins with a [`Header`] and a directory of regions; every region is an array of one of the
//! structures of [`table`] or of [`crate::lane`], or bytes. A *packed* segment is the same with
//! the unused space left out; that is what a log carries. Nothing in it is a pointer: texts are
//! `(offset, length)` into the names, everything else is an index.
//!
//! The part inside the application writes through these structures; everybody else reads through
//! [`View`], which trusts no byte.

pub mod extension;
pub mod shard;
pub mod table;
#[cfg(test)]
mod tests;
mod view;

use crate::lane::{Chunk, Lane, REASONS};
use crate::sync::{AtomicU32, AtomicU64};
use crate::{Loss, SLOT_BYTES};

pub use view::{
    Calls, ChunkView, Chunks, Error, Events, File, Heatmap, LaneView, Module, Mount, Object,
    Record, Records, Site, View,
};

/// The first bytes of a segment.
pub const MAGIC: [u8; 8] = *b"NETRASEG";
/// The version of this layout.
pub const VERSION: u32 = 1;
/// Regions a directory has room for.
pub const REGIONS: usize = 24;
/// Pairs of ticks and time that are kept.
pub const CALIBRATIONS: usize = 4;
/// Bytes of a chunk of a lane.
pub const CHUNK_BYTES: usize = 32 * 1024;
/// Slots in a chunk; its head takes the room of one.
pub const CHUNK_SLOTS: usize = CHUNK_BYTES / SLOT_BYTES - 1;
/// Codes a page of call counts covers.
pub const CALL_CODES: usize = 512;
/// Bins of a heatmap, for each direction.
pub const BINS: usize = 200;
/// The file in which calls are summed when there is no room for another: its index and name.
pub const OTHER_FILE: u32 = 1;
/// See [`OTHER_FILE`].
pub const OTHER_NAME: &[u8] = b"<other files>";

/// A chunk as it lies in a segment.
pub type LaneChunk = Chunk<CHUNK_SLOTS>;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$row:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name { $($(#[$row])* $variant = $code),* }

        impl $name {
            /// The one with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u32) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }
        }
    };
}
codes! {
    /// What became of the process.
    State {
        /// It runs, or it died without a chance to say so.
        Running = 1,
        /// It ended and its log is (or is being) written.
        Clean = 2,
        /// It replaced itself by another image.
        Exec = 3,
    }
}
codes! {
    /// What a region holds.
    Region {
        /// Complaints, lines of text: bad settings, refused space.
        Notes = 1,
        /// Texts that other regions refer to.
        Names = 2,
        /// [`table::File`].
        Files = 3,
        /// [`table::Mount`].
        Mounts = 4,
        /// [`table::Object`]: the executable and the libraries.
        Objects = 5,
        /// [`table::Site`]: places that call.
        Sites = 6,
        /// Return addresses, the stacks of call sites.
        Stacks = 7,
        /// [`table::Record`] and its words: what one thread counted of one file.
        Records = 8,
        /// [`table::Heatmap`].
        Heatmaps = 9,
        /// [`crate::lane::Lane`].
        Lanes = 10,
        /// Pages of call counts, one word a code.
        Calls = 11,
        /// [`LaneChunk`].
        Chunks = 12,
        /// What few events need: [`table::Extension`] and its bytes.
        Extensions = 13,
        /// [`table::Module`]: modules that no other format knows describe themselves.
        Modules = 14,
        /// What the node and the job's allocation are: lines `key=value`.
        Platform = 15,
    }
}
codes! {
    /// What a tick is.
    Clock {
        /// The processor's time stamp counter.
        Counter = 1,
        /// Nanoseconds of CLOCK_MONOTONIC.
        Nanoseconds = 2,
    }
}

/// Unused space is left out, chunks are as long as they are filled.
pub const PACKED: u32 = 1;
/// Space was refused; something after that moment is only in the process's own memory.
pub const ANONYMOUS: u32 = 2;
/// Names or files ran out; the rest is summed under [`OTHER_NAME`].
pub const PARTIAL: u32 = 4;
/// Events are not traced, by a setting.
pub const UNTRACED: u32 = 8;
/// The process's log is written; the segment stays for a daemon, which removes it.
pub const LOGGED: u32 = 32;
/// Room for extensions ran out; events after that have none.
pub const UNEXTENDED: u32 = 16;
/// What the process did until MPI ended is in its job's log ([`Header::log`]); the segment stays because it
/// holds more than that.
pub const JOINED: u32 = 64;

/// The process went into a sandbox: what that forbids, the record does without.
pub const SANDBOXED: u32 = 128;

/// A region of the segment.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Entry {
    /// A [`Region`], 0 for an empty row.
    pub kind: AtomicU32,
    /// Bytes of one element; 0 where elements have their own length, 1 for bytes.
    pub stride: AtomicU32,
    /// Where it begins.
    pub offset: AtomicU64,
    /// Bytes it may take.
    pub capacity: AtomicU64,
    /// Bytes in use.
    pub used: AtomicU64,
}

/// A moment in ticks and in time; the ticks are written first, then the time.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Calibration {
    /// Ticks.
    pub ticks: AtomicU64,
    /// CLOCK_REALTIME in nanoseconds.
    pub realtime: AtomicU64,
}

/// The first bytes of a segment. Texts are offset + length × 2³² into [`Region::Names`].
#[derive(Debug, Default)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`] as a little-endian number, written last.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// Bytes of header and directory.
    pub header_bytes: AtomicU32,
    /// A [`State`].
    pub state: AtomicU32,
    /// [`PACKED`] and its like.
    pub flags: AtomicU32,
    /// Bytes of the segment.
    pub total_bytes: AtomicU64,
    /// The process.
    pub pid: AtomicU32,
    /// Its parent.
    pub ppid: AtomicU32,
    /// When recording began, in the kernel's clock ticks since boot: a process of this number that was
    /// started later is another one.
    pub process_start: AtomicU64,
    /// Its user.
    pub uid: AtomicU32,
    /// Its rank in the job plus one, 0 if it has none.
    pub rank_plus_one: AtomicU32,
    /// Processes of the job, 0 if not known.
    pub nprocs: AtomicU32,
    /// A [`Clock`].
    pub clock: AtomicU32,
    /// The job's number as Darshan logs have it, in two's complement.
    pub job_id: AtomicU64,
    /// Process that this one was forked from while netra was on, else 0.
    pub fork_parent: AtomicU32,
    /// 1 when a rank is known because MPI said so, 2 from the environment, 0 when it is not.
    pub rank_source: AtomicU32,
    /// Modules that summed files under [`OTHER_NAME`], a bit each.
    pub partial: AtomicU64,
    /// Bytes of chunks that may be taken when nobody reads.
    pub budget: AtomicU64,
    /// When recording ended, CLOCK_REALTIME in nanoseconds; 0 while it goes on.
    pub end: AtomicU64,
    /// Calibrations made; the newest is number `count - 1`, modulo [`CALIBRATIONS`].
    pub calibrations: AtomicU64,
    /// The first is the start of recording and stays; later ones share the other places.
    pub calibration: [Calibration; CALIBRATIONS],
    /// Text key of the job.
    pub job: AtomicU64,
    /// Host name.
    pub host: AtomicU64,
    /// Path of the executable.
    pub exe: AtomicU64,
    /// Command line, arguments separated by spaces.
    pub command: AtomicU64,
    /// Where the segment itself lies, if it is a file.
    pub path: AtomicU64,
    /// Name of the MPI library's kind, if one was found.
    pub mpi: AtomicU64,
    /// Path of the job's log that this process's part is in, once MPI has ended.
    pub log: AtomicU64,
    /// The inode of its PID namespace, in which its number means something; 0 if it is not known.
    pub namespace: AtomicU64,
    /// When the process was started, exactly: field 22 of its `stat`; 0 if it is not known.
    pub started: AtomicU64,
    reserved: [u64; 5],
    /// Where the regions lie.
    pub directory: [Entry; REGIONS],
}

// A change in any of these is a new version of the layout.
const _: () = assert!(size_of::<Header>() == 1056);
const _: () = assert!(core::mem::offset_of!(Header, directory) == 288);
const _: () = assert!(size_of::<Entry>() == 32);
const _: () = assert!(size_of::<Lane>() == 384);
const _: () = assert!(size_of::<LaneChunk>() == CHUNK_BYTES);
const _: () = assert!(Loss::OF_LANES <= REASONS);
