//! Real processes, really killed: hubs that take frames, commit, put files together, sum logs up, clean up and let rows expire get SIGKILL
//! in the middle, from themselves at a chosen step of writing or from outside at any moment, one alone or two at once. Others go on in their place.
//!
//! The processes are this test's own program, told by a variable that it is one. `NETRA_TEST_LONG=1` kills ten times as many,
//! `NETRA_SEED` repeats.
#![expect(clippy::unwrap_used, reason = "a test that can not go on ends there")]

mod folder;
mod generate;
mod spool;

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use folder::folder;
use generate::mix;
use netra_store::{Ingest, Place, Step, Store, Watch};
use netra_stream::batch::Batch;
use netra_stream::sink::Sink;
use netra_stream::told::Told;
use spool::Spool;

/// What a process of this program is told to do: place, number, phase, step, and frames to take.
const ORDER: &str = "NETRA_TEST_STORE_HUB";
const KILL: i32 = 9;
const PHASES: [&str; 6] = ["ingest", "commit", "compact", "checkpoint", "clean", "expire"];
/// What a process says when it has given everything.
const ALL: i32 = 3;
const RANKS: i64 = 6;

/// The same for every process.
fn spool(id: u64) -> Spool {
    let mut spool = Spool::new(0, 0, 0, 1);
    for job in [2 * id, 2 * id + 1] {
        for rank in 0..3 {
            let maker = generate::Maker { job, rank, nprocs: 3, every: 50_000_000 };
            let mut bytes = Vec::new();
            maker.began(&mut bytes);
            maker.tables(&mut bytes);
            let mut slot = 0;
            for from in (0..60).step_by(7) {
                slot = maker.events(slot, from..(from + 7).min(60), &mut bytes);
            }
            maker.ended(60, &mut bytes);
            spool.append(&bytes);
        }
    }
    spool
}

/// Kills its own process at a step.
#[derive(Debug, Default)]
struct Trap {
    left: AtomicU64,
}

impl Watch for Trap {
    fn step(&self, _: Step, _: &str) -> io::Result<()> {
        // Nobody counts that far.
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            die();
        }
        Ok(())
    }
}

fn die() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap();
    unreachable!("nobody survives that");
}

/// The frame behind the mark that the daemon has kept.
fn kept(place: &Path, id: u64) -> usize {
    let text = std::fs::read_to_string(place.join(format!("kept.{id}"))).unwrap_or_default();
    text.parse().unwrap_or(0)
}

fn keep(place: &Path, id: u64, frame: usize) {
    // Under a name of its own: two hubs live at the same time.
    let new = place.join(format!("new.{id}"));
    std::fs::write(&new, frame.to_string()).unwrap();
    std::fs::rename(new, place.join(format!("kept.{id}"))).unwrap();
}

struct Order {
    place: PathBuf,
    id: u64,
    phase: String,
    step: u64,
    frames: usize,
}

impl Order {
    fn read() -> Option<Order> {
        let text = std::env::var(ORDER).ok()?;
        let words: Vec<&str> = text.split('|').collect();
        let [place, id, phase, step, frames] = words[..] else { panic!("{text}") };
        Some(Order {
            place: place.into(),
            id: id.parse().unwrap(),
            phase: phase.to_owned(),
            step: step.parse().unwrap(),
            frames: frames.parse().unwrap(),
        })
    }

    fn start(&self) -> Child {
        let place = self.place.display();
        let text = format!("{place}|{}|{}|{}|{}", self.id, self.phase, self.step, self.frames);
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_process_that_is_told_so_is_a_hub", "--nocapture"])
            .env(ORDER, text)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// One life of a hub.
    fn obey(&self) {
        let trap = Arc::new(Trap::default());
        let watch: Arc<dyn Watch> = Arc::clone(&trap) as _;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap();
        let place = Place::watched(&self.place.join("store"), Some(watch)).unwrap();
        let store = Arc::new(Store::create(place).unwrap());
        let spool = spool(self.id);
        let told = Arc::new(Told::quiet());
        let handle = runtime.handle().clone();
        let mut sink = Ingest::new(Arc::clone(&store), handle, told, Duration::from_secs(1));
        let mut next = kept(&self.place, self.id);
        sink.at(self.id, next.checked_sub(1).map_or(0, |last| spool.frames[last].0));
        sink.resume(&[]).unwrap();
        let deadly = |phase: &str| {
            let steps = if self.phase == phase { self.step } else { 0 };
            trap.left.store(steps, Ordering::Relaxed);
        };
        for taken in 1..=self.frames {
            let Some((position, bytes)) = spool.frames.get(next) else { break };
            sink.at(self.id, *position);
            sink.take(&Batch::open(bytes).unwrap(), &spool.images).unwrap();
            next += 1;
            if self.phase == "ingest" && taken as u64 == self.step {
                die();
            }
        }
        deadly("commit");
        sink.commit().unwrap();
        keep(&self.place, self.id, next);
        deadly("compact");
        // Another hub may have done it at the same time: then it is theirs, and an error here.
        for table in ["events", "activity"] {
            drop(runtime.block_on(store.compact(table, 2)));
        }
        deadly("checkpoint");
        runtime.block_on(store.checkpoint("events", 1)).unwrap();
        deadly("clean");
        if self.phase == "clean" {
            runtime.block_on(store.clean("events", Duration::ZERO)).unwrap();
        }
        deadly("expire");
        drop(runtime.block_on(store.expire("mounts", None, Some(0))));
        if next == spool.frames.len() {
            #[expect(
                clippy::disallowed_methods,
                reason = "nothing of a hub that is killed is dropped either"
            )]
            std::process::exit(ALL);
        }
    }
}

