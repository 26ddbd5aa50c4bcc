//! What a store has of a job while it runs, and that it has the same in the end as if its log were imported.

use std::process::{Command, Output};

use crate::site::{Site, poll};

/// What a command says, which must go well.
#[track_caller]
fn said(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asks a store of the site.
#[track_caller]
fn ask(site: &Site, store: &str, words: &[&str]) -> String {
    let mut command = site.netra(words);
    said(&command.env("NETRA_STORE", site.path(store)).output().expect("netra starts"))
}

fn sql(site: &Site, store: &str, question: &str) -> String {
    ask(site, store, &["sql", "--format", "csv", question])
}

/// The key of the job that a run was kept as.
fn run(site: &Site, words: &[&str]) -> String {
    let mut command = site.netra(&["run", "--live", "--log-file", "job.darshan", "--"]);
    command.args(words).env("NETRA_PRELOAD", &site.library).env("NETRA_STORE", site.path("live"));
    command.env("NETRA_SEGMENT_DIR", site.path("segments"));
    let done = command.output().expect("netra starts");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{told}");
    let key = told.lines().find_map(|line| line.strip_prefix("netra: kept as job "));
    let key = key.unwrap_or_else(|| panic!("{told}"));
    key.split(';').next().expect("a key").to_owned()
}

/// Columns of a call that do not depend on how ticks became times.
const CALL: &str = "process, lane, sequence, pid, layer, op, function, \"offset\", length, bytes, result, argument, error, file, \
                    file_id, file_system, mount, site, thread, parent, number, uid, exe, node";

/// The stream's store and one with the imported log say the same. Only times may differ, by what the clock's rate is known better
/// at the end of a process than while it runs.
#[track_caller]
fn same(site: &Site, key: &str) {
    ask(site, "imported", &["import", "job.darshan"]);
    let sources = sql(site, "live", "SELECT DISTINCT source FROM events");
    assert_eq!(sources, "source\nstream\n", "every call came while the job ran");
    let calls = format!("SELECT {CALL} FROM events ORDER BY process, lane, sequence");
    let (live, imported) = (sql(site, "live", &calls), sql(site, "imported", &calls));
    for (live, imported) in live.lines().zip(imported.lines()) {
        assert_eq!(live, imported);
    }
    assert_eq!(live.lines().count(), imported.lines().count());
    for (live, imported) in times(site, "live").into_iter().zip(times(site, "imported")) {
        let apart = |a: i64, b: i64| (a - b).unsigned_abs();
        assert!(apart(live.0, imported.0) < 10_000_000, "{live:?} {imported:?}");
        assert!(
            apart(live.1, imported.1) < 1_000 + live.1.unsigned_abs() / 100,
            "{live:?} {imported:?}"
        );
    }
    for question in [
        "SELECT layer, op, file_system, sum(calls), sum(bytes), sum(failed) FROM activity GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "SELECT layer, function, file, sum(calls), sum(bytes) FROM functions GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "SELECT job, job_id, uid, \"user\", exe, command, nprocs, processes, running, killed, log_version, modules FROM jobs",
        "SELECT * FROM processes ORDER BY process",
        "SELECT * FROM files ORDER BY file_id, file",
        "SELECT * FROM mounts ORDER BY position, mount",
        "SELECT * FROM posix ORDER BY file_id, rank",
        "SELECT * FROM stdio ORDER BY file_id, rank",
        "SELECT * FROM heatmap ORDER BY rank, module, bin",
        "SELECT * FROM sites ORDER BY process, site, depth",
        "SELECT * FROM ledger ORDER BY process, lane",
    ] {
        let (live, imported) = (sql(site, "live", question), sql(site, "imported", question));
        assert!(live.lines().count() > 1 || imported.lines().count() == 1, "{question}: {live}");
        assert_eq!(live, imported, "{question}");
    }
    assert_eq!(found(site, "live", key), found(site, "imported", key));
}

/// Begin and duration of each call, in nanoseconds.
fn times(site: &Site, store: &str) -> Vec<(i64, i64)> {
    let question = "SELECT CAST(t AS BIGINT) * 1000 + t_ns, duration FROM events ORDER BY process, lane, sequence";
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text}"));
    let pair = |line: &str| line.split_once(',').map(|(t, took)| (number(t), number(took)));
    sql(site, store, question).lines().skip(1).filter_map(pair).collect()
}

/// Which findings a report has, and whether it can be trusted.
fn found(site: &Site, store: &str, key: &str) -> (Vec<String>, String) {
    let report = ask(site, store, &["report", "--json", key]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let slugs = report["findings"].as_array().expect("findings").iter();
    (slugs.map(|finding| finding["slug"].to_string()).collect(), report["trust"].to_string())
}

#[test]
fn a_run_that_was_kept_while_it_ran_is_its_log() {
    let site = Site::new();
    let (program, data) = (site.burst.display().to_string(), site.path("data"));
    let key = run(&site, &[&program, &data.display().to_string(), "3000", "2"]);
    same(&site, &key);
}

#[test]
fn processes_of_a_script_are_too() {
    let site = Site::new();
    let (program, folder) = (site.burst.display(), site.folder.path().display());
    let script = format!(
        "{program} {folder}/one 500 1 && {program} {folder}/two 300 2; cat {folder}/one > {folder}/three; cat {folder}/none; true"
    );
    let key = run(&site, &["sh", "-c", &script]);
    same(&site, &key);
}

#[test]
fn clients_of_a_daemon_see_calls_before_they_are_in_a_file() {
    if Command::new("psql").arg("--version").output().is_err() {
        return println!("not checked: there is no psql");
    }
    let site = Site::new();
    let hub = "[node]\nsegments = [\"@/segments\"]\n[[sink]]\nkind = \"store\"\nplace = \"@/store\"\nevery = \"1h\"\n\
               [postgres]\nsocket = \"@\"\n";
    site.write("hub", hub, "");
    let mut daemon = site.start("hub");
    let calls = 20_000;
    let mut job = site.produce("hot", 1, calls);
    let ask = |question: &str| {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-A", "-t", "-d", "netra", "-c", question, "-h"]).arg(site.folder.path());
        let done = psql.output().expect("psql");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    let writes = "SELECT count(*) FROM events WHERE job = 'hot' AND op = 'write'";
    let whole = (2 * calls).to_string();
    poll("every call is seen", || ask(writes) == whole);
    job.0.wait().expect("it ends");
    assert_eq!(ask("SELECT sum(calls) FROM activity WHERE op = 'write'"), whole);
    assert!(!site.path("store/events").exists(), "nothing was committed");
    poll("its end is seen", || ask("SELECT running FROM jobs WHERE job = 'hot'") == "0");
    // At its end it commits, and nothing is there twice.
    let pid = rustix::process::Pid::from_child(&daemon.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    assert!(daemon.0.wait().expect("it ends").success());
    let found = sql(&site, "store", writes);
    assert_eq!(found.lines().last(), Some(whole.as_str()));
}
