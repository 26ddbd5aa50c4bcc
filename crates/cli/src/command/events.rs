//! `netra events`: what a job did, call by call.

use std::process::ExitCode;

use anyhow::Result;
use netra_event::{Kind, Layer};
use netra_show::door::question;
use netra_show::moment::{self, Moment};

use crate::asking::{self, Asker, Asking, print};
use crate::word::{self, Ranks};

const EXAMPLES: &str = "\
Times are seconds since the job began (2.5, 2min), times of day (10:00), dates or both with a zone or in
yours (2026-11-16T08:00:00Z), or before the job's end (-30s).

Examples:
  netra events 4711 --rank 3                          what one rank did
  netra events 4711 --from 10 --to 12.5 --kind write  writes in two and a half seconds of it
  netra events slurm.4711.0 --file ckpt --format csv > ckpt.csv";

/// Which events, and how they are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The job: its key, its number, or the beginning of its key
    job: String,
    /// Of these ranks, such as 0,4-7
    #[arg(long, value_name = "RANKS", value_delimiter = ',', value_parser = word::ranks, allow_hyphen_values = true)]
    rank: Vec<Ranks>,
    /// Of this layer: POSIX, STDIO, MPI-IO, HDF5, PnetCDF, process
    #[arg(long, value_name = "LAYER", value_delimiter = ',', value_parser = word::layer)]
    layer: Vec<Layer>,
    /// That do this: open, close, read, write, seek, stat, sync, …
    #[arg(long, alias = "op", value_name = "KIND", value_delimiter = ',', value_parser = word::kind)]
    kind: Vec<Kind>,
    /// On files whose path contains this
    #[arg(long, value_name = "TEXT")]
    file: Option<String>,
    /// That began then or later
    #[arg(long, value_name = "TIME", value_parser = word::moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// That began before
    #[arg(long, value_name = "TIME", value_parser = word::moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    limit: Option<usize>,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Args { job, rank, layer, kind, file, from, to, limit, asking } = args;
    let asker = asking.open()?;
    let point = |moment: Option<Moment>| moment.map(|moment| point(&asker, &job, moment));
    let (from, to) = (point(from).transpose()?, point(to).transpose()?);
    let question = question::Events {
        ranks: word::all_ranks(&rank),
        layers: layer.into_iter().map(Layer::name).collect(),
        kinds: kind.into_iter().map(Kind::name).collect(),
        job,
        file,
        from,
        to,
        limit,
    };
    let shown = print(&asker, &asking, &question.sql())?;
    Ok(asking::found(shown, "no event matches what was asked for"))
}

/// A point in time, for which the job's own may be needed.
fn point(asker: &Asker, job: &str, moment: Moment) -> Result<String> {
    let (began, ended) = match moment {
        Moment::At(at) => (at, at),
        _ => asker.runtime.block_on(question::Events::span(&asker.session, job))?,
    };
    Ok(moment::utc(moment.of_job(began, ended)))
}
