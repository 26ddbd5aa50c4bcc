//! `netra info`: a log on one screen.

use std::io::{self, Write as _};

use anyhow::Result;
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_show::info::{Info, List, csv_header};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::Outcome;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  netra info job.darshan
  netra info logs/2026                          every log below a folder, a line each
  netra info --format csv 'logs/*.darshan'      one row a log";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Show each of many logs on a screen of its own: more than three are otherwise a list
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    reading::show(
        &args.reading,
        &mut Face { format: args.reading.format, first: true, all: args.all, list: None },
    )
}

struct Face {
    format: Format,
    first: bool,
    all: bool,
    list: Option<List>,
}

impl Show for Face {
    fn begin(&mut self, out: &mut Output, logs: usize) -> io::Result<()> {
        let is_list = self.format == Format::Text && !self.all && logs >= List::FROM;
        self.list = is_list.then(List::default);
        if self.format == Format::Csv { csv_header(out) } else { Ok(()) }
    }

    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        let info = Info::gather(path, log);
        if let Some(list) = &mut self.list {
            list.add(&info);
            return Ok(info.missing);
        }
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

    fn end(&mut self, out: &mut Output) -> io::Result<()> {
        self.list.take().map_or(Ok(()), |list| list.text(out))
    }
}
