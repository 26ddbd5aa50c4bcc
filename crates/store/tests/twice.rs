//! What arrived twice is there once: frames of the same processes come to two hubs, and afterwards every table is that of a hub that
//! got each of them once.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod foreign;
mod generate;
mod row;
mod spool;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use datafusion::arrow::array::{ArrayRef, AsArray as _, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::SessionContext;
use folder::folder;
use generate::Maker;
use netra_store::maintain::Repaired;
use netra_store::schema::{Merge, TABLES, Table};
use netra_store::{Ingest, Place, Step, Store, Watch};
use netra_stream::batch::Batch;
use netra_stream::sink::Sink;
use netra_stream::told::Told;
use row::rows;
use spool::Spool;
use tokio::runtime::Runtime;

/// Frames of one process: that it began, its tables, its events in frames of 50, that it ended, its account.
fn frames(maker: &Maker, events: u64) -> Vec<Vec<u8>> {
    let mut spool = Spool::new(0, 0, 0, 1);
    let mut bytes = Vec::new();
    maker.began(&mut bytes);
    maker.tables(&mut bytes);
    let mut slot = 0;
    for from in (0..events).step_by(50) {
        slot = maker.events(slot, from..(from + 50).min(events), &mut bytes);
    }
    maker.ended(events, &mut bytes);
    spool.append(&bytes);
    spool.frames.into_iter().map(|(_, bytes)| bytes).collect()
}

/// Gives frames to a hub of its own, which commits after every `each`.
fn hub(runtime: &Runtime, store: &Arc<Store>, id: u64, frames: &[Vec<u8>], each: usize) {
    let told = Arc::new(Told::quiet());
    let handle = runtime.handle().clone();
    let mut sink = Ingest::new(Arc::clone(store), handle, told, Duration::from_secs(1));
    sink.at(id, 0);
    sink.resume(&[]).unwrap();
    let mut spool = Spool::new(0, 0, 0, 1);
    frames.iter().for_each(|frame| spool.append(frame));
    for frames in spool.frames.chunks(each) {
        for (position, bytes) in frames {
            sink.at(id, *position);
            sink.take(&Batch::open(bytes).unwrap(), &spool.images).unwrap();
        }
        sink.commit().unwrap();
    }
}

fn open(place: &Path) -> Arc<Store> {
    Arc::new(Store::create(Place::directory(place).unwrap()).unwrap())
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The rows of a table as text, sorted; those of a roll-up added up.
fn table(runtime: &Runtime, store: &Store, table: &Table) -> Vec<String> {
    let name = |name: &str| format!("\"{name}\"");
    let keys = table.columns.iter().filter(|column| column.merge == Merge::Key);
    let keys = keys.map(|column| name(&column.name)).collect::<Vec<_>>().join(", ");
    let columns = table.columns.iter().map(|column| match column.merge {
        Merge::Key => name(&column.name),
        Merge::Sum => format!("sum({})", name(&column.name)),
        Merge::Least => format!("min({})", name(&column.name)),
        Merge::Most => format!("max({})", name(&column.name)),
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let group = if table.is_rollup { format!("group by {keys}") } else { String::new() };
    let question = format!("select {columns} from {} {group}", table.name);
    let answer: Vec<RecordBatch> = runtime.block_on(async {
        let session = SessionContext::new_with_config(Store::settings());
        assert!(store.register(&session).await.unwrap().is_empty());
        session.sql(&question).await.unwrap().collect().await.unwrap()
    });
    let mut lines = Vec::new();
    for batch in &answer {
        let options = FormatOptions::default().with_null("null");
        let columns = batch.columns().iter();
        let columns: Vec<ArrayFormatter<'_>> =
            columns.map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        let line = |row| columns.iter().map(|of| of.value(row).to_string()).collect::<Vec<_>>();
        lines.extend((0..batch.num_rows()).map(|row| line(row).join(" | ")));
    }
    lines.sort();
    lines
}

/// All tables that have rows.
fn everything(runtime: &Runtime, store: &Store) -> BTreeMap<&'static str, Vec<String>> {
    let there = runtime.block_on(store.stats());
    let there: Vec<&str> =
        there.into_iter().map(|(name, stats)| stats.map(|_| name).unwrap()).collect();
    let there = TABLES.iter().filter(|table| there.contains(&table.name));
    there.map(|of| (of.name, table(runtime, store, of))).collect()
}

/// Every table of one store is that of the other.
#[track_caller]
fn assert_same(runtime: &Runtime, store: &Store, want: &BTreeMap<&'static str, Vec<String>>) {
    let found = everything(runtime, store);
    assert_eq!(found.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>());
    for (name, found) in found {
        let want = &want[name];
        let more: Vec<&String> = found.iter().filter(|row| !want.contains(row)).collect();
        let less: Vec<&String> = want.iter().filter(|row| !found.contains(row)).collect();
        assert!(more.is_empty() && less.is_empty(), "{name}: not {more:#?} but {less:#?}");
        assert_eq!(found.len(), want.len(), "{name}");
    }
}

fn number(runtime: &Runtime, store: &Store, question: &str) -> i64 {
    runtime.block_on(async {
        let session = SessionContext::new_with_config(Store::settings());
        assert!(store.register(&session).await.unwrap().is_empty());
        let answer = session.sql(question).await.unwrap().collect().await.unwrap();
        answer[0].column(0).as_primitive::<Int64Type>().value(0)
    })
}

const EVENTS: u64 = 600;

fn maker(job: u64, rank: u32) -> Maker {
    Maker { job, rank, nprocs: 2, every: 5_000_000 }
}

/// What a hub that was given up has of a process, and what the one in its place has: the frames from the fifth of twelve on are with both as
/// far as the ninth, or to the end if the process had ended by then.
fn divided(maker: &Maker, ended: bool) -> [Vec<Vec<u8>>; 2] {
    let all = frames(maker, EVENTS);
    assert_eq!(all.len(), 2 + 12 + 2);
    let first = if ended { all.clone() } else { all[..2 + 9].to_vec() };
    let second = [&all[..2], &all[2 + 4..]].concat();
    [first, second]
}

/// Events that are then there twice.
fn doubled(ended: bool) -> u64 {
    if ended { 8 * 50 } else { 5 * 50 }
}

/// A store that two hubs wrote, in which some is there twice, and what it should be.
struct World {
    folder: tempfile::TempDir,
    runtime: Runtime,
    want: BTreeMap<&'static str, Vec<String>>,
}

impl World {
    /// One job is there twice from begin to end but for its first frames, of the other one some frames are, and one not at all.
    fn new() -> World {
        let (folder, runtime) = (folder(), runtime());
        let whole = [maker(0, 0), maker(0, 1), maker(1, 0), maker(1, 1), maker(2, 0)];
        let once = open(&folder.path().join("once"));
        let all: Vec<Vec<u8>> = whole.iter().flat_map(|maker| frames(maker, EVENTS)).collect();
        hub(&runtime, &once, 1, &all, 7);
        let want = everything(&runtime, &once);
        let [mut first, mut second] = [Vec::new(), frames(&maker(2, 0), EVENTS)];
        for (maker, ended) in [(maker(0, 0), true), (maker(0, 1), true), (maker(1, 0), true)] {
            let [a, b] = divided(&maker, ended);
            first.extend(a);
            second.extend(b);
        }
        let [a, b] = divided(&maker(1, 1), false);
        first.extend(a);
        second.extend(b);
        let twice = open(&folder.path().join("twice"));
        hub(&runtime, &twice, 2, &first, 5);
        hub(&runtime, &twice, 3, &second, 9);
        World { folder, runtime, want }
    }

    fn place(&self) -> std::path::PathBuf {
        self.folder.path().join("twice")
    }
}

fn doubled_events() -> u64 {
    3 * doubled(true) + doubled(false)
}

#[test]
fn what_two_hubs_have_taken_is_there_once() {
    let World { folder, runtime, want } = World::new();
    let store = open(&folder.path().join("twice"));
    let rows = 5 * EVENTS + doubled_events();
    assert_eq!(number(&runtime, &store, "select count(*) from events"), rows.cast_signed());
    let said: Vec<String> =
        runtime.block_on(store.check(true)).iter().map(ToString::to_string).collect();
    let jobs = "of job slurm.1000.0 and another; netra store check --repair removes them";
    let line = |table: &str, rows: u64| format!("{table}: {rows} rows are there twice, {jobs}");
    assert_eq!(said, [line("processes", 3), line("events", doubled_events()), line("ledger", 3)]);
    let (repaired, problems) = runtime.block_on(store.repair());
    assert_eq!(problems, []);
    let removed: BTreeMap<&str, u64> =
        repaired.iter().map(|repaired| (repaired.table, repaired.removed)).collect();
    let tables = ["activity", "events", "files", "functions", "jobs", "ledger", "processes"];
    assert_eq!(removed.keys().copied().collect::<Vec<_>>(), tables);
    assert_eq!(
        (removed["events"], removed["processes"], removed["ledger"]),
        (doubled_events(), 3, 3)
    );
    for repaired in &repaired {
        assert_eq!((repaired.differing, repaired.left), (0, 0), "{repaired}");
        let is_sum = ["activity", "functions", "jobs", "files"].contains(&repaired.table);
        assert_eq!(repaired.corrected > 0, is_sum, "{repaired}");
    }
    assert_same(&runtime, &store, &want);
    assert_eq!(runtime.block_on(store.check(true)), []);
    assert_eq!(
        runtime.block_on(store.repair()),
        (Vec::new(), Vec::new()),
        "there is nothing to do"
    );
    let again = open(&folder.path().join("twice"));
    assert_same(&runtime, &again, &want);
    let (place, ours) = (folder.path().join("twice"), folder.path().join("ours"));
    println!("{}", runtime.block_on(foreign::agree(&again, &place, &ours)));
}

#[test]
fn putting_files_together_removes_what_is_twice() {
    let World { folder, runtime, want } = World::new();
    let store = open(&folder.path().join("twice"));
    let mut removed = BTreeMap::new();
    for table in TABLES.iter() {
        let compacted = runtime.block_on(store.compact(table.name, 2)).unwrap();
        for repaired in compacted.repaired {
            assert_eq!(repaired.left, 0, "{repaired}");
            removed.insert(repaired.table, repaired.removed);
        }
    }
    assert_eq!(
        (removed["events"], removed["processes"], removed["ledger"]),
        (doubled_events(), 3, 3)
    );
    assert_same(&runtime, &store, &want);
    assert_eq!(runtime.block_on(store.check(true)), []);
}

/// Lets one step fail, and everything behind it: the process is gone. A file that is torn, has no name
/// or is in no log is as good as none: unless there is much time, only the begin and the end of a log's entry count as steps.
#[derive(Debug)]
struct Trap {
    left: AtomicU64,
    sprung: AtomicBool,
    every: bool,
}

impl Watch for Trap {
    fn step(&self, step: Step, path: &str) -> io::Result<()> {
        let is_entry = path.contains("_delta_log") && [Step::Begin, Step::Named].contains(&step);
        let counts = self.every || is_entry;
        if counts && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.sprung.store(true, Ordering::Relaxed);
        }
        match self.sprung.load(Ordering::Relaxed) {
            true => Err(io::Error::other("the process is gone")),
            false => Ok(()),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => std::fs::copy(&from, &to).map(drop).unwrap(),
        }
    }
}

/// Ends a repair at every second step, and does it again.
fn ended_at(first: usize) {
    let world = World::new();
    let runtime = &world.runtime;
    let every =
        ["NETRA_LONG", "NETRA_TEST_LONG"].iter().any(|name| std::env::var_os(name).is_some());
    let mut half_done = 0;
    for step in (first..).step_by(2) {
        let place = world.folder.path().join(format!("step {step}"));
        copy(&world.place(), &place);
        let left = AtomicU64::new(step as u64);
        let trap = Arc::new(Trap { left, sprung: AtomicBool::new(false), every });
        let watched = Place::watched(&place, Some(Arc::clone(&trap) as Arc<dyn Watch>)).unwrap();
        let (_, problems) = runtime.block_on(Store::open(watched).unwrap().repair());
        let is_sprung = trap.sprung.load(Ordering::Relaxed);
        assert_eq!(is_sprung, !problems.is_empty(), "step {step}");
        let store = open(&place);
        // What is not named is right: nothing is done about it, and then it is compared.
        if !runtime.block_on(store.check(false)).is_empty() {
            half_done += 1;
            let (_, problems) = runtime.block_on(store.repair());
            assert_eq!(problems, [], "step {step}");
        }
        assert_same(runtime, &store, &world.want);
        std::fs::remove_dir_all(&place).unwrap();
        if !is_sprung {
            // Seven tables, each with an entry of its log that is about to be written, and that is.
            assert!(step > 7 * 2, "{step} steps");
            break;
        }
    }
    assert!(half_done >= 6, "{half_done}");
}

#[test]
fn whatever_ends_it_it_can_be_done_again() {
    ended_at(1);
}

#[test]
fn whatever_ends_it_one_step_later_it_can_be_done_again() {
    ended_at(2);
}

#[test]
fn who_commits_meanwhile_loses_nothing() {
    let World { folder, runtime, mut want } = World::new();
    let place = folder.path().join("twice");
    // Meanwhile others go on with jobs that are there twice, and most of that arrives twice as well.
    let more: Vec<Vec<u8>> = [maker(1, 2), maker(0, 3), maker(7, 0)]
        .iter()
        .flat_map(|maker| frames(maker, EVENTS))
        .collect();
    let once = open(&folder.path().join("once"));
    hub(&runtime, &once, 9, &more, 4);
    want.clone_from(&everything(&runtime, &once));
    let is_over = Arc::new(AtomicBool::new(false));
    let third = std::thread::spawn({
        let (place, is_over) = (place.clone(), Arc::clone(&is_over));
        move || {
            let runtime = self::runtime();
            let store = open(&place);
            hub(&runtime, &store, 4, &more, 2);
            hub(&runtime, &store, 5, &[&more[16..18], &more[20..]].concat(), 2);
            is_over.store(true, Ordering::Relaxed);
        }
    });
    let store = open(&place);
    let mut turns = 0;
    while !is_over.load(Ordering::Relaxed) {
        let (_, problems) = runtime.block_on(store.repair());
        assert_eq!(problems, []);
        turns += 1;
    }
    third.join().unwrap();
    let (_, problems) = runtime.block_on(store.repair());
    assert_eq!(problems, []);
    println!("{turns} repairs meanwhile");
    assert_same(&runtime, &store, &want);
    assert_eq!(runtime.block_on(store.check(true)), []);
}

/// Two that repair at the same time come to the same.
#[test]
fn two_may_repair_at_once() {
    let World { folder, runtime, want } = World::new();
    let place = folder.path().join("twice");
    let repair = || {
        let place = place.clone();
        std::thread::spawn(move || {
            let store = open(&place);
            self::runtime().block_on(store.repair()).1
        })
    };
    let both = [repair(), repair()].map(|thread| thread.join().unwrap());
    for problem in both.concat() {
        // Whoever is second too often says so.
        assert!(problem.what.contains("first; nothing was changed here"), "{problem}");
    }
    let store = open(&place);
    assert_eq!(runtime.block_on(store.repair()).1, []);
    assert_same(&runtime, &store, &want);
}

/// A row with some of its numbers replaced.
fn with(batch: &RecordBatch, column: &str, value: i64) -> RecordBatch {
    let at = batch.schema().index_of(column).unwrap();
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns[at] = Arc::new(Int64Array::from(vec![value; batch.num_rows()]));
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

#[test]
fn copies_that_differ_leave_one_whoever_came_first() {
    let runtime = runtime();
    let ledger = netra_store::schema::table("ledger").unwrap();
    let account = rows(ledger, 1..2);
    let variants = [with(&account, "sent", 5), with(&account, "sent", 7), account.clone()];
    let mut left = Vec::new();
    for order in [[0, 1, 2], [2, 0, 1], [1, 0, 2]] {
        let folder = folder();
        let store = open(folder.path());
        for which in order {
            let rows = [variants[which].clone()];
            runtime.block_on(store.append("ledger", &rows, None)).unwrap();
        }
        let (repaired, problems) = runtime.block_on(store.repair());
        let want = Repaired { table: "ledger", removed: 2, differing: 2, corrected: 0, left: 0 };
        assert_eq!((repaired, problems), (vec![want], Vec::new()));
        left.push(table(&runtime, &store, ledger));
    }
    assert_eq!(left[0].len(), 1);
    assert!(left[0] == left[1] && left[0] == left[2], "{left:#?}");
}

/// Tables that come with a process's end, a sample or a message: a row that has its name stays once, others as often as they are.
#[test]
fn rows_of_every_table_are_there_once() {
    let (folder, runtime) = (folder(), runtime());
    let store = open(folder.path());
    let named: Vec<&Table> = TABLES
        .iter()
        .filter(|table| !table.once.is_empty() && !["events", "processes"].contains(&table.name))
        .collect();
    assert_eq!(named.len(), 13 + 6);
    let mut want = BTreeMap::new();
    for of in &named {
        let name = of.name;
        runtime.block_on(store.append(name, &[rows(of, 0..4)], None)).unwrap();
        let once = table(&runtime, &store, of);
        let nameless = of.once.iter().map(|name| format!("\"{name}\" is null"));
        let nameless = nameless.collect::<Vec<_>>().join(" or ");
        let nameless = format!("select count(*) from {name} where {nameless}");
        let nameless = number(&runtime, &store, &nameless).cast_unsigned();
        runtime.block_on(store.append(name, &[rows(of, 2..4)], None)).unwrap();
        runtime.block_on(store.append(name, &[rows(of, 0..2)], None)).unwrap();
        want.insert(name, (once, nameless));
    }
    let (repaired, problems) = runtime.block_on(store.repair());
    assert_eq!(problems, []);
    for of in &named {
        let (once, nameless) = &want[of.name];
        let found = table(&runtime, &store, of);
        let repaired = repaired.iter().find(|repaired| repaired.table == of.name).unwrap();
        let want =
            Repaired { table: of.name, removed: 4 - nameless, differing: 0, corrected: 0, left: 0 };
        assert_eq!(repaired, &want);
        let mut distinct = found.clone();
        distinct.dedup();
        assert_eq!(&distinct, once, "{}", of.name);
        assert_eq!(found.len() as u64, 4 + nameless, "{}", of.name);
    }
}

/// Sums of calls that have expired are left as they are, and that is said.
#[test]
fn sums_of_what_has_expired_are_left() {
    let (folder, runtime) = (folder(), runtime());
    let store = open(folder.path());
    let all = frames(&maker(0, 0), EVENTS);
    hub(&runtime, &store, 1, &all, 2);
    hub(&runtime, &store, 2, &[&all[..2], &all[2 + 4..]].concat(), 20);
    // The first file has the first hundred calls, which came once; then go hundred of those that came twice.
    let length = runtime.block_on(store.stats());
    let length = length.into_iter().find(|(name, _)| *name == "events").unwrap().1.unwrap();
    let before = number(&runtime, &store, "select count(*) from events");
    let mut limit = length.bytes;
    while number(&runtime, &store, "select count(*) from events") > before - 300 {
        limit -= 100;
        runtime.block_on(store.expire("events", None, Some(limit))).unwrap();
    }
    let sums = number(&runtime, &store, "select sum(calls) from activity");
    assert_eq!(sums, 1000);
    let (repaired, problems) = runtime.block_on(store.repair());
    assert_eq!(problems, []);
    let of = |name: &str| repaired.iter().find(|repaired| repaired.table == name).unwrap();
    assert_eq!((of("events").removed, of("events").left), (300, 0));
    assert!(of("activity").left > 0 && of("functions").left > 0, "{repaired:?}");
    let said = of("functions").to_string();
    assert!(said.contains("stay as they are, since what they were made of has expired"), "{said}");
    // Seconds that are whole are right: three hundred of their calls were there twice.
    let sums = number(&runtime, &store, "select sum(calls) from activity");
    assert!((600..=800).contains(&sums), "{sums}");
    assert_eq!(number(&runtime, &store, "select count(*) from events"), 400);
}
