//! `jobs`: a row for each part of a job that ended here, a process or an imported log. The parts of a job add up:
//! in SQL `jobs` is asked as one row a job.

use super::column::{Merge, long, text, time};
use super::{Table, column::Column};

/// The columns that say what a job is.
fn columns() -> Vec<Column> {
    vec![
        text("job", "Key of the job, such as slurm.4711.0."),
        time("t", "When the job's recording began.").merged(Merge::Least),
        time("end", "When its recording ended; null while it runs.").or_null().merged(Merge::Most),
        long("job_id", "", "Number of the job as Darshan's logs have it.").merged(Merge::Most),
        long("uid", "", "Number of the user.").merged(Merge::Most),
        text("user", "Name of the user, or their number where no name is known.")
            .merged(Merge::Most),
        text("exe", "Path of the executable.").merged(Merge::Most),
        text("command", "Command line.").merged(Merge::Most),
        long("nprocs", "", "Processes that the job said it has.").merged(Merge::Most),
        long("processes", "", "Processes that were recorded.").merged(Merge::Sum),
        long("running", "", "Processes among them that still run.").merged(Merge::Sum),
        long("killed", "", "Processes among them that ended without a word.").merged(Merge::Sum),
        text("source", "Where the row is from: stream, segment, log or connector."),
        text("log", "Path of the log or file it was imported from.").or_null(),
        text("log_version", "Version of that log's format.").or_null(),
        text("metadata", "What the log says about the job, a line key=value each.").or_null(),
        text("partial", "Modules whose records ran out of room, with commas.").or_null(),
        long(
            "start_ns",
            "ns since 1970, UTC",
            "When the job's recording began, to the nanosecond.",
        )
        .or_null()
        .merged(Merge::Least),
        long("end_ns", "ns since 1970, UTC", "When its recording ended, to the nanosecond.")
            .or_null()
            .merged(Merge::Most),
        text("modules", "Modules that the log has records of, with commas.").or_null(),
        text("remarks", "What could not be read of the log, a line each.").or_null(),
    ]
}

pub(super) fn table() -> Table {
    Table {
        name: "jobs",
        doc: "A job, as a process of it or a log has recorded it; the parts of a job add up.",
        columns: columns(),
        sort: &["job", "t"],
        time: "t",
        once: &[],
        is_rollup: true,
    }
}
