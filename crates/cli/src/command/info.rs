//! `netra info`: a log on one screen.

use std::io::{self, Write as _};

use anyhow::Result;
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_show::info::{Info, csv_header};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::Outcome;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  netra info job.darshan
  netra info logs/2026                          every log below a folder
  netra info --format csv 'logs/*.darshan'      one row a log";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    reading::show(&args.reading, &mut Face { format: args.reading.format, first: true })
}

struct Face {
    format: Format,
    first: bool,
}

impl Show for Face {
    fn begin(&mut self, out: &mut Output, _: usize) -> io::Result<()> {
        if self.format == Format::Csv { csv_header(out) } else { Ok(()) }
    }

    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        let info = Info::gather(path, log);
        match self.format {
            Format::Text => {
                if !self.first {
                    out.write_all(b"\n\n")?;
                }
                info.text(out)?;
            }
            Format::Json => info.json(out)?,
            Format::Csv => info.csv(out)?,
        }
        self.first = false;
        Ok(info.missing)
    }
}
