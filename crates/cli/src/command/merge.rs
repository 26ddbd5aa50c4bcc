//! `netra merge`: the logs of several processes become one.

use std::collections::BTreeSet;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use netra_analyse::program;
use netra_darshan::Log;
use netra_darshan::convert::Anonymise;
use netra_darshan::merge::{Options, merge};
use netra_show::rewrite::{Inputs, Rewrite};

use super::account::Account;
use super::reading::{self, Compress, Format};
use crate::draft::Draft;
use crate::input;
use crate::open::Opener;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
The job is that of the first log, from the earliest start to the latest end.

Examples:
  netra merge -o job.darshan 'logs/job-*.darshan'
  netra merge --shared-redux -o job.darshan logs/
  netra merge -o - a.darshan b.darshan | ssh archive 'cat > job.darshan'";

/// Which logs, and what they become.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Logs, folders of logs, or quoted patterns
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The new log; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Make one record of what every process has
    #[arg(long)]
    shared_redux: bool,
    /// When the job ended, where no log knows it: seconds since 1970
    #[arg(long, value_name = "SECONDS")]
    job_end_time: Option<i64>,
    /// Forget which thread made a call: PyDarshan 3.5.0 does not read traces that know
    #[arg(long)]
    drop_threads: bool,
    /// How to compress the new log
    #[arg(long, value_enum, default_value = "zlib", value_name = "METHOD")]
    compress: Compress,
    /// How to say what was written
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let paths = input::expand(&args.logs)?;
    let mut outcome = Outcome::default();
    let (mut logs, mut read, mut inputs) = (Vec::new(), Vec::new(), Inputs::default());
    let opener = Opener::new(&paths);
    for path in &paths {
        match opener.open(path) {
            Ok(log) => {
                inputs.add(&path.to_string_lossy(), &log);
                logs.push(log);
                read.push(path);
            }
            Err(error) => {
                inputs.unreadable(&path.to_string_lossy());
                outcome.unreadable(path, &error.into());
            }
        }
    }
    if logs.is_empty() {
        return Ok(outcome);
    }
    if let Some(says) = unlike(&logs) {
        eprintln!("netra: {says}");
    }
    let compression = args.compress.into();
    let options = Options {
        compression,
        shared: args.shared_redux,
        end_sec: args.job_end_time,
        drop_threads: args.drop_threads,
        ..Options::default()
    };
    let draft = Draft::new(&args.output)?;
    let out = BufWriter::with_capacity(1 << 20, draft.file()?);
    let (_, merged) = merge(logs, options, out).context("merging")?;
    let log = draft.log()?;
    draft.publish()?;
    opener.clear();
    for (place, path) in read.iter().enumerate() {
        let of_log = merged.damage.iter().filter(|(at, _)| *at == place);
        let missing: Vec<_> = of_log.map(|(_, damage)| damage.clone()).collect();
        reading::complain(path, &missing);
        outcome.read(missing.is_empty());
    }
    Account::new(args.format, &args.output)?.say(&Rewrite {
        output: &args.output.to_string_lossy(),
        inputs: &inputs,
        log: &log,
        records: merged.records,
        hidden: Anonymise::default(),
        section_left_out: false,
        missing: &merged.damage,
    })?;
    Ok(outcome)
}

/// That the logs are of several jobs, which together are none that ever ran.
fn unlike(logs: &[Log]) -> Option<String> {
    let jobs: BTreeSet<i64> = logs.iter().map(|log| log.job().numbers.jobid).collect();
    let programs: BTreeSet<String> = logs
        .iter()
        .map(|log| program(&String::from_utf8_lossy(&log.job().exe)).to_owned())
        .collect();
    let few = |names: Vec<String>| match names.as_slice() {
        [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", names.len() - 3),
        few => few.join(", "),
    };
    let mut says = Vec::new();
    if jobs.len() > 1 {
        says.push(format!(
            "of {} jobs ({})",
            jobs.len(),
            few(jobs.iter().map(ToString::to_string).collect())
        ));
    }
    if programs.len() > 1 {
        says.push(format!(
            "of {} programs ({})",
            programs.len(),
            few(programs.into_iter().collect())
        ));
    }
    (!says.is_empty())
        .then(|| format!("these logs are {}; they become one log", says.join(" and ")))
}
