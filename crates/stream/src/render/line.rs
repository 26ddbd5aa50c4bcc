//! Every call as one JSON object with netra's own names: nothing is left out, failed calls and those
//! on no file included. `docs/format/event-lines.md` lists the fields.

use std::io::{self, Write};

use netra_event::{Kind, Layer, NO_OFFSET};

use super::json::Line;
use super::{Call, Render};

/// Lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Line,
}

impl Render for Lines {
    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        self.line.begin();
        who(&mut self.line, call);
        what(&mut self.line, call);
        on_which(&mut self.line, call);
        arguments(&mut self.line, call);
        around(&mut self.line, call);
        out.write_all(self.line.end())?;
        Ok(true)
    }
}

fn who(line: &mut Line, call: &Call<'_>) {
    line.text("job", call.about.job.as_bytes());
    line.text("host", call.about.host.as_bytes());
    line.number("pid", call.about.pid);
    if let Some(rank) = call.about.rank {
        line.number("rank", rank.0);
    }
    line.number("thread", call.thread);
    line.number("lane", call.lane);
    line.number("index", call.index);
}

fn what(line: &mut Line, call: &Call<'_>) {
    line.number("start_ns", call.start.0);
    line.number("took_ns", call.duration.0);
    match call.function() {
        Some(function) => {
            line.text("layer", function.layer().name().as_bytes());
            line.text("function", function.name().as_bytes());
            line.text("kind", function.kind().name().as_bytes());
        }
        // A newer netra wrote it.
        None => {
            if let Some(layer) = Layer::of_code(call.event.code) {
                line.text("layer", layer.name().as_bytes());
            }
            line.text("function", format!("#{}", call.event.code).as_bytes());
            line.number("code", call.event.code);
        }
    }
}

fn on_which(line: &mut Line, call: &Call<'_>) {
    let Some(file) = call.file else { return };
    line.text("file", file.name);
    line.id("record_id", file.id);
    if let Some((id, name)) = file.within {
        line.text("within", name);
        line.id("within_id", id);
    }
}

/// What length and offset mean depends on the kind of call (`docs/format/event.md`).
fn arguments(line: &mut Line, call: &Call<'_>) {
    let event = &call.event;
    match call.function().map(|function| function.kind()) {
        Some(Kind::Read | Kind::Write) => {
            offset(line, "offset_bytes", event.offset);
            line.number("asked_bytes", event.length);
            if !event.failed {
                line.number("moved_bytes", call.moved());
            }
        }
        Some(Kind::Open) => {
            offset(line, "flags", event.offset);
            if !event.failed {
                line.number("descriptor", event.length);
            }
        }
        Some(Kind::Close) => line.number("descriptor", event.length),
        Some(Kind::Seek) => {
            offset(line, "position_bytes", event.offset);
            line.number("whence", event.length);
        }
        Some(Kind::Duplicate) => {
            offset(line, "descriptor", event.offset);
            line.number("new_descriptor", event.length);
        }
        _ => {
            offset(line, "offset_bytes", event.offset);
            line.number("length_bytes", event.length);
        }
    }
    if event.failed {
        line.number("errno", event.result.saturating_neg());
    }
}

fn offset(line: &mut Line, key: &str, value: i64) {
    if value != NO_OFFSET {
        line.number(key, value);
    }
}

fn around(line: &mut Line, call: &Call<'_>) {
    if let Some(selection) = call.selections().next() {
        line.number("data_sets", call.selections().count());
        line.text("selection", selection.shape.slug().as_bytes());
        line.number("dimensions", selection.dimensions);
        line.number("elements", selection.points);
        line.mark("collective", selection.collective);
    }
    if call.event.number != 0 {
        line.number("number", call.event.number);
    }
    if call.event.parent != 0 {
        line.number("parent", call.event.parent);
    }
    if let Some(site) = call.site {
        line.text("site", site.as_bytes());
    }
    line.mark("after_loss", call.after_loss);
}
