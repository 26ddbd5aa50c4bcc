//! `ledger`: the account of every lane of every process that ended: what it produced, what was sent, what was lost and why.

use netra_event::Loss;

use super::Table;
use super::column::{Column, flag, long, text, time};
use super::who::{about, join, who};

pub(super) fn table() -> Table {
    let own = vec![
        time("t", "When the account was made."),
        long("process", "", "The process's name for ever."),
        long("lane", "", "Number of the thread's lane."),
        flag("final", "Whether the process is over and everything of it was read."),
        long("calls", "", "Calls that the library counted."),
        long("produced", "", "Events that were written into the lane."),
        long("sent", "", "Events that its node has read and sent; as many are in events."),
        long("dropped", "", "Events that were lost, for any reason."),
        text(
            "calls_of",
            "Calls by function, function=count with commas, where the source tells. Of a process that came over the stream the row of its first lane has those of all.",
        )
        .or_null(),
    ];
    let reasons = Loss::ALL.iter().map(|loss| -> Column {
        long(&format!("dropped_{}", loss.slug()), "", &format!("Events lost because {loss}."))
    });
    Table {
        name: "ledger",
        doc: "The account of one lane of one process.",
        columns: join([who(), own, reasons.collect(), about()]),
        sort: &["job", "rank", "lane"],
        time: "t",
        once: &["process", "lane"],
        is_rollup: false,
    }
}
