//! Frames become rows: seen at once, committed once, the same after a restart at any moment.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use folder::folder;
use generate::Maker;
use netra_event::frame::{Kind, Producer};
use netra_store::{Ingest, Place, Store};
use netra_stream::batch::{Batch, Images, Payload};
use netra_stream::frame;
use netra_stream::sink::Sink;
use netra_stream::told::Told;

/// A store, a sink, and the frames that went in.
struct Bench {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    store: Arc<Store>,
    sink: Ingest,
    images: Images,
    /// Where processes ended: the daemon lets go of their images when every sink is past that.
    ended: Vec<(u64, Producer)>,
    position: u64,
}

const SPOOL: u64 = 77;

impl Bench {
    fn new() -> Bench {
        let folder = folder();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let store = Arc::new(Store::create(Place::directory(folder.path()).unwrap()).unwrap());
        let sink = sink(&store, &runtime);
        let mut bench = Bench {
            folder,
            runtime,
            store,
            sink,
            images: Images::new(),
            ended: Vec::new(),
            position: 0,
        };
        bench.resume();
        bench
    }

    fn resume(&mut self) {
        self.sink.at(SPOOL, self.position);
        self.sink.resume(&[]).unwrap();
    }

    /// Another process takes over, from a position that was kept earlier.
    fn restart(&mut self, position: u64) {
        let place = Place::directory(self.folder.path()).unwrap();
        self.store = Arc::new(Store::open(place).unwrap());
        self.sink = sink(&self.store, &self.runtime);
        self.position = position;
        for (at, producer) in &self.ended {
            if *at <= position {
                self.images.remove(producer);
            }
        }
        self.resume();
    }

    /// Gives all frames in `bytes` to the sink.
    fn give(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let batch = Batch::open(bytes).unwrap();
            let length = frame::length(&batch.head);
            if let Ok(Some(Payload::Tables(parts))) = batch.payload() {
                let image = self.images.entry(batch.head.producer).or_default();
                Arc::make_mut(image).take(parts.parts());
            }
            self.position += length as u64;
            if batch.head.kind == Kind::Ledger {
                self.ended.push((self.position, batch.head.producer));
            }
            self.sink.at(SPOOL, self.position);
            self.sink.take(&batch, &self.images).unwrap();
            bytes = &bytes[length..];
        }
    }

    fn ask(&self, question: &str) -> Vec<RecordBatch> {
        self.runtime.block_on(async {
            let session = SessionContext::new_with_config(Store::settings());
            let unreadable = self.store.register(&session).await.unwrap();
            assert!(unreadable.is_empty(), "{unreadable:?}");
            session.sql(question).await.unwrap().collect().await.unwrap()
        })
    }

    fn number(&self, question: &str) -> i64 {
        self.ask(question)[0].column(0).as_primitive::<Int64Type>().value(0)
    }

    fn text(&self, question: &str) -> String {
        pretty_format_batches(&self.ask(question)).unwrap().to_string()
    }
}

fn sink(store: &Arc<Store>, runtime: &tokio::runtime::Runtime) -> Ingest {
    let told = Arc::new(Told::quiet());
    Ingest::new(Arc::clone(store), runtime.handle().clone(), told, Duration::from_secs(1))
}

fn maker(job: u64, rank: u32) -> Maker {
    Maker { job, rank, nprocs: 2, every: 1_000_000 }
}

/// Everything that a process sends.
fn whole(maker: &Maker, events: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    maker.began(&mut bytes);
    maker.tables(&mut bytes);
    let middle = maker.events(0, 0..events / 2, &mut bytes);
    maker.events(middle, events / 2..events, &mut bytes);
    maker.ended(events, &mut bytes);
    bytes
}

#[test]
fn events_are_seen_at_once_and_stay_the_same_when_they_land() {
    let mut bench = Bench::new();
    for (job, rank) in [(0, 1), (0, 0), (1, 0)] {
        bench.give(&whole(&maker(job, rank), 3000));
    }
    let questions = [
        "select count(*), count(distinct (process, lane, sequence)), sum(bytes), sum(duration) from events",
        "select job, rank, layer, op, count(*) calls, sum(bytes) bytes, sum(duration) as time, max(duration) slowest, \
         count(error) failed from events group by 1, 2, 3, 4 order by 1, 2, 3, 4",
        "select job, rank, layer, op, sum(calls) calls, sum(bytes) bytes, sum(time) as time, max(slowest) slowest, \
         sum(failed) failed from activity group by 1, 2, 3, 4 order by 1, 2, 3, 4",
        "select job, rank, layer, op, sum(calls) calls, sum(bytes) bytes, sum(time) as time, max(slowest) slowest, \
         sum(failed) failed from functions group by 1, 2, 3, 4 order by 1, 2, 3, 4",
        "select job, rank, state, node, pid, uid, exe from processes order by 1, 2",
        "select job, sum(processes), max(nprocs), sum(running), min(t) from jobs group by 1 order by 1",
        "select job, file, file_system, mount, sum(processes) from files group by 1, 2, 3, 4 order by 1, 2",
        "select job, rank, produced, sent, dropped from ledger order by 1, 2",
        "select distinct file, file_system, mount, node, \"user\", uid, source from events order by 1, 2, 4, 6",
        "select t, t_ns, op, \"offset\", length, bytes, result, argument, error from events \
         where job = 'slurm.1001.0' order by t, t_ns limit 40",
    ];
    let before: Vec<String> = questions.iter().map(|question| bench.text(question)).collect();
    assert_eq!(bench.number("select count(*) from events"), 9000);
    // What the events add up to is what the roll-ups say.
    assert_eq!(before[1], before[2]);
    assert_eq!(before[1], before[3]);
    assert!(before[4].contains("| ended"), "{}", before[4]);
    let mark = bench.sink.commit().unwrap();
    assert!(!mark.is_empty());
    let after: Vec<String> = questions.iter().map(|question| bench.text(question)).collect();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    bench.restart(bench.position);
    for (question, before) in questions.iter().zip(&before) {
        assert_eq!(&bench.text(question), before, "after a restart");
    }
    let oracle = (0..3000).map(|number| maker(1, 0).event(number));
    let moved: i64 = oracle
        .clone()
        .filter(|event| event.length > 5 && !event.failed)
        .map(|event| event.result)
        .sum();
    assert_eq!(bench.number("select sum(bytes) from events where job = 'slurm.1001.0'"), moved);
    let failed = oracle.filter(|event| event.failed).count() as i64;
    let asked = "select count(*) from events where job = 'slurm.1001.0' and error = 'ENOSPC'";
    assert_eq!(bench.number(asked), failed);
}

