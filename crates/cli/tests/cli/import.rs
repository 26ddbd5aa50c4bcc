//! Logs go into a store and come out again: once each, and the same.

use std::fs;

use serde_json::Value;

use crate::netra::{Done, Place, stored};

/// The program with a store in the test's folder.
#[track_caller]
pub(crate) fn netra(place: &Place, words: &[&str]) -> Done {
    let mut command = place.command(words);
    let done = command.env("NETRA_STORE", place.path("store")).output().expect("netra starts");
    Done {
        code: done.status.code().expect("netra ends by itself, not by a signal"),
        out: done.stdout,
        err: String::from_utf8(done.stderr).expect("complaints are text"),
    }
}

/// Imports with `--verbose`; gives each source's job.
#[track_caller]
pub(crate) fn jobs(place: &Place, words: &[&str]) -> Vec<(String, String)> {
    let done = netra(place, &[&["import", "--verbose"], words].concat());
    let pairs = done.err.lines().filter_map(|line| {
        let (source, rest) = line.strip_prefix("netra: ")?.split_once(": ")?;
        let job = rest.split_once(" rows of job ")?.1;
        Some((source.to_owned(), job.to_owned()))
    });
    pairs.collect()
}

/// A report as JSON without the name of what it is about, and without commands that read a log's file.
#[track_caller]
fn report(place: &Place, what: &str) -> Value {
    let done = netra(place, &["report", "--json", what]);
    assert!((0..=1).contains(&done.code), "{what}: {} {}", done.code, done.err);
    let mut json = done.json();
    strip(&mut json, what);
    json
}

/// Takes the name of the source out of every text.
fn strip(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => *text = text.replace(name, "IT"),
        Value::Array(list) => list.iter_mut().for_each(|one| strip(one, name)),
        Value::Object(map) => {
            // `netra parse` and `netra export` of a log: a stored job has SQL beside it.
            if let Some(Value::String(sql)) = map.get_mut("sql") {
                *sql = of_any_job(sql);
                map.remove("command");
            }
            map.values_mut().for_each(|one| strip(one, name));
        }
        _ => {}
    }
}

/// A question without its job: a log knows the number, a store the key.
fn of_any_job(sql: &str) -> String {
    let (before, rest) = sql.split_once("job('").expect("a question about a job");
    let (_, after) = rest.split_once("')").expect("a question about a job");
    format!("{before}job(IT){after}")
}

/// The lines of a command that are not comments.
#[track_caller]
fn lines(place: &Place, words: &[&str]) -> Vec<String> {
    let done = netra(place, words);
    assert!((0..=1).contains(&done.code), "{words:?}: {}", done.err);
    let lines = done.text().lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_log_is_imported_once_and_damage_is_named() {
    let place = Place::with_example();
    fs::copy(place.path("wave.darshan"), place.path("copy.darshan")).expect("a copy");
    place.file("broken.darshan", b"this is no log");
    let done = netra(&place, &["import", "wave.darshan", "copy.darshan", "broken.darshan"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("netra: broken.darshan: "), "{}", done.err);
    let last = done.err.lines().last().expect("a summary");
    assert!(last.starts_with("netra: 1 imported into "), "{last}");
    assert!(last.ends_with(", 1 known already, 1 left out"), "{last}");
    let done = netra(&place, &["import", "copy.darshan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("0 imported into "), "{}", done.err);
    let done = netra(&place, &["import", "broken.darshan"]);
    assert_eq!(done.code, 2, "{}", done.err);
    let done = netra(&place, &["report", "nobody"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("no stored job is called nobody"), "{}", done.err);
}

#[test]
fn a_stored_job_is_its_log() {
    let place = Place::with_example();
    let imported = jobs(&place, &["wave.darshan"]);
    let [(_, job)] = &imported[..] else { panic!("{imported:?}") };
    assert_eq!(report(&place, job), report(&place, "wave.darshan"));
    let done = netra(&place, &["export", job, "--as", "darshan", "-o", "again.darshan"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    // Darshan 3.5.0 can not read a trace that tells threads.
    let done = netra(&place, &["convert", "--drop-threads", "wave.darshan", "-o", "old.darshan"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for command in ["parse", "dxt"] {
        let (new, old) =
            (lines(&place, &[command, "again.darshan"]), lines(&place, &[command, "old.darshan"]));
        assert_eq!(new, old, "{command}");
    }
    // The number, and the begin of the key, lead to the same job.
    let number = job.split('.').nth(1).expect("darshan.NUMBER.DIGITS");
    let by_number = netra(&place, &["report", "--json", number]);
    assert_eq!(by_number.code, netra(&place, &["report", "--json", job]).code);
    let compared = netra(&place, &["compare", "wave.darshan", job]);
    assert_eq!(compared.code, 0, "{}", compared.err);
    let history = netra(&place, &["history", "darshan."]);
    assert_eq!(history.code, 0, "{}", history.err);
}

#[test]
fn messages_of_the_connector_come_back() {
    let place = Place::with_example();
    let csv = netra(&place, &["export", "wave.darshan", "--as", "connector-csv"]);
    place.file("sent.csv", &csv.out);
    let messages = csv.text().lines().count() - 1;
    assert!(messages > 0, "{}", csv.err);
    let imported = jobs(&place, &["sent.csv"]);
    let [(_, job)] = &imported[..] else { panic!("{imported:?}") };
    assert!(job.starts_with("connector."), "{job}");
    let out = netra(&place, &["export", job, "--as", "json-lines"]);
    assert_eq!(out.text().lines().count(), messages, "{}", out.err);
}

#[test]
fn logs_of_the_collection_come_back() {
    let Some(folder) = stored() else {
        eprintln!("skipped: there is no ../shared/logs beside the repository");
        return;
    };
    let place = Place::new();
    let folder = folder.to_str().expect("a readable path").to_owned();
    let imported = jobs(&place, &[&folder]);
    assert!(imported.len() >= 100, "{} logs", imported.len());
    let mut wrong = Vec::new();
    // All are imported; asking five programs about each would take minutes.
    for (log, job) in imported.iter().step_by(7) {
        if report(&place, job) != report(&place, log) {
            wrong.push((log, "report"));
        }
        let done = netra(&place, &["export", job, "--as", "darshan", "-o", "again.darshan"]);
        assert_eq!(done.code, 0, "{log}: {}", done.err);
        if lines(&place, &["parse", "again.darshan"]) != lines(&place, &["parse", log]) {
            wrong.push((log, "counters"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ: {wrong:#?}", wrong.len(), imported.len());
}
