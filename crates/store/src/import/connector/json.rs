//! JSON messages. The published form has `data_set`, the current one `start`, `total` and `schema`;
//! what is not needed is not looked at.

use serde_json::{Map, Value};

use super::sent::{Sent, Texts, began};

/// Takes the segments of one message, a row each.
pub(super) fn messages(line: &[u8], texts: &mut Texts, sent: &mut Vec<Sent>) -> Result<(), String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    let object = value.as_object().ok_or("not a JSON object")?;
    let parts = object.get("seg").and_then(Value::as_array);
    let record_id = object.get("record_id").and_then(id).ok_or("no record_id")?;
    let job_id = number(object, "job_id")?;
    let (module, op) = (text(object, "module")?, text(object, "op")?);
    let common = Sent {
        uid: number(object, "uid")?,
        exe: texts.get(text(object, "exe").unwrap_or("N/A")),
        job_id,
        rank: number(object, "rank")?,
        node: texts.always(text(object, "ProducerName").unwrap_or("")),
        file: texts.get(text(object, "file").unwrap_or("N/A")),
        record_id,
        module: texts.always(module),
        op: texts.always(op),
        max_byte: number(object, "max_byte").unwrap_or(-1),
        switches: number(object, "switches").unwrap_or(-1),
        flushes: number(object, "flushes").unwrap_or(-1),
        cnt: number(object, "cnt").unwrap_or(-1),
        data_set: None,
        selection: [-1; 5],
        offset: -1,
        length: -1,
        start: 0,
        took: 0,
    };
    for part in parts.ok_or("no seg")? {
        let part = part.as_object().ok_or("a seg that is no object")?;
        let seconds = |key: &'static str| part.get(key).and_then(Value::as_f64);
        let end = seconds("timestamp").ok_or("no timestamp")?;
        let took = nanos(seconds("dur").unwrap_or(0.0));
        let optional = |key| number(part, key).unwrap_or(-1);
        let selection = ["pt_sel", "irreg_hslab", "reg_hslab", "ndims", "npoints"].map(optional);
        sent.push(Sent {
            data_set: texts.get(text(part, "data_set").unwrap_or("N/A")),
            selection,
            offset: optional("off"),
            length: optional("len"),
            start: began(micros(end), took),
            took,
            ..common.clone()
        });
    }
    Ok(())
}

fn text<'a>(object: &'a Map<String, Value>, key: &'static str) -> Result<&'a str, String> {
    object.get(key).and_then(Value::as_str).ok_or_else(|| format!("no {key}"))
}

fn number(object: &Map<String, Value>, key: &'static str) -> Result<i64, String> {
    object.get(key).and_then(Value::as_i64).ok_or_else(|| format!("no {key}"))
}

/// Stores that have only signed numbers give back negative ids.
fn id(value: &Value) -> Option<u64> {
    value.as_u64().or(value.as_i64().map(i64::cast_unsigned))
}

/// The cast saturates.
fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// Moments are sent as whole microseconds, which is also as much as a double holds of them.
fn micros(seconds: f64) -> i64 {
    ((seconds * 1e6).round() as i64).saturating_mul(1000)
}
