//! `metrics`: what nodes and servers measured of themselves.

use super::Table;
use super::column::{double, flag, long, short, text, time};

pub(super) fn table() -> Table {
    Table {
        name: "metrics",
        doc: "A number that a node or server has measured of itself.",
        columns: vec![
            text("node", "The host it speaks of."),
            text("name", "Sampler, thing and unit, such as disk.read_bytes."),
            text("target", "Disk, device or mount it is a number of; empty for the host."),
            time("t", "When it was measured."),
            short("t_ns", "ns", "What the microseconds of t leave out, 0 to 999."),
            double("value", "", "The number, in the unit of its name."),
            long("count", "", "The same to the last digit, for numbers that only rise.")
                .or_null()
                .spread(),
            flag("rises", "Whether it only rises, so that differences mean something."),
            text("source", "Where it is from: sample, or message for published ones."),
        ],
        sort: &["node", "name", "target", "t"],
        time: "t",
        once: &["node", "name", "target", "t", "t_ns", "value", "source"],
        is_rollup: false,
    }
}
