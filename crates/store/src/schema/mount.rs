//! `mounts`: the file systems that a job's processes saw.

use super::Table;
use super::column::{Merge, long, text, time};

pub(super) fn table() -> Table {
    Table {
        name: "mounts",
        doc: "A file system that a job's processes saw mounted.",
        columns: vec![
            text("job", "Key of the job."),
            text("mount", "Where it is mounted."),
            text("file_system", "Its type."),
            long("uid", "", "Number of the job's user."),
            text("user", "Name of the job's user, or their number."),
            long("block_bytes", "bytes", "Its block size, if it was asked.")
                .or_null()
                .merged(Merge::Most),
            long("targets", "", "Storage targets, on Lustre, if it was asked.")
                .or_null()
                .merged(Merge::Most),
            long("metadata_targets", "", "Metadata targets, on Lustre, if it was asked.")
                .or_null()
                .merged(Merge::Most),
            time("t", "When the job's recording began.").merged(Merge::Least),
            long("position", "", "Its place in the job's list of mounts, from 0.")
                .merged(Merge::Least),
        ],
        sort: &["job", "mount"],
        time: "t",
        once: &[],
        is_rollup: true,
    }
}
