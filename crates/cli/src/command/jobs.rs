//! `netra jobs`: the jobs of the store, the newest first.

use std::process::ExitCode;

use anyhow::Result;
use netra_show::door::question;

use crate::asking::{Asking, Format, print};

const EXAMPLES: &str = "\
Examples:
  netra jobs                                 the newest
  netra jobs --exe lammps --since 2026-11-01
  netra jobs --user alice --format csv -n 10000 > jobs.csv";

/// Which jobs, and how they are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Of this user, by name or number
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Whose executable's path contains this
    #[arg(long, value_name = "TEXT")]
    exe: Option<String>,
    /// That began then or later: a date or a time, such as 2026-11-16T08:00:00+01:00 (UTC without a zone)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// That began before
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Args { user, exe, since, until, limit, asking } = args;
    let asker = asking.open()?;
    let question = question::Jobs { user, exe, since, until, limit };
    let sql = match asking.format {
        Format::Table => question.short_sql(),
        _ => question.sql(),
    };
    print(&asker, &asking, &sql)?;
    Ok(ExitCode::SUCCESS)
}
