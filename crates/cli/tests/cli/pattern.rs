//! Many logs at once: folders, and patterns that the program expands itself.

use crate::netra::{Place, example};

/// A place with three logs in two folders, and something that is no log.
fn place() -> Place {
    let place = Place::new();
    for name in ["a.darshan", "2026/b.darshan", "2026/11/c.darshan"] {
        place.file(name, &example());
    }
    place.file("2026/notes.txt", b"no log");
    place
}

/// The logs that a word stands for, as `info --format csv` names them.
#[track_caller]
fn check(words: &[&str], logs: &[&str]) {
    let mut all = vec!["info", "--format", "csv"];
    all.extend(words);
    let done = place().netra(&all);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
    let found: Vec<&str> =
        done.text().lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(found, logs, "{words:?}");
}

#[test]
fn a_pattern_is_expanded_in_order() {
    check(&["*.darshan"], &["a.darshan"]);
}

#[test]
fn two_stars_cross_folders() {
    check(&["**/*.darshan"], &["2026/11/c.darshan", "2026/b.darshan", "a.darshan"]);
}

#[test]
fn a_folder_stands_for_its_logs() {
    check(&["2026"], &["2026/11/c.darshan", "2026/b.darshan"]);
    check(&["a.darshan", "2026/11"], &["a.darshan", "2026/11/c.darshan"]);
}

#[test]
fn a_pattern_without_a_match_is_said() {
    for (word, complaint) in [
        ("*.log", "netra: no file matches *.log\n"),
        ("2026/[", "netra: 2026/[ is not a pattern: "),
    ] {
        let done = place().netra(&["info", word]);
        assert_eq!(done.code, 2, "{word}");
        assert!(done.err.starts_with(complaint), "{}", done.err);
    }
}

#[test]
fn a_folder_without_logs_is_said() {
    let place = Place::new();
    place.file("empty/notes.txt", b"");
    let done = place.netra(&["info", "empty"]);
    assert_eq!((done.code, done.err.as_str()), (2, "netra: there is no *.darshan below empty\n"));
}
