//! `activity`: what each rank did in each second, by layer and operation. Made with the events, and kept longer.

use super::Table;
use super::column::{Merge, long, text, time};
use super::who::{about, join, who};

pub(super) fn table() -> Table {
    let key = vec![
        time("t", "The second in which the calls began."),
        text("layer", "Layer of software."),
        text("op", "What the calls do: open, close, read, write and so on."),
        text("file_system", "Type of the file system that holds the files.").or_null(),
        text("mount", "Where it is mounted.").or_null(),
    ];
    let sums = vec![
        long("calls", "", "How many calls began.").merged(Merge::Sum),
        long("bytes", "bytes", "What they moved.").merged(Merge::Sum).spread(),
        long("time", "ns", "How long they took together.").merged(Merge::Sum).spread(),
        long("slowest", "ns", "How long the slowest took.").merged(Merge::Most).spread(),
        long("failed", "", "How many failed.").merged(Merge::Sum),
    ];
    Table {
        name: "activity",
        doc: "Calls that began in one second, of one rank, layer, operation and mount; rows of one key add up.",
        columns: join([who(), key, about(), sums]),
        sort: &["job", "t", "rank"],
        time: "t",
        once: &[],
        is_rollup: true,
    }
}
