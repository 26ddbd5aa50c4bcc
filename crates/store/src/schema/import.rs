//! `imports`: which logs and files were imported, each once however often it is offered.

use super::Table;
use super::column::{long, text, time};

pub(super) fn table() -> Table {
    Table {
        name: "imports",
        doc: "A log or file that was imported.",
        columns: vec![
            text("digest", "Hash of its bytes, by which it is known again."),
            text("path", "Where it was."),
            text("kind", "What it is: log, segment or connector."),
            text("job", "The job it is about; null if it holds several.").or_null(),
            long("uid", "", "Number of the job's user; null if it holds several.").or_null(),
            long("bytes", "bytes", "Its length."),
            time("t", "When it was imported."),
            text("missing", "What could not be read of it.").or_null(),
        ],
        sort: &["digest"],
        time: "t",
        once: &[],
        is_rollup: false,
    }
}
