//! `netra top`: running jobs in the terminal.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use netra_show::live::{Doctor, Live, follow};
use netra_show::top;
use netra_stream::clock::Clock;
use netra_stream::stop::Stop;

use super::calling::Calling;
use crate::launch::page::{scratch, setup};
use crate::surroundings;

const EXAMPLES: &str = "\
Follows a daemon, as `netra serve` does, and shows its jobs: what they move, their ranks, files and
findings. Keys: q quits, up and down choose a job, p pauses.

Examples:
  netra top
  netra top --all --daemon tcp:hub1:4040 --munge";

/// Which daemon, and whose jobs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Everybody's jobs, as far as the daemon shows them
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    calling: Calling,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !std::io::stdout().is_terminal() {
        bail!("standard output is no terminal; netra serve has the same for programs");
    }
    let (daemon, caller) = (args.calling.address()?, args.calling.caller()?);
    let (live, clock) = (Arc::new(Live::default()), Arc::new(Clock::default()));
    let folder = std::env::temp_dir().join(format!("netra-{}", surroundings::uid()));
    let doctor = Doctor::new(Arc::clone(&live), Arc::clone(&clock), setup(None)?, scratch(&folder));
    let stop = Stop::new()?;
    let said = Mutex::new(String::new());
    // The terminal is taken: why the daemon is away stands on the screen, and is said once more when the terminal is free again.
    let word = || said.lock().unwrap_or_else(PoisonError::into_inner);
    let say = |gone: Option<&str>| word().replace_range(.., gone.unwrap_or_default());
    let uid = (!args.all).then(surroundings::uid);
    let shown = std::thread::scope(|scope| {
        scope.spawn(|| follow(&live, &daemon, &caller, &stop, &say));
        scope.spawn(|| doctor.run(&stop));
        let shown = top::run(&live, uid, &|| clock.now(), &|| word().clone());
        stop.set();
        shown
    });
    let said = said.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !said.is_empty() {
        eprintln!("netra: {said}");
    }
    shown.context("drawing")?;
    Ok(ExitCode::SUCCESS)
}
