//! `netra history`: many runs of a program, how much they vary and which were unusual.

use std::io;

use anyhow::Result;
use netra_analyse::diagnose_with;
use netra_analyse::history::{Past, histories};
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_show::report::Settings;
use netra_show::{history, load};

use super::reading::{self, Format, Reading, Show};
use crate::outcome::Outcome;
use crate::output::Output;
use crate::settings;

const EXAMPLES: &str = "\
Runs are compared with runs of the same program on as many processes.

Examples:
  netra history ~/.local/share/netra/logs            every program of yours
  netra history '2026/11/*/*_wave_*.darshan'         one program, a month
  netra history --format csv logs > runs.csv         a row a run";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    program: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut face = Face {
        format: args.reading.format,
        program: args.program.clone(),
        settings: settings::read(None)?,
        runs: Vec::new(),
    };
    reading::show(&args.reading, &mut face)
}

struct Face {
    format: Format,
    program: Option<String>,
    settings: Settings,
    runs: Vec<Past>,
}

impl Show for Face {
    fn begin(&mut self, _: &mut Output, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn log(&mut self, _: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        let (job, missing) = load::job(path, log);
        let report = diagnose_with(&job, &self.settings.setup());
        let hour = job.start.and_then(history::local_hour);
        let past = Past::of(path, job.start, hour, &report);
        if self.program.as_ref().is_none_or(|wanted| past.program.contains(wanted.as_str())) {
            self.runs.push(past);
        }
        Ok(missing)
    }

    fn end(&mut self, out: &mut Output) -> io::Result<()> {
        let all = histories(std::mem::take(&mut self.runs), &self.settings.limits);
        match self.format {
            Format::Text => history::page(out, &all),
            Format::Json => history::json(out, &all),
            Format::Csv => history::rows(out, &all),
        }
    }
}
