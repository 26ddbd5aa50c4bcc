//! `heatmap`: bytes over time as the library counted them, whether events were dropped or not. A row a bin that is not empty.

use super::Table;
use super::column::{long, short, text, time};
use super::who::{about, join, who};

pub(super) fn table() -> Table {
    let own = vec![
        text("module", "The layer: POSIX, STDIO or MPI-IO."),
        time("t", "When the bin begins."),
        short("t_ns", "ns", "What the microseconds of t leave out, 0 to 999."),
        long("bin", "", "Number of the bin, from 0."),
        long("bins", "", "Bins that the record has; those without a row are empty."),
        long("width", "ns", "How long a bin is."),
        long("bytes_read", "bytes", "What was read in it.").spread(),
        long("bytes_written", "bytes", "What was written in it.").spread(),
        long("process", "", "The process's name for ever; null for imported records.").or_null(),
    ];
    Table {
        name: "heatmap",
        doc: "Bytes that one rank moved through one layer in one bin of time.",
        columns: join([who(), own, about()]),
        sort: &["job", "rank", "module", "t"],
        time: "t",
        once: &["process", "module", "bin"],
        is_rollup: false,
    }
}
