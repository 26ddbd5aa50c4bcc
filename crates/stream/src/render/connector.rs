//! The connector's JSON message: the published fields in their order, and those that the current
//! connector has added (`schema`, `start`, `total`), so that readers of either find theirs.

use std::io::{self, Write};

use super::json::Line;
use super::{Call, Message, Render};

/// The fields of [`Message::selection`].
const SELECTION: [&str; 5] = ["pt_sel", "irreg_hslab", "reg_hslab", "ndims", "npoints"];

/// Messages, one a line.
#[derive(Debug, Default)]
pub(super) struct Json {
    line: Line,
}

impl Render for Json {
    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        let mut any = false;
        for message in Message::of(call) {
            out.write_all(self.message(&message))?;
            any = true;
        }
        Ok(any)
    }
}

impl Json {
    fn message(&mut self, message: &Message<'_>) -> &[u8] {
        let line = &mut self.line;
        line.begin();
        line.text("schema", message.schema);
        line.number("uid", message.uid);
        line.text("exe", message.exe);
        line.number("job_id", message.job_id);
        line.number("rank", message.rank);
        line.text("ProducerName", message.producer);
        line.text("file", message.file);
        line.number("record_id", message.record_id);
        line.text("module", message.module.as_bytes());
        line.text("type", message.kind.name().as_bytes());
        line.number("max_byte", message.max_byte);
        line.number("switches", message.switches);
        line.number("flushes", message.flushes);
        line.number("cnt", message.cnt);
        line.text("op", message.op.name().as_bytes());
        line.mark("partial", message.partial);
        line.open("seg");
        line.text("data_set", message.data_set);
        for (key, value) in SELECTION.into_iter().zip(message.selection()) {
            line.number(key, value);
        }
        line.number("off", message.off);
        line.number("len", message.len);
        line.seconds("start", message.start);
        line.seconds("dur", message.dur);
        line.seconds("total", message.total);
        line.seconds("timestamp", message.timestamp);
        line.close();
        line.end()
    }
}
