//! `netra import` is killed in the middle and started again: every log is there once, whatever it was doing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::import::netra;
use crate::netra::Place;

/// Logs that are imported together.
const LOGS: usize = 6;
/// Tables in the order in which an import writes them, from its first to its last.
const MOMENTS: [&str; 7] = ["processes", "activity", "events", "files", "posix", "jobs", "imports"];

/// Logs of different jobs in `logs`, all made of the example.
fn place() -> Place {
    let place = Place::with_example();
    std::fs::create_dir(place.path("logs")).expect("a folder");
    for key in 0..LOGS {
        let (number, log) = (key.to_string(), format!("logs/{key}.darshan"));
        let words = ["convert", "--anonymise", "names,jobid", "--key", &number, "wave.darshan"];
        let done = place.netra(&[&words[..], &["-o", &log]].concat());
        assert_eq!(done.code, 0, "{}", done.err);
    }
    place
}

/// Rows by table and job.
#[track_caller]
fn rows(place: &Place) -> BTreeMap<(String, String), u64> {
    let tables = netra(place, &["store", "stats"]);
    let tables: Vec<&str> =
        tables.text().lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    let one = |table: &&str| {
        format!("SELECT '{table}' AS name, job, count(*) AS n FROM {table} GROUP BY job")
    };
    let sql = tables.iter().map(one).collect::<Vec<_>>().join(" UNION ALL ");
    let done = netra(place, &["sql", "--format", "json", &sql]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let answer = done.json();
    let all = answer.as_array().expect("rows").iter();
    all.map(|row| ((text(&row["name"]), text(&row["job"])), row["n"].as_u64().expect("a count")))
        .collect()
}

fn begin(place: &Place) -> Child {
    let mut command = place.command(&["import", "logs"]);
    command.env("NETRA_STORE", place.path("store")).stderr(Stdio::null());
    command.spawn().expect("netra starts")
}

/// Kills an import as soon as a file is there; false if it had ended by then.
fn kill_at(import: &mut Child, file: &Path) -> bool {
    let until = Instant::now() + Duration::from_secs(120);
    while !file.exists() {
        if import.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(Instant::now() < until, "{} never came", file.display());
        std::thread::sleep(Duration::from_micros(100));
    }
    // SIGKILL.
    import.kill().expect("a child");
    let ended = import.wait().expect("a child");
    std::os::unix::process::ExitStatusExt::signal(&ended) == Some(9)
}

#[test]
fn an_import_that_was_killed_anywhere_is_completed_and_nothing_is_there_twice() {
    let place = place();
    let whole = netra(&place, &["import", "logs"]);
    assert_eq!(whole.code, 0, "{}", whole.err);
    let wanted = rows(&place);
    let jobs = wanted.keys().filter(|(table, _)| table == "jobs").count();
    assert_eq!(jobs, LOGS, "{wanted:?}");
    let (mut killed, mut halves) = (0, 0);
    for table in MOMENTS {
        std::fs::remove_dir_all(place.path("store")).expect("a folder");
        let log = place.path("store").join(table).join("_delta_log");
        // The table begins, and then its rows are in it: each time somebody ends the import, the third one is left alone.
        for version in 0..2 {
            let mut import = begin(&place);
            killed += usize::from(kill_at(&mut import, &log.join(format!("{version:020}.json"))));
            import.wait().expect("a child");
        }
        let done = netra(&place, &["import", "logs"]);
        assert_eq!(done.code, 0, "{table}: {}", done.err);
        let all_known = format!("{LOGS} known already");
        halves += usize::from(!done.err.contains(&all_known));
        assert_eq!(rows(&place), wanted, "killed at {table}");
        let check = netra(&place, &["store", "check", "--deep"]);
        assert_eq!(check.code, 0, "{table}: {}", check.text());
    }
    println!(
        "{killed} of {} imports were killed, {halves} of {} stores were half done",
        2 * MOMENTS.len(),
        MOMENTS.len()
    );
    // Most must not have been quicker than us; before the last table nothing is whole.
    assert!(
        killed >= MOMENTS.len() && halves >= MOMENTS.len() / 2,
        "{killed} killed, {halves} half done"
    );
}
