//! `netra analyse`: an analysis module over the rows of the store.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use netra_show::door::question;
use netra_store::ask::analysis::{Listed, Parameter};

use crate::asking::{Asking, print};

const EXAMPLES: &str = "\
A module is a file NAME.py in NETRA_ANALYSIS (directories with colons between them), else in ~/.config/netra/analysis and
/etc/netra/analysis; some come with netra. It runs in a process of its own, with NETRA_PYTHON or python3, which needs pandas and
pyarrow. docs/use/analysis.md says how to write one.

Examples:
  netra analyse                                    those that there are
  netra analyse slow_ranks job=4711
  netra analyse bytes_over_time job=4711 by=rank step=10 --format csv
  netra sql \"SELECT rank FROM analyse('slow_ranks', 'job=4711') WHERE slow\"";

/// Which module, with which parameters, and how its table is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The module; without it, all are listed
    name: Option<String>,
    /// Its parameters, each name=value
    #[arg(value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    #[command(flatten)]
    asking: Asking,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let asker = args.asking.open()?;
    match &args.name {
        Some(name) => {
            print(&asker, &args.asking, &question::analyse(name, &args.parameters))?;
        }
        None => list(&asker.runtime.block_on(asker.ground.analyses().list()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A module a line, and its parameters below it.
fn list(all: &[Listed]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for module in all {
        match &module.declared {
            Ok(declared) => {
                let about = declared.about.lines().next().unwrap_or_default();
                writeln!(out, "{:<18} {about}", module.name)?;
                let parameters: Vec<String> = declared.parameters.iter().map(shown).collect();
                writeln!(out, "{:<18} {}", "", parameters.join("  "))?;
            }
            Err(error) => writeln!(out, "{:<18} {error}", module.name)?,
        }
    }
    Ok(())
}

/// A parameter with its type, or with the value that it has if nobody says another.
fn shown(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match &parameter.default {
        None => format!("{name}={}", parameter.of.name().to_uppercase()),
        Some(default) if default.is_null() => {
            format!("[{name}={}]", parameter.of.name().to_uppercase())
        }
        Some(default) => match default.as_str() {
            Some(text) => format!("[{name}={text}]"),
            None => format!("[{name}={default}]"),
        },
    }
}
