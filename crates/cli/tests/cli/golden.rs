//! What the program says, kept and compared. A change here is a change that users see.

use insta::assert_snapshot;

use crate::netra::Place;

/// The whole output of a command that succeeds, on the example log.
#[track_caller]
fn said(words: &[&str]) -> String {
    let done = Place::with_example().netra(words);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
    done.text().to_owned()
}

#[test]
fn help_lists_the_commands() {
    assert_snapshot!(said(&["--help"]));
}

#[test]
fn info_is_one_screen() {
    let text = said(&["info", "wave.darshan"]);
    assert!(text.lines().count() <= 40, "{} lines", text.lines().count());
    assert_snapshot!(text);
}

#[test]
fn info_help_has_examples() {
    assert_snapshot!(said(&["info", "--help"]));
}

#[test]
fn info_as_json() {
    assert_snapshot!(said(&["info", "--format", "json", "wave.darshan"]));
}

#[test]
fn info_as_csv() {
    assert_snapshot!(said(&["info", "--format", "csv", "wave.darshan", "wave.darshan"]));
}
