//! `netra parse`: every counter, in the lines of `darshan-parser`.

use std::io::{self, Write as _};

use anyhow::Result;
use netra_darshan::read::Log;
use netra_darshan::{Damage, text};
use netra_show::counters::{self, Choice};
use netra_show::{Lines, Only, zone};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::Outcome;
use crate::output::Output;

const EXAMPLES: &str = "\
Counter lines equal those of darshan-parser, byte for byte. Comment lines begin with #.

Examples:
  netra parse job.darshan
  netra parse --total --perf job.darshan
  netra parse --format csv 'logs/*.darshan' -o counters.csv
  netra parse job.darshan | grep POSIX_BYTES_WRITTEN
  netra parse job.darshan --module POSIX --path '/scratch/out*' --rank 3 --rank -1";

/// Which logs, which numbers, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Every counter of every record (this is what is shown when nothing else is asked for)
    #[arg(long)]
    base: bool,
    /// The counters of all files together
    #[arg(long)]
    total: bool,
    /// How many files were read, written, or both, by one process or by several
    #[arg(long)]
    file: bool,
    /// Time of the slowest process, and the rate that follows from it
    #[arg(long)]
    perf: bool,
    /// All of these
    #[arg(long)]
    all: bool,
    /// For scripts that were written for darshan-parser: what is there is always shown
    #[arg(long, hide = true)]
    show_incomplete: bool,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    reading: Reading,
}

/// Some of the counters. Each option may be given several times.
#[derive(Debug, clap::Args)]
#[group(conflicts_with_all = ["total", "file", "perf", "all"], multiple = true)]
struct Wanted {
    /// Only the records of this module
    #[arg(long, value_name = "NAME")]
    module: Vec<String>,
    /// Only this counter; several with commas between them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    counter: Vec<String>,
    /// Only the records of this file; * at the end stands for any rest
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Only the records of this rank; -1 are those of all ranks together
    #[arg(long, value_name = "RANK", allow_negative_numbers = true)]
    rank: Vec<i64>,
}

impl Args {
    fn choice(&self) -> Choice {
        let Args { base, total, file, perf, all, .. } = *self;
        let base = base || all || !(total || file || perf);
        Choice { base, total: total || all, file: file || all, perf: perf || all }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let Wanted { module, counter, path, rank } = &args.wanted;
    let only = Only {
        modules: module.clone(),
        ranks: rank.clone(),
        files: path.clone(),
        counters: counter.clone(),
    };
    let face = &mut Face { format: args.reading.format, many: false, choice: args.choice(), only };
    reading::show(&args.reading, face)
}

struct Face {
    format: Format,
    /// With several logs, each is named in a comment line before it.
    many: bool,
    choice: Choice,
    only: Only,
}

impl Show for Face {
    fn begin(&mut self, out: &mut Output, logs: usize) -> io::Result<()> {
        self.many = logs > 1;
        if self.format == Format::Csv { counters::csv_header(out) } else { Ok(()) }
    }

    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        if self.many && self.format == Format::Text {
            writeln!(out, "# log: {path}\n")?;
        }
        match self.format {
            Format::Text => {
                let Choice { base, total, file, perf } = self.choice;
                let zone: text::Zone<'_> = &zone;
                let options = text::Options { base, total, file, perf, zone };
                if self.only.is_all() {
                    return text::parse(log, &options, out);
                }
                text::parse(log, &options, &mut Lines::new(&self.only, out))
            }
            Format::Json => counters::json(out, path, log, self.choice, &self.only),
            Format::Csv => counters::csv(out, path, log, self.choice, &self.only),
        }
    }
}
