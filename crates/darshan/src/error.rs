//! Why a log can not be read or written at all. What is missing inside a log that can be read is a
//! [`Damage`](crate::Damage), not an error.

use std::io;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why nothing could be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("can not open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to read.
    #[error("can not read at byte {at}")]
    Read {
        /// Where.
        at: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to write.
    #[error("can not write the log")]
    Write {
        /// What the system said.
        #[from]
        source: io::Error,
    },
    /// There is nothing in the file.
    #[error("the file is empty: the application was probably stopped before its log was written")]
    Empty,
    /// The file ends inside the header.
    #[error("the file ends at byte {length}, inside the header of {needed} bytes")]
    HeaderCut {
        /// Bytes in the file.
        length: u64,
        /// Bytes of the header.
        needed: usize,
    },
    /// The magic number is not there.
    #[error("not a Darshan 3.x log: found {found:#018x} at byte 8 instead of the magic number")]
    NotALog {
        /// What stands in its place.
        found: u64,
    },
    /// A log version that no reader knows.
    #[error("log version {found:?} is not one of 3.00, 3.10, 3.20, 3.21 and 3.41")]
    LogVersion {
        /// What the header says.
        found: String,
    },
    /// A compression method that no reader knows.
    #[error("compression method {code} at byte 16 is not one of 0 (zlib), 1 (bzip2), 2 (none)")]
    Compression {
        /// What the header says.
        code: u8,
    },
    /// Two logs give the same record different names, so they can not become one.
    #[error("record {id} is called {first:?} in one log and {second:?} in another")]
    NameConflict {
        /// The record.
        id: u64,
        /// The name that was found first.
        first: String,
        /// The other one.
        second: String,
    },
    /// There was nothing to merge.
    #[error("no logs to merge")]
    NoInput,
    /// The writer was asked for a module after a later one, or for one that it does not write.
    #[error("module {module} can not be written after {after}: regions follow their codes")]
    Order {
        /// The module.
        module: u8,
        /// The last one written.
        after: u8,
    },
    /// A trace has more or fewer segments than its head says.
    #[error("a trace has not the number of segments that its head says ({missing} missing)")]
    Segments {
        /// How many are missing; 0 if there are too many.
        missing: u64,
    },
    /// An earlier failure to write left the log unfinished.
    #[error("the log is unfinished because an earlier write failed")]
    Poisoned,
    /// A record that does not have the shape of its module.
    #[error("a record of module {module} does not have its {expected} counters")]
    Shape {
        /// The module.
        module: &'static str,
        /// Whole numbers and floats that it should have.
        expected: usize,
    },
}
