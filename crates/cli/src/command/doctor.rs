//! `netra doctor`: what would not work here, and why.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::doctor::{self, Level};
use crate::output;

const EXAMPLES: &str = "\
Exit codes: 0 nothing stands in the way; 1 something does.

Examples:
  netra doctor
  netra doctor ./app";

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A command that is to be recorded
    command: Option<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let findings = doctor::examine(args.command.as_deref());
    let mut out = output::open(Path::new("-"))?;
    for finding in &findings {
        let word = match finding.level {
            Level::Good => "ok  ",
            Level::Note => "note",
            Level::Bad => "BAD ",
        };
        writeln!(out, "{word}  {}", finding.says)?;
    }
    out.flush()?;
    let worst = findings.iter().map(|finding| finding.level).max();
    Ok(if worst == Some(Level::Bad) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
