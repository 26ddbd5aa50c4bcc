//! `events`: a row for each recorded call.

use super::Table;
use super::column::{Column, long, short, text, time};
use super::who::{about, join, place, who};

/// When, what and how much.
fn call() -> Vec<Column> {
    vec![
        time("t", "When the call began."),
        short("t_ns", "ns", "What the microseconds of t leave out, 0 to 999."),
        long("duration", "ns", "How long it took.").spread(),
        text("layer", "Layer of software: POSIX, STDIO, MPI-IO, HDF5, PNETCDF or PROCESS."),
        text("op", "What the call does: open, close, read, write, seek, stat, sync, meta and so on."),
        text("function", "The function that was called."),
        long("offset", "bytes", "Where in the file; null for calls that have none.").or_null().spread(),
        long("length", "bytes", "What was asked for."),
        long("bytes", "bytes", "What was moved; 0 for calls that move nothing or failed."),
        long("result", "", "What the call gave, where that is neither the bytes moved nor an error: a descriptor, for one.").or_null(),
        long("argument", "", "What else was asked: flags of an open, descriptor of a close, whence of a seek, the old descriptor of a duplicate.")
            .or_null(),
        text("error", "The error's name, such as ENOENT; null if the call did not fail.").or_null(),
    ]
}

/// Its name for ever, and what it stands under.
fn identity() -> Vec<Column> {
    vec![
        long("pid", "", "Number of the process; 0 where it is not known."),
        long("process", "", "The process's name for ever: a hash of host, start and number."),
        long("lane", "", "Number of the thread's lane in its process."),
        long(
            "sequence",
            "",
            "Place in the lane: with process and lane, the event's name for ever.",
        )
        .spread(),
        long("thread", "", "The kernel's number of the thread.").or_null(),
        long("parent", "", "Number of the enclosing call in the same lane.").or_null(),
        long("number", "", "The call's own number, if it encloses others.").or_null(),
        text("site", "Who called: object and offset, as addr2line takes them.").or_null(),
    ]
}

/// What calls on data sets have besides.
fn selection() -> Vec<Column> {
    vec![
        text("data_set", "Name of the data set or variable.").or_null(),
        text("selection", "Shape of what was selected in it.").or_null(),
        long("dimensions", "", "Its dimensions.").or_null(),
        long("points", "", "Elements that were selected.").or_null(),
        text("source", "Where the row is from: stream, segment, dxt or connector."),
    ]
}

pub(super) fn table() -> Table {
    Table {
        name: "events",
        doc: "A recorded call.",
        columns: join([who(), call(), place(), about(), identity(), selection()]),
        sort: &["job", "rank", "t", "t_ns"],
        time: "t",
        once: &["process", "lane", "sequence"],
        is_rollup: false,
    }
}
