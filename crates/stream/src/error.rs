//! Why something could not be read, or a log not be written.

use std::io;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("{action} {}", path.display())]
    Io {
        /// What was tried: "reading", "creating".
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A device, a pipe, a folder.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// Somebody else's file lies among the user's.
    #[error("{} belongs to user {found}, not to user {expected}; it is not read", path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: u32,
        /// Whose it should be.
        expected: u32,
    },
    /// Its bytes are not a segment, or one of a newer netra.
    #[error("{} can not be read", path.display())]
    Segment {
        /// The file.
        path: PathBuf,
        /// Why.
        source: netra_event::segment::Error,
    },
    /// It claims more than is read at once.
    #[error("{} holds {found} bytes of records; at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What it claims.
        found: u64,
        /// What is read.
        limit: u64,
    },
    /// A log of a process can not be read, or the job's not be written.
    #[error("{}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        source: netra_darshan::Error,
    },
    /// There is not enough memory or space to make a log.
    #[error("{}", path.display())]
    Encode {
        /// The segment.
        path: PathBuf,
        /// Why.
        source: netra_darshan::encode::Error,
    },
    /// Nothing is ever overwritten.
    #[error("{} exists already; choose another name", path.display())]
    Exists {
        /// The log.
        path: PathBuf,
    },
}

impl Error {
    /// Says what was tried.
    pub(crate) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { action, path, source }
    }
}
