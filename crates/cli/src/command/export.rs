//! `netra export`: the events of logs and segments, as other programs read them.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use netra_event::segment::MAGIC;
use netra_stream::job::Job;
use netra_stream::render::{self, Form, Render, Told};
use netra_stream::source::Piece;

use crate::input;
use crate::outcome::Outcome;
use crate::output;

const EXAMPLES: &str = "\
Events come process after process, each in the order in which its calls ended. Messages and table
of the connector hold what the connector sends: open, read, write and close that succeeded.

Examples:
  netra export job.darshan --as connector-json
  netra export job.darshan --as connector-csv -o job.csv
  netra export job.darshan --as perfetto -o job.json     open it in ui.perfetto.dev
  netra export /tmp/netra-1000/* --as json-lines | jq .function";

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum As {
    /// The Darshan-LDMS connector's JSON message, one a line
    ConnectorJson,
    /// The connector's table, columns as published
    ConnectorCsv,
    /// Every call with all its fields, one JSON object a line
    JsonLines,
    /// The same as one JSON array
    Json,
    /// The same as a table
    Csv,
    /// A trace for ui.perfetto.dev and Chrome's tracing page: ranks, threads, calls inside calls
    Perfetto,
}

impl From<As> for Form {
    fn from(chosen: As) -> Form {
        match chosen {
            As::ConnectorJson => Form::ConnectorJson,
            As::ConnectorCsv => Form::ConnectorCsv,
            As::JsonLines => Form::JsonLines,
            As::Json => Form::Json,
            As::Csv => Form::Csv,
            As::Perfetto => Form::Perfetto,
        }
    }
}

/// What, how, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs that netra wrote, segments of processes, folders of logs, or quoted patterns
    #[arg(required = true, value_name = "LOG|SEGMENT")]
    inputs: Vec<String>,
    /// How to write the events
    #[arg(long = "as", value_enum, value_name = "FORM", default_value = "json-lines")]
    form: As,
    /// Where to write them; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    const WRITING: &str = "writing the output";
    let paths = input::expand(&args.inputs)?;
    let mut out = output::open(&args.output)?;
    let mut render = Form::from(args.form).render();
    let mut outcome = Outcome::default();
    render.begin(&mut out).context(WRITING)?;
    for path in &paths {
        match pieces(path) {
            Ok(pieces) => {
                let complete = one(path, pieces, &mut *render, &mut out).context(WRITING)?;
                outcome.read(complete);
            }
            Err(error) => outcome.unreadable(path, &error),
        }
    }
    render.end(&mut out).context(WRITING)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).context(WRITING)?;
    Ok(outcome)
}

/// What a file holds: one process's segment, or those that a log carries.
fn pieces(path: &Path) -> Result<Vec<Piece>> {
    let mut begin = [0; MAGIC.len()];
    let is_segment =
        File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC;
    if is_segment {
        return Ok(vec![Piece::of_segment(path, None)?]);
    }
    Ok(Piece::of_log(path)?)
}

/// Renders the processes of one input; says what is missing, and whether nothing is.
fn one(
    path: &Path,
    pieces: Vec<Piece>,
    render: &mut dyn Render,
    out: &mut dyn Write,
) -> io::Result<bool> {
    if pieces.is_empty() {
        eprintln!("netra: {}: this log has no trace by netra; try netra dxt", path.display());
        return Ok(false);
    }
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
