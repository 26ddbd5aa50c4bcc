//! `netra compare`: two runs side by side, and whether a change helped.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use netra_analyse::{Report, Setup, diagnose_with};
use netra_darshan::read::Log;
use netra_show::{compare, load};

use super::reading::complain;
use crate::outcome::Outcome;
use crate::output;
use crate::settings;

const EXAMPLES: &str = "\
Examples:
  netra compare before.darshan after.darshan
  netra compare --json before.darshan after.darshan";

/// Which two logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The log of the first run
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The log of the second run
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Where to write it; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let setup = settings::read(None)?.setup();
    let before = read(&args.before, &setup, &mut outcome)?;
    let after = read(&args.after, &setup, &mut outcome)?;
    let (a, b) = (args.before.to_string_lossy(), args.after.to_string_lossy());
    let mut out = output::open(&args.output)?;
    let write = if args.json { compare::json } else { compare::text };
    write(&mut out, (&a, &b), &before, &after).context("writing the output")?;
    out.into_inner().map_err(io::IntoInnerError::into_error).context("writing the output")?;
    Ok(outcome)
}

fn read(path: &Path, setup: &Setup, outcome: &mut Outcome) -> Result<Report> {
    let log = Log::open(path)?;
    let (job, missing) = load::job(&path.to_string_lossy(), &log);
    complain(path, &missing);
    outcome.read(missing.is_empty());
    Ok(diagnose_with(&job, setup))
}
