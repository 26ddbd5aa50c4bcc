//! `files`: the files that a job has touched, and objects inside them.

use super::Table;
use super::column::{Merge, long, text, time};

pub(super) fn table() -> Table {
    Table {
        name: "files",
        doc: "A file that a job has touched, or an object inside one.",
        columns: vec![
            text("job", "Key of the job."),
            long(
                "file_id",
                "",
                "Record id, as Darshan hashes the name; the bits of an unsigned number.",
            )
            .spread(),
            text("file", "Path of the file, or name of the stream."),
            text("object", "Name of the data set or variable inside it; null for the file itself.")
                .or_null(),
            text(
                "kind",
                "What it is: path, stream, other (the sum of files without a record) or object.",
            ),
            text("file_system", "Type of the file system.").or_null(),
            text("mount", "Where it is mounted.").or_null(),
            long("alignment", "bytes", "Alignment of the file system, if it was asked.").or_null(),
            long("uid", "", "Number of the user."),
            text("user", "Name of the user, or their number."),
            text("exe", "Path of the executable."),
            time("t", "When it was first seen.").merged(Merge::Least),
            long("processes", "", "Processes that have touched it; 0 where that is not known.")
                .merged(Merge::Sum),
        ],
        sort: &["job", "file_id"],
        time: "t",
        once: &[],
        is_rollup: true,
    }
}
