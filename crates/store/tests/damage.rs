//! Bad data: what is wrong is named, and the rest keeps working.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;
mod spool;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use folder::folder;
use netra_store::{Cell, Error, Ingest, Place, Sheet, Store};
use netra_stream::batch::Batch;
use netra_stream::sink::Sink as _;
use netra_stream::told::Told;
use spool::Spool;

async fn write(store: &Store, table: &str, rows: i64) {
    let mut sheet = Sheet::new(table).unwrap();
    for row in 0..rows {
        sheet.put("tag", "a").put("t", Cell::Time(1_794_807_600_000_000 + row)).put("t_ns", 0);
        sheet.put("form", "text").put("publisher", 1).put("sequence", row).put("text", "x");
        sheet.end_row().unwrap();
    }
    store.append(table, &[sheet.finish().unwrap()], None).await.unwrap();
}

async fn metric(store: &Store) {
    let mut sheet = Sheet::new("metrics").unwrap();
    sheet
        .put("node", "n")
        .put("name", "x")
        .put("target", "")
        .put("t", Cell::Time(5))
        .put("t_ns", 0);
    sheet.put("value", Cell::Double(1.0)).put("rises", Cell::Flag(false)).put("source", "sample");
    sheet.end_row().unwrap();
    store.append("metrics", &[sheet.finish().unwrap()], None).await.unwrap();
}

async fn count(store: &Store, table: &str) -> Result<i64, Error> {
    let session = SessionContext::new_with_config(Store::settings());
    session.register_table(table, Arc::new(store.scan(table).await?))?;
    // The sum keeps the planner from answering out of the log alone.
    let question = format!("select sum(cast(t_ns as bigint)) + count(*) from {table}");
    let answer = session.sql(&question).await?.collect().await?;
    Ok(answer[0].column(0).as_primitive::<Int64Type>().value(0))
}

fn open(folder: &Path) -> Store {
    Store::open(Place::directory(folder).unwrap()).unwrap()
}

