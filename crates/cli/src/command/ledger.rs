//! `netra ledger`: whether anything of a job is missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use netra_show::ledger;
use netra_stream::daemon::last_state;
use netra_stream::ledger::Certificate;

use super::reading::Told;
use crate::output;

const EXAMPLES: &str = "\
Every event is produced, and then delivered, dropped for a reason, or in flight. A daemon keeps the
account in its state folder, and compares it with the calls that the processes counted themselves.

Examples:
  netra ledger --state /var/lib/netra/hub                all jobs that this daemon knows
  netra ledger --state /var/lib/netra/hub slurm.4711.0   one job
  netra ledger --state /var/lib/netra/hub --format json slurm.4711.0";

/// Which job, at which daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The daemon's state folder
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// How to write it
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with = "format")]
    json: bool,
    /// The job's key [default: all jobs]
    #[arg(value_name = "JOB")]
    job: Option<String>,
}

/// Something is missing, or still on its way.
const MISSING: u8 = 1;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let state = last_state(&args.state)
        .with_context(|| format!("reading the ledger in {}", args.state.display()))?;
    let jobs = match &args.job {
        Some(job) => vec![job.clone()],
        None => Certificate::jobs(&state),
    };
    let mut certificates = Vec::new();
    for job in &jobs {
        let found = Certificate::of(&state, job);
        if found.is_empty() {
            bail!(
                "no job {job} is known here; known are: {}",
                Certificate::jobs(&state).join(", ")
            );
        }
        certificates.extend(found);
    }
    let mut out = output::open(Path::new("-"))?;
    if args.json || args.format == Told::Json {
        ledger::write_json(&mut out, &certificates).context("writing the output")?;
    } else {
        for certificate in &certificates {
            ledger::text(&mut out, certificate).context("writing the output")?;
        }
    }
    out.flush().context("writing the output")?;
    let complete = certificates.iter().all(Certificate::is_complete);
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(MISSING) })
}
