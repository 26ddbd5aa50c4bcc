//! Whatever ends a hub, and whenever: every event that its spool held is in the store once.
//!
//! A fault is put at one step of writing: the process is gone there (nothing it does later reaches the disk), the file is torn, or the disk
//! is full. Then another process goes on from the mark that was kept last. `NETRA_LONG=1` makes ten times as many, `NETRA_SEED` repeats.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;
mod spool;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use folder::folder;
use generate::{Maker, mix};
use netra_store::{Ingest, Place, Step, Store, Watch};
use netra_stream::batch::Batch;
use netra_stream::sink::Sink;
use netra_stream::told::Told;
use spool::Spool;

const SPOOL: u64 = 0xabcd;

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The process is gone.
    Kill,
    /// The disk is full, from then on until somebody makes room.
    Full,
}

/// Counts steps, and lets the chosen one fail.
#[derive(Debug, Default)]
struct Trap {
    left: AtomicU64,
    armed: AtomicBool,
    sprung: AtomicBool,
    full: AtomicBool,
    phase: Mutex<&'static str>,
    hits: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

impl Trap {
    fn arm(&self, steps: u64, fault: Fault) {
        self.left.store(steps, Ordering::Relaxed);
        self.full.store(fault == Fault::Full, Ordering::Relaxed);
        self.sprung.store(false, Ordering::Relaxed);
        self.armed.store(true, Ordering::Relaxed);
    }

    fn disarm(&self) {
        self.armed.store(false, Ordering::Relaxed);
        self.sprung.store(false, Ordering::Relaxed);
    }

    fn enter(&self, phase: &'static str) {
        *self.phase.lock().unwrap() = phase;
    }
}

impl Watch for Trap {
    fn step(&self, step: Step, path: &str) -> io::Result<()> {
        let failure = || match self.full.load(Ordering::Relaxed) {
            true => io::Error::from(io::ErrorKind::StorageFull),
            false => io::Error::other("the process is gone"),
        };
        if self.sprung.load(Ordering::Relaxed) {
            return Err(failure());
        }
        if !self.armed.load(Ordering::Relaxed) || self.left.fetch_sub(1, Ordering::Relaxed) != 1 {
            return Ok(());
        }
        self.sprung.store(true, Ordering::Relaxed);
        let what = match (step, path.contains("_delta_log")) {
            (Step::Remove, _) => "remove",
            (Step::Begin, true) => "log begin",
            (Step::Half, true) => "log torn",
            (Step::Whole, true) => "log unnamed",
            (Step::Named, true) => "log named",
            (Step::Begin, false) => "file begin",
            (Step::Half, false) => "file torn",
            (Step::Whole, false) => "file unnamed",
            (Step::Named, false) => "file named",
        };
        let phase = *self.phase.lock().unwrap();
        *self.hits.lock().unwrap().entry((phase, what)).or_default() += 1;
        Err(failure())
    }
}

/// A hub that can end at any moment.
struct Hub {
    store: Arc<Store>,
    sink: Ingest,
    /// The frame that comes next.
    next: usize,
}

struct World {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    trap: Arc<Trap>,
    spool: Spool,
    id: u64,
    /// The frame behind the mark that the daemon has kept.
    kept: usize,
}

impl World {
    fn new(spool: Spool) -> World {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        World {
            folder: folder(),
            runtime: runtime.unwrap(),
            trap: Arc::default(),
            spool,
            id: SPOOL,
            kept: 0,
        }
    }

    fn start(&self) -> Hub {
        self.trap.disarm();
        let watch: Arc<dyn Watch> = Arc::clone(&self.trap) as _;
        let place = Place::watched(self.folder.path(), Some(watch)).unwrap();
        let store = Arc::new(Store::create(place).unwrap());
        let told = Arc::new(Told::quiet());
        let handle = self.runtime.handle().clone();
        let mut sink = Ingest::new(Arc::clone(&store), handle, told, Duration::from_secs(1));
        let position = self.kept.checked_sub(1).map_or(0, |last| self.spool.frames[last].0);
        sink.at(self.id, position);
        sink.resume(&[]).unwrap();
        Hub { store, sink, next: self.kept }
    }

