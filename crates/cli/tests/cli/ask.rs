//! Asking the store from the command line: values against what the log's own commands say, every format, and words for what is wrong.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::import::netra as ask;
use crate::netra::{Place, python};

/// A place whose store holds the example.
fn place() -> Place {
    let place = Place::with_example();
    let done = ask(&place, &["import", "wave.darshan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    place
}

/// The rows of a question as JSON.
#[track_caller]
fn rows(place: &Place, words: &[&str]) -> Vec<Value> {
    let done = ask(place, &[words, &["--format", "json"]].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
    done.json().as_array().expect("an array").clone()
}

/// The sum of a counter over all records, as `netra parse` prints them.
fn counted(place: &Place, counter: &str) -> i64 {
    let done = place.netra(&["parse", "wave.darshan"]);
    let values = done.text().lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields.get(3) == Some(&counter)).then(|| fields[4].parse::<i64>().expect("a number"))
    });
    values.sum()
}

#[test]
fn answers_are_what_the_log_says() {
    let place = place();
    for counter in ["POSIX_BYTES_WRITTEN", "POSIX_OPENS", "STDIO_READS", "MPIIO_INDEP_OPENS"] {
        let (table, _) = counter.split_once('_').expect("a module");
        let sql = format!("SELECT sum({counter}) AS n FROM {}", table.to_lowercase());
        let want = counted(&place, counter);
        assert_eq!(rows(&place, &["sql", &sql]), [serde_json::json!({ "n": want })], "{counter}");
    }
    // The trace: each line of darshan-dxt-parser is an event.
    let dxt = place.netra(&["dxt", "wave.darshan"]);
    let lines = dxt.text().lines().filter(|line| line.trim_start().starts_with("X_"));
    let writes = { lines }.filter(|line| line.contains("write")).count();
    let said = rows(&place, &["sql", "SELECT count(*) AS n FROM events WHERE op = 'write'"]);
    assert_eq!(said[0]["n"].as_u64(), Some(writes as u64));
    let calls = rows(&place, &["sql", "SELECT sum(calls) AS n FROM activity WHERE op = 'write'"]);
    assert_eq!(calls[0]["n"], said[0]["n"]);
}

