//! Rows that go in come out: every table, every kind of column, over several days and commits.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod row;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use folder::folder;
use netra_store::maintain::Compacted;
use netra_store::schema::TABLES;
use netra_store::{Mark, Place, Step, Store, Watch};
use row::rows;

async fn ask(store: &Store, question: &str) -> Vec<RecordBatch> {
    let session = SessionContext::new_with_config(Store::settings());
    let unreadable = store.register(&session).await.unwrap();
    assert!(unreadable.is_empty(), "{unreadable:?}");
    session.sql(question).await.unwrap().collect().await.unwrap()
}

async fn number(store: &Store, question: &str) -> i64 {
    let answer = ask(store, question).await;
    answer[0].column(0).as_primitive::<Int64Type>().value(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_gives_back_what_it_got() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    for table in TABLES.iter() {
        let both = [rows(table, 0..5), rows(table, 5..11)];
        assert_eq!(store.append(table.name, &both, None).await.unwrap(), 11);
    }
    // Another process sees the same.
    let store = Store::open(Place::directory(folder.path()).unwrap()).unwrap();
    for table in TABLES.iter() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let names = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let question = format!("select {names} from {} order by {names}", table.name);
        let found = ask(&store, &question).await;
        let session = SessionContext::new();
        session.register_batch("given", rows(table, 0..11)).unwrap();
        let given = session.sql(&format!("select {names} from given order by {names}")).await;
        let given = given.unwrap().collect().await.unwrap();
        assert_eq!(
            pretty_format_batches(&found).unwrap().to_string(),
            pretty_format_batches(&given).unwrap().to_string(),
            "{}",
            table.name
        );
    }
    let days = number(&store, "select count(distinct day) from events").await;
    assert_eq!(days, 3, "11 rows, one in six hours, from 05:40 on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mark_is_in_a_table_once() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    let events = netra_store::schema::table("events").unwrap();
    let mark = |position| Mark { name: "hub".to_owned(), position };
    assert_eq!(store.mark("events", "hub").await.unwrap(), None);
    for (position, added) in [(10, 5), (10, 0), (7, 0), (11, 5)] {
        let batch = rows(events, 0..5);
        let found = store.append("events", &[batch], Some(&mark(position))).await.unwrap();
        assert_eq!(found, added, "at {position}");
    }
    assert_eq!(store.mark("events", "hub").await.unwrap(), Some(11));
    assert_eq!(store.mark("events", "other").await.unwrap(), None);
    assert_eq!(number(&store, "select count(*) from events").await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_lose_nothing() {
    let folder = folder();
    let events = netra_store::schema::table("events").unwrap();
    let writers = (0..2).map(|writer| {
        let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
        tokio::spawn(async move {
            for turn in 0..10 {
                let mark = Mark { name: format!("hub {writer}"), position: turn };
                let from = (writer * 10 + turn) * 3;
                store.append("events", &[rows(events, from..from + 3)], Some(&mark)).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let store = Store::open(Place::directory(folder.path()).unwrap()).unwrap();
    assert_eq!(number(&store, "select count(*) from events").await, 60);
    assert_eq!(number(&store, "select count(distinct sequence) from events").await, 60);
}

/// Puts the same files together at a moment when somebody else is about to.
#[derive(Debug)]
struct Rival {
    moment: fn(Step, &str) -> bool,
    place: OnceLock<PathBuf>,
    made: OnceLock<Compacted>,
}

impl Watch for Rival {
    fn step(&self, step: Step, path: &str) -> io::Result<()> {
        let Some(place) = self.place.get() else { return Ok(()) };
        if (self.moment)(step, path) {
            self.made.get_or_init(|| {
                let store = Store::open(Place::directory(place).unwrap()).unwrap();
                let runtime = tokio::runtime::Runtime::new().unwrap();
                let compact = || runtime.block_on(store.compact("events", 2)).unwrap();
                std::thread::scope(|scope| scope.spawn(compact).join().unwrap())
            });
        }
        Ok(())
    }
}

/// A rival comes first at that moment: nothing is there twice, and whoever is second is told.
async fn overtaken(moment: fn(Step, &str) -> bool) {
    let folder = folder();
    let rival = Arc::new(Rival { moment, place: OnceLock::new(), made: OnceLock::new() });
    let watch: Arc<dyn Watch> = Arc::clone(&rival) as _;
    let store = Store::create(Place::watched(folder.path(), Some(watch)).unwrap()).unwrap();
    let events = netra_store::schema::table("events").unwrap();
    for turn in 0..3 {
        store.append("events", &[rows(events, turn..turn + 1)], None).await.unwrap();
    }
    rival.place.set(folder.path().to_owned()).unwrap();
    let second = store.compact("events", 2).await.unwrap_err().to_string();
    assert_eq!(
        second,
        "somebody else changed files of the table events first; nothing was changed here"
    );
    let made = Compacted { before: 3, after: 1, repaired: Vec::new() };
    assert_eq!(rival.made.get(), Some(&made));
    assert_eq!(number(&store, "select count(*) from events").await, 3);
    assert_eq!(number(&store, "select count(distinct sequence) from events").await, 3);
    assert_eq!(store.compact("events", 2).await.unwrap(), Compacted::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_puts_files_together_second_changes_nothing() {
    overtaken(|step, path| step == Step::Named && path.ends_with(".parquet")).await;
}

/// Both stand on the same version and write the next at once, which only one can.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_commits_at_the_same_moment_and_second_changes_nothing() {
    overtaken(|step, path| step == Step::Whole && path.contains("/_delta_log/")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_rule_files_out() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    let events = netra_store::schema::table("events").unwrap();
    for day in 0..4 {
        let from = day * 4;
        store.append("events", &[rows(events, from..from + 4)], None).await.unwrap();
    }
    let session = SessionContext::new_with_config(Store::settings());
    let scan = Arc::new(store.scan("events").await.unwrap());
    session.register_table("events", scan).unwrap();
    let plan = session
        .sql("explain select * from events where t >= '2026-11-18T12:00:00Z' and rank = 8999")
        .await
        .unwrap();
    let plan = plan.collect().await.unwrap();
    let plan = pretty_format_batches(&plan).unwrap().to_string();
    assert_eq!(plan.matches(".parquet").count(), 1, "{plan}");
    let found = session.sql("select sequence from events where rank = 8999").await.unwrap();
    let found = found.collect().await.unwrap();
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_do_not_fit_are_named() {
    let folder = folder();
    let store = Store::create(Place::directory(folder.path()).unwrap()).unwrap();
    let batch = rows(netra_store::schema::table("ledger").unwrap(), 0..1);
    let wrong = store.append("metrics", &[batch], None).await.unwrap_err().to_string();
    assert_eq!(wrong, "rows for metrics: no column is called job");
    let nowhere = Place::directory(&folder.path().join("nowhere")).unwrap();
    let missing = Store::open(nowhere).unwrap_err().to_string();
    assert!(missing.starts_with("there is no store at "), "{missing}");
    assert!(
        store.scan("event").await.unwrap_err().to_string().contains("no table is called event")
    );
    let empty = store.scan("events").await.unwrap();
    assert_eq!((empty.extent(), empty.version()), ((0, 0), 0));
}