#[test]
fn a_process_that_runs_is_seen() {
    let mut bench = Bench::new();
    let mut bytes = Vec::new();
    let maker = maker(3, 0);
    maker.began(&mut bytes);
    maker.tables(&mut bytes);
    maker.events(0, 0..10, &mut bytes);
    bench.give(&bytes);
    for _ in 0..2 {
        assert_eq!(bench.number("select count(*) from processes where state = 'running'"), 1);
        assert_eq!(bench.number("select sum(running) from jobs"), 1);
        assert_eq!(bench.number("select count(*) from events"), 10);
        bench.sink.commit().unwrap();
    }
    let mut bytes = Vec::new();
    maker.ended(10, &mut bytes);
    bench.give(&bytes);
    assert_eq!(bench.number("select count(*) from processes where state = 'ended'"), 1);
    assert_eq!(bench.number("select count(*) from processes"), 1);
    bench.sink.commit().unwrap();
    assert_eq!(bench.number("select count(*) from processes"), 1);
}

#[test]
fn batches_that_come_again_are_known() {
    let mut bench = Bench::new();
    let (first, second) = (whole(&maker(0, 0), 500), whole(&maker(0, 1), 700));
    bench.give(&first);
    bench.sink.commit().unwrap();
    let kept = bench.position;
    bench.give(&second);
    bench.sink.commit().unwrap();
    // The daemon died before it kept the second mark: the frames behind the first come again, and others behind them.
    bench.restart(kept);
    bench.give(&second);
    assert_eq!(bench.number("select count(*) from events"), 1200);
    bench.give(&whole(&maker(1, 0), 300));
    assert_eq!(bench.number("select count(*) from events"), 1500);
    bench.sink.commit().unwrap();
    assert_eq!(bench.number("select count(*) from events"), 1500);
    assert_eq!(bench.number("select sum(calls) from activity"), 1500);
    assert_eq!(bench.number("select sum(calls) from functions"), 1500);
    assert_eq!(bench.number("select count(*) from ledger"), 3);
    assert_eq!(bench.number("select sum(processes) from jobs"), 3);
}

#[test]
fn files_put_together_hold_the_same_rows_in_order() {
    let mut bench = Bench::new();
    for rank in 0..6 {
        bench.give(&whole(&maker(0, rank), 400));
        bench.sink.commit().unwrap();
    }
    let all = "select job, rank, t, t_ns, process, lane, sequence, op, bytes from events order by process, sequence";
    let sums = "select job, rank, t, layer, op, mount, sum(calls), sum(bytes), max(slowest) from activity group by 1, 2, 3, 4, 5, 6 \
                order by 1, 2, 3, 4, 5, 6";
    let before = (bench.text(all), bench.text(sums));
    let compacted = bench.runtime.block_on(bench.store.compact("events", 2)).unwrap();
    assert_eq!((compacted.before, compacted.after), (6, 1));
    assert_eq!(compacted.repaired, []);
    bench.runtime.block_on(bench.store.compact("activity", 2)).unwrap();
    assert_eq!((bench.text(all), bench.text(sums)), before);
    let stored = bench.text("select job, rank, t, t_ns from events");
    assert_eq!(
        stored,
        bench.text("select job, rank, t, t_ns from events order by job, rank, t, t_ns")
    );
    assert_eq!(bench.runtime.block_on(bench.store.check(true)), []);
    // Old files stay for whoever reads them, and go when nobody can.
    let cleaned = bench.runtime.block_on(bench.store.clean("events", Duration::from_secs(3600)));
    assert_eq!(cleaned.unwrap(), 0);
    std::thread::sleep(Duration::from_millis(5));
    let cleaned = bench.runtime.block_on(bench.store.clean("events", Duration::ZERO)).unwrap();
    assert_eq!(cleaned, 6);
    assert_eq!(bench.number("select count(*) from events"), 2400);
    bench.restart(bench.position);
    assert_eq!((bench.text(all), bench.text(sums)), before);
    let century = Duration::from_secs(100 * 365 * 86_400);
    let expired = bench.runtime.block_on(bench.store.expire("events", Some(century), None));
    assert_eq!(expired.unwrap().0, 0);
    let expired = bench.runtime.block_on(bench.store.expire("events", None, Some(10))).unwrap();
    assert_eq!(expired.0, 1);
    assert_eq!(bench.number("select count(*) from events"), 0);
    assert!(bench.number("select sum(calls) from activity") == 2400, "roll-ups outlive events");
}
