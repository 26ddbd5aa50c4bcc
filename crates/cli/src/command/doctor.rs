//! `netra doctor`: what would not work here, and why.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use netra_show::Json;

use super::reading::Told;
use crate::doctor::{self, Finding, Level};
use crate::output;

const EXAMPLES: &str = "\
Exit codes: 0 nothing stands in the way; 1 something does.

Examples:
  netra doctor
  netra doctor ./app
  netra doctor -- mpirun -n 4 ./app             every program on the line that netra run would take";

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How to say it
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
    /// A command that is to be recorded, with its arguments
    #[arg(trailing_var_arg = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let findings = doctor::examine(&args.command);
    let mut out = output::standard()?;
    match args.format {
        Told::Text => text(&mut out, &findings)?,
        Told::Json => json(&mut out, &findings)?,
    }
    out.flush()?;
    let worst = findings.iter().map(|finding| finding.level).max();
    Ok(if worst == Some(Level::Bad) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text(out: &mut impl Write, findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        let word = match finding.level {
            Level::Good => "ok  ",
            Level::Note => "note",
            Level::Bad => "BAD ",
        };
        writeln!(out, "{word}  {}", finding.says)?;
    }
    Ok(())
}

fn json(out: &mut impl Write, findings: &[Finding]) -> io::Result<()> {
    let mut json = Json::new(out);
    json.open('[')?;
    for finding in findings {
        json.line()?;
        json.open('{')?;
        json.key("level")?;
        json.text(match finding.level {
            Level::Good => "good",
            Level::Note => "note",
            Level::Bad => "bad",
        })?;
        json.key("says")?;
        json.text(&finding.says)?;
        json.close('}')?;
    }
    json.close(']')?;
    json.finish()
}
