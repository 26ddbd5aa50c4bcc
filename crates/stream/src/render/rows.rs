//! Every call as a row of a table, failed ones and those on no file included. What does not apply is
//! empty; the columns are those of the lines (`docs/format/event-lines.md`).

use std::io::{self, Write};

use netra_event::{Kind, Layer, NO_OFFSET};

use super::quote::quote;
use super::{Call, Render};

const HEADER: &str = "job,host,pid,rank,thread,lane,index,start_ns,took_ns,layer,function,file,\
record_id,offset_bytes,length_bytes,moved_bytes,errno,number,parent,site,after_loss\n";

/// Rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    row: Vec<u8>,
}

impl Render for Rows {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(HEADER.as_bytes())
    }

    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        self.row.clear();
        let (about, event) = (call.about, &call.event);
        self.text(about.job.as_bytes());
        self.text(about.host.as_bytes());
        self.number(Some(about.pid));
        self.number(about.rank.map(|rank| rank.0));
        self.number(Some(call.thread));
        self.number(Some(call.lane));
        self.number(Some(call.index));
        self.number(Some(call.start.0));
        self.number(Some(call.duration.0));
        let function = call.function();
        let layer = Layer::of_code(event.code).map_or("", Layer::name);
        self.text(layer.as_bytes());
        match function {
            Some(function) => self.text(function.name().as_bytes()),
            // A newer netra wrote it.
            None => self.text(format!("#{}", event.code).as_bytes()),
        }
        self.text(call.file.map_or(&b""[..], |file| file.name));
        self.number(call.file.map(|file| file.id));
        let data = function.is_some_and(|one| matches!(one.kind(), Kind::Read | Kind::Write));
        self.number(Some(event.offset).filter(|offset| *offset != NO_OFFSET));
        self.number(Some(event.length));
        self.number((data && !event.failed).then(|| call.moved()));
        self.number(event.failed.then(|| event.result.saturating_neg()));
        self.number(Some(event.number).filter(|number| *number != 0));
        self.number(Some(event.parent).filter(|parent| *parent != 0));
        self.text(call.site.map_or(&b""[..], str::as_bytes));
        self.row.extend_from_slice(if call.after_loss { b"1\n" } else { b"0\n" });
        out.write_all(&self.row)?;
        Ok(true)
    }
}

impl Rows {
    fn number(&mut self, value: Option<impl itoa::Integer>) {
        if let Some(value) = value {
            self.row.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }
        self.row.push(b',');
    }

    fn text(&mut self, text: &[u8]) {
        quote(&mut self.row, text);
        self.row.push(b',');
    }
}
