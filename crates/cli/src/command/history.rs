//! `netra history`: many runs of a program, how much they vary and which were unusual.

use std::io;
use std::path::Path;

use anyhow::Result;
use netra_analyse::history::{Past, histories};
use netra_analyse::{Job, diagnose_with};
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_show::report::Settings;
use netra_show::{history, load};

use super::reading::{self, Format, Reading, Show};
use crate::input;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::settings;
use crate::unwritten::is_job;
#[cfg(not(feature = "store"))]
use crate::unwritten::no_such_job;

const EXAMPLES: &str = "\
Runs are compared with runs of the same program on as many processes.

Examples:
  netra history ~/.local/share/netra/logs            every program of yours
  netra history '2026/11/*/*_wave_*.darshan'         one program, a month
  netra history --format csv logs > runs.csv         a row a run
  netra history slurm. --program wave                stored jobs, by the begin of their names";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    program: Option<String>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    which: crate::stored::Which,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let is_stored = |word: &&String| !Path::new(word).exists() && is_job(word);
    let (words, logs): (Vec<&String>, Vec<&String>) = args.reading.logs.iter().partition(is_stored);
    let logs: Vec<String> = logs.into_iter().cloned().collect();
    let mut face = Face {
        format: args.reading.format,
        program: args.program.clone(),
        settings: settings::read(None)?,
        runs: Vec::new(),
    };
    let mut outcome = Outcome::default();
    for word in words {
        args.stored(word, &mut face, &mut outcome)?;
    }
    outcome.add(reading::show_all(&input::expand(&logs)?, &args.reading, &mut face)?);
    Ok(outcome)
}

impl Args {
    /// The stored jobs that a word fits.
    #[cfg(feature = "store")]
    fn stored(&self, word: &str, face: &mut Face, outcome: &mut Outcome) -> Result<()> {
        for job in self.which.open()?.jobs(word)? {
            outcome.read(crate::stored::is_said_complete(&job));
            face.run(&job.source, &job);
        }
        Ok(())
    }

    /// Without a store there are no stored jobs.
    #[cfg(not(feature = "store"))]
    #[expect(clippy::unused_self, reason = "with a store it says which")]
    fn stored(&self, word: &str, _: &mut Face, _: &mut Outcome) -> Result<()> {
        Err(no_such_job(word))
    }
}

struct Face {
    format: Format,
    program: Option<String>,
    settings: Settings,
    runs: Vec<Past>,
}

impl Face {
    fn run(&mut self, source: &str, job: &Job) {
        let report = diagnose_with(job, &self.settings.setup());
        let hour = job.start.and_then(history::local_hour);
        let past = Past::of(source, job.start, hour, &report);
        if self.program.as_ref().is_none_or(|wanted| past.program.contains(wanted.as_str())) {
            self.runs.push(past);
        }
    }
}

impl Show for Face {
    fn begin(&mut self, _: &mut Output, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn log(&mut self, _: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        let (job, missing) = load::job(path, log);
        self.run(path, &job);
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
