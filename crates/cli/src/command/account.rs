//! What merging and converting say about the logs they made.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Result;
use netra_show::rewrite::{Rewrite, csv_header};

use super::reading::Format;
use crate::output::{self, Output};

/// Says what was made, one log after another.
pub(crate) struct Account {
    format: Format,
    out: Output,
    first: bool,
}

impl Account {
    /// About logs that go to `output`.
    pub(crate) fn new(format: Format, output: &Path) -> Result<Account> {
        Ok(Account { format, out: output::beside(output)?, first: true })
    }

    /// Says it at once: the next log may take long.
    pub(crate) fn say(&mut self, made: &Rewrite<'_>) -> Result<()> {
        Ok(self.write(made)?)
    }

    fn write(&mut self, made: &Rewrite<'_>) -> io::Result<()> {
        let first = std::mem::replace(&mut self.first, false);
        match self.format {
            Format::Text => made.text(&mut self.out)?,
            Format::Json => made.json(&mut self.out)?,
            Format::Csv => {
                if first {
                    csv_header(&mut self.out)?;
                }
                made.csv(&mut self.out)?;
            }
        }
        self.out.flush()
    }
}
