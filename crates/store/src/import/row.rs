//! What a source says, row by row, before anybody thinks of tables.

use netra_event::{Loss, Module, RecordId};

/// A job.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct JobRow {
    /// The key: what people type, and what every table has.
    pub(super) key: String,
    /// The scheduler's number.
    pub(super) job_id: i64,
    /// The user.
    pub(super) uid: i64,
    /// The program: the first word of the command.
    pub(super) exe: String,
    /// The command line.
    pub(super) command: String,
    /// Processes.
    pub(super) nprocs: i64,
    /// Processes that were recorded.
    pub(super) processes: i64,
    /// Of these, those that ended without a word.
    pub(super) killed: i64,
    /// Nanoseconds since 1970, UTC.
    pub(super) start: i64,
    /// Nanoseconds since 1970, UTC.
    pub(super) end: i64,
    /// Version of the log's format, where it was a log.
    pub(super) log_version: Option<String>,
    /// `key=value` lines of the log.
    pub(super) metadata: String,
    /// Modules with records.
    pub(super) modules: Vec<Module>,
    /// Modules that saw only part of the job.
    pub(super) partial: Vec<Module>,
    /// What was wrong with the log.
    pub(super) remarks: Vec<String>,
    /// What it was read from: `log` or `connector`.
    pub(super) source: &'static str,
    /// Path of the file.
    pub(super) path: String,
}

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountRow {
    /// Where it is mounted.
    pub(super) point: String,
    /// Its type.
    pub(super) kind: String,
    /// Its place in the log's list.
    pub(super) position: i64,
}

/// A process of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ProcessRow {
    /// Its number in the log.
    pub(super) rank: Option<i64>,
    /// Its name for ever.
    pub(super) process: i64,
    /// Its host.
    pub(super) node: String,
    /// The process.
    pub(super) pid: i64,
    /// The program.
    pub(super) exe: String,
    /// The command line.
    pub(super) command: String,
    /// The MPI library.
    pub(super) mpi: Option<String>,
    /// Its node and allocation.
    pub(super) platform: Option<String>,
    /// Nanoseconds since 1970.
    pub(super) start: i64,
    /// Nanoseconds since 1970.
    pub(super) end: Option<i64>,
    /// How it ended: `ended`, `killed`, `replaced`.
    pub(super) state: &'static str,
    /// What the library complained about.
    pub(super) notes: Vec<String>,
}

/// A name of a record, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'a> {
    /// The record id.
    pub(super) id: RecordId,
    /// The file's path, where it is known.
    pub(super) file: Option<&'a str>,
    /// For a data set or variable: its name in that file.
    pub(super) object: Option<&'a str>,
    /// Where its file system is mounted.
    pub(super) mount: Option<&'a str>,
    /// The type of its file system.
    pub(super) kind: Option<&'a str>,
}

impl Name<'_> {
    /// A record without a name.
    #[must_use]
    pub(super) fn only(id: RecordId) -> Name<'static> {
        Name { id, file: None, object: None, mount: None, kind: None }
    }
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct EventRow<'a> {
    /// The process's number in the job.
    pub(super) rank: Option<i64>,
    /// The host.
    pub(super) node: &'a str,
    /// The program.
    pub(super) exe: &'a str,
    /// The process; 0 where it is not known.
    pub(super) pid: i64,
    /// Its name for ever.
    pub(super) process: i64,
    /// The thread.
    pub(super) thread: Option<i64>,
    /// With the process and the index, its name for ever.
    pub(super) lane: i64,
    /// See `lane`.
    pub(super) index: i64,
    /// Nanoseconds since 1970.
    pub(super) start: i64,
    /// Nanoseconds.
    pub(super) took: i64,
    /// The layer, as logs name it.
    pub(super) layer: &'a str,
    /// The function, or the operation where nobody knows.
    pub(super) function: &'a str,
    /// `open`, `read`, `write`, …
    pub(super) op: &'a str,
    /// The file.
    pub(super) file: Option<Name<'a>>,
    /// Where in the file.
    pub(super) offset: Option<i64>,
    /// Bytes asked for.
    pub(super) length: i64,
    /// Bytes moved.
    pub(super) bytes: i64,
    /// What it gave, where that is neither.
    pub(super) result: Option<i64>,
    /// What else was asked.
    pub(super) argument: Option<i64>,
    /// The error's name, if it failed.
    pub(super) error: Option<&'a str>,
    /// Its number, where it encloses others.
    pub(super) number: Option<i64>,
    /// The number of the call around it.
    pub(super) parent: Option<i64>,
    /// Where it was called from.
    pub(super) site: Option<&'a str>,
    /// Shape, dimensions and elements of what was selected.
    pub(super) selection: Option<(&'a str, i64, i64)>,
    /// Where the row is from.
    pub(super) source: &'a str,
}

/// The account of one thread of a process.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AccountRow {
    /// The process's number in the job.
    pub(super) rank: Option<i64>,
    /// The host.
    pub(super) node: String,
    /// The program.
    pub(super) exe: String,
    /// The process.
    pub(super) process: i64,
    /// The thread's lane.
    pub(super) lane: i64,
    /// When it was made: nanoseconds since 1970.
    pub(super) time: i64,
    /// Events written.
    pub(super) produced: i64,
    /// Events here.
    pub(super) delivered: i64,
    /// Events that were not written, by reason.
    pub(super) dropped: Vec<(Loss, i64)>,
    /// Calls made.
    pub(super) calls: i64,
    /// The same by function's code.
    pub(super) by_function: Vec<(u16, i64)>,
}