    /// Gives the next frames.
    fn feed(&self, hub: &mut Hub, frames: usize) {
        for _ in 0..frames {
            let Some((position, bytes)) = self.spool.frames.get(hub.next) else { return };
            hub.sink.at(self.id, *position);
            hub.sink.take(&Batch::open(bytes).unwrap(), &self.spool.images).unwrap();
            hub.next += 1;
        }
    }

    fn number(&self, store: &Store, question: &str) -> i64 {
        self.runtime.block_on(async {
            let session = SessionContext::new_with_config(Store::settings());
            for table in ["events", "activity", "functions", "ledger", "jobs", "mounts"] {
                let scan =
                    store.scan(table).await.unwrap_or_else(|error| panic!("{table}: {error}"));
                session.register_table(table, Arc::new(scan)).unwrap();
            }
            let answer = session.sql(question).await.unwrap().collect().await.unwrap();
            answer[0].column(0).as_primitive::<Int64Type>().value(0)
        })
    }

    /// Events before the frame up to which a table has everything, or that was given, whichever is further.
    fn expected(&self, hub: &Hub, table: &str) -> i64 {
        let name = format!("netra-spool-{:016x}", self.id);
        let mark = self.runtime.block_on(hub.store.mark(table, &name)).unwrap().unwrap_or(0);
        let has = self.spool.frames.partition_point(|frame| frame.0.cast_signed() <= mark);
        self.spool.events[has.max(hub.next)].cast_signed()
    }