#[test]
fn a_list_of_jobs_fits_a_hundred_columns() {
    let place = place();
    let done = ask(&place, &["jobs"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let lines: Vec<&str> = done.text().lines().collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{}", done.text());
    let names: Vec<&str> = lines[0].split('|').map(str::trim).collect();
    assert_eq!(names, ["job", "began", "seconds", "ranks", "user", "program"]);
    let [job] = &rows(&place, &["jobs"])[..] else { panic!("one job") };
    let line = lines.iter().find(|line| line.contains("wave")).expect("the job");
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    assert_eq!((cells[0], cells[3], cells[5]), (job["job"].as_str().expect("a key"), "4", "wave"));
    // Whole seconds, with the zone.
    assert!(cells[1].len() == "2026-11-15 23:35:36 +00:00".len(), "{line}");
}

#[test]
fn jobs_and_events_need_no_sql() {
    let place = place();
    let jobs = rows(&place, &["jobs"]);
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!(job["nprocs"], 4);
    assert!(job["exe"].as_str().is_some_and(|exe| exe.ends_with("wave")), "{job}");
    assert_eq!(rows(&place, &["jobs", "--user", "1000"]).len(), 1);
    assert_eq!(rows(&place, &["jobs", "--exe", "wave", "--since", "2020-01-01"]).len(), 1);
    assert_eq!(rows(&place, &["jobs", "--program", "wave", "--from", "2020-01-01"]).len(), 1);
    let in_vain = |words: &[&str], says: &str| {
        let done = ask(&place, words);
        assert_eq!((done.code, done.err.as_str()), (1, says), "{words:?}");
    };
    in_vain(&["jobs", "--program", "nobody's"], "netra: no job matches what was asked for\n");
    in_vain(&["jobs", "--user", "nobody1"], "netra: no job matches what was asked for\n");
    in_vain(&["jobs", "--to", "1999-01-01"], "netra: no job matches what was asked for\n");
    in_vain(&["jobs", "--until", "2020-01-01"], "netra: no job matches what was asked for\n");
    let key = job["job"].as_str().expect("a key");
    let all = rows(&place, &["events", key]);
    let number = key.split('.').nth(1).expect("darshan.NUMBER.DIGITS");
    assert_eq!(rows(&place, &["events", number]), all, "the number means the same job");
    let of_two = rows(&place, &["events", key, "--rank", "2", "--rank", "0"]);
    assert!(!of_two.is_empty() && of_two.len() < all.len());
    assert!(of_two.iter().all(|row| row["rank"] == 0 || row["rank"] == 2));
    let writes =
        rows(&place, &["events", key, "--op", "WRITE", "--layer", "posix", "--file", "field"]);
    assert!(!writes.is_empty());
    for row in &writes {
        assert!(row["file"].as_str().is_some_and(|file| file.ends_with("field.dat")), "{row}");
        assert_eq!(row["layer"], "POSIX");
    }
    assert_eq!(rows(&place, &["events", key, "-n", "3"]), all[..3]);
    // Seconds of the job: what is before a moment and what is from it on is everything.
    let early = rows(&place, &["events", key, "--to", "0.11"]).len();
    let late = rows(&place, &["events", key, "--from", "0.11"]).len();
    assert_eq!(early + late, all.len());
    let nobody = ask(&place, &["events", "nobody"]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.err.contains("nobody"), "{}", nobody.err);
}

#[test]
fn every_format_says_the_same() {
    let place = place();
    let sql = "SELECT rank, op, count(*) AS n, NULL AS nothing, 'a, \"b\"' AS text FROM events GROUP BY rank, op ORDER BY rank, op";
    let want = rows(&place, &["sql", sql]);
    assert_eq!(want.len(), 4, "the example's ranks write");
    let csv = ask(&place, &["sql", sql, "--format", "csv"]);
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!(lines[0], "rank,op,n,nothing,text");
    assert_eq!(lines.len(), want.len() + 1);
    let first = &want[0];
    let line = format!(
        "{},{},{},,\"a, \"\"b\"\"\"",
        first["rank"],
        first["op"].as_str().expect("a text"),
        first["n"]
    );
    assert_eq!(lines[1], line);
    let lines = ask(&place, &["sql", sql, "--format", "jsonl"]);
    let each: Vec<Value> =
        lines.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(each, want);
    let table = ask(&place, &["sql", sql]);
    assert!(
        table.text().lines().next().is_some_and(|head| head.contains("rank")),
        "{}",
        table.text()
    );
    for (format, file) in [("parquet", "x.parquet"), ("arrow", "x.arrow")] {
        let done = ask(&place, &["sql", sql, "--format", format, "-o", file]);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{format}");
        let bytes = fs::read(place.path(file)).expect("the file");
        assert!(bytes.len() > 100);
        let Some(python) = python() else { continue };
        let read = match format {
            "parquet" => "import pyarrow.parquet as p; t = p.read_table(f)",
            _ => "import pyarrow.ipc as p; t = p.open_stream(f).read_all()",
        };
        let script =
            format!("import sys, json; f = sys.argv[1]; {read}; print(json.dumps(t.to_pylist()))");
        let done = Command::new(python).args(["-c", &script]).arg(place.path(file)).output();
        let done = done.expect("Python");
        let said: Vec<Value> = serde_json::from_slice(&done.stdout).expect("JSON");
        let without = |row: &Value| {
            let mut row = row.clone();
            row.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
            row
        };
        assert_eq!(
            said.iter().map(without).collect::<Vec<_>>(),
            want.iter().map(without).collect::<Vec<_>>(),
            "{format}"
        );
    }
}

#[test]
fn what_was_probably_meant_is_named() {
    let place = place();
    let refused = |sql: &str, want: &str| {
        let done = ask(&place, &["sql", sql]);
        assert_eq!(done.code, 2, "{sql}: {}", done.err);
        assert!(done.err.contains(want), "{sql}: {}", done.err);
        assert!(done.out.is_empty(), "{sql}");
    };
    refused("SELECT * FROM evnts", "did you mean \"events\"?");
    refused("SELECT lenght FROM events", "did you mean \"length\"?");
    refused("SELECT posix_byte_read FROM posix", "did you mean \"posix_bytes_read\"?");
    refused("DROP TABLE events", "DROP TABLE is refused");
    refused("INSERT INTO jobs (job) VALUES ('x')", "refused");
    refused("SELECT job('nobody')", "nobody");
    refused("SELEC 1", "");
    let done = place.netra(&["sql", "--store", "/no/such/store", "SELECT 1"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("there is no store at /no/such/store"), "{}", done.err);
    let done = place.netra(&["sql", "--store", "gopher://x/y", "SELECT 1"]);
    assert!(
        done.code == 2 && done.err.contains("gopher://x/y is no place of a store"),
        "{}",
        done.err
    );
    // A wrong question leaves an old file alone.
    place.file("old.csv", b"old");
    assert_eq!(ask(&place, &["sql", "SELECT x", "-o", "old.csv"]).code, 2);
    assert_eq!(fs::read(place.path("old.csv")).expect("the file"), b"old");
}

#[test]
fn questions_are_read_from_standard_input() {
    let place = place();
    place.file("questions.sql", b"SELECT 1 AS a;\n-- a remark\nSELECT 2 AS b,\n 3 AS c;\n");
    let mut command = place.command(&["sql", "--format", "csv"]);
    command.env("NETRA_STORE", place.path("store"));
    command.stdin(Stdio::from(fs::File::open(place.path("questions.sql")).expect("the file")));
    let done = command.output().expect("netra starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "a\n1\nb,c\n2,3\n");
}

#[test]
fn a_store_is_counted_checked_put_together_and_expires() {
    let place = place();
    let stats = ask(&place, &["store", "stats"]);
    assert_eq!(stats.code, 0);
    let events = rows(&place, &["sql", "SELECT count(*) AS n FROM events"])[0]["n"].to_string();
    let line = stats.text().lines().find(|line| line.starts_with("events ")).expect("a row");
    let fields: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(fields[1..3], ["1", events.as_str()], "{line}");
    let check = ask(&place, &["store", "check", "--deep"]);
    assert_eq!(check.code, 0, "{}", check.text());
    assert!(check.text().ends_with("is in order\n"), "{}", check.text());
    let done = ask(&place, &["store", "compact"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let expired = ask(&place, &["store", "expire", "events", "--keep", "1s"]);
    assert_eq!(expired.code, 0);
    assert!(expired.text().starts_with("events: 1 files, "), "{}", expired.text());
    assert_eq!(rows(&place, &["sql", "SELECT count(*) AS n FROM events"])[0]["n"], 0);
    // Roll-ups outlive what they were made of.
    let left = rows(&place, &["sql", "SELECT sum(calls) AS n FROM activity"]);
    assert!(left[0]["n"].as_u64().is_some_and(|calls| calls > 0));
    let wrong = ask(&place, &["store", "expire", "evnts", "--keep", "1s"]);
    assert!(wrong.code == 2 && wrong.err.contains("no table is called evnts"), "{}", wrong.err);
    // A file that is gone is named, with the exit code of what is missing.
    let folder = place.path("store/activity");
    let day = fs::read_dir(&folder).expect("a folder").flatten();
    let day = { day }.find(|entry| entry.file_name().to_string_lossy().starts_with("day="));
    fs::remove_dir_all(day.expect("a day").path()).expect("removed");
    let check = ask(&place, &["store", "check"]);
    assert_eq!(check.code, 1);
    assert!(check.text().contains("activity") && check.text().contains("day="), "{}", check.text());
}

#[test]
fn a_file_url_is_a_place() {
    let place = place();
    let url = format!("file://{}", place.path("store").display());
    let done =
        place.netra(&["sql", "--store", &url, "--format", "csv", "SELECT count(*) FROM jobs"]);
    assert_eq!((done.code, done.text().lines().last()), (0, Some("1")), "{}", done.err);
}
