//! `netra parse`: every counter, in the lines of `darshan-parser`.

use std::io::{self, Write as _};

use anyhow::Result;
use netra_darshan::read::Log;
use netra_darshan::{Damage, text};
use netra_show::counters::{self, Choice};
use netra_show::{Lines, Only, zone};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::{Outcome, Usage};
use crate::output::Output;
use crate::word::{self, Modules, Ranks};

const EXAMPLES: &str = "\
Counter lines equal those of darshan-parser, byte for byte. Comment lines begin with #.

Examples:
  netra parse job.darshan
  netra parse --total --perf job.darshan
  netra parse --format csv 'logs/*.darshan' -o counters.csv
  netra parse job.darshan | grep POSIX_BYTES_WRITTEN
  netra parse job.darshan --layer posix --file='/scratch/out*' --rank 0-3,-1";

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
    /// How many files were read, written, or both, by one process or by several; with =PATH only the records of
    /// this file are shown instead, where * at the end stands for any rest
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    file: Vec<String>,
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
#[group(conflicts_with_all = ["total", "perf", "all"], multiple = true)]
struct Wanted {
    /// Only the records of this layer or module, such as posix, hdf5 or H5D
    #[arg(long, alias = "module", value_name = "LAYER", value_delimiter = ',', value_parser = word::in_a_log)]
    layer: Vec<Modules>,
    /// Only this counter; several with commas between them
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = word::counter)]
    counter: Vec<String>,
    /// The same as --file=PATH
    #[arg(long, hide = true, value_name = "PATH")]
    path: Vec<String>,
    /// Only the records of these ranks, such as 0,4-7; -1 are those of all ranks together
    #[arg(long, value_name = "RANKS", value_delimiter = ',', value_parser = word::ranks, allow_hyphen_values = true)]
    rank: Vec<Ranks>,
}

impl Args {
    fn choice(&self) -> Choice {
        let Args { base, total, perf, all, .. } = *self;
        let file = self.file.iter().any(String::is_empty);
        let base = base || all || !(total || file || perf);
        Choice { base, total: total || all, file: file || all, perf: perf || all }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let Wanted { layer, counter, path, rank } = &args.wanted;
    let files = args.file.iter().filter(|file| !file.is_empty());
    let modules = layer.iter().flat_map(|layer| &layer.0);
    let only = Only {
        modules: modules.cloned().collect(),
        ranks: word::all_ranks(rank),
        files: files.chain(path).cloned().collect(),
        counters: counter.clone(),
    };
    let sums = args.total || args.perf || args.all || args.file.iter().any(String::is_empty);
    if sums && !only.is_all() {
        let says = "--total, --file, --perf and --all are of whole logs; leave --layer, --counter, --file=PATH and --rank out";
        return Err(Usage(says.to_owned()).into());
    }
    let (format, choice) = (args.reading.format, args.choice());
    let face = &mut Face { format, many: false, choice, only, unmatched: false };
    let mut outcome = reading::show(&args.reading, face)?;
    if face.unmatched {
        outcome.differs();
    }
    Ok(outcome)
}

struct Face {
    format: Format,
    /// With several logs, each is named in a comment line before it.
    many: bool,
    choice: Choice,
    only: Only,
    /// Whether a log has nothing of what was wanted.
    unmatched: bool,
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
        if let Some(says) = self.only.misses(log) {
            self.unmatched = true;
            eprintln!("netra: {path}: {says}");
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
