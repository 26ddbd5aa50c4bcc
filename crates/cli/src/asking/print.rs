//! One question: its answer goes out as it comes, and whoever waits sees that something happens.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::StreamExt as _;
use netra_show::door;
use netra_store::ask::{Answer, Stopper};
use signal_hook::consts::SIGINT;

use super::{Asker, Asking};
use crate::output;

/// Whoever waits less need not be told.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at the clock and at Ctrl-C.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks, and writes the answer. Ctrl-C stops the question.
pub(crate) fn print(asker: &Asker, asking: &Asking, sql: &str) -> Result<u64> {
    let format = door::Format::from(asking.format);
    if format.is_binary() && output::is_standard(&asking.output) && std::io::stdout().is_terminal()
    {
        bail!("a terminal cannot show {:?}: say --output FILE, or pipe it", asking.format);
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let signal = signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))?;
    let done = asker.runtime.block_on(write(asker, asking, format, sql, &interrupted));
    signal_hook::low_level::unregister(signal);
    done
}

async fn write(
    asker: &Asker,
    asking: &Asking,
    format: door::Format,
    sql: &str,
    interrupted: &AtomicBool,
) -> Result<u64> {
    let mut wait = Wait::new(asker.session.stopper(), interrupted);
    let mut answer: Answer = wait.until(asker.session.ask(sql)).await?;
    // The file is made when there is something to put into it: a wrong question leaves the old one alone.
    let mut out = output::open::<&std::path::Path>(&asking.output, &[])?;
    let people = format == door::Format::Table;
    let schema = if people { answer.titles() } else { answer.schema() };
    let mut writer = door::writer(format, &mut out, &schema)?;
    while let Some(rows) = wait.until(answer.next()).await {
        let rows = rows?;
        wait.rows += rows.num_rows() as u64;
        wait.clear();
        writer.rows(&rows)?;
    }
    writer.end()?;
    out.finish()?;
    Ok(wait.rows)
}

/// Somebody waits: on a terminal they see for how long.
struct Wait<'a> {
    stopper: Stopper,
    interrupted: &'a AtomicBool,
    began: Instant,
    rows: u64,
    watched: bool,
    drawn: bool,
}

impl<'a> Wait<'a> {
    fn new(stopper: Stopper, interrupted: &'a AtomicBool) -> Wait<'a> {
        let watched = std::io::stderr().is_terminal();
        Wait { stopper, interrupted, began: Instant::now(), rows: 0, watched, drawn: false }
    }

    async fn until<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            match tokio::time::timeout(PAUSE, work.as_mut()).await {
                Ok(done) => {
                    self.clear();
                    return done;
                }
                Err(_) => self.look(),
            }
        }
    }

    fn look(&mut self) {
        if self.interrupted.swap(false, Ordering::Relaxed) {
            self.stopper.stop();
        }
        if self.watched && self.began.elapsed() >= PATIENCE {
            self.drawn = true;
            let (time, rows) = (self.began.elapsed().as_secs(), self.rows);
            // What cannot be drawn is not worth stopping for.
            drop(write!(std::io::stderr(), "\r\x1b[K{time} s, {rows} rows; Ctrl-C stops it"));
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            drop(write!(std::io::stderr(), "\r\x1b[K"));
        }
    }
}
