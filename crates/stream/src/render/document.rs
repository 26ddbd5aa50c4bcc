//! Every call with netra's own names, as one JSON array.

use std::io::{self, Write};

use super::line::Lines;
use super::{Call, Render};

/// The lines, with commas between them.
#[derive(Debug, Default)]
pub(super) struct Document {
    lines: Lines,
    held: Vec<u8>,
    any: bool,
}

impl Render for Document {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[\n")
    }

    fn call(&mut self, out: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        self.held.clear();
        self.lines.call(&mut self.held, call)?;
        if std::mem::replace(&mut self.any, true) {
            out.write_all(b",\n")?;
        }
        out.write_all(self.held.strip_suffix(b"\n").unwrap_or(&self.held))?;
        Ok(true)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]\n")
    }
}
