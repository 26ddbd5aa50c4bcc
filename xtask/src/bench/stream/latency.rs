//! From a call to somebody who watches at the last hub: a process makes 10,000 events a second, and every
//! line that a subscriber behind two hops reads is held against the moment at which its call began.

use std::io::BufReader;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::site::{Running, Site, cost};

/// Events a second, and for how many.
const RATE: u64 = 10_000;
const SECONDS: u64 = 5;

/// Milliseconds from call to reader, sorted.
pub(super) struct Latency(Vec<f64>);

impl Latency {
    /// So much of all events took no longer.
    pub(super) fn share(&self, share: f64) -> f64 {
        let at = (self.0.len() as f64 * share) as usize;
        self.0.get(at.min(self.0.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }
}

pub(super) fn measure(site: &Site) -> Result<Latency> {
    let mut command = Command::new(&site.netra);
    let address = format!("unix:{}", site.folder.join("far.sock").display());
    command.args(["subscribe", "io", "--daemon", &address]).stdout(Stdio::piped());
    let mut reader = Running(command.spawn().context("starting a subscriber")?);
    let lines = BufReader::new(reader.0.stdout.take().context("no output")?);
    let watch = std::thread::spawn(move || watch(lines));
    let mut producer = Command::new(Site::program("paced")?);
    producer.arg(site.folder.join("paced")).args([RATE.to_string(), SECONDS.to_string()]);
    cost(site.record(&mut producer, "paced"))?;
    site.settle("paced", 1)?;
    // What is delivered was shown before; the last lines are on their way.
    std::thread::sleep(std::time::Duration::from_secs(1));
    drop(reader);
    let Ok(mut found) = watch.join() else { bail!("the reader of lines failed") };
    let wanted = (RATE * SECONDS) as usize;
    if found.len() != wanted {
        bail!("{} of {wanted} events were seen", found.len());
    }
    found.sort_by(f64::total_cmp);
    Ok(Latency(found))
}

fn watch(lines: impl std::io::BufRead) -> Vec<f64> {
    let mut found = Vec::new();
    for line in lines.lines().map_while(Result::ok) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let event: Value = serde_json::from_str(&line).unwrap_or_default();
        if event["function"] == "pwrite"
            && let Some(start) = event["start_ns"].as_u64()
        {
            found.push((now as f64 - start as f64) / 1e6);
        }
    }
    found
}
