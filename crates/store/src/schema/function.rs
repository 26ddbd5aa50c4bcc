//! `functions`: calls and time of each function, file and rank. Made with the events, and kept longer.

use super::Table;
use super::column::{Merge, long, text, time};
use super::who::{about, join, place, who};

pub(super) fn table() -> Table {
    let key = vec![
        text("layer", "Layer of software."),
        text("op", "What the function does."),
        text("function", "The function."),
    ];
    let sums = vec![
        long("calls", "", "How many calls were made.").merged(Merge::Sum),
        long("bytes", "bytes", "What they moved.").merged(Merge::Sum).spread(),
        long("time", "ns", "How long they took together.").merged(Merge::Sum).spread(),
        long("slowest", "ns", "How long the slowest took.").merged(Merge::Most).spread(),
        long("failed", "", "How many failed.").merged(Merge::Sum),
        time("t", "When the first one began.").merged(Merge::Least),
        time("last", "When the last one began.").merged(Merge::Most),
    ];
    Table {
        name: "functions",
        doc: "Calls of one function on one file by one rank on one day; rows of one key add up.",
        columns: join([who(), key, place(), about(), sums]),
        sort: &["job", "rank", "function"],
        time: "t",
        once: &[],
        is_rollup: true,
    }
}
