//! Bad data: what is wrong is named, and the rest keeps working.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;
mod spool;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use folder::folder;
use netra_store::{Cell, Error, Ingest, Place, Sheet, Step, Store, Watch};
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

/// A store, a sink that waits for nobody, and frames for it.
struct Hub {
    runtime: tokio::runtime::Runtime,
    store: Arc<Store>,
    told: Arc<Told>,
    spool: Spool,
}

impl Hub {
    fn new(folder: &Path) -> Hub {
        Hub::over(Place::directory(folder).unwrap())
    }

    fn over(place: Place) -> Hub {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let store = Arc::new(Store::create(place).unwrap());
        // Begin, names, then frames of ten events, then the end.
        Hub { runtime, store, told: Arc::new(Told::quiet()), spool: Spool::new(1, 1, 60, 10) }
    }

    /// A sink that goes on behind a position.
    fn sink(&self, position: u64) -> Ingest {
        self.resumed(position).unwrap()
    }

    fn resumed(&self, position: u64) -> std::io::Result<Ingest> {
        let (store, handle) = (Arc::clone(&self.store), self.runtime.handle().clone());
        let mut sink = Ingest::new(store, handle, Arc::clone(&self.told), Duration::from_secs(1))
            .with_patience(Duration::ZERO);
        sink.at(7, position);
        sink.resume(&[])?;
        Ok(sink)
    }

    /// Gives frames to a new sink until it has committed them, as a daemon does: whatever fails, it gets them again.
    fn insist(&self, frames: std::ops::Range<usize>) {
        let begins = frames.start.checked_sub(1).map_or(0, |last| self.spool.frames[last].0);
        for _ in 0..3 {
            let fed = self.resumed(begins).and_then(|mut sink| {
                // It looks whether tables are mended when it has committed.
                feed(&mut sink, &self.spool, frames.clone())
            });
            match fed {
                Ok(()) => return,
                Err(error) => assert!(error.to_string().contains("as the test wants"), "{error}"),
            }
        }
        panic!("it failed more than once");
    }

    /// Events, calls by second, calls by function.
    fn found(&self) -> [u64; 3] {
        self.runtime.block_on(async {
            let session = SessionContext::new_with_config(Store::settings());
            assert!(self.store.register(&session).await.unwrap().is_empty());
            let sum = "select (select count(*) from events), (select sum(calls) from activity), (select sum(calls) from functions)";
            let answer = session.sql(sum).await.unwrap().collect().await.unwrap();
            [0, 1, 2].map(|at| answer[0].column(at).as_primitive::<Int64Type>().value(0).cast_unsigned())
        })
    }

    /// Rows of each table that wait.
    fn waiting(&self) -> Vec<(&'static str, u64)> {
        let all = self.runtime.block_on(self.store.aside()).unwrap();
        let mut sums = std::collections::BTreeMap::new();
        all.iter().for_each(|aside| *sums.entry(aside.table).or_insert(0) += aside.rows);
        sums.into_iter().collect()
    }

    fn check(&self) -> Vec<String> {
        let problems = self.runtime.block_on(self.store.check(true));
        problems.iter().map(ToString::to_string).collect()
    }
}

/// Makes the next entry of a table's log one that nobody understands; gives its path.
fn damage(folder: &Path, table: &str) -> PathBuf {
    let log = folder.join(table).join("_delta_log");
    let next = fs::read_dir(&log).unwrap().flatten();
    let next = next.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
    let entry = log.join(format!("{:020}.json", next.count()));
    fs::write(&entry, "{\"add\":").unwrap();
    entry
}

#[test]
fn rows_of_a_damaged_table_are_set_aside_and_enter_it_once_when_it_is_mended() {
    let folder = folder();
    let hub = Hub::new(folder.path());
    let frames = &hub.spool.frames;
    let mut sink = hub.sink(0);
    feed(&mut sink, &hub.spool, 0..4).unwrap();
    let tables = ["activity", "events", "functions"];
    let entries = tables.map(|table| damage(folder.path(), table));
    feed(&mut sink, &hub.spool, 4..5).unwrap();
    feed(&mut sink, &hub.spool, 5..6).unwrap();
    let waiting = hub.waiting();
    assert_eq!(waiting.iter().map(|(table, _)| *table).collect::<Vec<_>>(), tables);
    assert_eq!(waiting[1], ("events", 20), "two frames of ten");
    for (table, rows) in &waiting {
        let metric = format!("netra_store_rows_aside{{table=\"{table}\"}} {rows}\n");
        assert!(hub.told.metrics().contains(&metric), "{}", hub.told.metrics());
        let line = format!(
            "{table}: {rows} rows are set aside and not in it; netra store restore brings them in"
        );
        assert!(hub.check().contains(&line), "{:?}", hub.check());
    }
    // A new start goes on where what is set aside ends, wherever frames begin: one comes again.
    drop(sink);
    let mut sink = hub.sink(frames[4].0);
    feed(&mut sink, &hub.spool, 5..7).unwrap();
    assert_eq!(hub.waiting()[1], ("events", 30));
    entries.iter().for_each(|entry| fs::remove_file(entry).unwrap());
    // The next commit sees that they are mended; what waits enters before what comes.
    feed(&mut sink, &hub.spool, 7..8).unwrap();
    feed(&mut sink, &hub.spool, 8..frames.len()).unwrap();
    assert_eq!(hub.waiting(), []);
    assert_eq!(hub.found(), [60; 3]);
    assert_eq!(hub.check(), Vec::<String>::new());
    assert!(hub.told.metrics().contains("netra_store_rows_aside{table=\"events\"} 0\n"));
}

