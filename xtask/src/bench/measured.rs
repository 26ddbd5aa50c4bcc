//! A measurement as it is kept: `docs/measured/<benchmark>.json`, from which documents quote.
//!
//! A target that was missed stays in the file as missed; one whose peer was not installed stays
//! as not measured.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::place::{output, root};

/// What a number must be to count as met.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// The peer's number divided by ours is at least this.
    RatioAtLeast(f64),
    /// Our number is below this.
    Below(f64),
    /// Nothing: the number is shown beside the peer's, whoever has the better one.
    Shown,
}

/// One number, what it is compared with, and whether that is good enough.
pub(crate) struct Row {
    /// What was measured, in words.
    pub(crate) name: String,
    /// The unit of both numbers.
    pub(crate) unit: &'static str,
    /// Our command.
    pub(crate) command: String,
    pub(crate) value: f64,
    /// The peer's command and its number, where it could be run.
    pub(crate) peer: Option<(String, f64)>,
    pub(crate) target: Target,
}

impl Row {
    /// The peer's number over ours.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, value)| value / self.value)
    }

    /// Whether the target was met; `None` where nothing could be compared.
    fn met(&self) -> Option<bool> {
        match self.target {
            Target::RatioAtLeast(least) => self.ratio().map(|ratio| ratio >= least),
            Target::Below(limit) => Some(self.value < limit),
            Target::Shown => None,
        }
    }

    fn json(&self) -> Value {
        let target = match self.target {
            Target::RatioAtLeast(least) => json!({ "ratio_at_least": least }),
            Target::Below(limit) => json!({ "below": limit }),
            Target::Shown => Value::Null,
        };
        json!({
            "name": self.name,
            "unit": self.unit,
            "command": self.command,
            "value": rounded(self.value),
            "peer": self.peer.as_ref().map(|(name, _)| name),
            "peer_value": self.peer.as_ref().map(|(_, value)| rounded(*value)),
            "ratio": self.ratio().map(rounded),
            "target": target,
            "met": self.met(),
        })
    }

    fn print(&self) {
        let met = match self.met() {
            _ if matches!(self.target, Target::Shown) => "shown",
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not measured: the peer is not installed",
        };
        let target = match self.target {
            Target::RatioAtLeast(least) => format!("at least {least} times less"),
            Target::Below(limit) => format!("below {limit}"),
            Target::Shown => "none".to_owned(),
        };
        println!("{}: {:.4} {} (target: {target}: {met})", self.name, self.value, self.unit);
        if let (Some((peer, value)), Some(ratio)) = (&self.peer, self.ratio()) {
            println!("    {peer}: {value:.4} {}, {ratio:.1} times ours", self.unit);
        }
    }
}

/// Prints the rows, keeps them in `docs/measured/`, and makes the documents quote them.
pub(crate) fn keep(benchmark: &str, rows: &[Row]) -> Result<()> {
    for row in rows {
        row.print();
    }
    let kept = json!({
        "benchmark": benchmark,
        "run_with": format!("cargo xtask bench {benchmark}"),
        "date_utc": said(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])),
        "machine": machine(),
        "rows": rows.iter().map(Row::json).collect::<Vec<Value>>(),
    });
    let folder = root().join("docs/measured");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let path = folder.join(format!("{benchmark}.json"));
    let text = serde_json::to_string_pretty(&kept)? + "\n";
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    println!("kept in docs/measured/{benchmark}.json");
    crate::quote::run(&[])
}

/// What the numbers depend on.
fn machine() -> Value {
    let field = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    json!({
        "processor": field("/proc/cpuinfo", "model name"),
        "processors": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": field("/proc/meminfo", "MemTotal"),
        "kernel": said(Command::new("uname").arg("-sr")),
    })
}

fn said(command: &mut Command) -> Option<String> {
    let bytes = output(command).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Four significant digits: more would only look exact.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::{Row, Target, rounded};

    fn row(value: f64, peer: Option<f64>, target: Target) -> Row {
        let peer = peer.map(|value| ("peer".into(), value));
        Row { name: "n".into(), unit: "s", command: "c".into(), value, peer, target }
    }

    #[test]
    fn a_ratio_is_the_peers_number_over_ours() {
        assert_eq!(row(2.0, Some(10.0), Target::RatioAtLeast(5.0)).met(), Some(true));
        assert_eq!(row(2.1, Some(10.0), Target::RatioAtLeast(5.0)).met(), Some(false));
        assert_eq!(row(2.0, None, Target::RatioAtLeast(5.0)).met(), None);
    }

    #[test]
    fn a_limit_needs_no_peer() {
        assert_eq!(row(99.0, None, Target::Below(100.0)).met(), Some(true));
        assert_eq!(row(100.0, None, Target::Below(100.0)).met(), Some(false));
    }

    #[test]
    fn without_a_target_nothing_is_met_or_missed() {
        assert_eq!(row(99.0, Some(1.0), Target::Shown).met(), None);
        assert_eq!(row(99.0, Some(1.0), Target::Shown).json()["target"], serde_json::Value::Null);
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(rounded(0.123_456), 0.1235);
        assert_eq!(rounded(1_234_567.0), 1_235_000.0);
    }
}
