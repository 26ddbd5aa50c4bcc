//! `netra report` on what has no log yet, with rules of the site's own, and many runs as a history.

use crate::recover::maker::{Lane, Segment, event, tick, words};
use netra_event::segment::shard::{direction, posix};
use netra_event::{Event, Function};

use crate::netra::Place;

/// A process that opened a file, wrote twice, and failed to open another one.
fn process(rank: u32) -> Segment {
    let mut made = Segment { rank: Some(rank), nprocs: 2, pid: 100 + rank, ..Segment::default() };
    let file = made.file("/scratch/out");
    let counts = [
        (posix::WRITE + direction::CALLS, 2),
        (posix::WRITE + direction::BYTES, 1024),
        (posix::WRITE + direction::TIME, 4000),
        (posix::OPENS, 1),
    ];
    made.record(1, 0, file, words(posix::WORDS, &counts));
    let missing = event(Function::Open, 0, tick(9000), 0, 0);
    let events = vec![
        event(Function::Open, file, tick(1000), 1, 3),
        event(Function::Pwrite, file, tick(3000), 0, 512),
        event(Function::Pwrite, file, tick(5000), 512, 512),
        Event { failed: true, result: -2, ..missing },
    ];
    made.lanes = vec![Lane { tid: 7, events, dropped: Vec::new() }];
    made
}

#[test]
fn segments_are_one_job_with_its_functions_and_failures() {
    let place = Place::new();
    place.file("left/one", &process(0).bytes());
    place.file("left/two", &process(1).bytes());
    for words in [&["report", "--json", "left/one", "left/two"][..], &["report", "--json", "left"]]
    {
        let done = place.netra(words);
        let report = done.json();
        assert_eq!(report["job"]["processes"], 2, "{}", done.err);
        assert!(
            report["log"].as_str().unwrap().starts_with("job host.1.2 (2 processes"),
            "{report}"
        );
        let of = |name: &str| {
            let all = report["functions"].as_array().unwrap().iter();
            all.clone().find(|one| one["function"] == name).unwrap().clone()
        };
        assert_eq!((&of("pwrite")["traced"], &of("pwrite")["bytes"]), (&4.into(), &2048.into()));
        assert_eq!((&of("open")["traced"], &of("open")["failed"]), (&4.into(), &2.into()));
        assert_eq!(of("open")["errors"][0]["errno"], 2);
        assert_eq!(report["trust"]["ledger"]["delivered"], 8);
        assert_eq!(report["request_sizes"]["basis"], "traced");
        assert_eq!(report["request_sizes"]["write"][0]["bytes"], 512);
    }
}

#[test]
fn a_job_that_nobody_knows_is_said() {
    let place = Place::new();
    let done = place.netra(&["report", "slurm.1.0"]);
    assert_eq!(done.code, 2);
    assert!(
        done.err.contains("slurm.1.0: there is no such file, and no job of that name"),
        "{}",
        done.err
    );
}

#[test]
fn a_site_adds_rules_and_servers_without_compiling() {
    let place = Place::with_example();
    let rules = "[[rule]]\nslug = 'site-opens'\nwhen = 'posix.opens > 4'\nlost = 'metadata_seconds'\nsays = '{posix.opens} opens'\n";
    place.file("rules.toml", rules.as_bytes());
    let done = place.netra(&["report", "--json", "--thresholds", "rules.toml", "wave.darshan"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let report = done.json();
    let found =
        report["findings"].as_array().unwrap().iter().find(|one| one["slug"] == "site-opens");
    let found = found.expect("the site's rule fires");
    assert!(found["says"].as_str().unwrap().ends_with(" opens"), "{found}");
    assert_eq!(found["evidence"][0]["name"], "posix.opens");
    let silent = [
        "report",
        "--json",
        "--thresholds",
        "rules.toml",
        "--silence",
        "site-opens",
        "wave.darshan",
    ];
    let report = place.netra(&silent).json();
    assert!(report["findings"].as_array().unwrap().iter().all(|one| one["slug"] != "site-opens"));
}

#[test]
fn a_bad_rule_file_is_refused_with_its_lines() {
    let place = Place::with_example();
    let rules = "[thresholds]\nhigh_share = 'much'\n[[rule]]\nslug = 'site-a'\nwhen = 'posix.open >'\nsays = 'a'\n";
    place.file("rules.toml", rules.as_bytes());
    let done = place.netra(&["report", "--thresholds", "rules.toml", "wave.darshan"]);
    assert_eq!((done.code, done.text()), (2, ""));
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!(lines[0], "netra: rules.toml: line 2: high_share must be a number");
    assert!(
        lines[1].starts_with("netra: rules.toml: line 5: rule \"site-a\": when: "),
        "{}",
        done.err
    );
}

#[test]
fn runs_of_a_program_have_a_history() {
    let place = Place::with_example();
    std::fs::copy(place.path("wave.darshan"), place.path("again.darshan")).expect("a copy");
    let done = place.netra(&["history", "wave.darshan", "again.darshan"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.text().starts_with("wave  2 runs on 4 processes\n"), "{}", done.text());
    let json = place.netra(&["history", "--format", "json", "--program", "wav", "."]).json();
    assert_eq!(json["histories"][0]["runs"].as_array().map(Vec::len), Some(2));
    let none = place.netra(&["history", "--format", "csv", "--program", "other", "."]);
    assert_eq!(none.text().lines().count(), 1);
}
