//! A program of the site as a sampler: it runs beside the daemon and prints `name value` or
//! `target name value` lines whenever it likes; the newest value of each is taken into the next sample.
//!
//! A program that ends is started again at the next sample, not more often than every
//! [`AGAIN`] samples; whatever it prints, it can not make the daemon wait or grow.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Root, Sample, Sampler, Value};

/// Names and targets that are kept between two samples.
const MOST: usize = 1000;
/// Bytes of a line; the rest of a longer one is passed over.
const LONGEST: u64 = 1024;
/// Samples between two attempts to start.
const AGAIN: u32 = 10;

type Latest = Arc<Mutex<BTreeMap<(String, String), f64>>>;

/// See the module.
#[derive(Debug)]
pub struct Program {
    words: Vec<String>,
    child: Option<Child>,
    latest: Latest,
    /// Samples until it may be started again.
    wait: u32,
}

impl Program {
    /// A program with its arguments; it is started with the first sample.
    #[must_use]
    pub fn new(words: Vec<String>) -> Program {
        Program { words, child: None, latest: Latest::default(), wait: 0 }
    }

    /// Starts it if it does not run.
    fn tend(&mut self) {
        if let Some(child) = &mut self.child {
            match child.try_wait() {
                Ok(None) => return,
                _ => self.child = None,
            }
        }
        match self.wait.checked_sub(1) {
            Some(wait) => self.wait = wait,
            None => {
                self.wait = AGAIN;
                self.child = self.start().ok();
            }
        }
    }

    fn start(&self) -> io::Result<Child> {
        let (program, words) = self.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        if let Some(out) = child.stdout.take() {
            let latest = Arc::clone(&self.latest);
            std::thread::Builder::new()
                .name("sampler".to_owned())
                .spawn(move || read(out, &latest))?;
        }
        Ok(child)
    }
}

impl Sampler for Program {
    fn sample(&mut self, _: &Root, into: &mut Sample) {
        self.tend();
        let latest =
            std::mem::take(&mut *self.latest.lock().unwrap_or_else(PoisonError::into_inner));
        for ((target, name), value) in latest {
            into.add(&target, &name, Value::Gauge(value));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Takes lines until the program closes its output.
fn read(out: impl Read, latest: &Latest) {
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut out).take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.last() == Some(&b'\n');
        if let Some((key, value)) = parse(&line).filter(|_| whole) {
            let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
            if latest.len() < MOST || latest.contains_key(&key) {
                latest.insert(key, value);
            }
        }
        if !whole && skip(&mut out).is_err() {
            return;
        }
    }
}

/// Passes over the rest of a line.
fn skip(out: &mut impl io::BufRead) -> io::Result<()> {
    loop {
        let held = out.fill_buf()?;
        let end = held.iter().position(|&byte| byte == b'\n');
        let (used, over) = match end {
            Some(at) => (at + 1, true),
            None => (held.len(), held.is_empty()),
        };
        out.consume(used);
        if over {
            return Ok(());
        }
    }
}

/// Target and name, and the value.
fn parse(line: &[u8]) -> Option<((String, String), f64)> {
    let line = std::str::from_utf8(line).ok()?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (target, name, value) = match words[..] {
        [name, value] => ("", name, value),
        [target, name, value] => (target, name, value),
        _ => return None,
    };
    let value: f64 = value.parse().ok()?;
    value.is_finite().then(|| ((target.to_owned(), name.to_owned()), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn lines_are_read_and_nonsense_is_passed_over() {
        let latest = Latest::default();
        let long = format!("{} 1\n", "x".repeat(5000));
        let text =
            format!("a 1\nb 2.5\n{long}sda a 7\na 3\nno\nc nan\nd 1 2 3\n\n\u{e9} x\nlast 4");
        read(text.as_bytes(), &latest);
        let latest = latest.lock().unwrap();
        let found: Vec<_> = latest.iter().map(|((t, n), v)| (t.as_str(), n.as_str(), *v)).collect();
        // The last line was never ended: its number may be cut.
        assert_eq!(found, [("", "a", 3.0), ("", "b", 2.5), ("sda", "a", 7.0)]);
    }

    #[test]
    fn names_without_end_do_not_fill_the_memory() {
        let latest = Latest::default();
        let text: String = (0..5000).map(|number| format!("n{number} 1\n")).collect();
        read(text.as_bytes(), &latest);
        assert_eq!(latest.lock().unwrap().len(), MOST);
    }

    /// Samples until a metric is there.
    fn wait_for(program: &mut Program, name: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let mut sample = Sample::default();
            program.sample(&Root::default(), &mut sample);
            if let Some(value) = sample.value("", name) {
                return value;
            }
            assert!(Instant::now() < deadline, "{name} did not come");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_program_is_started_again_and_ends_with_its_sampler() {
        let words = ["sh", "-c", "echo pid $$; echo temperature 41.5"].map(str::to_owned);
        let mut program = Program::new(words.to_vec());
        let first = wait_for(&mut program, "pid");
        // Whatever is left of the first one's output is gone with the second's.
        let deadline = Instant::now() + Duration::from_secs(20);
        while wait_for(&mut program, "pid") == first {
            assert!(Instant::now() < deadline, "it was not started again");
        }
        let words = ["sh", "-c", "echo pid $$; exec sleep 1000"].map(str::to_owned);
        let mut program = Program::new(words.to_vec());
        let pid = wait_for(&mut program, "pid").number();
        drop(program);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_program_that_is_not_there_gives_nothing() {
        let mut program = Program::new(vec!["/nonexistent/program".to_owned()]);
        let mut sample = Sample::default();
        for _ in 0..30 {
            program.sample(&Root::default(), &mut sample);
        }
        assert_eq!(sample.metrics(), []);
        Program::new(Vec::new()).sample(&Root::default(), &mut sample);
    }
}
