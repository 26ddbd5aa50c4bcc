//! `netra import`: logs, segments and the connector's files go into the store, each once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use netra_event::Bytes;
use netra_show::Progress;
use netra_store::import::{self, Fate, Read, Source};

use crate::input;
use crate::outcome::Outcome;
use crate::stored::Which;

const EXAMPLES: &str = "\
What is offered twice is imported once, whatever it is called, so that an import that was stopped is
simply started again. What cannot be read is named with the reason and left out.

Examples:
  netra import job.darshan
  netra import /logs/2026                     every log, segment and table of the connector below it
  netra import '/logs/2026/11/*/*.darshan'
  netra import --store /data/site darshan.csv messages.json
  netra report 4711                           a job that was imported, by its number";

/// What, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs, segments of processes, the connector's CSV or JSON files, folders, or quoted patterns
    #[arg(required = true, value_name = "LOG|SEGMENT|FILE|DIR")]
    inputs: Vec<String>,
    #[command(flatten)]
    which: Which,
    /// Name every source, not only those with something to say
    #[arg(short, long)]
    verbose: bool,
    /// Say nothing unless something goes wrong
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

/// What became of all.
#[derive(Default)]
struct Sums {
    taken: u64,
    known: u64,
    refused: u64,
    rows: u64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let (sources, refused) = import::find(&paths(&args.inputs)?);
    let mut sums = Sums::default();
    for (path, why) in refused {
        sums.refused += 1;
        outcome.unreadable(&path, &anyhow::Error::msg(why));
    }
    if sources.is_empty() && sums.refused == 0 {
        anyhow::bail!("there is nothing to import: no log, no segment, no file of the connector");
    }
    let stored = args.which.create()?;
    let begun = Instant::now();
    let read = Arc::new(Read::default());
    let total = Bytes(sources.iter().map(Source::bytes).sum());
    let bar = Bar::start(total, Arc::clone(&read));
    let mut each = |source: &Source, fate: Fate| {
        bar.clear();
        sums.add(args, source, fate, &mut outcome);
    };
    let done = stored.runtime.block_on(import::import(&stored.store, sources, &read, &mut each));
    bar.clear();
    drop(bar);
    done?;
    if !args.quiet {
        eprintln!("netra: {}", sums.said(begun.elapsed(), &stored.store.place().to_string()));
    }
    Ok(outcome)
}

/// Patterns are expanded here; folders are looked through where sources are found.
fn paths(typed: &[String]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for word in typed {
        let path = PathBuf::from(word);
        if path.is_dir() {
            paths.push(path);
        } else {
            paths.extend(input::expand(std::slice::from_ref(word))?);
        }
    }
    Ok(paths)
}

impl Sums {
    fn add(&mut self, args: &Args, source: &Source, fate: Fate, outcome: &mut Outcome) {
        let name = source.name();
        match fate {
            Fate::Taken { jobs, rows, missing } => {
                self.taken += 1;
                self.rows += rows;
                outcome.read(missing.is_empty());
                if args.verbose {
                    eprintln!("netra: {name}: {rows} rows of job {}", jobs.join(", "));
                }
                for what in missing {
                    eprintln!("netra: {name}: {what}");
                }
            }
            Fate::Known { job } => {
                self.known += 1;
                outcome.read(true);
                if args.verbose {
                    let job = job.map_or(String::new(), |job| format!(": job {job}"));
                    eprintln!("netra: {name}: is in the store already{job}");
                }
            }
            Fate::Refused { why } => {
                self.refused += 1;
                outcome.unreadable(&source.path(), &anyhow::Error::msg(why));
            }
            _ => {}
        }
    }

    fn said(&self, took: Duration, place: &str) -> String {
        let Sums { taken, known, refused, rows } = self;
        let mut text =
            format!("{taken} imported into {place} ({rows} rows, {:.1} s)", took.as_secs_f64());
        if *known > 0 {
            text += &format!(", {known} known already");
        }
        if *refused > 0 {
            text += &format!(", {refused} left out");
        }
        text
    }
}

/// A progress bar that a thread of its own moves.
struct Bar {
    progress: Arc<std::sync::Mutex<Progress>>,
    stop: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Bar {
    fn start(total: Bytes, read: Arc<Read>) -> Bar {
        let progress = Arc::new(std::sync::Mutex::new(Progress::new(total)));
        let (stop, stopped) = std::sync::mpsc::channel();
        let drawn = Arc::clone(&progress);
        let thread = std::thread::spawn(move || {
            let mut before = 0;
            let pause = Duration::from_millis(100);
            while stopped.recv_timeout(pause) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let now = read.bytes();
                let mut progress = drawn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                progress.add(Bytes(now - before));
                before = now;
            }
        });
        Bar { progress, stop, thread: Some(thread) }
    }

    fn clear(&self) {
        let progress = self.progress.lock();
        progress.unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // The thread ends whether it hears of it or sees that nobody is left.
        self.stop.send(()).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
        self.clear();
    }
}
