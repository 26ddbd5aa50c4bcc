//! `netra diff`: the counters that differ between two logs.

use std::path::PathBuf;

use anyhow::Result;
use netra_darshan::diff::{Difference, diff};
use netra_event::Module;
use netra_show::difference::Differences;

use super::reading::{self, Format};
use crate::open::Opener;
use crate::outcome::Outcome;
use crate::output;

const EXAMPLES: &str = "\
Records belong together by module, file and rank. The largest relative difference comes first.

Examples:
  netra diff before.darshan after.darshan
  netra diff --no-times before.darshan after.darshan      did both runs do the same?
  netra diff --format csv before.darshan after.darshan -o differences.csv";

/// Which two logs, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The first log
    a: PathBuf,
    /// The second log
    b: PathBuf,
    /// Leave times out, and what depends on them: traces, heat maps, fastest and slowest
    #[arg(long)]
    no_times: bool,
    /// How many differences to show as text
    #[arg(
        short = 'n',
        long,
        default_value_t = 40,
        value_name = "N",
        allow_negative_numbers = true
    )]
    limit: usize,
    /// How to write the result
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Where to write it; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let paths = [&args.a, &args.b];
    let opener = Opener::new(&paths);
    let mut outcome = Outcome::default();
    let mut logs = Vec::new();
    for path in paths {
        match opener.open(path) {
            Ok(log) => logs.push(log),
            Err(error) => outcome.unreadable(path, &error.into()),
        }
    }
    // With one log there is nothing to compare: nothing could be read.
    let [a, b] = logs.as_slice() else { return Ok(outcome) };
    let mut found = Vec::new();
    let missing = diff(a, b, &mut |one| {
        if !args.no_times || !depends_on_time(&one) {
            found.push(one);
        }
    });
    opener.clear();
    for (path, missing) in paths.into_iter().zip(&missing) {
        reading::complain(path, missing);
        outcome.read(missing.is_empty());
    }
    let names = paths.map(|path| path.to_string_lossy());
    let differences = Differences::new([&names[0], &names[1]], [a, b], found);
    if !differences.is_empty() {
        outcome.differs();
    }
    write(args, &differences)?;
    Ok(outcome)
}

fn write(args: &Args, differences: &Differences<'_>) -> Result<()> {
    let mut out = output::open(&args.output, &[&args.a, &args.b])?;
    match args.format {
        Format::Text => differences.text(&mut out, args.limit)?,
        Format::Json => differences.json(&mut out)?,
        Format::Csv => differences.csv(&mut out)?,
    }
    out.finish()
}

/// Two runs of the same program never take the same time.
fn depends_on_time(what: &Difference) -> bool {
    let (key, name) = match what {
        Difference::Value { key, name, .. } => (key, name.as_str()),
        Difference::OnlyInA(key) | Difference::OnlyInB(key) => (key, ""),
    };
    matches!(key.module, Module::DxtPosix | Module::DxtMpiio | Module::Heatmap)
        || ["_F_", "FASTEST_RANK", "SLOWEST_RANK", "_TIME_SIZE", "_TIME"]
            .iter()
            .any(|mark| name.contains(mark))
}