    /// What queries of this hub see is what it was given, or what was committed before its end.
    fn look(&self, hub: &Hub) {
        let events = self.number(&hub.store, "select count(*) from events");
        assert_eq!(events, self.expected(hub, "events"));
        let sums = self.number(&hub.store, "select coalesce(sum(calls), 0) from activity");
        assert_eq!(sums, self.expected(hub, "activity"));
    }
}

const PHASES: [&str; 5] = ["commit", "compact", "checkpoint", "clean", "expire"];

fn work(world: &World, hub: &mut Hub, phase: &'static str) -> bool {
    world.trap.enter(phase);
    let store = Arc::clone(&hub.store);
    match phase {
        "commit" => hub.sink.commit().is_ok(),
        "compact" => {
            let events = world.runtime.block_on(store.compact("events", 2)).is_ok();
            events && world.runtime.block_on(store.compact("activity", 2)).is_ok()
        }
        "checkpoint" => world.runtime.block_on(store.checkpoint("events", 1)).is_ok(),
        "clean" => world.runtime.block_on(store.clean("events", Duration::ZERO)).is_ok(),
        _ => world.runtime.block_on(store.expire("mounts", None, Some(0))).is_ok(),
    }
}

fn seed() -> u64 {
    let given = std::env::var("NETRA_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| mix(u64::from(std::process::id())))
}

#[test]
fn every_event_is_there_once_whatever_ends_the_hub() {
    let long =
        ["NETRA_LONG", "NETRA_TEST_LONG"].iter().any(|name| std::env::var_os(name).is_some());
    let wanted = if long { 2000 } else { 200 };
    let seed = seed();
    println!("seed {seed}");
    let mut chance = seed;
    let mut next = |limit: u64| {
        chance = mix(chance);
        chance % limit
    };
    let (mut kills, mut checked) = (0, 0);
    let mut hits: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    while kills < wanted {
        let mut world = World::new(Spool::new(2, 3, 60, 7));
        let mut turns = 0;
        while world.kept < world.spool.frames.len() || turns < 60 {
            turns += 1;
            let mut hub = world.start();
            world.feed(&mut hub, next(6) as usize);
            if next(8) == 0 {
                world.look(&hub);
            }
            // The commit comes most often; the others work on what it left.
            let phase = PHASES[[0, 0, 0, 1, 1, 2, 3, 3, 4][next(9) as usize]];
            if phase != "commit" {
                assert!(work(&world, &mut hub, "commit"), "nothing was armed");
                world.kept = hub.next;
                world.feed(&mut hub, next(3) as usize);
            }
            let fault = if next(3) == 0 { Fault::Full } else { Fault::Kill };
            world.trap.arm(1 + next(if phase == "commit" { 24 } else { 9 }), fault);
            let done = work(&world, &mut hub, phase);
            let sprung = world.trap.sprung.load(Ordering::Relaxed);
            assert!(done || sprung, "{phase} failed without a fault");
            kills += u64::from(sprung);
            if done && phase == "commit" && !sprung {
                world.kept = hub.next;
            } else if sprung && fault == Fault::Full && phase == "commit" {
                // There is room again. Whoever asks before the daemon tries again sees each row once, whether or not the log has them.
                world.trap.disarm();
                world.look(&hub);
                // The daemon goes on from its mark, with the same sink.
                let position =
                    world.kept.checked_sub(1).map_or(0, |last| world.spool.frames[last].0);
                hub.sink.at(world.id, position);
                hub.sink.resume(&[]).unwrap();
                let given = hub.next;
                hub.next = world.kept;
                world.feed(&mut hub, given - world.kept);
                world.look(&hub);
                assert!(work(&world, &mut hub, "commit"));
                world.kept = hub.next;
            }
        }
        let hub = world.start();
        let all = world.spool.events.last().unwrap().cast_signed();
        for question in [
            "select count(*) from events",
            "select count(distinct (process, lane, sequence)) from events",
            "select sum(calls) from activity",
            "select sum(calls) from functions",
            "select sum(sent) from ledger",
        ] {
            assert_eq!(world.number(&hub.store, question), all, "{question} (seed {seed})");
        }
        assert_eq!(world.number(&hub.store, "select sum(processes) from jobs"), 6);
        assert_eq!(world.runtime.block_on(hub.store.check(true)), [], "seed {seed}");
        checked += all;
        for (key, count) in world.trap.hits.lock().unwrap().iter() {
            *hits.entry(*key).or_default() += count;
        }
    }
    for ((phase, step), count) in &hits {
        println!("{phase:<11} {step:<13} {count}");
    }
    println!("{kills} faults, {checked} events checked");
    for phase in PHASES {
        assert!(hits.keys().any(|key| key.0 == phase), "no fault hit {phase}");
    }
    for step in [
        "file begin",
        "file torn",
        "file unnamed",
        "file named",
        "log begin",
        "log torn",
        "log unnamed",
        "log named",
    ] {
        assert!(hits.contains_key(&("commit", step)), "no fault hit {step} of a commit");
    }
}

#[test]
fn two_hubs_commit_at_once_and_lose_nothing() {
    let folder = folder();
    let hub = |id: u64| {
        let folder = folder.path().to_owned();
        std::thread::spawn(move || {
            let mut spool = Spool::new(0, 0, 0, 1);
            for rank in 0..4 {
                let maker = Maker { job: id, rank, nprocs: 4, every: 1_000_000 };
                let mut bytes = Vec::new();
                maker.began(&mut bytes);
                maker.tables(&mut bytes);
                maker.events(0, 0..100, &mut bytes);
                maker.ended(100, &mut bytes);
                spool.append(&bytes);
            }
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            let store = Arc::new(Store::create(Place::directory(&folder).unwrap()).unwrap());
            let told = Arc::new(Told::quiet());
            let mut sink =
                Ingest::new(store, runtime.handle().clone(), told, Duration::from_secs(1));
            sink.at(id, 0);
            sink.resume(&[]).unwrap();
            for (position, bytes) in &spool.frames {
                sink.at(id, *position);
                sink.take(&Batch::open(bytes).unwrap(), &spool.images).unwrap();
                sink.commit().unwrap();
            }
        })
    };
    let hubs = [hub(1), hub(2)];
    hubs.into_iter().for_each(|hub| hub.join().unwrap());
    let world = World { folder, ..World::new(Spool::new(0, 0, 0, 1)) };
    let hub = world.start();
    assert_eq!(
        world.number(&hub.store, "select count(distinct (process, lane, sequence)) from events"),
        800
    );
    assert_eq!(world.number(&hub.store, "select count(*) from events"), 800);
    assert_eq!(world.number(&hub.store, "select sum(calls) from activity"), 800);
    assert_eq!(world.number(&hub.store, "select count(distinct job) from jobs"), 2);
}
