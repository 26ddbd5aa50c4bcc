//! `netra sql`: asks the store.

use std::process::ExitCode;

use anyhow::Result;

use crate::asking::{Asking, print, talk};

const EXAMPLES: &str = "\
Examples:
  netra sql \"SELECT job, exe, t FROM jobs ORDER BY t DESC LIMIT 10\"
  netra sql \"SELECT file, human_bytes(sum(posix_bytes_written)) FROM posix WHERE job = job('4711') GROUP BY file\"
  netra sql --format parquet -o events.parquet \"SELECT * FROM events WHERE job = job('4711')\"
  netra sql                                      questions one after the other; \\d shows the tables
  netra sql < questions.sql                      those of a file

docs/use/sql.md has the tables, the functions and more examples.";

/// What is asked, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The question; without it, questions are read from the terminal or standard input
    sql: Option<String>,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let asker = args.asking.open()?;
    match &args.sql {
        Some(sql) => {
            print(&asker, &args.asking, sql)?;
        }
        None => talk(&asker, args.asking)?,
    }
    Ok(ExitCode::SUCCESS)
}
