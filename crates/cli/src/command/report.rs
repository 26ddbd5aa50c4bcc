//! `netra report`: what is wrong, what it costs, what to change.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use netra_analyse::detail::Budget;
use netra_analyse::insight::RULES;
use netra_analyse::{Job, diagnose_and_draw, diagnose_with};
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_show::report::{self, Page, Settings};
use netra_show::view::Views;
use netra_show::{html, load};

use super::reading::{self, Format, Reading, Show};
use crate::folder;
use crate::outcome::{Outcome, Usage};
use crate::output::{self, Output};
use crate::unwritten::{Inputs, no_such_job};
use crate::{last, settings, surroundings, word};

const EXAMPLES: &str = "\
Examples:
  netra report                                  the last run
  netra report job.darshan                      one screen: is it I/O, where, why, what to change
  netra report --all job.darshan                with evidence, all advice and every check
  netra report --html job.html job.darshan      a page to explore, in one file
  netra report --format json job.darshan        everything, for machines
  netra report --together 'logs/job42_*'        processes without MPI as one job
  netra report /tmp/netra-1000                  jobs that still run, or were killed
  netra report slurm.4711.0                     the same, by the job's name
  netra report 4711                             a stored job, by its number or the begin of its name";

/// Which logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("logs", |logs| logs.required(false)
    .help("Logs, folders of logs, quoted patterns, segments or jobs [default: the last run]")))]
pub(crate) struct Args {
    #[command(flatten)]
    reading: Reading,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with_all = ["csv", "format"])]
    json: bool,
    /// The same as --format csv
    #[arg(long, hide = true, conflicts_with = "format")]
    csv: bool,
    /// Show every finding with its evidence and advice, and every check that passed; of many logs each, not a list
    #[arg(long)]
    all: bool,
    /// Write the report as one page for a browser, which needs no network; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "format", "output"])]
    html: Option<PathBuf>,
    /// A chart for the page, beside /etc/netra/views and your own; may be given several times
    #[arg(long, value_name = "FILE", requires = "html")]
    view: Vec<PathBuf>,
    /// Take the logs as the processes of one job
    #[arg(long)]
    together: bool,
    /// Do not ask this rule; may be given several times
    #[arg(long, value_name = "SLUG")]
    silence: Vec<String>,
    /// A file of thresholds and silenced rules, beside /etc/netra/report.toml and your own
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    which: crate::stored::Which,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    netra_stream::heap::widen();
    let mut settings = settings::read(args.thresholds.as_deref())?;
    if let Some(unknown) = args.silence.iter().find(|slug| !settings.has_rule(slug)) {
        let own = settings.rules.iter().map(|rule| rule.slug.as_str());
        let known: Vec<&str> = RULES.iter().map(|rule| rule.slug).chain(own).collect();
        return Err(Usage(word::unknown("rule", unknown, &known)).into());
    }
    settings.silenced.extend(args.silence.iter().cloned());
    let format = match args {
        Args { json: true, .. } => Format::Json,
        Args { csv: true, .. } => Format::Csv,
        _ => args.reading.format,
    };
    let views = match args.html {
        Some(_) => folder::views(&args.view)?,
        None => Views::default(),
    };
    let colour = output::is_standard(&args.reading.output)
        && io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let mut face = Face {
        format,
        page: Page { colour, all: args.all },
        settings,
        html: args.html.clone(),
        views,
        jobs: args.together.then(Vec::new),
        first: true,
        inputs: Inputs::find(&args.named()?)?,
        stored: Vec::new(),
        list: None,
        whole: true,
    };
    let mut outcome = Outcome::default();
    let words = std::mem::take(&mut face.inputs.jobs);
    args.stored(&words, &mut face, &mut outcome)?;
    let logs = face.inputs.logs.clone();
    outcome.add(reading::show_all(&logs, &args.reading, &mut face)?);
    Ok(outcome)
}

impl Args {
    /// What was named, or the last run.
    fn named(&self) -> Result<Vec<String>> {
        if !self.reading.logs.is_empty() {
            return Ok(self.reading.logs.clone());
        }
        match last::find() {
            Some(log) => Ok(vec![log.to_string_lossy().into_owned()]),
            None => bail!("there is no last run; netra run -- COMMAND makes one"),
        }
    }

