//! What is missing from a log that can be read in part, and why.

use netra_event::Module;
use std::fmt;

/// A part of a log that could not be delivered. What came before it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The part of the log.
    pub part: Part,
    /// How far into the file reading got.
    pub at: u64,
    /// What is wrong.
    pub reason: Reason,
}

/// A part of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The job, its command line and mounts.
    Job,
    /// The names of records.
    Names,
    /// The records of a module.
    Module(Module),
    /// The records of a module that is not known, by its code.
    Unknown(u8),
    /// netra's own section behind the log.
    Section,
    /// The header, which says where everything else is.
    Header,
}

/// What is wrong with a part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The module ran out of memory in the application, and says so.
    Incomplete,
    /// The header's place for it is not in the file.
    OutsideFile {
        /// Where it should begin.
        offset: u64,
        /// How long it should be.
        length: u64,
        /// How long the file is.
        file: u64,
    },
    /// The file ends too early.
    FileCut {
        /// Bytes that are not there.
        missing: u64,
    },
    /// A compressed stream ends too early.
    StreamCut,
    /// A compressed stream is not valid.
    Corrupt,
    /// It decompresses to more than it can possibly mean.
    Bomb {
        /// Bytes that came out before reading was stopped.
        produced: u64,
    },
    /// The last record is not whole.
    RecordCut {
        /// Bytes there.
        have: u64,
        /// Bytes of a whole record, as far as it is known.
        need: u64,
    },
    /// A record claims a length that no record has.
    RecordLength {
        /// The number that makes no sense.
        claimed: i64,
    },
    /// The first record does not carry its module's mark.
    RecordMagic,
    /// The module was written by a newer Darshan, or the header is wrong.
    Version {
        /// The version in the header.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// No module with this code is known.
    UnknownModule,
    /// A checksum does not fit.
    Checksum,
    /// It goes to the end of the file without an end of its own: the file was cut.
    EndMissing,
    /// A process made events that are not in the log.
    Events {
        /// The process.
        pid: u32,
        /// Events that are not there.
        gone: u64,
        /// Events that it made.
        made: u64,
    },
    /// Bytes of the file belong to no part: whatever said to which does not say so any more.
    Unclaimed {
        /// How many.
        bytes: u64,
    },
    /// The system refused to read.
    Io(std::io::ErrorKind),
}

impl Damage {
    /// What is missing, as a line for people.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.part {
            Part::Module(_) | Part::Unknown(_) => format!("missing from module {self}"),
            _ => format!("missing from {self}"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.part, self.at, self.reason)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Job => f.write_str("job"),
            Part::Names => f.write_str("names"),
            Part::Module(module) => write!(f, "{module}"),
            Part::Unknown(code) => write!(f, "module {code}"),
            Part::Section => f.write_str("netra section"),
            Part::Header => f.write_str("header"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Incomplete => {
                f.write_str("the module ran out of memory in the application; records are missing")
            }
            Reason::OutsideFile { offset, length, file } => write!(
                f,
                "the header places it at bytes {offset} to {}, the file ends at {file}",
                offset.saturating_add(*length)
            ),
            Reason::FileCut { missing } => {
                write!(f, "the file ends {missing} bytes too early")
            }
            Reason::StreamCut => f.write_str("the compressed data ends too early"),
            Reason::Corrupt => f.write_str("the compressed data is not valid"),
            Reason::Bomb { produced } => write!(
                f,
                "refused: it decompresses to more than {produced} bytes, far more than records do"
            ),
            Reason::RecordCut { have, need } => {
                write!(f, "the last record has {have} of {need} bytes")
            }
            Reason::RecordLength { claimed } => {
                write!(f, "a record claims {claimed} entries, which no record has")
            }
            Reason::RecordMagic => f.write_str("its first record does not have its mark"),
            Reason::Version { found, known } => {
                write!(f, "its version is {found}; versions up to {known} are known")
            }
            Reason::UnknownModule => f.write_str("no such module is known"),
            Reason::Checksum => f.write_str("its checksum does not fit"),
            Reason::EndMissing => f.write_str("its end is not there: the file was cut"),
            Reason::Events { pid, gone, made } => write!(
                f,
                "{gone} of {made} events of process {pid} are not in the log: dropped, or taken while it ran"
            ),
            Reason::Unclaimed { bytes } => {
                write!(f, "{bytes} bytes from here on belong to no part that it names")
            }
            Reason::Io(kind) => write!(f, "reading failed: {kind}"),
        }
    }
}