#[test]
fn a_process_that_is_told_so_is_a_hub() {
    if let Some(order) = Order::read() {
        order.obey();
    }
}

fn number(place: &Path, question: &str) -> i64 {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(Place::directory(&place.join("store")).unwrap()).unwrap();
        let session = SessionContext::new_with_config(Store::settings());
        let unreadable = store.register(&session).await.unwrap();
        assert!(unreadable.is_empty(), "{unreadable:?}");
        let answer = session.sql(question).await.unwrap().collect().await.unwrap();
        answer[0].column(0).as_primitive::<Int64Type>().value(0)
    })
}

/// What readers see at any moment: no event twice, and none missing that was committed before.
fn look(place: &Path, ids: &[u64]) -> i64 {
    let events = number(place, "select count(*) from events");
    let distinct = number(place, "select count(distinct (process, lane, sequence)) from events");
    assert_eq!(events, distinct);
    let least: u64 = ids.iter().map(|&id| spool(id).events[kept(place, id)]).sum();
    assert!(events >= least.cast_signed(), "{events} of at least {least}");
    events
}

struct Chance(u64);

impl Chance {
    fn next(&mut self, limit: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % limit
    }
}

/// Lets hubs live and die until their spools are empty; says how many died.
fn world(ids: &[u64], chance: &mut Chance, hits: &mut BTreeMap<String, u64>) -> (u64, i64) {
    let folder = folder();
    let place = folder.path();
    let (mut kills, mut done) = (0, vec![false; ids.len()]);
    let mut turn = chance.next(6);
    while done.contains(&false) {
        let mut living = Vec::new();
        for &id in ids {
            turn += 1;
            let phase = PHASES[(turn % 6) as usize];
            let from_outside = chance.next(4) == 0;
            // So many steps a phase may have; of cleaning up often a few.
            let steps = match phase {
                "commit" => 40,
                "clean" => 2,
                _ => 9,
            };
            let order = Order {
                place: place.to_owned(),
                id,
                // Two hubs: one must not clean up what the other is about to commit.
                phase: if ids.len() > 1 && phase == "clean" { "commit" } else { phase }.to_owned(),
                step: if from_outside { 1 << 40 } else { 1 + chance.next(steps) },
                frames: 3 + chance.next(9) as usize,
            };
            let child = order.start();
            if from_outside {
                std::thread::sleep(Duration::from_millis(chance.next(150)));
                rustix::process::kill_process(
                    rustix::process::Pid::from_child(&child),
                    rustix::process::Signal::KILL,
                )
                .unwrap();
            }
            living.push((if from_outside { "any moment".to_owned() } else { order.phase }, child));
        }
        for ((phase, child), done) in living.into_iter().zip(&mut done) {
            let ended = child.wait_with_output().unwrap();
            match (ended.status.signal(), ended.status.code()) {
                (Some(KILL), _) => {
                    kills += 1;
                    *hits.entry(phase).or_default() += 1;
                }
                (_, Some(0)) => {}
                (_, Some(ALL)) => *done = true,
                _ => panic!("{phase}: {}", String::from_utf8_lossy(&ended.stderr)),
            }
        }
        if chance.next(6) == 0 {
            look(place, ids);
        }
    }
    let all = look(place, ids);
    let expected: u64 = ids.iter().map(|&id| *spool(id).events.last().unwrap()).sum();
    assert_eq!(all, expected.cast_signed());
    for question in [
        "select sum(calls) from activity",
        "select sum(calls) from functions",
        "select sum(sent) from ledger",
    ] {
        assert_eq!(number(place, question), all, "{question}");
    }
    let processes = RANKS * i64::try_from(ids.len()).unwrap();
    assert_eq!(number(place, "select sum(processes) from jobs"), processes);
    let store = Store::open(Place::directory(&place.join("store")).unwrap()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(runtime.block_on(store.check(true)), []);
    (kills, all)
}

#[test]
fn every_event_is_there_once_however_hubs_are_killed() {
    let wanted = if std::env::var_os("NETRA_TEST_LONG").is_some() { 1000 } else { 40 };
    let given = std::env::var("NETRA_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| mix(u64::from(std::process::id())));
    println!("seed {seed}");
    let mut chance = Chance(seed);
    let (mut kills, mut checked) = (0, 0);
    let mut hits = BTreeMap::new();
    let is_hit = |hits: &BTreeMap<String, u64>| {
        PHASES.iter().chain(&["any moment"]).all(|phase| hits.contains_key(*phase))
    };
    // A phase that was not hit by then never is.
    while kills < wanted || (!is_hit(&hits) && kills < 10 * wanted) {
        let ids: &[u64] = if chance.next(3) == 0 { &[5, 6] } else { &[5] };
        let (more, events) = world(ids, &mut chance, &mut hits);
        kills += more;
        checked += events;
    }
    for (phase, count) in &hits {
        println!("{phase:<11} {count}");
    }
    println!("{kills} kills, {checked} events checked");
    for phase in PHASES.iter().chain(&["any moment"]) {
        assert!(hits.contains_key(*phase), "nobody was killed in {phase} (seed {seed})");
    }
}
