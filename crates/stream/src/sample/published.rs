//! Metrics of others, storage servers above all, that arrive as published messages under the tag
//! `metrics`: one JSON object or an array of them, `{"host":…,"target":…,"name":…,"value":…}`.

use serde_json::Value as Json;

use super::metric::LARGEST_SAMPLE;

/// The tag under which metrics are published.
pub const TAG: &[u8] = b"metrics";

/// A metric of some host.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The host it speaks of.
    pub host: String,
    /// Its disk, target, file system; empty for the host itself.
    pub target: String,
    /// Its name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// When, nanoseconds since 1970; if the message does not say, when it was published.
    pub time: Option<u64>,
}

/// Why a message is no metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The bytes are no JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// An entry lacks something, or has another kind of value.
    #[error("entry {entry}: {key} is missing or not {kind}")]
    Field {
        /// Which entry, from 0.
        entry: usize,
        /// Its field.
        key: &'static str,
        /// What it should be.
        kind: &'static str,
    },
    /// There are more than a sample holds.
    #[error("{found} metrics in one message; at most {LARGEST_SAMPLE} are taken")]
    TooMany {
        /// How many.
        found: usize,
    },
}

/// The metrics of a message.
///
/// # Errors
/// It has none, or one of them is not one; then none is taken.
pub fn published(bytes: &[u8]) -> Result<Vec<Row>, Flaw> {
    let json: Json =
        serde_json::from_slice(bytes).map_err(|error| Flaw::Json(error.to_string()))?;
    let entries = match &json {
        Json::Array(entries) => entries.as_slice(),
        one => std::slice::from_ref(one),
    };
    if entries.len() > LARGEST_SAMPLE {
        return Err(Flaw::TooMany { found: entries.len() });
    }
    entries.iter().enumerate().map(|(entry, json)| row(entry, json)).collect()
}

fn row(entry: usize, json: &Json) -> Result<Row, Flaw> {
    let text = |key: &'static str| {
        let found = json.get(key).and_then(Json::as_str).map(str::to_owned);
        found.ok_or(Flaw::Field { entry, key, kind: "text" })
    };
    let value = json.get("value").and_then(Json::as_f64);
    let value = value.ok_or(Flaw::Field { entry, key: "value", kind: "a number" })?;
    let target = if json.get("target").is_some() { text("target")? } else { String::new() };
    let time = match json.get("time_ns") {
        None => None,
        Some(time) => {
            let flaw = Flaw::Field { entry, key: "time_ns", kind: "a whole number" };
            Some(time.as_u64().ok_or(flaw)?)
        }
    };
    Ok(Row { host: text("host")?, target, name: text("name")?, value, time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_or_many() {
        let one = br#"{"host":"oss1","target":"OST0003","name":"write_bytes","value":12}"#;
        let row = Row {
            host: "oss1".into(),
            target: "OST0003".into(),
            name: "write_bytes".into(),
            value: 12.0,
            time: None,
        };
        assert_eq!(published(one), Ok(vec![row]));
        let many = br#"[{"host":"a","name":"x","value":1.5,"time_ns":7},{"host":"b","name":"y","value":-2}]"#;
        let found = published(many).unwrap();
        assert_eq!((found[0].time, found[0].target.as_str(), found[1].value), (Some(7), "", -2.0));
        assert_eq!(published(b"[]"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let says = |bytes: &[u8]| published(bytes).unwrap_err().to_string();
        assert_eq!(
            says(br#"[{"host":"a","name":"x","value":1},{"host":"a","name":"x","value":"2"}]"#),
            "entry 1: value is missing or not a number"
        );
        assert_eq!(says(br#"{"name":"x","value":1}"#), "entry 0: host is missing or not text");
        assert!(says(b"{").starts_with("not JSON: "));
        assert!(says(b"7").starts_with("entry 0: "));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            drop(published(&bytes));
        }

        #[test]
        fn deep_nesting_is_refused(depth in 100_usize..3000) {
            prop_assert!(published("[".repeat(depth).as_bytes()).is_err());
        }
    }
}
