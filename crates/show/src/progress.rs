//! A progress bar for people who wait: on a terminal, on standard error, and only when the work
//! takes longer than a second.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use netra_event::Bytes;

/// Whoever waits less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
/// The bar's width in characters.
const WIDTH: usize = 30;

/// How far some work over a known number of bytes has come.
#[derive(Debug)]
pub struct Progress {
    total: Bytes,
    done: Bytes,
    next: Instant,
    /// Nobody is watching, so nothing is ever drawn.
    hidden: bool,
    drawn: bool,
}

impl Progress {
    /// Starts the clock; nothing is drawn yet.
    #[must_use]
    pub fn new(total: Bytes) -> Progress {
        let hidden = !std::io::stderr().is_terminal();
        let next = Instant::now() + PATIENCE;
        Progress { total, done: Bytes(0), next, hidden, drawn: false }
    }

    /// Adds what has been done since the last call, and draws when it is time to.
    pub fn add(&mut self, done: Bytes) {
        self.done += done;
        if !self.hidden && Instant::now() >= self.next {
            self.draw();
            self.next = Instant::now() + PAUSE;
        }
    }

    fn draw(&mut self) {
        self.drawn = true;
        let line = line(self.done, self.total);
        // A bar that cannot be drawn is not worth stopping for.
        drop(write!(std::io::stderr(), "\r\x1b[K{line}"));
    }

    /// Removes the bar, so that what is said next begins on a clean line.
    pub fn clear(&mut self) {
        if self.drawn {
            self.drawn = false;
            drop(write!(std::io::stderr(), "\r\x1b[K"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The bar as text.
fn line(done: Bytes, total: Bytes) -> String {
    let done = Bytes(done.0.min(total.0));
    let share = if total.0 == 0 { 1.0 } else { done.0 as f64 / total.0 as f64 };
    // A share of at most 1 gives at most the width.
    let filled = (share * WIDTH as f64) as usize;
    let (full, rest) = ("#".repeat(filled), ".".repeat(WIDTH - filled));
    format!("[{full}{rest}] {:3.0} %  {done} of {total}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::{Bytes, line};

    #[test]
    fn a_bar_fills_from_the_left() {
        assert_eq!(
            line(Bytes(0), Bytes(2048)),
            "[..............................]   0 %  0 B of 2.00 KiB"
        );
        assert_eq!(
            line(Bytes(1024), Bytes(2048)),
            "[###############...............]  50 %  1.00 KiB of 2.00 KiB"
        );
    }

    #[test]
    fn a_bar_never_runs_over() {
        assert_eq!(
            line(Bytes(4096), Bytes(2048)),
            "[##############################] 100 %  2.00 KiB of 2.00 KiB"
        );
        assert!(line(Bytes(0), Bytes(0)).contains("100 %"));
    }
}
