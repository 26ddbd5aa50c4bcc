//! `netra daemon`: reads segments or takes connections, and passes everything on.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Settings};
use netra_stream::told::Told;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

const EXAMPLES: &str = "\
One file says what the daemon does: [node] reads the segments of processes, [[listen]] takes what
other daemons send, [[upstream]] sends on, [[sink]] keeps, [postgres] lets clients ask its store.
SIGTERM ends it when everything is passed on or kept; SIGHUP makes it read its file again.

Examples:
  netra daemon /etc/netra/node.toml
  netra daemon --check /etc/netra/hub.toml";

/// Which file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Say what is wrong with the file, and do nothing else
    #[arg(long)]
    check: bool,
    /// What the daemon does
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Something was left to be passed on; the next start goes on with it.
const LEFT: u8 = 1;
const FAILED: u8 = 2;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Some(mut settings) = read(args) else { return Ok(ExitCode::from(FAILED)) };
    if args.check {
        eprintln!("netra: {} is in order", args.file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("watching for signals")?;
    let (told, clock) = (Arc::new(Told::default()), Arc::new(Clock::default()));
    #[cfg(feature = "store")]
    let stores = crate::keeping::Stores::new().context("starting the runtime")?;
    loop {
        #[cfg(feature = "store")]
        let daemon = Daemon::start_with(
            settings.clone(),
            Arc::clone(&told),
            Arc::clone(&clock),
            &|store, told| stores.sink(store, told),
        )?;
        #[cfg(not(feature = "store"))]
        let daemon = Daemon::start(settings.clone(), Arc::clone(&told), Arc::clone(&clock))?;
        #[cfg(feature = "store")]
        let _door = stores.door(&settings)?;
        daemon.ready();
        let signal = signals.forever().next().unwrap_or(SIGTERM);
        if signal != SIGHUP {
            let drained = daemon.finish();
            return Ok(if drained { ExitCode::SUCCESS } else { ExitCode::from(LEFT) });
        }
        // A file that is wrong changes nothing.
        if let Some(newer) = read(args) {
            settings = newer;
        }
        daemon.pause();
    }
}

/// Reads the file, or says everything that is wrong with it.
fn read(args: &Args) -> Option<Settings> {
    match Settings::read(&args.file) {
        Ok(settings) => Some(settings),
        Err(problems) => {
            for problem in problems {
                eprintln!("netra: {}: {problem}", args.file.display());
            }
            None
        }
    }
}
