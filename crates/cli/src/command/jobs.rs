//! `netra jobs`: the jobs of the store, the newest first.

use std::process::ExitCode;

use anyhow::Result;
use netra_show::door::question;
use netra_show::moment;

use crate::asking::{self, Asking, Format, print};
use crate::{surroundings, word};

const EXAMPLES: &str = "\
Examples:
  netra jobs                                 the newest
  netra jobs --program lammps --from 2026-11-01
  netra jobs --from -7d                      of the last week
  netra jobs --user alice --format csv -n 10000 > jobs.csv";

/// Which jobs, and how they are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Of this user, by name or number
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Whose executable's path contains this
    #[arg(long, alias = "exe", value_name = "TEXT")]
    program: Option<String>,
    /// That began then or later: a date, a time, both (2026-11-16T08:00:00+01:00, without a zone in yours),
    /// yesterday, or so long ago (-7d)
    #[arg(long, alias = "since", value_name = "TIME", value_parser = since, allow_hyphen_values = true)]
    from: Option<String>,
    /// That began before
    #[arg(long, alias = "until", value_name = "TIME", value_parser = since, allow_hyphen_values = true)]
    to: Option<String>,
    /// At most so many
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = 50,
        allow_negative_numbers = true
    )]
    limit: usize,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Args { user, program, from, to, limit, asking } = args;
    let asker = asking.open()?;
    let question = question::Jobs { user, exe: program, since: from, until: to, limit };
    let sql = match asking.format {
        Format::Table => question.short_sql(),
        _ => question.sql(),
    };
    let narrowed = question != question::Jobs { limit, ..question::Jobs::default() };
    let shown = print(&asker, &asking, &sql)?;
    let nothing =
        if narrowed { "no job matches what was asked for" } else { "the store has no job yet" };
    Ok(asking::found(shown, nothing))
}

/// A point in time, seen from now.
fn since(word: &str) -> Result<String, String> {
    let now = (surroundings::now().0 * 1e9) as i64;
    let found = word::moment(word)?.of_now(now);
    let found = found.ok_or_else(|| "a date, a time, or so long ago, such as -7d".to_owned())?;
    Ok(moment::utc(found))
}