/// The only file of a table.
fn only_file(folder: &Path, table: &str) -> PathBuf {
    let day = fs::read_dir(folder.join(table)).unwrap().flatten();
    let day =
        { day }.find(|entry| entry.file_name().to_string_lossy().starts_with("day=")).unwrap();
    fs::read_dir(day.path()).unwrap().next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_a_newer_netra_is_named_and_others_are_read() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    write(&store, "messages", 3).await;
    metric(&store).await;
    let log = folder.path().join("messages/_delta_log/00000000000000000000.json");
    let text = fs::read_to_string(&log).unwrap();
    let newer = text.replace("\"netra.schemaVersion\":\"1\"", "\"netra.schemaVersion\":\"99\"");
    assert_ne!(text, newer);
    fs::write(&log, newer).unwrap();
    let store = open(folder.path());
    let says = count(&store, "messages").await.unwrap_err().to_string();
    assert!(
        says.starts_with("the table messages has schema version 99; this netra knows up to 1"),
        "{says}"
    );
    assert_eq!(count(&store, "metrics").await.unwrap(), 1);
    let problems = store.check(false).await;
    assert!(problems.iter().any(|problem| problem.about == "messages"), "{problems:?}");
    let session = SessionContext::new_with_config(Store::settings());
    let unreadable = store.register(&session).await.unwrap();
    assert!(matches!(unreadable[..], [Error::TooNew { table: "messages", .. }]), "{unreadable:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_things_are_named_and_left_alone() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    metric(&store).await;
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    fs::write(folder.path().join("metrics/readme"), "mine").unwrap();
    fs::create_dir(folder.path().join("events")).unwrap();
    fs::write(folder.path().join("events/data.csv"), "1,2").unwrap();
    assert_eq!(count(&store, "metrics").await.unwrap(), 1);
    let problems = store.check(true).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].to_string(), "notes.txt: is no table of a store");
    store.clean("metrics", std::time::Duration::ZERO).await.unwrap();
    assert!(
        folder.path().join("metrics/readme").exists() && folder.path().join("notes.txt").exists()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn corrupt_files_are_named() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    write(&store, "messages", 1000).await;
    metric(&store).await;
    let file = only_file(folder.path(), "messages");
    let good = fs::read(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    for (what, bytes) in [
        ("cut", good[..good.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("zeros", vec![0; good.len()]),
        ("noise", good.iter().map(|byte| byte ^ 0x5a).collect()),
    ] {
        fs::write(&file, bytes).unwrap();
        let store = open(folder.path());
        assert!(count(&store, "messages").await.is_err(), "{what}");
        assert_eq!(count(&store, "metrics").await.unwrap(), 1, "{what}");
        let problems = store.check(true).await;
        assert!(problems.len() == 1 && problems[0].about.ends_with(&name), "{what}: {problems:?}");
    }
    fs::remove_file(&file).unwrap();
    let problems = open(folder.path()).check(true).await;
    assert!(problems.len() == 1 && problems[0].about.ends_with(&name), "{problems:?}");
    fs::write(&file, good).unwrap();
    assert_eq!(open(folder.path()).check(true).await, []);
    let log = folder.path().join("messages/_delta_log/00000000000000000001.json");
    fs::write(&log, "{\"add\":").unwrap();
    let store = open(folder.path());
    let says = count(&store, "messages").await.unwrap_err().to_string();
    assert!(says.contains("messages"), "{says}");
    assert_eq!(count(&store, "metrics").await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_removed_under_us_is_named_and_begins_anew() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    write(&store, "messages", 3).await;
    metric(&store).await;
    assert_eq!(count(&store, "messages").await.unwrap(), 3);
    fs::remove_dir_all(folder.path().join("messages")).unwrap();
    assert_eq!(count(&store, "metrics").await.unwrap(), 1);
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let says = store.scan("messages").await.unwrap_err().to_string();
    assert!(says.starts_with("the table messages is gone from "), "{says}");
    write(&store, "messages", 2).await;
    assert_eq!(count(&store, "messages").await.unwrap(), 2);
    assert_eq!(count(&store, "metrics").await.unwrap(), 1);
}

/// Gives frames to a sink, and commits them.
fn feed(sink: &mut Ingest, spool: &Spool, frames: std::ops::Range<usize>) -> std::io::Result<()> {
    for (position, bytes) in &spool.frames[frames] {
        sink.at(7, *position);
        sink.take(&Batch::open(bytes).unwrap(), &spool.images)?;
    }
    sink.commit().map(drop)
}

#[test]
fn a_damaged_table_is_left_out_after_a_while_and_the_others_go_on() {
    let folder = folder();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let store = Arc::new(Store::create(Place::directory(folder.path()).unwrap()).unwrap());
    let told = Arc::new(Told::quiet());
    let second = std::time::Duration::from_secs(1);
    let mut sink = Ingest::new(Arc::clone(&store), runtime.handle().clone(), told, second)
        .with_patience(std::time::Duration::ZERO);
    sink.at(7, 0);
    sink.resume(&[]).unwrap();
    let spool = Spool::new(1, 1, 60, 10);
    let rows = |table: &str| runtime.block_on(count(&store, table));
    // Begin, names, then frames of ten events.
    feed(&mut sink, &spool, 0..4).unwrap();
    let calls = runtime.block_on(store.scan("functions")).unwrap().extent();
    assert_eq!(calls.1, 0, "everything is in files");
    let entry = folder.path().join("functions/_delta_log/00000000000000000002.json");
    assert!(!entry.exists(), "two versions so far");
    fs::write(&entry, "{\"add\":").unwrap();
    feed(&mut sink, &spool, 4..6).unwrap();
    assert!(rows("events").unwrap() >= 40);
    let wrong = runtime.block_on(store.scan("functions")).unwrap_err().to_string();
    assert!(wrong.contains("functions"), "{wrong}");
    // A new start of the sink goes on without it, too.
    let last = spool.frames[5].0;
    sink.at(7, last);
    sink.resume(&[]).unwrap();
    feed(&mut sink, &spool, 6..7).unwrap();
    fs::remove_file(&entry).unwrap();
    feed(&mut sink, &spool, 7..8).unwrap();
    feed(&mut sink, &spool, 8..spool.frames.len()).unwrap();
    let all = *spool.events.last().unwrap();
    let found = runtime.block_on(async {
        let session = SessionContext::new_with_config(Store::settings());
        assert!(store.register(&session).await.unwrap().is_empty());
        let sum = "select (select count(*) from events), (select sum(calls) from activity), (select sum(calls) from functions)";
        let answer = session.sql(sum).await.unwrap().collect().await.unwrap();
        [0, 1, 2].map(|at| answer[0].column(at).as_primitive::<Int64Type>().value(0).cast_unsigned())
    });
    assert_eq!(found[..2], [all, all]);
    // What came while it was damaged is missing, and nothing else.
    assert!((20..all).contains(&found[2]), "{found:?} of {all}");
}