/// The daemon ends after a table was committed and before it noted so; then the table is damaged. Nobody knows how far it
/// was until it is mended: only the rows that it lacks enter it.
#[test]
fn what_a_damaged_table_has_already_does_not_enter_it_again() {
    let folder = folder();
    let hub = Hub::new(folder.path());
    let frames = &hub.spool.frames;
    let mut sink = hub.sink(0);
    feed(&mut sink, &hub.spool, 0..3).unwrap();
    feed(&mut sink, &hub.spool, 3..5).unwrap();
    drop(sink);
    let entries = ["activity", "events", "functions"].map(|table| damage(folder.path(), table));
    // The third frame of events is known to be in, the next two come again, together with one that is new.
    let mut sink = hub.sink(frames[2].0);
    feed(&mut sink, &hub.spool, 3..6).unwrap();
    assert_eq!(hub.waiting()[1], ("events", 30), "all three wait");
    entries.iter().for_each(|entry| fs::remove_file(entry).unwrap());
    // Two bring them back at the same time: a command, and a daemon that keeps the same store.
    let other = open(folder.path());
    let restored = hub.runtime.block_on(async {
        let (ours, theirs) = tokio::join!(hub.store.restore_all(), other.restore_all());
        ours.unwrap().into_iter().chain(theirs.unwrap()).collect::<Vec<_>>()
    });
    let events = restored.iter().filter(|(table, _)| *table == "events");
    let events: u64 = events.map(|(_, rows)| *rows.as_ref().unwrap()).sum();
    assert_eq!(events, 10, "{restored:?}");
    assert_eq!(hub.found(), [40; 3]);
    // The sink has not looked yet: what it takes is set aside, and comes behind the rest.
    feed(&mut sink, &hub.spool, 6..7).unwrap();
    feed(&mut sink, &hub.spool, 7..frames.len()).unwrap();
    assert_eq!((hub.found(), hub.waiting()), ([60; 3], vec![]));
}

#[test]
fn what_is_set_aside_and_damaged_itself_stays_and_keeps_later_rows_waiting() {
    let folder = folder();
    let hub = Hub::new(folder.path());
    let mut sink = hub.sink(0);
    feed(&mut sink, &hub.spool, 0..3).unwrap();
    let entry = damage(folder.path(), "functions");
    feed(&mut sink, &hub.spool, 3..4).unwrap();
    let waiting = folder.path().join("_aside/functions/netra-spool-0000000000000007");
    let file = fs::read_dir(&waiting).unwrap().next().unwrap().unwrap().path();
    let good = fs::read(&file).unwrap();
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    fs::remove_file(&entry).unwrap();
    feed(&mut sink, &hub.spool, 4..6).unwrap();
    let restored = hub.runtime.block_on(hub.store.restore_all()).unwrap();
    let says = restored[0].1.as_ref().unwrap_err().to_string();
    assert!(says.contains("_aside/functions/") && says.contains("is damaged"), "{says}");
    assert_eq!(hub.found(), [40, 40, 10]);
    fs::write(&file, &good).unwrap();
    feed(&mut sink, &hub.spool, 6..hub.spool.frames.len()).unwrap();
    assert_eq!((hub.found(), hub.waiting()), ([60; 3], vec![]));
}

/// Fails at one step of changing the table events, or what waits for it.
#[derive(Debug, Default)]
struct Fails {
    at: AtomicU64,
    steps: AtomicU64,
}

impl Watch for Fails {
    fn step(&self, _: Step, path: &str) -> std::io::Result<()> {
        let is_it = path.contains("/events/");
        match is_it && self.steps.fetch_add(1, Ordering::SeqCst) == self.at.load(Ordering::SeqCst) {
            true => Err(std::io::Error::other("as the test wants")),
            false => Ok(()),
        }
    }
}

/// Whichever step of setting aside or of bringing back fails: each row is there once at the end.
#[test]
fn storage_that_fails_at_any_step_loses_and_doubles_nothing() {
    let mut steps = 0;
    for at in 0.. {
        let folder = folder();
        let fails = Arc::new(Fails::default());
        fails.at.store(u64::MAX, Ordering::SeqCst);
        let watch: Arc<dyn Watch> = fails.clone();
        let hub = Hub::over(Place::watched(folder.path(), Some(watch)).unwrap());
        hub.insist(0..3);
        let entry = damage(folder.path(), "events");
        fails.steps.store(0, Ordering::SeqCst);
        fails.at.store(at, Ordering::SeqCst);
        hub.insist(3..5);
        hub.insist(5..6);
        fs::remove_file(&entry).unwrap();
        hub.insist(6..7);
        hub.insist(7..hub.spool.frames.len());
        assert_eq!((hub.found(), hub.waiting()), ([60; 3], vec![]), "step {at}");
        assert_eq!(hub.check(), Vec::<String>::new(), "step {at}");
        steps = fails.steps.load(Ordering::SeqCst);
        if at >= steps {
            break;
        }
    }
    println!("{steps} steps, each failed once");
    assert!(steps >= 20, "{steps}");
}
