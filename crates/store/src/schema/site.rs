//! `sites`: where calls come from, a row for each frame of a call site's stack.

use super::Table;
use super::column::{long, text, time};
use super::who::{join, who};

pub(super) fn table() -> Table {
    let own = vec![
        time("t", "When the job's recording began."),
        long("process", "", "The process's name for ever."),
        text("site", "The call site, as events name it."),
        long("depth", "", "Place of the frame in the stack; 0 is the call itself."),
        text("object", "Path of the executable or library; null where nobody knows it.").or_null(),
        text("build_id", "Its build id, in hexadecimal digits.").or_null(),
        long("address", "", "The return address within it, in its own numbering.").spread(),
        long("uid", "", "Number of the user."),
        text("user", "Name of the user, or their number."),
    ];
    Table {
        name: "sites",
        doc: "A frame of the stack of a call site.",
        columns: join([who(), own]),
        sort: &["job", "rank", "site", "depth"],
        time: "t",
        once: &["process", "site", "depth", "address"],
        is_rollup: false,
    }
}
