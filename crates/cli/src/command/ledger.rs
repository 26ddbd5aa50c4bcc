//! `netra ledger`: whether anything of a job is missing.

use std::io::Write as _;
use std::path::PathBuf;
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
        Some(word) => vec![named(word, Certificate::jobs(&state))?],
        None => Certificate::jobs(&state),
    };
    let mut certificates = Vec::new();
    for job in &jobs {
        certificates.extend(Certificate::of(&state, job));
    }
    let mut out = output::standard()?;
    if args.json || args.format == Told::Json {
        ledger::write_json(&mut out, &certificates)?;
    } else {
        for certificate in &certificates {
            ledger::text(&mut out, certificate)?;
        }
    }
    out.flush()?;
    let complete = certificates.iter().all(Certificate::is_complete);
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(MISSING) })
}

/// The job that a word means, as everywhere: its key, the beginning of its key, or the scheduler's number.
fn named(word: &str, known: Vec<String>) -> Result<String> {
    let by_number = |key: &str| key.split('.').any(|part| part == word);
    let begins = |key: &str| key.starts_with(word);
    let of = |fits: &dyn Fn(&str) -> bool| -> Vec<String> {
        known.iter().filter(|key| fits(key)).cloned().collect()
    };
    let mut found = of(&|key| key == word);
    if found.is_empty() && word.parse::<u64>().is_ok() {
        found = of(&by_number);
    }
    if found.is_empty() {
        found = of(&begins);
    }
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!("no job {word} is known here; known are: {}", known.join(", ")),
        several => bail!("{word} is several jobs: {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_job_is_found_by_key_number_or_beginning() {
        let known = || ["slurm.77.0", "slurm.78.0", "slurm.78.1"].map(str::to_owned).to_vec();
        for word in ["77", "slurm.77", "slurm.77.0"] {
            assert_eq!(named(word, known()).unwrap(), "slurm.77.0");
        }
        let several = named("78", known()).unwrap_err().to_string();
        assert_eq!(several, "78 is several jobs: slurm.78.0, slurm.78.1");
        assert!(named("7", known()).unwrap_err().to_string().starts_with("no job 7 is known"));
    }
}