    /// Loads jobs that are stored.
    #[cfg(feature = "store")]
    fn stored(&self, words: &[String], face: &mut Face, outcome: &mut Outcome) -> Result<()> {
        let Some(first) = words.first() else { return Ok(()) };
        let stored =
            self.which.open().map_err(|error| error.context(no_such_job(first).to_string()))?;
        for word in words {
            let mut job = stored.job(word)?;
            job.servers.clone_from(&face.settings.servers);
            outcome.read(crate::stored::is_complete(&job));
            face.stored.push(job);
        }
        Ok(())
    }

    /// Without a store there are no stored jobs.
    #[cfg(not(feature = "store"))]
    #[expect(clippy::unused_self, reason = "with a store it says which")]
    fn stored(&self, words: &[String], _: &mut Face, _: &mut Outcome) -> Result<()> {
        words.first().map_or(Ok(()), |word| Err(no_such_job(word)))
    }
}

struct Face {
    format: Format,
    page: Page,
    settings: Settings,
    /// The jobs so far, where they are to be taken together.
    jobs: Option<Vec<Job>>,
    first: bool,
    /// Jobs that were stored; they come behind the logs.
    stored: Vec<Job>,
    /// Where the page goes.
    html: Option<PathBuf>,
    inputs: Inputs,
    views: Views,
    /// A line each, where there are many.
    list: Option<report::List>,
    /// Whether anything is missing from the job that is shown.
    whole: bool,
}

impl Face {
    fn one(&mut self, out: &mut Output, job: &Job) -> io::Result<()> {
        if let Some(path) = &self.html {
            if !self.first {
                // A second job does not silently take the first one's place.
                let says = "--html shows one job: name one log, or take several as one job with --together";
                return Err(io::Error::other(says));
            }
            let found = diagnose_and_draw(job, &self.settings.setup(), Budget::default());
            self.first = false;
            let mut file = output::open(path, &self.inputs.logs).map_err(as_io)?;
            html::page(&mut file, job, &found, &self.views)?;
            return file.finish().map_err(as_io);
        }
        let found = diagnose_with(job, &self.settings.setup());
        if let Some(list) = &mut self.list {
            list.add(&job.source, &found, self.whole);
            return Ok(());
        }
        match self.format {
            Format::Text => {
                if !self.first {
                    out.write_all(b"\n\n")?;
                }
                report::text(out, &job.source, &found, self.page)?;
            }
            Format::Json => report::json(out, &job.source, &found, &self.settings.limits)?,
            Format::Csv => report::csv(out, &job.source, &found)?,
        }
        self.first = false;
        Ok(())
    }
}

impl Show for Face {
    fn begin(&mut self, out: &mut Output, logs: usize) -> io::Result<()> {
        let many = logs + self.stored.len() >= report::List::FROM;
        let is_text = self.format == Format::Text && self.html.is_none();
        if many && is_text && self.jobs.is_none() && !self.page.all {
            self.list = Some(report::List::default());
        }
        if self.format == Format::Csv { report::csv_header(out) } else { Ok(()) }
    }

    fn log(&mut self, out: &mut Output, path: &str, log: &Log) -> io::Result<Vec<Damage>> {
        let (mut job, missing) = load::job(&self.inputs.name(path), log);
        load::still_running(&mut job, self.inputs.running(path), surroundings::now());
        job.servers.clone_from(&self.settings.servers);
        self.whole = missing.is_empty();
        match &mut self.jobs {
            Some(jobs) => jobs.push(job),
            None => self.one(out, &job)?,
        }
        Ok(missing)
    }

    fn end(&mut self, out: &mut Output) -> io::Result<()> {
        for job in std::mem::take(&mut self.stored) {
            match &mut self.jobs {
                Some(jobs) => jobs.push(job),
                None => {
                    self.whole = job.partial.is_empty() && job.remarks.is_empty();
                    self.one(out, &job)?;
                }
            }
        }
        if let Some(list) = self.list.take() {
            list.text(out)?;
        }
        match self.jobs.take() {
            Some(jobs) if !jobs.is_empty() => {
                let job = load::one_job(jobs).map_err(io::Error::other)?;
                self.one(out, &job)
            }
            _ => Ok(()),
        }
    }
}

/// A reader that has gone stays one, so that the program ends quietly.
fn as_io(error: anyhow::Error) -> io::Error {
    error.downcast().unwrap_or_else(io::Error::other)
}
