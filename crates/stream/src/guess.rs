//! What was probably meant: the known name that is nearest to a wrong one.

/// The nearest of the names, if any is near enough to be worth saying.
#[must_use]
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let is_part = |name: &str| {
        let name = name.to_lowercase();
        (wrong.len() > 2 && name.contains(&wrong)) || (name.len() > 2 && wrong.starts_with(&name))
    };
    // A third of the letters may be wrong; beyond that the hint would be noise.
    let limit = (wrong.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (distance(&wrong, &name.to_lowercase()), name))
        .filter(|&(distance, name)| distance <= limit || is_part(name))
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be put in, left out, changed or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    // Three rows of the table are enough: the one before the last is for swaps.
    let mut before: Vec<usize> = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let change = last[j] + usize::from(a != b);
            let mut least = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[track_caller]
    fn check(wrong: &str, want: Option<&str>) {
        let names = ["jobs", "events", "activity", "POSIX_OPENS", "POSIX_READS", "length", "exe"];
        assert_eq!(nearest(wrong, names), want);
    }

    #[test]
    fn letters_may_be_wrong_missing_or_swapped() {
        check("evnts", Some("events"));
        check("lenght", Some("length"));
        check("job", Some("jobs"));
        check("posix_open", Some("POSIX_OPENS"));
    }

    #[test]
    fn a_part_of_a_name_is_enough() {
        check("opens", Some("POSIX_OPENS"));
        check("executable", Some("exe"));
    }

    #[test]
    fn what_is_far_from_everything_is_left_alone() {
        check("temperature", None);
        check("x", None);
    }

    #[test]
    fn a_swap_counts_once() {
        assert_eq!(distance("lenght", "length"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }
}
