//! The connector's messages as a table, with the published header.

use std::io::{self, Write};

use super::json::seconds;
use super::quote::quote;
use super::{Call, Message, Render};

/// The columns, in the published order.
const HEADER: &str = "#module,uid,ProducerName,switches,file,rank,flushes,record_id,exe,max_byte,\
type,job_id,op,cnt,seg:off,seg:pt_sel,seg:dur,seg:len,seg:ndims,seg:reg_hslab,seg:irreg_hslab,\
seg:data_set,seg:npoints,seg:timestamp\n";

/// Rows. There is no column for a message that is only partial: whoever writes the table says it.
#[derive(Debug, Default)]
pub(super) struct Table {
    row: Vec<u8>,
}

impl Render for Table {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(HEADER.as_bytes())
    }

    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        let mut any = false;
        for message in Message::of(call) {
            self.row.clear();
            self.message(&message);
            out.write_all(&self.row)?;
            any = true;
        }
        Ok(any)
    }
}

impl Table {
    fn message(&mut self, message: &Message<'_>) {
        let [points, irregular, regular, dimensions, elements] = message.selection();
        self.text(message.module.as_bytes());
        self.number(message.uid);
        self.text(message.producer);
        self.number(message.switches);
        self.text(message.file);
        self.number(message.rank);
        self.number(message.flushes);
        self.number(message.record_id);
        self.text(message.exe);
        self.number(message.max_byte);
        self.text(message.kind.name().as_bytes());
        self.number(message.job_id);
        self.text(message.op.name().as_bytes());
        self.number(message.cnt);
        self.number(message.off);
        self.number(points);
        seconds(&mut self.row, message.dur);
        self.row.push(b',');
        self.number(message.len);
        self.number(dimensions);
        self.number(regular);
        self.number(irregular);
        self.text(message.data_set);
        self.number(elements);
        seconds(&mut self.row, message.timestamp);
        self.row.push(b'\n');
    }

    fn number(&mut self, value: impl itoa::Integer) {
        self.row.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self.row.push(b',');
    }

    fn text(&mut self, text: &[u8]) {
        quote(&mut self.row, text);
        self.row.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, Table};

    #[test]
    fn the_header_is_the_published_one() {
        let columns: Vec<&str> = HEADER.trim_end().split(',').collect();
        assert_eq!(columns.len(), 24);
        assert_eq!((columns[0], columns[13], columns[23]), ("#module", "cnt", "seg:timestamp"));
    }

    #[test]
    fn odd_names_stay_one_field() {
        let mut table = Table::default();
        for name in ["plain", "a,b", "say \"x\"", "two\nlines"] {
            table.text(name.as_bytes());
        }
        let row = String::from_utf8(table.row).unwrap();
        assert_eq!(row, "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",");
    }
}
