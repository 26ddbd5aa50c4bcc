//! The program `netra`: shows what an application does to its files.
//!
//! A command is one file in `command/` and one row in [`command::Command`]. Here is only the wiring: words
//! become a command, errors become a sentence and an exit code.
#![forbid(unsafe_code)]

#[cfg(feature = "store")]
mod asking;
mod collect;
mod command;
mod doctor;
#[cfg(feature = "store")]
mod door;
mod draft;
mod folder;
mod input;
#[cfg(feature = "store")]
mod keeping;
mod last;
mod launch;
mod open;
mod outcome;
mod output;
mod sentence;
mod setting;
mod settings;
#[cfg(feature = "store")]
mod stored;
mod surroundings;
mod terminal;
mod unwritten;
mod version;
mod word;

use std::io;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use command::Netra;

/// Wrong usage, as `sysexits.h` has it; clap's own 2 means something else here.
const USAGE: u8 = 64;
/// Nothing could be read.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    netra_stream::heap::share();
    let (program, wrong) = setting::defaults(command::program());
    for complaint in wrong {
        // What is wrong in a file keeps nothing from being done.
        eprintln!("netra: {complaint}");
    }
    let parsed = program.try_get_matches().and_then(|words| Netra::from_arg_matches(&words));
    let netra = match parsed {
        Ok(netra) => netra,
        Err(complaint) => return usage(&complaint),
    };
    match netra.command.run() {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("netra: {}", sentence::of(&error));
            ExitCode::from(if error.is::<outcome::Usage>() { USAGE } else { FAILED })
        }
    }
}

/// Help and version go to standard output and are no mistake; everything else is.
fn usage(complaint: &clap::Error) -> ExitCode {
    // Whoever closed the stream does not want to read it.
    drop(complaint.print());
    if complaint.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}

/// Whether the reader of our output has gone, as `head` does: that ends the work, quietly.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}
