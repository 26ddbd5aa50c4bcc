//! Columns that many tables share: who did it, and to which file.

use super::column::{Column, long, text};

/// Whose row it is.
pub(super) fn who() -> Vec<Column> {
    vec![
        text("job", "Key of the job, such as slurm.4711.0."),
        long("rank", "", "Rank of the process in its job; −1 for all ranks together, or none."),
    ]
}

/// What else people group processes by.
pub(super) fn about() -> Vec<Column> {
    vec![
        long("uid", "", "Number of the user."),
        text("user", "Name of the user, or their number where no name is known."),
        text("exe", "Path of the executable."),
        text("node", "Host that the process ran on; empty where it is not known."),
    ]
}

/// Which file it is about.
pub(super) fn place() -> Vec<Column> {
    vec![
        text("file", "Path of the file; null for calls on no file.").or_null(),
        long("file_id", "", "Record id of the file or of the object in it, as Darshan hashes its name; the bits of an unsigned number.")
            .or_null(),
        text("file_system", "Type of the file system that holds the file.").or_null(),
        text("mount", "Where that file system is mounted.").or_null(),
    ]
}

/// Joins groups of columns.
pub(super) fn join(groups: impl IntoIterator<Item = Vec<Column>>) -> Vec<Column> {
    groups.into_iter().flatten().collect()
}
