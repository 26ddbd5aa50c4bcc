//! What a finding says can be asked again: the commands that reports name are run, and show rows about the finding's
//! files and no others.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::netra::{Place, stored};

/// Runs a command as a person would paste it.
pub(crate) fn paste(place: &Place, line: &str) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_netra"));
    let folder = program.parent().expect("it lies in a folder");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir(place.path(".")).env_clear().env("PATH", path);
    let done = command.output().expect("a shell");
    (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
}

/// A report's findings and their symptoms.
pub(crate) fn all(findings: &Value) -> Vec<&Value> {
    let list = findings.as_array().expect("a list").iter();
    list.flat_map(|one| [vec![one], all(&one["symptoms"])].concat()).collect()
}

/// Checks every query of a log's report; gives how many there were.
fn check(place: &Place, log: &Path) -> usize {
    let report = place.netra(&["report", "--json", &log.to_string_lossy()]).json();
    let mut asked = 0;
    for finding in all(&report["findings"]) {
        let queries = finding["queries"].as_array().expect("a list");
        assert!(!queries.is_empty(), "{}: {finding}", log.display());
        for query in queries {
            let line = query["command"].as_str().expect("a log has a command");
            let sql = query["sql"].as_str().expect("SQL");
            assert!(sql.starts_with("SELECT ") && sql.contains(" WHERE job = job('"), "{sql}");
            let (code, text) = paste(place, line);
            assert!(matches!(code, Some(0 | 1)), "{line}");
            rows(line, &text, finding);
            asked += 1;
        }
    }
    asked
}

/// There are rows, and they are about the finding's files.
fn rows(line: &str, text: &str, finding: &Value) {
    let files: Vec<&str> = finding["files"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    let rows: Vec<&str> =
        text.lines().skip(usize::from(line.starts_with("netra export"))).collect();
    assert!(!rows.is_empty(), "no rows: {line}");
    if files.is_empty() || files.len() > 8 || line.starts_with("netra export") {
        return;
    }
    for row in rows {
        let file = row.split('\t').nth(5).expect("a line of counters");
        assert!(files.contains(&file), "{file} is not in {files:?}: {line}");
    }
}

#[test]
fn commands_of_the_examples_findings_show_rows() {
    let place = Place::with_example();
    assert!(check(&place, &PathBuf::from("wave.darshan")) >= 3);
}

#[test]
fn commands_of_real_logs_findings_show_rows() {
    let Some(folder) = stored() else {
        println!("skipped: there is no ../shared/logs beside the repository");
        return;
    };
    let place = Place::new();
    for log in [
        "imbalanced_io/imbalanced-io.darshan",
        "openpmd/jlbez_8a_benchmark_write_parallel_id1322696_8-21-14519-8141979180909667175_12.darshan",
        "mpi_io_test_with_dxt/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan",
    ] {
        let path = folder.join(log).canonicalize().expect("a log of the collection");
        assert!(check(&place, &path) >= 2, "{log}");
    }
}

/// The numbers behind a sentence are the numbers that its command shows.
#[test]
fn a_command_shows_the_numbers_of_the_sentence() {
    let place = Place::with_example();
    let report = place.netra(&["report", "--json", "wave.darshan"]).json();
    let mix = all(&report["findings"]).into_iter().find(|one| one["slug"] == "call-mix");
    let mix = mix.expect("the example writes more than it reads");
    let written = mix["evidence"].as_array().expect("a list");
    let written = written.iter().find(|one| one["name"] == "bytes written").expect("bytes");
    let lines = mix["queries"].as_array().expect("a list").iter();
    let texts = lines.map(|one| paste(&place, one["command"].as_str().expect("a command")).1);
    let text: String = texts.collect();
    let sum: u64 = text
        .lines()
        .filter(|row| row.contains("_BYTES_WRITTEN\t"))
        .map(|row| row.split('\t').nth(4).expect("a value").parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(Some(sum), written["bytes"].as_u64());
}
