//! The terminal: how wide it is, and lines as wide as that.

/// Columns where nothing says how many there are, and the most that is well read.
const USUAL: usize = 100;
/// Less is not worth wrapping for.
const LEAST: usize = 20;

/// How many columns are there: what `COLUMNS` says, else the terminal, else as many as files have.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let asked = || Some(usize::from(rustix::termios::tcgetwinsize(std::io::stdout()).ok()?.ws_col));
    said.or_else(asked).filter(|width| *width > 0).unwrap_or(USUAL).clamp(LEAST, USUAL)
}

/// A text in lines no longer than that, those behind the first with something in front.
pub(crate) fn wrapped(text: &str, width: usize, hang: &str) -> Vec<String> {
    let mut words = text.split(' ');
    let mut lines = vec![words.next().unwrap_or_default().to_owned()];
    for word in words {
        let Some(line) = lines.last_mut() else { break };
        // What stands at the front of a text stays there.
        let begun = line.trim() != "" && line.trim() != "-";
        if begun && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(hang.to_owned() + word);
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrapped("one two three", 9, ""), ["one two", "three"]);
        assert_eq!(wrapped("- one two three", 9, "  "), ["- one two", "  three"]);
        assert_eq!(wrapped("  run   it now", 10, "    "), ["  run   it", "    now"]);
        assert_eq!(wrapped("", 9, ""), [""]);
        assert_eq!(wrapped("unbreakable words", 5, ""), ["unbreakable", "words"]);
    }
}
