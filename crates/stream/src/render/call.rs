//! One call with everything that a rendering may say about it.

use netra_event::segment::extension::{Extension, Selection};
use netra_event::{Event, Function, Nanos};

use super::{About, Running};

/// A call of a process, ready to be written down.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The process.
    pub about: &'a About,
    /// Number of the lane; with the process and the index, the event's name for ever.
    pub lane: u32,
    /// Index in the lane.
    pub index: u64,
    /// The kernel's number of the thread.
    pub thread: u32,
    /// When the call began: nanoseconds since 1970, UTC.
    pub start: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// What was recorded, with times in ticks.
    pub event: Event,
    /// The file it was made on, if there is one.
    pub file: Option<File<'a>>,
    /// Who called: object and offset, if it is known.
    pub site: Option<&'a str>,
    /// What few calls have besides: kind and bytes.
    pub extension: Option<(u32, &'a [u8])>,
    /// The fields that depend on earlier calls, for the calls that the connector sends.
    pub running: Option<Running>,
    /// For a call on several data sets: each one's part, and `running` is the first one's.
    pub shares: Vec<Share<'a>>,
    /// Whether events before this one are missing, so that `running` may be too small.
    pub after_loss: bool,
}

impl Call<'_> {
    /// The function, if this build knows its code.
    #[must_use]
    pub const fn function(&self) -> Option<Function> {
        self.event.function()
    }

    /// When it ended.
    #[must_use]
    pub const fn end(&self) -> Nanos {
        Nanos(self.start.0.saturating_add(self.duration.0))
    }

    /// What it asked of data sets, if it is such a call.
    pub fn selections(&self) -> impl Iterator<Item = Selection<'_>> {
        selections(self.extension)
    }

    /// Bytes that it moved; nothing if it failed.
    #[must_use]
    pub fn moved(&self) -> u64 {
        if self.event.failed { 0 } else { u64::try_from(self.event.result).unwrap_or(0) }
    }
}

/// The selections of an extension, none if it is something else.
pub(super) fn selections(extension: Option<(u32, &[u8])>) -> impl Iterator<Item = Selection<'_>> {
    let found = extension.and_then(|(kind, bytes)| Extension::read(kind, bytes));
    let found = match found {
        Some(Extension::Selections(found)) => Some(found),
        _ => None,
    };
    found.into_iter().flatten()
}

/// A file as calls refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// The record id.
    pub id: u64,
    /// Its name.
    pub name: &'a [u8],
    /// For an object inside a file (an HDF5 data set): the file's own id and name.
    pub within: Option<(u64, &'a [u8])>,
    /// Elements of a data set, if they are known.
    pub elements: Option<u64>,
}

/// The part of one data set in a call on several.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    /// The data set.
    pub file: File<'a>,
    /// Bytes moved.
    pub moved: u64,
    /// Its running fields.
    pub running: Running,
}
