//! From a segment to a log: what a process recorded, as a log of the current version with the
//! packed segment behind it.
//!
//! This is the only place that does so. The capture library calls it at exit inside an application,
//! `netra recover` calls it for a process that was killed. So there is no allocation, no panic and
//! no I/O of its own here: bytes go to a [`Sink`], and memory to sort in is the caller's. Regions are zlib
//! streams of stored blocks, which every reader of logs accepts; who has time compresses them later.
//!
//! The segment may be in use while it is read (other threads run on until the process is gone). What
//! is counted once is kept in the scratch memory, so lengths written first hold for what follows.
#![deny(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod access;
mod clock;
mod counted;
mod flow;
mod frequent;
mod group;
mod hdf5;
mod heatmap;
mod job;
mod lustre;
mod mpiio;
mod names;
mod output;
mod pack;
mod pnetcdf;
mod posix;
mod scratch;
mod sort;
mod stdio;
mod text;
mod trace;

use crate::counter;
use crate::record::header::{Compression, Extent, Header, SIZE};
use clock::Clock;
use core::fmt;
use netra_event::segment::View;
use netra_event::{Loss, Module, Rank};
use output::{Output, Region};

pub use counted::counts;
pub use heatmap::{common_width, widest};
pub use output::{stream, stream_length};
pub use pack::Block;
pub use scratch::{needed, room};
pub use sort::heap_sort;

/// Takes the bytes of a log.
pub trait Sink {
    /// Appends bytes; false ends the work.
    fn write(&mut self, bytes: &[u8]) -> bool;
    /// Overwrites bytes that were written before, `at` counted from the first one.
    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> bool;
}

/// Why there is no log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The sink took no more.
    Sink,
    /// There is less scratch memory than [`needed`] asks for.
    Scratch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Sink => "the log can not be written",
            Error::Scratch => "there is too little memory to put the log together",
        })
    }
}

impl core::error::Error for Error {}

/// The result of a step.
pub(crate) type Step<T = ()> = Result<T, Error>;

/// How the log shall be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The rank, where it is to be another than the segment's own (0 where that has none).
    pub rank: Option<Rank>,
    /// Processes of the job, where it is known better than by the segment.
    pub nprocs: Option<u32>,
    /// Whether the log has no records, only the job and the packed segment.
    pub without_records: bool,
    /// The job, where the log is of more than this process.
    pub job: Option<Frame>,
    /// When recording ended, for a process that goes on: nanoseconds since 1970.
    pub ended: Option<u64>,
    /// Whether the events are left out; they stay in the segment.
    pub untraced: bool,
}

/// What all processes of a job have in common in its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// When the first process began to record: nanoseconds since 1970.
    pub start: u64,
    /// When the last one ended.
    pub end: u64,
    /// Width of the bins of heat maps in nanoseconds, as [`common_width`] gives it.
    pub width: u64,
}

/// Writes the log of a segment.
///
/// `words` are scratch memory, [`needed`] of them; `bytes` is a buffer, best of 64 KiB.
///
/// # Errors
/// The sink refused, or there is too little scratch memory. What was written is then no log: the
/// header comes last.
pub fn log(
    view: View<'_>,
    options: Options,
    sink: &mut dyn Sink,
    words: &mut [u64],
    bytes: &mut [u8],
) -> Result<(), Error> {
    let mut encoder = Encoder::new(view, options, sink, bytes);
    // A file that ends before the header is put in its place is not taken for a log.
    encoder.output.write(&[0; SIZE])?;
    job::write(&mut encoder)?;
    encoder.header.names.offset = encoder.output.position();
    if !options.without_records {
        encoder.records(words)?;
    }
    pack::write(&mut encoder, words)?;
    let Encoder { header, mut output, .. } = encoder;
    output.overwrite(0, &header.encode())
}

/// Writes what a process has to say in the log of its job, without streams around it: the job, the names and
/// the records of each module. The header that is returned says where each lies; the job begins at 0 and ends
/// where the names begin.
///
/// # Errors
/// As for [`log`].
pub fn parts(
    view: View<'_>,
    options: Options,
    sink: &mut dyn Sink,
    words: &mut [u64],
    bytes: &mut [u8],
) -> Result<Header, Error> {
    let mut encoder = Encoder { plain: true, ..Encoder::new(view, options, sink, bytes) };
    job::write(&mut encoder)?;
    encoder.records(words)?;
    Ok(encoder.header)
}

/// The version of a module's records that is written.
#[must_use]
pub const fn version(module: Module) -> u32 {
    match module {
        Module::DxtPosix => trace::POSIX.version,
        Module::DxtMpiio => trace::MPIIO.version,
        module => counter::version(module),
    }
}

/// What all parts of the log need while it is written.
struct Encoder<'a> {
    view: View<'a>,
    clock: Clock,
    rank: Rank,
    header: Header,
    output: Output<'a>,
    bytes: &'a mut [u8],
    options: Options,
    plain: bool,
}

impl<'a> Encoder<'a> {
    fn new(
        view: View<'a>,
        options: Options,
        sink: &'a mut dyn Sink,
        bytes: &'a mut [u8],
    ) -> Encoder<'a> {
        Encoder {
            view,
            clock: Clock::new(&view, &options),
            rank: options.rank.unwrap_or(Rank(i64::from(view.rank().unwrap_or(0)))),
            header: Header::new(Compression::Zlib),
            output: Output::new(sink),
            bytes,
            options,
            plain: false,
        }
    }

    /// Writes the names and the records of all modules.
    fn records(&mut self, words: &mut [u64]) -> Step {
        self.header.partial = self.view.partial();
        names::write(self, words)?;
        counted::write(self, &posix::COUNTED, words)?;
        counted::write(self, &mpiio::COUNTED, words)?;
        for counted in [&hdf5::FILES, &hdf5::DATA_SETS, &pnetcdf::FILES, &pnetcdf::VARIABLES] {
            counted::write(self, counted, words)?;
        }
        lustre::write(self, words)?;
        counted::write(self, &stdio::COUNTED, words)?;
        trace::write(self, &trace::POSIX, words)?;
        trace::write(self, &trace::MPIIO, words)?;
        heatmap::write(self, words)
    }

    /// Begins a region; it takes no room before its first byte.
    fn region(&mut self) -> Region<'_, 'a> {
        Region::new(&mut self.output, self.bytes, self.plain)
    }

    /// Enters a module's region into the header, if there is one.
    fn enter(&mut self, module: Module, extent: Extent) {
        self.enter_as(module, extent, counter::version(module));
    }

    /// The same for records of an older version.
    fn enter_as(&mut self, module: Module, extent: Extent, version: u32) {
        if extent.length == 0 {
            return;
        }
        let slot = usize::from(module.code());
        if let Some(place) = self.header.modules.get_mut(slot) {
            *place = extent;
        }
        if let Some(place) = self.header.versions.get_mut(slot) {
            *place = version;
        }
    }

    /// Says that records of a module are missing.
    fn mark_partial(&mut self, module: Module) {
        self.header.partial |= 1_u64.wrapping_shl(u32::from(module.code()));
    }
}

/// Whether events are missing that should be there; those a setting excludes should not.
fn events_lost(view: &View<'_>) -> bool {
    let missing = |loss: &&Loss| **loss != Loss::Excluded;
    view.lanes().any(|lane| Loss::ALL.iter().filter(missing).any(|&loss| lane.dropped(loss).0 > 0))
}
