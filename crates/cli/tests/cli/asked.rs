//! What a finding says can be asked of a store: logs go in, and the SQL that their reports name gives the rows that the
//! report's commands give for the log, and the numbers that the finding stands on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::import::{jobs, netra};
use crate::netra::{Place, stored};
use crate::query::{all, paste};

/// One row as text by column, names in lower case.
type Row = BTreeMap<String, String>;

/// The answer to a question.
#[track_caller]
fn rows(place: &Place, sql: &str) -> Vec<Row> {
    let done = netra(place, &["sql", "--format", "json", sql]);
    assert_eq!(done.code, 0, "{sql}: {}", done.err);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let list = done.json();
    let rows = list.as_array().expect("an array").iter();
    rows.map(|row| {
        let row = row.as_object().expect("an object").iter();
        row.map(|(name, value)| (name.clone(), text(value))).collect()
    })
    .collect()
}

/// Counters of `netra parse`, by file, rank and name.
fn counters(text: &str) -> BTreeMap<[String; 3], f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split('\t').collect();
            let key = [parts[5].to_owned(), parts[1].to_owned(), parts[3].to_lowercase()];
            (key, parts[4].parse().expect("a number"))
        })
        .collect()
}

/// The same of rows from SQL.
fn cells(rows: &[Row]) -> BTreeMap<[String; 3], f64> {
    let mut found = BTreeMap::new();
    for row in rows {
        let counters = row.iter().filter(|(name, _)| !["file", "rank"].contains(&name.as_str()));
        for (name, value) in counters {
            let key = [row["file"].clone(), row["rank"].clone(), name.clone()];
            found.insert(key, value.parse().expect("a number"));
        }
    }
    found
}

/// Checks one question against the command beside it; gives its rows.
#[track_caller]
fn ask(place: &Place, query: &Value) -> Vec<Row> {
    let (sql, line) = (query["sql"].as_str().expect("SQL"), query["command"].as_str());
    let got = rows(place, sql);
    assert!(!got.is_empty(), "no rows: {sql}");
    let line = line.expect("a log has a command");
    let (code, text) = paste(place, line);
    assert!(matches!(code, Some(0 | 1)), "{line}");
    if line.starts_with("netra export") {
        // A line of names, and a line for each call.
        assert_eq!(got.len(), text.lines().count() - 1, "{sql}\n{line}");
    } else if !line.contains("--module LUSTRE") {
        let (got, want) = (cells(&got), counters(&text));
        assert!(got.keys().eq(want.keys()), "{sql}\n{line}\n{got:?}\n{want:?}");
        for (key, value) in &got {
            // The command prints six digits behind the point.
            assert!((value - want[key]).abs() < 1e-6, "{key:?}: {sql}\n{line}");
        }
    }
    got
}

/// A sum over all rows that have the column.
fn sum(rows: &[Row], column: &str) -> f64 {
    let values = rows.iter().filter_map(|row| row.get(column));
    values.filter(|value| *value != "null").map(|value| value.parse::<f64>().expect(column)).sum()
}

/// The numbers of findings that are sums of columns: rule, what the evidence is called, the columns.
const SUMS: &[(&str, &str, &[&str])] = &[
    ("call-mix", "reads", &["posix_reads", "stdio_reads"]),
    ("call-mix", "writes", &["posix_writes", "stdio_writes"]),
    ("call-mix", "bytes read", &["posix_bytes_read", "stdio_bytes_read"]),
    ("call-mix", "bytes written", &["posix_bytes_written", "stdio_bytes_written"]),
    ("independent-reads", "independent", &["mpiio_indep_reads"]),
    ("independent-reads", "collective", &["mpiio_coll_reads"]),
    ("independent-writes", "independent", &["mpiio_indep_writes"]),
    ("independent-writes", "collective", &["mpiio_coll_writes"]),
    ("misaligned-file", "misaligned calls", &["posix_file_not_aligned"]),
    ("one-rank-heavy", "bytes by all", &["posix_bytes_read", "posix_bytes_written"]),
];

/// The value of an evidence, whatever its unit.
fn value(evidence: &Value) -> f64 {
    let value =
        ["count", "bytes", "seconds", "ratio"].iter().find_map(|unit| evidence[*unit].as_f64());
    value.unwrap_or_else(|| panic!("{evidence}"))
}

/// Imports a log, asks every question of its report, and compares numbers; gives the numbers that were compared.
fn check(place: &Place, log: &Path) -> Vec<String> {
    let log = log.to_string_lossy();
    let imported = jobs(place, &[&log]);
    let [(_, job)] = &imported[..] else { panic!("{log} was not imported") };
    let report = place.netra(&["report", "--json", &log]).json();
    let mut compared = Vec::new();
    for finding in all(&report["findings"]) {
        let slug = finding["slug"].as_str().expect("a slug");
        let queries = finding["queries"].as_array().expect("a list").iter();
        let rows: Vec<Row> = queries.flat_map(|query| ask(place, query)).collect();
        for evidence in finding["evidence"].as_array().expect("a list") {
            let known =
                SUMS.iter().find(|one| (one.0, evidence["name"].as_str()) == (slug, Some(one.1)));
            let Some((_, name, columns)) = known else { continue };
            let sums: f64 = columns.iter().map(|column| sum(&rows, column)).sum();
            assert_eq!(sums, value(evidence), "{log}: {slug}: {name}");
            compared.push(format!("{slug}: {name}"));
        }
    }
    // The stored job's own report asks by its key, which no other job has.
    let report = netra(place, &["report", "--json", job]).json();
    for query in
        all(&report["findings"]).iter().flat_map(|one| one["queries"].as_array().expect("a list"))
    {
        let sql = query["sql"].as_str().expect("SQL");
        assert!(sql.contains(&format!("job('{job}')")), "{sql}");
        assert!(!rows(place, sql).is_empty(), "{sql}");
    }
    compared
}

#[test]
fn the_examples_findings_can_be_asked_of_a_store() {
    let place = Place::with_example();
    let compared = check(&place, &PathBuf::from("wave.darshan"));
    assert!(compared.iter().any(|one| one == "call-mix: bytes written"), "{compared:?}");
}

#[test]
fn real_logs_findings_can_be_asked_of_a_store() {
    let Some(folder) = stored() else {
        println!("skipped: there is no ../shared/logs beside the repository");
        return;
    };
    let mut compared = BTreeSet::new();
    for log in [
        "imbalanced_io/imbalanced-io.darshan",
        "openpmd/jlbez_8a_benchmark_write_parallel_id1322696_8-21-14519-8141979180909667175_12.darshan",
        "mpi_io_test_with_dxt/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan",
    ] {
        let path = folder.join(log).canonicalize().expect("a log of the collection");
        compared.extend(check(&Place::new(), &path));
    }
    assert!(compared.len() >= 4, "{compared:?}");
}
