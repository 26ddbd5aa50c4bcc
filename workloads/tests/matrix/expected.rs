//! What a program says it will do: its `--expect` JSON, read into values.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Calls and bytes of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
}

/// Function → count, of one layer and one rank.
pub(crate) type Counts = BTreeMap<String, Count>;

/// Layer → counts, of one rank.
pub(crate) type Layers = BTreeMap<String, Counts>;

/// Adds one call.
pub(crate) fn add(counts: &mut Counts, function: &str, calls: u64, bytes: u64) {
    let count = counts.entry(function.to_owned()).or_default();
    count.calls += calls;
    count.bytes += bytes;
}

/// A stretch of a file, or of a data set in it, and what stands there.
#[derive(Debug)]
pub(crate) struct Extent {
    pub(crate) stream: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) line_width: Option<u64>,
    pub(crate) dataset: Option<String>,
}

/// A file that must be there, and what must have reached it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) layer: String,
    pub(crate) size: Option<u64>,
    pub(crate) written: Option<u64>,
    pub(crate) written_least: Option<u64>,
    pub(crate) read: Option<u64>,
    pub(crate) content: Vec<Extent>,
}

/// Everything a program promises about one run.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) ranks: Vec<Layers>,
    pub(crate) files: Vec<File>,
}

impl Expected {
    /// Asks the program.
    pub(crate) fn ask(mut command: Command) -> Result<Expected> {
        let done = command.output().context("--expect")?;
        if !done.status.success() {
            bail!("{}", String::from_utf8_lossy(&done.stderr).trim());
        }
        let json: Value = serde_json::from_slice(&done.stdout).context("--expect is not JSON")?;
        let ranks: Vec<Layers> =
            json["per_rank"].as_array().into_iter().flatten().map(layers).collect();
        let files = json["files"].as_array().into_iter().flatten().map(file).collect();
        if sum(&ranks) != layers(&json["total"]) {
            bail!("--expect: the total is not the sum over ranks");
        }
        Ok(Expected { ranks, files })
    }

    /// Whether the program itself works on some file through this layer.
    pub(crate) fn uses(&self, layer: &str) -> bool {
        self.files.iter().any(|file| file.layer == layer)
    }
}

fn sum(ranks: &[Layers]) -> Layers {
    let mut total = Layers::new();
    for (layer, counts) in ranks.iter().flatten() {
        for (function, count) in counts {
            add(total.entry(layer.clone()).or_default(), function, count.calls, count.bytes);
        }
    }
    total
}

fn layers(json: &Value) -> Layers {
    let counts = |json: &Value| -> Counts {
        json.as_object()
            .into_iter()
            .flatten()
            .map(|(name, count)| (name.clone(), one(count)))
            .collect()
    };
    json.as_object()
        .into_iter()
        .flatten()
        .map(|(layer, all)| (layer.clone(), counts(all)))
        .collect()
}

fn one(json: &Value) -> Count {
    Count { calls: number(json, "calls"), bytes: number(json, "bytes") }
}

fn number(json: &Value, key: &str) -> u64 {
    json[key].as_u64().unwrap_or_else(|| panic!("--expect: `{key}` is missing in {json}"))
}

fn text(json: &Value, key: &str) -> String {
    json[key]
        .as_str()
        .unwrap_or_else(|| panic!("--expect: `{key}` is missing in {json}"))
        .to_owned()
}

fn file(json: &Value) -> File {
    File {
        name: text(json, "name"),
        layer: text(json, "layer"),
        size: json["size"].as_u64(),
        written: json["posix_bytes_written"].as_u64(),
        written_least: json["posix_bytes_written_least"].as_u64(),
        read: json["posix_bytes_read"].as_u64(),
        content: json["content"].as_array().into_iter().flatten().map(extent).collect(),
    }
}

fn extent(json: &Value) -> Extent {
    Extent {
        stream: number(json, "stream"),
        offset: number(json, "offset"),
        length: number(json, "length"),
        line_width: json["line_width"].as_u64(),
        dataset: json["dataset"].as_str().map(str::to_owned),
    }
}
