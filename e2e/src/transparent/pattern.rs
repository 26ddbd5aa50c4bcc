//! What several runs of one program have in common. Nobody lists what a program says differently each time
//! (process numbers, dates, names made at random): it is what differed between runs without netra, and
//! that alone is not compared.

use std::collections::BTreeSet;
use std::iter;

/// Lines as they were in every run without netra.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// The same lines in the same order; what is `None` in one differed.
    Lines(Vec<Vec<Option<String>>>),
    /// The same lines in another order each time.
    Bag(Vec<String>),
    /// Nothing in common that could be asked for.
    Varies,
}

impl Pattern {
    /// Learns from what runs without netra gave.
    pub(crate) fn learn<'a>(runs: impl IntoIterator<Item = &'a [String]>) -> Pattern {
        let runs: Vec<&[String]> = runs.into_iter().collect();
        let Some((first, others)) = runs.split_first() else { return Pattern::Varies };
        let sorted = |lines: &[String]| {
            let mut lines = lines.to_vec();
            lines.sort();
            lines
        };
        let bag = sorted(first);
        if others.iter().any(|other| other != first) && others.iter().all(|all| sorted(all) == bag)
        {
            return Pattern::Bag(bag);
        }
        if others.iter().any(|other| other.len() != first.len()) {
            return Pattern::Varies;
        }
        let learned = (0..first.len()).map(|at| line(runs.iter().map(|run| run[at].as_str())));
        Pattern::Lines(learned.collect())
    }

    /// The first thing that is otherwise; none if all that is known is so.
    pub(crate) fn difference(&self, lines: &[String]) -> Option<String> {
        match self {
            Pattern::Varies => None,
            Pattern::Bag(bag) => {
                let mut sorted = lines.to_vec();
                sorted.sort();
                if &sorted == bag {
                    return None;
                }
                let have: BTreeSet<_> = sorted.iter().collect();
                let want: BTreeSet<_> = bag.iter().collect();
                let more = have.difference(&want).next().copied();
                let less = want.difference(&have).next().copied();
                Some(format!("{}, without it {}", quoted(more), quoted(less)))
            }
            Pattern::Lines(pattern) => {
                let most = pattern.len().max(lines.len());
                let at = (0..most).find(|&at| match (pattern.get(at), lines.get(at)) {
                    (Some(parts), Some(line)) => !fits(parts, line),
                    _ => true,
                })?;
                let want = pattern.get(at).map(|parts| text(parts));
                Some(format!("{}, without it {}", quoted(lines.get(at)), quoted(want.as_ref())))
            }
        }
    }

    /// Whether each line can be asked for at its place.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Pattern::Lines(_))
    }

    /// The lines with what they have in common.
    pub(crate) fn lines(&self) -> &[Vec<Option<String>>] {
        if let Pattern::Lines(lines) = self { lines } else { &[] }
    }

    /// What of it is not compared; none if all of it is.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self {
            Pattern::Varies => Some("not compared: it is another each time".to_owned()),
            Pattern::Bag(_) => Some("compared without order".to_owned()),
            Pattern::Lines(lines) => {
                let words = lines.iter().flatten().filter(|part| part.is_none()).count();
                (words > 0).then(|| format!("{words} words of it are others each time"))
            }
        }
    }
}

/// Whether a line is as known.
pub(crate) fn fits(parts: &[Option<String>], line: &str) -> bool {
    if let [None] = parts {
        return true;
    }
    let mut words = words(line);
    let same = parts.iter().all(|part| {
        words.next().is_some_and(|word| part.as_ref().is_none_or(|known| known == word))
    });
    same && words.next().is_none()
}

/// A known line for people.
pub(crate) fn text(parts: &[Option<String>]) -> String {
    parts.iter().map(|part| part.as_deref().unwrap_or("…")).collect()
}

fn quoted(line: Option<&String>) -> String {
    let cut = |line: &String| line.chars().take(300).collect::<String>();
    line.map_or_else(|| "nothing".to_owned(), |line| format!("{:?}", cut(line)))
}

/// What one line of all runs has in common: word by word where all have the same number of words.
fn line<'a>(runs: impl Iterator<Item = &'a str>) -> Vec<Option<String>> {
    let runs: Vec<Vec<&str>> = runs.map(|line| words(line).collect()).collect();
    let first = &runs[0];
    if runs.iter().any(|run| run.len() != first.len()) {
        return vec![None];
    }
    let common =
        |at: usize| runs.iter().all(|run| run[at] == first[at]).then(|| first[at].to_owned());
    (0..first.len()).map(common).collect()
}

/// Runs of letters and digits, and what stands between them a character at a time.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    iter::from_fn(move || {
        let first = rest.chars().next()?;
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        let end = match inside(first) {
            true => rest.find(|c| !inside(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(runs: &[&str]) -> Pattern {
        let runs: Vec<Vec<String>> = runs.iter().map(|run| lines(run)).collect();
        Pattern::learn(runs.iter().map(Vec::as_slice))
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_always_the_same_must_stay_the_same() {
        let pattern = learned(&["a 1\nb", "a 1\nb"]);
        assert_eq!(pattern.difference(&lines("a 1\nb")), None);
        let found = pattern.difference(&lines("a 2\nb"));
        assert_eq!(found.as_deref(), Some("\"a 2\", without it \"a 1\""));
        let found = pattern.difference(&lines("a 1\nb\nc"));
        assert_eq!(found.as_deref(), Some("\"c\", without it nothing"));
        assert_eq!(pattern.left_out(), None);
    }

    #[test]
    fn a_word_that_differs_is_left_out_and_its_line_is_not() {
        let pattern = learned(&["pid 17 of /tmp/x", "pid 18 of /tmp/x"]);
        assert_eq!(pattern.difference(&lines("pid 230 of /tmp/x")), None);
        let found = pattern.difference(&lines("pid 230 of /tmp/y"));
        assert_eq!(found.unwrap(), "\"pid 230 of /tmp/y\", without it \"pid … of /tmp/x\"");
        assert_eq!(pattern.left_out().unwrap(), "1 words of it are others each time");
    }

    #[test]
    fn another_order_is_a_bag() {
        let pattern = learned(&["a\nb", "b\na"]);
        assert_eq!(pattern.difference(&lines("b\na")), None);
        let found = pattern.difference(&lines("b\nc"));
        assert_eq!(found.as_deref(), Some("\"c\", without it \"a\""));
    }

    #[test]
    fn another_number_of_lines_is_not_compared_and_that_is_said() {
        let pattern = learned(&["a", "a\nb"]);
        assert_eq!(pattern.difference(&lines("c")), None);
        assert!(pattern.left_out().unwrap().starts_with("not compared"));
    }
}
