//! `netra compare`: two runs side by side, and whether a change helped.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use netra_analyse::{Job, Report, Setup, diagnose_with};
use netra_darshan::read::Log;
use netra_show::{compare, html, load};

use super::reading::{Told, complain};
use crate::folder;
use crate::outcome::Outcome;
use crate::output;
use crate::settings;
use crate::unwritten::is_job;
#[cfg(not(feature = "store"))]
use crate::unwritten::no_such_job;

const EXAMPLES: &str = "\
Examples:
  netra compare before.darshan after.darshan
  netra compare --format json before.darshan after.darshan
  netra compare 4711 4712                                       stored jobs
  netra compare --html runs.html before.darshan after.darshan
  netra compare --html runs.html run1.darshan run2.darshan run3.darshan";

/// Which two logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The log of the first run, or a stored job
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The log of the second run, or a stored job
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Further runs; only with --html
    #[arg(value_name = "MORE", requires = "html")]
    more: Vec<PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with = "format")]
    json: bool,
    /// Write one page for a browser with the runs side by side, which needs no network; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "format", "output"])]
    html: Option<PathBuf>,
    /// A chart for the page, beside /etc/netra/views and your own; may be given several times
    #[arg(long, value_name = "FILE", requires = "html")]
    view: Vec<PathBuf>,
    /// Where to write it; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    #[cfg(feature = "store")]
    #[command(flatten)]
    which: crate::stored::Which,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let setup = settings::read(None)?.setup();
    if let Some(path) = &args.html {
        page(args, &setup, path, &mut outcome)?;
        return Ok(outcome);
    }
    let (_, before) = args.read(&args.before, &setup, &mut outcome)?;
    let (_, after) = args.read(&args.after, &setup, &mut outcome)?;
    let (a, b) = (args.before.to_string_lossy(), args.after.to_string_lossy());
    let mut out = output::open(&args.output, &[&args.before, &args.after])?;
    let write = if args.json || args.format == Told::Json { compare::json } else { compare::text };
    write(&mut out, (&a, &b), &before, &after)?;
    out.finish()?;
    Ok(outcome)
}

/// Runs that fit beside each other on a page.
const MOST: usize = 8;

fn page(args: &Args, setup: &Setup, path: &Path, outcome: &mut Outcome) -> Result<()> {
    let logs: Vec<&PathBuf> = [&args.before, &args.after].into_iter().chain(&args.more).collect();
    if logs.len() > MOST {
        bail!("{} runs do not fit on one page; compare at most {MOST}", logs.len());
    }
    let mut out = output::open(path, &logs)?;
    let views = folder::views(&args.view)?;
    let runs: Vec<(Job, Report)> =
        logs.into_iter().map(|log| args.read(log, setup, outcome)).collect::<Result<_>>()?;
    let runs: Vec<(&Job, &Report)> = runs.iter().map(|(job, report)| (job, report)).collect();
    html::comparison(&mut out, &runs, &views)?;
    out.finish()
}

impl Args {
    fn read(&self, path: &Path, setup: &Setup, outcome: &mut Outcome) -> Result<(Job, Report)> {
        let job = match path.to_str() {
            Some(word) if !path.exists() && is_job(word) => self.stored(word, outcome)?,
            _ => {
                let unreadable = |error: netra_darshan::Error| {
                    anyhow::Error::msg(crate::sentence::about(path, &error.into()))
                };
                let log = Log::open(path).map_err(unreadable)?;
                let (job, missing) = load::job(&path.to_string_lossy(), &log);
                complain(path, &missing);
                outcome.read(missing.is_empty());
                job
            }
        };
        let report = diagnose_with(&job, setup);
        Ok((job, report))
    }

    /// A job that is stored.
    #[cfg(feature = "store")]
    fn stored(&self, word: &str, outcome: &mut Outcome) -> Result<Job> {
        let job = self.which.open()?.job(word)?;
        outcome.read(crate::stored::is_complete(&job));
        Ok(job)
    }

    /// Without a store there are no stored jobs.
    #[cfg(not(feature = "store"))]
    #[expect(clippy::unused_self, reason = "with a store it says which")]
    fn stored(&self, word: &str, _: &mut Outcome) -> Result<Job> {
        Err(no_such_job(word))
    }
}
