//! `messages`: what anybody has published under a tag.

use super::Table;
use super::column::{long, raw, short, text, time};

pub(super) fn table() -> Table {
    Table {
        name: "messages",
        doc: "A message that somebody has published under a tag.",
        columns: vec![
            text("tag", "The tag."),
            time("t", "When it was published."),
            short("t_ns", "ns", "What the microseconds of t leave out, 0 to 999."),
            text("form", "What it is: bytes, text or json."),
            text("text", "The message, if it is text.").or_null(),
            raw("bytes", "The message, if it is no text.").or_null(),
            long("uid", "", "Number of the user who published it; null where it is not known.")
                .or_null(),
            long("publisher", "", "The publishing process's or daemon's name for ever."),
            long("sequence", "", "Its number there.").spread(),
        ],
        sort: &["tag", "t", "t_ns"],
        time: "t",
        once: &["publisher", "sequence", "tag", "t", "t_ns"],
        is_rollup: false,
    }
}
