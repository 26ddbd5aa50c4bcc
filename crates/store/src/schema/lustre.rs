//! `lustre`: the layout of a file, a row for each component.

use netra_darshan::counter;

use super::Table;
use super::column::{Column, long, longs, text, time};
use super::who::{about, join, place, who};

pub(super) fn table() -> Table {
    let own = vec![
        time("t", "When the job's recording began."),
        long("process", "", "The process's name for ever; null for imported records.").or_null(),
        long("component", "", "Number of the component, from 0."),
        long("components", "", "Components of the file."),
    ];
    let numbers = counter::lustre::TABLE.int.iter().map(|name| -> Column {
        long(&name.to_ascii_lowercase(), "", &format!("Darshan's counter {name}.")).or_null()
    });
    let rest = vec![
        text("pool", "Pool of storage targets.").or_null(),
        longs(
            "osts",
            "Storage targets of the component, in the order of its stripes; −1 is unknown.",
        )
        .or_null(),
    ];
    Table {
        name: "lustre",
        doc: "A component of a file's layout on Lustre.",
        columns: join([who(), place(), own, about(), numbers.collect(), rest]),
        sort: &["job", "rank", "file_id", "component"],
        time: "t",
        once: &["process", "file_id", "component"],
        is_rollup: false,
    }
}
