//! A text as a field of a table.

/// Appends a text, in quotes where a reader would otherwise see two fields or two rows.
pub(super) fn quote(row: &mut Vec<u8>, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if text.contains([',', '"', '\n', '\r']) {
        row.push(b'"');
        row.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        row.push(b'"');
    } else {
        row.extend_from_slice(text.as_bytes());
    }
}
