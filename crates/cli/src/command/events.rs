//! `netra events`: what a job did, call by call.

use std::process::ExitCode;

use anyhow::Result;
use netra_show::door::question;

use crate::asking::{Asker, Asking, print};

const EXAMPLES: &str = "\
Times are seconds since the job began, or points in time such as 2026-11-16T08:00:00Z.

Examples:
  netra events 4711 --rank 3                          what one rank did
  netra events 4711 --from 10 --to 12.5 --op write    writes in two and a half seconds of it
  netra events slurm.4711.0 --file ckpt --format csv > ckpt.csv";

/// Which events, and how they are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The job: its key, its number, or the beginning of its key
    job: String,
    /// Of this rank; may be said several times
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    rank: Vec<i64>,
    /// Of this layer: posix, stdio, mpi-io, hdf5, pnetcdf
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    /// That do this: open, close, read, write, seek, stat, sync, …
    #[arg(long, value_name = "OP")]
    op: Option<String>,
    /// On files whose path contains this
    #[arg(long, value_name = "TEXT")]
    file: Option<String>,
    /// That began then or later
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// That began before
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Args { job, rank, layer, op, file, from, to, limit, asking } = args;
    let asker = asking.open()?;
    let from = from.map(|time| point(&asker, &job, time)).transpose()?;
    let to = to.map(|time| point(&asker, &job, time)).transpose()?;
    let question = question::Events { job, ranks: rank, layer, op, file, from, to, limit };
    print(&asker, &asking, &question.sql())?;
    Ok(ExitCode::SUCCESS)
}

/// Seconds since the job began become a point in time; anything else is one already.
fn point(asker: &Asker, job: &str, time: String) -> Result<String> {
    let Ok(seconds) = time.parse::<f64>() else { return Ok(time) };
    let began = asker.runtime.block_on(question::Events::began(&asker.session, job))?;
    Ok(question::after(began, seconds))
}
