//! Names from a log, made fit for a terminal. A name may hold any byte, and a terminal obeys some.

use std::borrow::Cow;

/// The text with control characters spelled out, so that no log can move the cursor.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains(char::is_control) {
        Cow::Owned(text.chars().flat_map(spelled).collect())
    } else {
        text
    }
}

fn spelled(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

/// The text in at most `width` characters; what is left out is in the middle, because the ends
/// of a path tell more.
pub(crate) fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= width {
        return Cow::Borrowed(text);
    }
    let head = width.saturating_sub(1) / 3;
    let tail = width.saturating_sub(1) - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    Cow::Owned(format!("{start}…{end}"))
}

#[cfg(test)]
mod tests {
    use super::{plain, shortened};

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(plain(b"/scratch/a b"), "/scratch/a b");
        assert_eq!(plain(b"/x\x1b[2J\n"), "/x\\u{1b}[2J\\n");
        assert_eq!(plain(b"/\xff"), "/\u{fffd}");
    }

    #[test]
    fn a_long_path_keeps_its_ends() {
        assert_eq!(shortened("/scratch/run/checkpoint.0", 30), "/scratch/run/checkpoint.0");
        assert_eq!(shortened("/scratch/run/checkpoint.0", 16), "/scra…eckpoint.0".to_owned());
        assert_eq!(shortened("/scratch/run/checkpoint.0", 16).chars().count(), 16);
    }
}
