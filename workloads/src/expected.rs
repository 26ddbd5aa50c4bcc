//! What a program says it will do: its `--expect` JSON, read into values.
//!
//! The matrix holds programs to it; whoever watches a workload (a log, a stream, a store) can be held
//! to the same numbers.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// Calls and bytes of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Times it is called.
    pub calls: u64,
    /// Bytes its calls move, together; 0 for functions that move none.
    pub bytes: u64,
}

/// Function → count, of one layer.
pub type Counts = BTreeMap<String, Count>;

/// Layer (`posix`, `stdio`, `mpiio`, `hdf5`, `pnetcdf`) → counts.
pub type Layers = BTreeMap<String, Counts>;

/// Adds calls of a function.
pub fn add(counts: &mut Counts, function: &str, calls: u64, bytes: u64) {
    let count = counts.entry(function.to_owned()).or_default();
    count.calls += calls;
    count.bytes += bytes;
}

/// A stretch of a file, or of a data set in it, and what stands there (`include/content.h`).
#[derive(Debug)]
pub struct Extent {
    /// The stream whose bytes stand there, each at its own offset.
    pub stream: u64,
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
    /// The width of a line, where the stream is text.
    pub line_width: Option<u64>,
    /// The data set, attribute or variable; none: the file itself.
    pub dataset: Option<String>,
}

/// A file that must be there at the end, and what must have reached it.
#[derive(Debug)]
pub struct File {
    /// Its path in the folder of the run.
    pub name: String,
    /// The layer through which the program itself works on it.
    pub layer: String,
    /// Its size, where the library does not decide it.
    pub size: Option<u64>,
    /// Bytes written through POSIX, all ranks together, where promised exactly.
    pub written: Option<u64>,
    /// Bytes written through POSIX, at least.
    pub written_least: Option<u64>,
    /// Bytes read through POSIX, where promised exactly.
    pub read: Option<u64>,
    /// What stands in it.
    pub content: Vec<Extent>,
}

/// Everything a program promises about one run.
#[derive(Debug)]
pub struct Expected {
    /// What each rank does at the layers that the program itself calls.
    pub ranks: Vec<Layers>,
    /// The same, over all ranks.
    pub total: Layers,
    /// Every file that is left behind.
    pub files: Vec<File>,
}

impl Expected {
    /// Asks the program ([`crate::Launch::expectation`]). A refusal is an error in its own words.
    pub fn ask(mut command: Command) -> Result<Expected> {
        let done = command.output().context("--expect")?;
        if !done.status.success() {
            bail!("{}", String::from_utf8_lossy(&done.stderr).trim());
        }
        let json: Value = serde_json::from_slice(&done.stdout).context("--expect is not JSON")?;
        let expected = Expected {
            ranks: list(&json, "per_rank")?.iter().map(layers).collect::<Result<_>>()?,
            total: layers(&json["total"])?,
            files: list(&json, "files")?.iter().map(file).collect::<Result<_>>()?,
        };
        if sum(&expected.ranks) != expected.total {
            bail!("--expect: the total is not the sum over ranks");
        }
        Ok(expected)
    }

    /// Whether the program itself works on some file through this layer.
    #[must_use]
    pub fn uses(&self, layer: &str) -> bool {
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

fn layers(json: &Value) -> Result<Layers> {
    let counts = |json: &Value| -> Result<Counts> {
        json.as_object()
            .into_iter()
            .flatten()
            .map(|(name, one)| Ok((name.clone(), count(one)?)))
            .collect()
    };
    let all = json.as_object().context("--expect: calls are missing")?;
    all.iter().map(|(layer, all)| Ok((layer.clone(), counts(all)?))).collect()
}

fn count(json: &Value) -> Result<Count> {
    Ok(Count { calls: number(json, "calls")?, bytes: number(json, "bytes")? })
}

fn file(json: &Value) -> Result<File> {
    Ok(File {
        name: text(json, "name")?,
        layer: text(json, "layer")?,
        size: json["size"].as_u64(),
        written: json["posix_bytes_written"].as_u64(),
        written_least: json["posix_bytes_written_least"].as_u64(),
        read: json["posix_bytes_read"].as_u64(),
        content: list(json, "content")?.iter().map(extent).collect::<Result<_>>()?,
    })
}

fn extent(json: &Value) -> Result<Extent> {
    Ok(Extent {
        stream: number(json, "stream")?,
        offset: number(json, "offset")?,
        length: number(json, "length")?,
        line_width: json["line_width"].as_u64(),
        dataset: json["dataset"].as_str().map(str::to_owned),
    })
}

fn list<'a>(json: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    json[key].as_array().with_context(|| format!("--expect: `{key}` is missing"))
}

fn number(json: &Value, key: &str) -> Result<u64> {
    json[key].as_u64().with_context(|| format!("--expect: `{key}` is missing in {json}"))
}

fn text(json: &Value, key: &str) -> Result<String> {
    let text = json[key].as_str().with_context(|| format!("--expect: `{key}` is missing"))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Count, Expected};
    use std::process::Command;

    fn ask(json: &str) -> anyhow::Result<Expected> {
        let mut echo = Command::new("echo");
        echo.arg(json);
        Expected::ask(echo)
    }

    #[test]
    fn json_becomes_values() {
        let expected = ask(r#"{"total": {"posix": {"write": {"calls": 3, "bytes": 30}}},
            "per_rank": [{"posix": {"write": {"calls": 1, "bytes": 10}}},
                         {"posix": {"write": {"calls": 2, "bytes": 20}}}],
            "files": [{"name": "a", "layer": "posix", "size": 30,
                       "content": [{"stream": 7, "offset": 0, "length": 30}]}]}"#)
        .unwrap();
        assert_eq!(expected.total["posix"]["write"], Count { calls: 3, bytes: 30 });
        assert_eq!(expected.ranks[1]["posix"]["write"], Count { calls: 2, bytes: 20 });
        assert_eq!((expected.files[0].size, expected.files[0].written), (Some(30), None));
        assert_eq!(expected.files[0].content[0].stream, 7);
        assert!(expected.uses("posix") && !expected.uses("hdf5"));
    }

    #[test]
    fn a_wrong_total_and_a_missing_field_are_refused() {
        for (json, says) in [
            (
                r#"{"total": {"posix": {"write": {"calls": 1, "bytes": 1}}}, "per_rank": [{}], "files": []}"#,
                "--expect: the total is not the sum over ranks",
            ),
            (r#"{"total": {}, "files": []}"#, "--expect: `per_rank` is missing"),
            ("}", "--expect is not JSON"),
        ] {
            assert_eq!(ask(json).unwrap_err().to_string(), says);
        }
    }
}
