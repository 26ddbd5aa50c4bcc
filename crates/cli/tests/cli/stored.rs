//! The program's whole output against what the real tools printed for a collection of logs, which
//! lies beside the repository. Where they are known to be wrong is listed once, with the
//! library's own test of its lines.

#[path = "../../../darshan/tests/corpus/known.rs"]
mod known;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use known::{COUNTERS, Difference, TOTALS};

use crate::netra::{Place, stored};

/// Every log of the collection; none where there is no collection.
fn logs() -> Vec<PathBuf> {
    let Some(folder) = stored() else {
        eprintln!("skipped: there is no ../shared/logs beside the repository");
        return Vec::new();
    };
    let pattern = format!("{}/*/*.darshan", folder.display());
    let logs: Vec<PathBuf> =
        glob::glob(&pattern).expect("a pattern").map(|log| log.expect("a log")).collect();
    assert!(logs.len() >= 142, "{} logs", logs.len());
    logs
}

/// What a tool printed for a log, where it was kept.
fn kept(log: &Path, end: &str) -> Option<Vec<String>> {
    let bytes = fs::read(log.with_extension(end)).ok()?;
    let mut text = Vec::new();
    if end.ends_with(".zst") && !bytes.is_empty() {
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).expect("zstd");
        decoder.read_to_end(&mut text).expect("zstd");
    } else {
        text = bytes;
    }
    Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

/// The lines of a command. Partial modules make the exit code 1, and nothing else does.
fn said(words: &[&str], log: &Path) -> Vec<String> {
    let mut all = words.to_vec();
    all.push(log.to_str().expect("a readable path"));
    let done = Place::new().netra(&all);
    let partial = done.err.lines().all(|line| line.contains("ran out of memory"));
    assert!(partial && (0..=1).contains(&done.code), "{all:?}: {} {}", done.code, done.err);
    assert_eq!(done.code == 1, !done.err.is_empty(), "{all:?}");
    String::from_utf8_lossy(&done.out).lines().map(str::to_owned).collect()
}

#[track_caller]
fn compare(log: &Path, got: &[String], want: &[String], known: &[Difference]) {
    let name = log.file_stem().and_then(|stem| stem.to_str()).expect("a readable name");
    assert_eq!(got.len(), want.len(), "{name}: number of lines");
    for (got, want) in got.iter().zip(want).filter(|(got, want)| got != want) {
        let explained = known.iter().any(|known| known.explains(name, got, want));
        assert!(explained, "{name}\n ours: {got}\ntheir: {want}");
    }
}

#[test]
fn parse_prints_what_darshan_parser_prints() {
    for log in logs() {
        let lines = said(&["parse"], &log);
        let want = kept(&log, "counters.tsv.zst").expect("kept for every log");
        if let Some(header) = kept(&log, "header.txt") {
            assert_eq!(lines[..header.len()], header[..], "{}", log.display());
        }
        let counters: Vec<String> =
            lines.into_iter().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        compare(&log, &counters, &want, COUNTERS);
    }
}

#[test]
fn dxt_prints_what_darshan_dxt_parser_prints() {
    for log in logs() {
        let mut lines = said(&["dxt"], &log);
        lines.retain(|line| line.starts_with(" X_"));
        let want = kept(&log, "dxt.tsv.zst").expect("kept for every log");
        compare(&log, &lines, &want, COUNTERS);
    }
}

#[test]
fn parse_derives_what_darshan_parser_derives() {
    const VALUES: [&str; 12] = [
        "total_",
        "# total:",
        "# read_only:",
        "# write_only:",
        "# read_write:",
        "# unique:",
        "# shared:",
        "# total_bytes:",
        "# unique files:",
        "# shared files:",
        "# agg_time",
        "# agg_perf",
    ];
    for log in logs() {
        let Some(mut want) = kept(&log, "derived.txt") else { continue };
        // A title, which is ours to word.
        want.retain(|line| !line.starts_with("# I/O timing"));
        let mut lines = said(&["parse", "--total", "--file", "--perf"], &log);
        lines.retain(|line| VALUES.iter().any(|value| line.starts_with(value)));
        compare(&log, &lines, &want, TOTALS);
    }
}
