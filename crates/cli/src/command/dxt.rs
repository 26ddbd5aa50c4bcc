//! `netra dxt`: every segment of the extended trace, in the lines of `darshan-dxt-parser`.

use std::io::{self, Write as _};

use anyhow::Result;
use netra_darshan::read::Log;
use netra_darshan::{Damage, text};
use netra_show::{segments, zone};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::Outcome;
use crate::output::Output;

const EXAMPLES: &str = "\
Segment lines equal those of darshan-dxt-parser, byte for byte. Times are seconds since the job's
start.

Examples:
  netra dxt job.darshan
  netra dxt --format csv job.darshan -o segments.csv";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// For scripts that were written for darshan-dxt-parser: what is there is always shown
    #[arg(long, hide = true)]
    show_incomplete: bool,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    reading::show(&args.reading, &mut Face { format: args.reading.format, many: false })
}

struct Face {
    format: Format,
    /// With several logs, each is named in a comment line before it.
    many: bool,
}

impl Show for Face {
    fn begin(&mut self, out: &mut Output, logs: usize) -> io::Result<()> {
        self.many = logs > 1;
        if self.format == Format::Csv { segments::csv_header(out) } else { Ok(()) }
    }

    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        if self.many && self.format == Format::Text {
            writeln!(out, "# log: {path}\n")?;
        }
        match self.format {
            Format::Text => text::traces(log, &zone, out),
            Format::Json => segments::json(out, path, log),
            Format::Csv => segments::csv(out, path, log),
        }
    }
}
