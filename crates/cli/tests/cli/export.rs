//! `netra export`: events of segments and logs for other programs; what is missing is said.

use crate::recover::maker::{Lane, Segment, event, tick};
use netra_event::{Function, Loss};
use serde_json::Value;

use crate::netra::Place;

/// A process that opened a file, wrote twice and closed it.
fn process(rank: u32) -> Segment {
    let mut made = Segment { rank: Some(rank), nprocs: 2, pid: 100 + rank, ..Segment::default() };
    let file = made.file("/scratch/out");
    let events = vec![
        event(Function::Open, file, tick(1000), 1, 3),
        event(Function::Pwrite, file, tick(3000), 0, 512),
        event(Function::Pwrite, file, tick(5000), 512, 512),
        event(Function::Fsync, file, tick(7000), -1, 0),
        event(Function::Close, file, tick(9000), -1, 3),
    ];
    made.lanes = vec![Lane { tid: 7, events, dropped: Vec::new() }];
    made
}

fn messages(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn segments_become_the_connectors_messages() {
    let place = Place::new();
    place.file("one", &process(0).bytes());
    place.file("two", &process(1).bytes());
    let done = place.netra(&["export", "one", "two", "--as", "connector-json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let all = messages(done.text());
    let rows: Vec<_> = all
        .iter()
        .map(|all| (all["rank"].as_i64(), all["op"].as_str(), all["cnt"].as_i64()))
        .collect();
    let of = |rank| {
        [("open", 1), ("write", 1), ("write", 2), ("close", 1)]
            .map(|(op, count)| (Some(rank), Some(op), Some(count)))
    };
    assert_eq!(rows, [of(0), of(1)].concat());
}

#[test]
fn every_call_is_in_the_lines_and_the_table_has_a_header() {
    let place = Place::new();
    place.file("one", &process(0).bytes());
    let lines = place.netra(&["export", "one"]);
    assert_eq!(lines.code, 0, "{}", lines.err);
    let functions: Vec<_> = messages(lines.text())
        .iter()
        .map(|all| all["function"].as_str().map(str::to_owned))
        .collect();
    let want = ["open", "pwrite", "pwrite", "fsync", "close"];
    assert_eq!(functions, want.map(|name| Some(name.to_owned())));
    let table = place.netra(&["export", "one", "--as", "connector-csv", "-o", "out.csv"]);
    assert_eq!((table.code, table.text()), (0, ""));
    let text = std::fs::read_to_string(place.path("out.csv")).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(text.starts_with("#module,uid,ProducerName,"));
}

#[test]
fn missing_events_are_said_and_exit_with_1() {
    let place = Place::new();
    let mut made = process(0);
    made.lanes[0].dropped = vec![(Loss::Budget, 3)];
    place.file("one", &made.bytes());
    let done = place.netra(&["export", "one", "--as", "connector-json"]);
    assert_eq!(done.code, 1);
    assert_eq!(
        done.err,
        "netra: one: 3 of 8 events are missing; fields that add up earlier events may be too small\n"
    );
    assert!(messages(done.text()).iter().all(|all| all["partial"] == true));
}

#[test]
fn short_words_are_the_same_forms() {
    let place = Place::with_example();
    for form in ["perfetto", "csv", "json"] {
        let long = place.netra(&["export", "wave.darshan", "--as", form]);
        let short = place.netra(&["export", "wave.darshan", &format!("--{form}")]);
        assert_eq!((long.code, short.code), (0, 0));
        assert!(long.text().len() > 1000 && long.text() == short.text(), "{form}");
    }
    let both = place.netra(&["export", "wave.darshan", "--csv", "--json"]);
    assert_eq!(both.code, 64, "{}", both.err);
}

#[test]
fn a_darshan_trace_is_exported_segment_by_segment() {
    let place = Place::with_example();
    let done = place.netra(&["export", "wave.darshan", "--as", "csv"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let table = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect());
        rows.collect()
    };
    let events = table(done.text());
    let dxt = place.netra(&["dxt", "wave.darshan", "--format", "csv"]);
    let segments = table(dxt.text());
    assert!(segments.len() > 100, "{}", segments.len());
    // Rank, host, offset, length and file; the layer and what was done.
    let of_event = |row: &Vec<String>| {
        let op = if row[10].ends_with("write") { "write" } else { "read" };
        [&row[3], &row[1], &row[13], &row[14], &row[11], &row[9]]
            .map(String::clone)
            .to_vec()
            .into_iter()
            .chain([op.to_owned()])
            .collect::<Vec<_>>()
    };
    let of_segment = |row: &Vec<String>| {
        let layer = if row[1] == "DXT_MPIIO" { "MPI-IO" } else { "POSIX" };
        vec![
            row[2].clone(),
            row[4].clone(),
            row[7].clone(),
            row[8].clone(),
            row[12].clone(),
            layer.to_owned(),
            row[5].clone(),
        ]
    };
    let got: Vec<Vec<String>> = events.iter().map(of_event).collect();
    let want: Vec<Vec<String>> = segments.iter().map(of_segment).collect();
    assert_eq!(got, want);
    let took: f64 = segments[0][10].parse::<f64>().expect("a time")
        - segments[0][9].parse::<f64>().expect("a time");
    let nanos: f64 = events[0][8].parse().expect("nanoseconds");
    assert!((took * 1e9 - nanos).abs() <= 1.0, "{took} s, {nanos} ns");
}

#[test]
fn a_log_that_is_not_there_is_said() {
    let done = Place::new().netra(&["export", "none"]);
    assert_eq!(done.code, 2);
}

#[test]
fn layers_kinds_files_ranks_and_times_narrow_the_events() {
    let place = Place::new();
    place.file("one", &process(0).bytes());
    place.file("two", &process(1).bytes());
    let count = |words: &[&str]| {
        let done = place.netra(&[&["export", "one", "two"], words].concat());
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
        messages(done.text()).len()
    };
    assert_eq!(count(&[]), 10);
    assert_eq!(count(&["--kind", "write,sync"]), 6);
    assert_eq!(count(&["--kind", "write", "--rank", "1"]), 2);
    assert_eq!(count(&["--rank", "0-3,7"]), 10);
    assert_eq!(count(&["--file", "/scratch/o*"]), 10);
    assert_eq!(count(&["--path", "/scratch/o*"]), 10);
    let nothing = |words: &[&str], says: &str| {
        let done = place.netra(&[&["export", "one", "two"], words].concat());
        assert_eq!((done.code, done.text()), (1, ""), "{words:?}");
        assert_eq!(done.err, format!("netra: {says}\n"), "{words:?}");
    };
    nothing(&["--layer", "mpiio"], "no call matches what was asked for");
    nothing(&["--file", "/scratch/o"], "no call matches what was asked for");
    nothing(&["--failed"], "no call matches what was asked for");
    nothing(&["--rank", "99"], "there is no rank 99; ranks are 0 to 1");
    let done = place.netra(&["export", "one", "--kind", "scribble"]);
    assert_eq!(done.code, 64);
    assert!(
        done.err.contains("there is no kind \"scribble\"; kinds are open, close"),
        "{}",
        done.err
    );
}

#[test]
fn perfetto_gets_ranks_as_processes_with_calls_in_microseconds() {
    let place = Place::new();
    place.file("one", &process(0).bytes());
    place.file("two", &process(1).bytes());
    let done = place.netra(&["export", "one", "two", "--as", "perfetto"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let trace: Value = serde_json::from_str(done.text()).expect("one JSON document");
    let events = trace["traceEvents"].as_array().expect("a list");
    let names: Vec<_> = events.iter().filter(|event| event["ph"] == "M").collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names[0]["args"]["name"].as_str().expect("a name").starts_with("rank 0"));
    let calls: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    let seen: Vec<_> =
        calls.iter().map(|call| (call["pid"].as_i64(), call["name"].as_str())).collect();
    let of =
        |rank| ["open", "pwrite", "pwrite", "fsync", "close"].map(|name| (Some(rank), Some(name)));
    assert_eq!(seen, [of(0), of(1)].concat());
    assert_eq!(calls[2]["args"]["offset_bytes"], 512);
    assert_eq!(calls[2]["args"]["moved_bytes"], 512);
    let at = |call: &Value| call["ts"].as_f64().expect("a time");
    assert!((at(calls[2]) - at(calls[1]) - 2.0).abs() < 0.01, "{calls:?}");
}

#[test]
fn the_array_and_the_table_hold_what_the_lines_hold() {
    let place = Place::new();
    place.file("one", &process(0).bytes());
    let lines = place.netra(&["export", "one", "--as", "json-lines"]);
    let array = place.netra(&["export", "one", "--as", "json"]);
    let array: Vec<Value> = serde_json::from_str(array.text()).expect("an array");
    assert_eq!(array, messages(lines.text()));
    let table = place.netra(&["export", "one", "--as", "csv"]);
    let rows: Vec<&str> = table.text().lines().collect();
    assert_eq!(rows.len(), array.len() + 1);
    let fields = rows[0].split(',').count();
    assert!(rows.iter().all(|row| row.split(',').count() == fields), "{rows:?}");
    assert!(rows[2].contains(",pwrite,/scratch/out,"), "{}", rows[2]);
}
