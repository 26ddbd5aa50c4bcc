//! `netra export`: the events of logs and segments, as other programs read them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
#[cfg(feature = "store")]
use anyhow::bail;
use clap::ValueEnum;
use netra_darshan::{Damage, Log, Missing, Reason};
use netra_event::segment::MAGIC;
use netra_event::{Kind, Layer, Nanos};
use netra_show::moment::Moment;
use netra_stream::job::Job;
use netra_stream::render::{self, Chosen, Form, Only, Render, Told};
use netra_stream::source::Piece;

use super::reading::complain;
#[cfg(feature = "store")]
use crate::draft::Draft;
use crate::input;
use crate::outcome::Outcome;
use crate::output;
use crate::surroundings;
use crate::unwritten::is_job;
#[cfg(not(feature = "store"))]
use crate::unwritten::no_such_job;
use crate::word::{self, Ranks};

const EXAMPLES: &str = "\
Events come process after process, each in the order in which its calls ended. Messages and table
of the connector hold what the connector sends: open, read, write and close that succeeded.
Of Darshan's own logs the extended trace is written, where there is one: reads and writes, file by
file; it does not say which function was called, so read, write, MPI_File_read and MPI_File_write
stand for all of their kind.

Examples:
  netra export job.darshan --format connector-json
  netra export job.darshan --format connector-csv -o job.csv
  netra export job.darshan --format perfetto -o job.json     open it in ui.perfetto.dev
  netra export /tmp/netra-1000/* | jq .function
  netra export job.darshan --format csv --layer mpi-io --kind read,write --rank 0,4-7 --from 2.5 --to 4
  netra export job.darshan --from -10s                       the last ten seconds
  netra export 4711 --format darshan -o job.darshan          a stored job as a log again";

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// The Darshan-LDMS connector's JSON message, one a line
    ConnectorJson,
    /// The connector's table, columns as published
    ConnectorCsv,
    /// Every call with all its fields, one JSON object a line
    #[value(alias = "jsonl")]
    JsonLines,
    /// The same as one JSON array
    Json,
    /// The same as a table
    Csv,
    /// A trace for ui.perfetto.dev and Chrome's tracing page: ranks, threads, calls inside calls
    Perfetto,
    /// A log that Darshan's tools read, of one stored job
    #[cfg(feature = "store")]
    Darshan,
}

impl As {
    /// How calls are rendered; a log is no rendering.
    fn form(self) -> Option<Form> {
        Some(match self {
            As::ConnectorJson => Form::ConnectorJson,
            As::ConnectorCsv => Form::ConnectorCsv,
            As::JsonLines => Form::JsonLines,
            As::Json => Form::Json,
            As::Csv => Form::Csv,
            As::Perfetto => Form::Perfetto,
            #[cfg(feature = "store")]
            As::Darshan => return None,
        })
    }
}

/// What, how, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs, segments of processes, folders of logs, quoted patterns, or stored jobs
    #[arg(required = true, value_name = "LOG|SEGMENT|JOB")]
    inputs: Vec<String>,
    /// How to write the events
    #[arg(
        id = "form",
        long = "format",
        alias = "as",
        value_enum,
        value_name = "FORMAT",
        default_value = "json-lines"
    )]
    form: As,
    #[command(flatten)]
    short: Short,
    /// Where to write them; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    wanted: Wanted,
    #[cfg(feature = "store")]
    #[command(flatten)]
    which: crate::stored::Which,
}

/// The forms that are asked for most, as words of their own.
#[derive(Debug, clap::Args)]
struct Short {
    /// The same as --format perfetto
    #[arg(long, hide = true, conflicts_with_all = ["form", "csv", "json"])]
    perfetto: bool,
    /// The same as --format csv
    #[arg(long, hide = true, conflicts_with_all = ["form", "json"])]
    csv: bool,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with = "form")]
    json: bool,
}

impl Short {
    fn form(&self) -> Option<As> {
        match self {
            Short { perfetto: true, .. } => Some(As::Perfetto),
            Short { csv: true, .. } => Some(As::Csv),
            Short { json: true, .. } => Some(As::Json),
            _ => None,
        }
    }
}

/// Some of the events. Lists may be given with commas or several times.
#[derive(Debug, clap::Args)]
struct Wanted {
    /// Only calls of this layer: POSIX, STDIO, MPI-IO, HDF5, PnetCDF, process
    #[arg(long, value_name = "LAYER", value_delimiter = ',', value_parser = word::layer)]
    layer: Vec<Layer>,
    /// Only calls of this kind: open, close, read, write, seek, stat, sync, meta …
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = word::kind)]
    kind: Vec<Kind>,
    /// Only calls on this file, or on objects inside it; * at the end stands for any rest
    #[arg(long, alias = "path", value_name = "PATH")]
    file: Vec<String>,
    /// Only calls of these ranks, such as 0,4-7
    #[arg(long, value_name = "RANKS", value_delimiter = ',', value_parser = word::ranks, allow_hyphen_values = true)]
    rank: Vec<Ranks>,
    /// Only calls that end no earlier: seconds after the job's start (2.5, 2min), a time (10:00), a date, or
    /// before its end (-10s)
    #[arg(long, value_name = "TIME", value_parser = word::moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only calls that begin no later
    #[arg(long, value_name = "TIME", value_parser = word::moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Only calls that failed
    #[arg(long)]
    failed: bool,
}

impl Wanted {
    /// What is wanted of a job that began and ended then.
    fn since(&self, (began, ended): Span) -> Only {
        let moment = |moment: Moment| {
            let whole = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
            Nanos(u64::try_from(moment.of_job(whole(began), whole(ended))).unwrap_or(0))
        };
        Only {
            layers: self.layer.clone(),
            kinds: self.kind.clone(),
            files: self.file.clone(),
            ranks: word::all_ranks(&self.rank),
            from: self.from.map(moment),
            to: self.to.map(moment),
            failed: self.failed,
        }
    }
}

/// What a file holds.
enum Found {
    /// What processes recorded: one's segment, or those that a log carries, and what the log lacks.
    Pieces(Vec<Piece>, Vec<Damage>),
    /// A log without any.
    Log(Box<Log>),
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let is_stored = |word: &&String| !Path::new(word).exists() && is_job(word);
    let (jobs, files): (Vec<&String>, Vec<&String>) = args.inputs.iter().partition(is_stored);
    let files: Vec<String> = files.into_iter().cloned().collect();
    let Some(form) = args.short.form().unwrap_or(args.form).form() else {
        return args.log(&jobs, &files);
    };
    let paths = input::expand(&files)?;
    let mut out = output::open(&args.output, &paths)?;
    let mut render = form.render();
    let mut outcome = Outcome::default();
    render.begin(&mut out)?;
    let mut sought = Sought::default();
    for job in jobs {
        outcome.read(args.stored(job, &mut *render, &mut out, &mut sought)?);
    }
    for path in &paths {
        match find(path) {
            Ok((found, span)) => {
                let only = args.wanted.since(span);
                let chosen = &mut Chosen::new(&only, &mut *render);
                let complete = match found {
                    Found::Pieces(pieces, missing) => {
                        complain(path, &missing);
                        let whole = one(path, pieces, chosen, &mut out);
                        whole.map(|whole| whole && missing.is_empty())
                    }
                    Found::Log(log) => foreign(path, &log, chosen, &mut out),
                };
                outcome.read(complete?);
                sought.add(chosen);
            }
            Err(error) => outcome.unreadable(path, &error),
        }
    }
    render.end(&mut out)?;
    out.finish()?;
    if let Some(says) = sought.in_vain() {
        eprintln!("netra: {says}");
        outcome.differs();
    }
    Ok(outcome)
}

#[cfg(feature = "store")]
impl Args {
    /// Renders the calls of a stored job; says whether there are any.
    fn stored(
        &self,
        job: &str,
        render: &mut dyn Render,
        out: &mut dyn Write,
        sought: &mut Sought,
    ) -> Result<bool> {
        let stored = self.which.open()?;
        let recall = stored.find(job)?;
        let head = stored.runtime.block_on(recall.head())?;
        let nanos = |at: i64| u64::try_from(at).unwrap_or(0);
        let only = self
            .wanted
            .since((nanos(head.start), nanos(head.end.unwrap_or(head.start).max(head.start))));
        let chosen = &mut Chosen::new(&only, render);
        let shown = stored.runtime.block_on(netra_store::export::calls(&recall, chosen, out))??;
        if shown.events == 0 {
            eprintln!("netra: job {}: its calls were not traced", recall.key());
        }
        sought.add(chosen);
        Ok(shown.events > 0)
    }

    /// Writes a stored job as a log.
    fn log(&self, jobs: &[&String], files: &[String]) -> Result<Outcome> {
        let (&[job], []) = (jobs, files) else {
            bail!("--format darshan writes one stored job; netra convert writes logs again");
        };
        let stored = self.which.open()?;
        let recall = stored.find(job)?;
        let draft = Draft::new(&self.output)?;
        stored.runtime.block_on(netra_store::export::log(&recall, draft.file()?))?;
        draft.publish()?;
        let mut outcome = Outcome::default();
        outcome.read(true);
        Ok(outcome)
    }
}

/// Without a store there are no stored jobs.
#[cfg(not(feature = "store"))]
#[expect(clippy::unused_self, reason = "with a store it says which")]
impl Args {
    fn stored(
        &self,
        job: &str,
        _: &mut dyn Render,
        _: &mut dyn Write,
        _: &mut Sought,
    ) -> Result<bool> {
        Err(no_such_job(job))
    }

    fn log(&self, _: &[&String], _: &[String]) -> Result<Outcome> {
        Ok(Outcome::default())
    }
}

/// Whether anything of all inputs is what was wanted.
#[derive(Default)]
struct Sought {
    wanted: Vec<i64>,
    narrowed: bool,
    kept: u64,
    ranks: BTreeSet<i64>,
}

impl Sought {
    fn add(&mut self, chosen: &mut Chosen<'_>) {
        self.wanted.clone_from(&chosen.only.ranks);
        self.narrowed |= *chosen.only != Only::default();
        self.kept += chosen.kept;
        self.ranks.append(&mut chosen.ranks);
    }

    /// Why nothing matches, in a sentence; nothing if something does.
    fn in_vain(&self) -> Option<String> {
        if self.kept > 0 || !self.narrowed {
            return None;
        }
        let absent = self.wanted.iter().find(|rank| !self.ranks.contains(rank));
        match (absent, self.ranks.first(), self.ranks.last()) {
            (Some(rank), Some(first), Some(last)) => {
                Some(format!("there is no rank {rank}; ranks are {first} to {last}"))
            }
            _ => Some("no call matches what was asked for".to_owned()),
        }
    }
}

/// When a job began and ended: nanoseconds since 1970.
type Span = (u64, u64);

/// What a file holds, and when its job was.
fn find(path: &Path) -> Result<(Found, Span)> {
    let mut begin = [0; MAGIC.len()];
    let is_segment =
        File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC;
    if is_segment {
        let piece = Piece::of_segment(path, None)?;
        let start = piece.start.0;
        let now = (surroundings::now().0 * 1e9) as u64;
        return Ok((Found::Pieces(vec![piece], Vec::new()), (start, now)));
    }
    let log = Log::open(path)?;
    let pieces = Piece::of_log(path)?;
    let start = render::start(&log);
    let ran = (log.job().end().0 - log.job().start().0).max(0.0);
    let span = (start, start.saturating_add((ran * 1e9) as u64));
    if pieces.is_empty() {
        return Ok((Found::Log(Box::new(log)), span));
    }
    // Events that are not there are counted while the others are written.
    let is_counted = |damage: &Damage| matches!(damage.reason, Reason::Events { .. });
    let missing = log.missing().into_iter().filter(|damage| !is_counted(damage)).collect();
    Ok((Found::Pieces(pieces, missing), span))
}

/// Renders the extended trace of a log that Darshan wrote; says what is missing, and whether nothing is.
fn foreign(
    path: &Path,
    log: &Log,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut missing = Missing::of(log);
    let told = render::traced(log, &mut missing, render, out)?;
    let missing = missing.all();
    complain(path, &missing);
    if told.events == 0 {
        eprintln!(
            "netra: {}: this log has no trace, neither by netra nor by Darshan (DXT)",
            path.display()
        );
    }
    Ok(told.events > 0 && missing.is_empty())
}

/// Renders the processes of one input; says what is missing, and whether nothing is.
fn one(
    path: &Path,
    pieces: Vec<Piece>,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut complete = true;
    let mut told = Told::default();
    for (piece, rank) in Job::new(pieces).numbered() {
        match piece.load() {
            Ok(segment) => told.add(render::segment(segment.view(), rank, render, out)?),
            Err(error) => {
                complete = false;
                eprintln!("netra: {}: process {}: {error}", path.display(), piece.pid);
            }
        }
    }
    if told.unknown > 0 {
        eprintln!(
            "netra: {}: {} of {} events are calls of functions that this netra does not know; they are named by number",
            path.display(),
            told.unknown,
            told.events,
        );
    }
    if told.missing > 0 {
        complete = false;
        eprintln!(
            "netra: {}: {} of {} events are missing; fields that add up earlier events may be too small",
            path.display(),
            told.missing,
            told.events.saturating_add(told.missing),
        );
    }
    Ok(complete)
}
