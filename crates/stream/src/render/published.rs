//! Messages and samples as JSON lines.

use std::io::{self, Write};

use netra_event::frame::Head;

use super::json::Line;
use crate::batch::{Form, Message};
use crate::sample::{Sample, Value};

/// A published message: `tag`, `time_ns`, `uid`, and `json`, `text` or `hex`, whichever it is.
///
/// # Errors
/// The output can not be written.
pub fn message(out: &mut dyn Write, message: &Message<'_>) -> io::Result<()> {
    let mut line = Line::default();
    line.begin();
    line.text("tag", message.tag);
    line.number("time_ns", message.time);
    line.number("uid", message.uid);
    match message.form {
        // It was checked when it was published; a line end in it would end ours.
        Form::Json => {
            let json: Result<serde_json::Value, _> = serde_json::from_slice(message.bytes);
            match json {
                Ok(json) => line.raw("json", json.to_string().as_bytes()),
                Err(_) => line.text("text", message.bytes),
            }
        }
        Form::Text => line.text("text", message.bytes),
        Form::Bytes => line.hex("hex", message.bytes),
    }
    out.write_all(line.end())
}

/// A sample, one line a metric: `time_ns`, `host_id`, `target`, `name`, `value`.
///
/// # Errors
/// The output can not be written.
pub fn sample(out: &mut dyn Write, head: &Head, sample: &Sample) -> io::Result<()> {
    let mut line = Line::default();
    for metric in sample.metrics() {
        line.begin();
        line.number("time_ns", head.time);
        line.id("host_id", head.producer.host);
        line.text("target", metric.target.as_bytes());
        line.text("name", metric.name.as_bytes());
        match metric.value {
            Value::Count(count) => line.number("value", count),
            Value::Gauge(gauge) => line.raw("value", format!("{gauge:?}").as_bytes()),
        }
        out.write_all(line.end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(form: Form, bytes: &[u8], want: &str) {
        let mut out = Vec::new();
        let tag = b"t";
        message(&mut out, &Message { tag, form, time: 5, uid: 7, bytes }).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!("{{\"tag\":\"t\",\"time_ns\":5,\"uid\":7,{want}}}\n")
        );
    }

    #[test]
    fn messages_are_lines_whatever_their_bytes() {
        says(Form::Json, b"{\"a\":\n [1, 2]}", "\"json\":{\"a\":[1,2]}");
        says(Form::Text, b"two\nlines", "\"text\":\"two\\nlines\"");
        says(Form::Bytes, b"\0\xff", "\"hex\":\"00ff\"");
        // Nothing but a published message is known to be JSON.
        says(Form::Json, b"{", "\"text\":\"{\"");
    }
}
