//! What differs between two logs, the largest relative difference first.

use std::cmp::Ordering;
use std::io::{Result, Write};

use netra_darshan::diff::{Difference, Key, Value};
use netra_darshan::read::Log;

use crate::plain::plain;
use crate::{Json, csv};

/// A difference that is ready to be shown.
#[derive(Debug)]
struct Row {
    what: Difference,
    /// From 0 to 1: the distance, measured by the larger of the two. What only one log has, and
    /// what is no number, differs wholly.
    share: f64,
}

/// The differences between two logs.
#[derive(Debug)]
pub struct Differences<'a> {
    paths: [&'a str; 2],
    logs: [&'a Log; 2],
    rows: Vec<Row>,
}

impl<'a> Differences<'a> {
    /// Takes what was found, and puts it in order: by share, then as it was found.
    #[must_use]
    pub fn new(paths: [&'a str; 2], logs: [&'a Log; 2], found: Vec<Difference>) -> Self {
        let mut rows: Vec<Row> =
            found.into_iter().map(|what| Row { share: share(&what), what }).collect();
        rows.sort_by(|a, b| b.share.partial_cmp(&a.share).unwrap_or(Ordering::Equal));
        Differences { paths, logs, rows }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For people.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn text(&self, out: &mut impl Write, limit: usize) -> Result<()> {
        for (name, (path, log)) in ["A", "B"].iter().zip(self.paths.iter().zip(self.logs)) {
            let job = log.job();
            writeln!(
                out,
                "{name}  {}: job {}, {} processes, {}",
                plain(path.as_bytes()),
                job.numbers.jobid,
                job.numbers.nprocs,
                plain(&job.exe)
            )?;
        }
        if self.is_empty() {
            return writeln!(out, "\nno counter differs");
        }
        writeln!(out, "\n{:>8}  {:<36} {:>20} {:>20}  where", "share", "counter", "A", "B")?;
        for row in self.rows.iter().take(limit) {
            let [name, a, b] = columns(&row.what);
            let key = key(&row.what);
            let rank = if key.rank.is_shared() { "all".to_owned() } else { key.rank.to_string() };
            writeln!(
                out,
                "{:>7.2}%  {name:<36} {a:>20} {b:>20}  rank {rank} {}",
                row.share * 100.0,
                self.file(key).map_or_else(|| key.id.to_string(), |name| plain(name).into_owned()),
            )?;
        }
        let left = self.rows.len().saturating_sub(limit);
        if left > 0 {
            writeln!(out, "and {left} more; --limit shows them")?;
        }
        Ok(())
    }

    /// For machines: everything, in the same order.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn json<W: Write>(&self, out: &mut W) -> Result<()> {
        let mut json = Json::new(out);
        json.open('{')?;
        json.key("a")?;
        json.text(self.paths[0])?;
        json.key("b")?;
        json.text(self.paths[1])?;
        json.key("differences")?;
        json.open('[')?;
        for row in &self.rows {
            json.line()?;
            self.row_json(&mut json, row)?;
        }
        json.close(']')?;
        json.close('}')?;
        json.finish()
    }

    fn row_json<W: Write>(&self, json: &mut Json<'_, W>, row: &Row) -> Result<()> {
        let key = key(&row.what);
        json.open('{')?;
        json.key("module")?;
        json.text(key.module.name())?;
        json.key("rank")?;
        json.int(key.rank.0)?;
        json.key("id")?;
        json.text(&key.id.to_string())?;
        json.key("file")?;
        match self.file(key) {
            Some(name) => json.bytes(name)?,
            None => json.null()?,
        }
        match &row.what {
            Difference::Value { name, a, b, .. } => {
                json.key("counter")?;
                json.text(name)?;
                json.key("a")?;
                value_json(json, a.as_ref())?;
                json.key("b")?;
                value_json(json, b.as_ref())?;
            }
            Difference::OnlyInA(_) | Difference::OnlyInB(_) => {
                json.key("only_in")?;
                json.text(if matches!(row.what, Difference::OnlyInA(_)) { "a" } else { "b" })?;
            }
        }
        json.key("share")?;
        json.float(row.share)?;
        json.close('}')
    }

    /// A header line and a row for each difference.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn csv(&self, out: &mut impl Write) -> Result<()> {
        out.write_all(b"share,module,rank,record_id,counter,a,b,file\n")?;
        for row in &self.rows {
            let key = key(&row.what);
            let [name, a, b] = columns(&row.what);
            let file = self.file(key).unwrap_or_default();
            let fields = [
                row.share.to_string(),
                key.module.to_string(),
                key.rank.to_string(),
                key.id.to_string(),
                name,
                a,
                b,
                String::from_utf8_lossy(file).into_owned(),
            ];
            csv::row(out, fields.iter().map(String::as_str))?;
        }
        Ok(())
    }

    /// The name of a record, from whichever log knows it.
    fn file(&self, key: &Key) -> Option<&'a [u8]> {
        self.logs.iter().find_map(|log| log.names().get(key.id))
    }
}

fn key(what: &Difference) -> &Key {
    match what {
        Difference::Value { key, .. } | Difference::OnlyInA(key) | Difference::OnlyInB(key) => key,
    }
}

/// The counter, and its two values.
fn columns(what: &Difference) -> [String; 3] {
    let shown = |value: &Option<Value>| value.as_ref().map(ToString::to_string).unwrap_or_default();
    match what {
        Difference::Value { name, a, b, .. } => [name.clone(), shown(a), shown(b)],
        Difference::OnlyInA(key) => [format!("{} record", key.module), "yes".into(), "no".into()],
        Difference::OnlyInB(key) => [format!("{} record", key.module), "no".into(), "yes".into()],
    }
}

fn share(what: &Difference) -> f64 {
    let Difference::Value { a: Some(a), b: Some(b), .. } = what else { return 1.0 };
    match (a.number(), b.number()) {
        (Some(a), Some(b)) if a.is_finite() && b.is_finite() => {
            let larger = a.abs().max(b.abs());
            if larger == 0.0 { 0.0 } else { ((a - b).abs() / larger).min(1.0) }
        }
        _ => 1.0,
    }
}

fn value_json<W: Write>(json: &mut Json<'_, W>, value: Option<&Value>) -> Result<()> {
    match value {
        Some(Value::Int(value)) => json.int(*value),
        Some(Value::Unsigned(value)) => json.unsigned(*value),
        Some(Value::Float(value)) => json.float(*value),
        Some(Value::Text(value)) => json.text(value),
        None => json.null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netra_event::{Module, Rank, RecordId};

    #[track_caller]
    fn check(a: Value, b: Value, expected: f64) {
        let key = Key { module: Module::Posix, id: RecordId(1), rank: Rank(0) };
        let what = Difference::Value { key, name: "x".into(), a: Some(a), b: Some(b) };
        assert_eq!(share(&what), expected);
    }

    #[test]
    fn a_share_is_measured_by_the_larger() {
        check(Value::Int(100), Value::Int(50), 0.5);
        check(Value::Int(50), Value::Int(100), 0.5);
        check(Value::Int(0), Value::Int(7), 1.0);
        check(Value::Int(-1), Value::Int(7), 1.0);
        check(Value::Float(2.0), Value::Float(1.5), 0.25);
        check(Value::Float(f64::NAN), Value::Float(1.5), 1.0);
        check(Value::Text("a".into()), Value::Text("b".into()), 1.0);
        check(Value::Unsigned(10), Value::Unsigned(9), 0.1);
    }
}
