//! Comma-separated values as RFC 4180 has them, with plain line ends.

use std::io::{Result, Write};

/// Writes one field, in quotes where it must be.
pub(crate) fn field(out: &mut impl Write, text: &str) -> Result<()> {
    if text.contains([',', '"', '\n', '\r']) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        out.write_all(text.as_bytes())
    }
}

/// Writes fields with commas between them and a line end.
pub(crate) fn row<'a>(
    out: &mut impl Write,
    fields: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    for (place, text) in fields.into_iter().enumerate() {
        if place > 0 {
            out.write_all(b",")?;
        }
        field(out, text)?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn only_what_must_be_is_quoted() {
        let mut out = Vec::new();
        row(&mut out, ["a", "", "b c", "d,e", "say \"f\"", "g\nh"]).unwrap();
        assert_eq!(out, b"a,,b c,\"d,e\",\"say \"\"f\"\"\",\"g\nh\"\n");
    }
}
