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

#[test]
fn parse_help_has_examples() {
    assert_snapshot!(said(&["parse", "--help"]));
}

#[test]
fn dxt_help_has_examples() {
    assert_snapshot!(said(&["dxt", "--help"]));
}

#[test]
fn merge_help_has_examples() {
    assert_snapshot!(said(&["merge", "--help"]));
}

#[test]
fn convert_help_has_examples() {
    assert_snapshot!(said(&["convert", "--help"]));
}

#[test]
fn diff_help_has_examples() {
    assert_snapshot!(said(&["diff", "--help"]));
}

/// All lines of a parse are judged elsewhere; here are those of one counter, and what surrounds
/// them, without the library's explanations.
#[test]
fn parse_of_all_kinds() {
    let text = said(&["parse", "--all", "wave.darshan"]);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| {
            if line.starts_with('#') { !line.starts_with("#  ") } else { line.contains("_MODE") }
        })
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn several_logs_are_named() {
    for command in ["parse", "dxt"] {
        let one = said(&[command, "wave.darshan"]);
        let two = said(&[command, "wave.darshan", "wave.darshan"]);
        assert_eq!(two, format!("# log: wave.darshan\n\n{one}").repeat(2));
    }
}

#[test]
fn dxt_prints_segments() {
    let text = said(&["dxt", "wave.darshan"]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    // 4 processes, 40 steps, and 2 checkpoints of 4 blocks each; the field through both layers.
    assert_eq!(lines.iter().filter(|line| line.starts_with(" X_POSIX")).count(), 4 * (40 + 8));
    assert_eq!(lines.iter().filter(|line| line.starts_with(" X_MPIIO")).count(), 4 * 40);
    let start: Vec<&str> = text.lines().take(60).collect();
    assert_snapshot!(start.join("\n"));
}

#[test]
fn derived_numbers_as_json() {
    let done = Place::with_example().netra(&[
        "parse",
        "--total",
        "--file",
        "--perf",
        "--format",
        "json",
        "wave.darshan",
    ]);
    let json = done.json();
    let posix = &json["modules"][0];
    assert_eq!(posix["total"]["POSIX_WRITES"], 4 * (40 + 8));
    assert_eq!(posix["total"]["POSIX_BYTES_WRITTEN"], 4 * (40 * 4096 + 8 * 1_048_576));
    assert_eq!(posix["files"]["unique"]["files"], 4);
    assert_eq!(posix["files"]["shared"]["bytes"], 4 * 40 * 4096);
    assert_eq!(posix["performance"]["bytes"], posix["total"]["POSIX_BYTES_WRITTEN"]);
    assert!(posix["records"].is_null());
}

#[test]
fn counters_as_csv() {
    let text = said(&["parse", "--all", "--format", "csv", "wave.darshan"]);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("log,") || line.contains("BYTES_WRITTEN,"))
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn segments_as_csv() {
    let text = said(&["dxt", "--format", "csv", "wave.darshan"]);
    assert_eq!(text.lines().count(), 1 + 4 * (40 + 8) + 4 * 40);
    let start: Vec<&str> = text.lines().take(4).collect();
    assert_snapshot!(start.join("\n"));
}
