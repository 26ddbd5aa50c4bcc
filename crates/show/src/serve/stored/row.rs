//! Rows of an answer as JSON objects, and their members as what they are.

use datafusion::arrow::json::ArrayWriter;
use netra_store::ask::{Error, Kind, Session};
use serde_json::{Map, Value};

pub(in crate::serve) use crate::door::question::text as quoted;

/// A row: members that are null are not there.
#[derive(Debug, Clone, Default)]
pub(in crate::serve) struct Row(pub(in crate::serve) Map<String, Value>);

impl Row {
    /// A text, empty where there is none.
    pub(in crate::serve) fn text(&self, name: &str) -> String {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// A number that is never negative.
    pub(in crate::serve) fn count(&self, name: &str) -> u64 {
        let value = self.0.get(name).and_then(Value::as_i64);
        value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
    }

    /// A whole number, if there is one.
    pub(in crate::serve) fn whole(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    /// A number with a fraction, if there is one.
    pub(in crate::serve) fn float(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }
}

/// The answer to a question, whole: for questions that bound it themselves.
pub(in crate::serve) async fn rows(session: &Session, sql: &str) -> Result<Vec<Row>, Error> {
    let batches = session.ask(sql).await?.collect().await?;
    let broken = |error: &dyn std::fmt::Display| {
        let message = format!("reading rows: {error}");
        Error { kind: Kind::Store, message, hint: None }
    };
    let mut writer = ArrayWriter::new(Vec::new());
    for batch in &batches {
        writer.write(batch).map_err(|error| broken(&error))?;
    }
    writer.finish().map_err(|error| broken(&error))?;
    let bytes = writer.into_inner();
    // Without a row it writes nothing at all.
    let bytes = if bytes.is_empty() { b"[]".to_vec() } else { bytes };
    let rows: Vec<Map<String, Value>> =
        serde_json::from_slice(&bytes).map_err(|error| broken(&error))?;
    Ok(rows.into_iter().map(Row).collect())
}
