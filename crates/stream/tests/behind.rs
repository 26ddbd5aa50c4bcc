//! What a daemon does about sinks that are stuck, about books that do not add up, and about clocks that
//! differ.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use netra_event::frame::{Kind, Producer};
use netra_stream::batch::{Batch, Images};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Listen, Settings, SinkKind, SinkSettings, Upstream};
use netra_stream::frame::{self, Subject};
use netra_stream::intake::{Error, Intake, Setup};
use netra_stream::ledger::Checkpoint;
use netra_stream::outlet::Runner;
use netra_stream::sample::{Sample, Value};
use netra_stream::sink::{Mark, Null, Sink};
use netra_stream::spool::{Folder, Limits, Refused};
use netra_stream::told::Told;
use netra_stream::topic::{Received, Subscriber};
use netra_stream::wire::{Address, Plain};

const LIMITS: Limits = Limits { total: 64 << 10, file: 8 << 10 };

/// A frame of events, of which its head claims `claimed`.
fn events(from: u64, count: u32, claimed: u32) -> Vec<u8> {
    let mut body = Vec::new();
    for index in from..from + u64::from(count) {
        let words =
            [index, index.wrapping_mul(0x9e37_79b9_7f4a_7c15), index.reverse_bits(), 19 << 32];
        body.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
    }
    let producer = Producer { host: 1, start: 2, pid: 3 };
    let subject =
        Subject { kind: Kind::Events, producer, lane: 0, from, count, events: claimed, time: 0 };
    let mut bytes = Vec::new();
    frame::seal(&subject, &body, &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Keeps the first index of what it took, behind its mark; stands still while `stuck` is set.
struct Stuck {
    stuck: Arc<AtomicBool>,
    kept: Arc<Mutex<Vec<u64>>>,
}

impl Sink for Stuck {
    fn take(&mut self, batch: &Batch, _: &Images) -> std::io::Result<()> {
        while self.stuck.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kept.lock().unwrap().push(batch.head.from);
        Ok(())
    }

    fn commit(&mut self) -> std::io::Result<Mark> {
        Ok((self.kept.lock().unwrap().len() as u64).to_le_bytes().to_vec())
    }

    fn resume(&mut self, mark: &[u8]) -> std::io::Result<()> {
        let length = mark.first_chunk().map_or(0, |mark| u64::from_le_bytes(*mark));
        self.kept.lock().unwrap().truncate(length as usize);
        Ok(())
    }
}

/// A middle with a sink that takes everything and one that is stuck.
struct Middle {
    intake: Arc<Intake>,
    stuck: Arc<AtomicBool>,
    kept: Arc<Mutex<Vec<u64>>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Middle {
    fn new(folder: &Path, optional: bool) -> Middle {
        let names = ["quick".to_owned(), "stuck".to_owned()];
        let setup = Setup {
            limits: LIMITS,
            own: Producer::default(),
            images: false,
            outlets: names.to_vec(),
            optional: if optional { BTreeSet::from([names[1].clone()]) } else { BTreeSet::new() },
        };
        let storage = Arc::new(Folder::new(folder, false).unwrap());
        let told = Arc::new(Told::quiet());
        let intake = Intake::open(storage, setup, told, Arc::new(Clock::default())).unwrap();
        let intake = Arc::new(intake);
        let (stuck, kept) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let sink = Stuck { stuck: Arc::clone(&stuck), kept: Arc::clone(&kept) };
        let mut threads = Vec::new();
        for (name, sink) in names.into_iter().zip([Box::new(Null) as Box<dyn Sink>, Box::new(sink)])
        {
            let runner = Runner { name, sink, intake: Arc::clone(&intake) };
            threads.push(std::thread::spawn(move || runner.run()));
        }
        let keeper = Arc::clone(&intake);
        threads.push(std::thread::spawn(move || keeper.keep()));
        Middle { intake, stuck, kept, threads }
    }

    fn end(self) -> Checkpoint {
        self.stuck.store(false, Ordering::Relaxed);
        poll("every sink has everything", || self.intake.is_drained());
        self.intake.stop();
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.intake.checkpoint().unwrap();
        assert_eq!(self.intake.told.counters.ledger_broken.load(Ordering::Relaxed), 0);
        self.intake.state()
    }
}

#[test]
fn an_optional_sink_that_is_stuck_stops_nobody_and_what_it_lacks_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let middle = Middle::new(folder.path(), true);
    // Ten times what the spool holds.
    let frames = 400;
    for number in 0..frames {
        let frame = events(number * 50, 50, 50);
        poll("a frame is taken", || match middle.intake.offer(&frame) {
            Ok(_) => true,
            Err(Error::Spool(Refused::Full)) => false,
            Err(error) => panic!("{error}"),
        });
    }
    let skipped = middle.intake.told.counters.events_skipped.load(Ordering::Relaxed);
    assert!(skipped > 0);
    let kept = Arc::clone(&middle.kept);
    let state = middle.end();
    let total = frames * 50;
    let of = |at: usize| {
        let got = state.outlets[at].tally.producers.values().next().unwrap();
        (got.events(), got.skipped)
    };
    assert_eq!(of(0), (total, 0));
    let (delivered, skipped) = of(1);
    assert_eq!(delivered + skipped, total);
    assert!(delivered > 0 && skipped > 0, "{delivered} {skipped}");
    // What it has is in order, each once, and as much as the ledger says.
    let kept = kept.lock().unwrap();
    assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "{kept:?}");
    assert_eq!(kept.len() as u64 * 50, delivered);
    assert_eq!(kept.last(), Some(&(total - 50)));
}

#[test]
fn a_needed_sink_that_is_stuck_keeps_everything_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let middle = Middle::new(folder.path(), false);
    let mut taken = 0;
    while middle.intake.offer(&events(taken * 50, 50, 50)).is_ok() {
        taken += 1;
        assert!(taken < 1000, "the spool has a limit");
    }
    assert!(matches!(
        middle.intake.offer(&events(taken * 50, 50, 50)),
        Err(Error::Spool(Refused::Full))
    ));
    let kept = Arc::clone(&middle.kept);
    let state = middle.end();
    let got: Vec<u64> = state
        .outlets
        .iter()
        .map(|outlet| outlet.tally.producers.values().map(|got| got.events()).sum())
        .collect();
    assert_eq!(got, [taken * 50, taken * 50]);
    assert_eq!(kept.lock().unwrap().len() as u64, taken);
}

#[test]
fn a_sink_that_comes_late_knows_what_it_never_gets() {
    let folder = tempfile::tempdir().unwrap();
    let open = |names: &[&str]| {
        let setup = Setup {
            limits: LIMITS,
            own: Producer::default(),
            images: false,
            outlets: names.iter().map(|&name| name.to_owned()).collect(),
            optional: BTreeSet::new(),
        };
        let storage = Arc::new(Folder::new(folder.path(), false).unwrap());
        let clock = Arc::new(Clock::default());
        Arc::new(Intake::open(storage, setup, Arc::new(Told::quiet()), clock).unwrap())
    };
    let drain = |intake: &Arc<Intake>, name: &str| {
        let (name, intake) = (name.to_owned(), Arc::clone(intake));
        std::thread::spawn(move || Runner { name, sink: Box::new(Null), intake }.run())
    };
    let first = open(&["a"]);
    let thread = drain(&first, "a");
    for number in 0..40 {
        first.offer(&events(number * 50, 50, 50)).unwrap();
        if number == 30 {
            poll("the sink has it", || first.is_drained());
            first.checkpoint().unwrap();
        }
    }
    poll("the sink has it", || first.is_drained());
    first.stop();
    thread.join().unwrap();
    first.checkpoint().unwrap();
    drop(first);
    let second = open(&["a", "late"]);
    let threads = ["a", "late"].map(|name| drain(&second, name));
    second.offer(&events(2000, 50, 50)).unwrap();
    poll("both have everything", || second.is_drained());
    second.stop();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    second.checkpoint().unwrap();
    assert_eq!(second.told.counters.ledger_broken.load(Ordering::Relaxed), 0);
    let state = second.state();
    let late = state.outlets[1].tally.producers.values().next().unwrap();
    assert!(late.skipped > 0 && late.events() >= 50);
    assert_eq!(late.events() + late.skipped, 2050);
}

#[test]
fn books_that_do_not_add_up_raise_the_metric_once() {
    let folder = tempfile::tempdir().unwrap();
    let middle = Middle::new(folder.path(), true);
    middle.stuck.store(false, Ordering::Relaxed);
    middle.intake.offer(&events(0, 50, 50)).unwrap();
    // A frame that says it has five events, and has four.
    middle.intake.offer(&events(50, 4, 5)).unwrap();
    let broken = &middle.intake.told.counters.ledger_broken;
    // Once at each of the two sinks.
    poll("it is noticed", || broken.load(Ordering::Relaxed) == 2);
    middle.intake.offer(&events(54, 10, 10)).unwrap();
    poll("everything is delivered", || middle.intake.is_drained());
    middle.intake.checkpoint().unwrap();
    assert_eq!(broken.load(Ordering::Relaxed), 2, "it is said once");
    let metrics = middle.intake.told.metrics();
    assert!(metrics.contains("\nnetra_stream_ledger_broken_total 2\n"), "{metrics}");
    assert!(metrics.contains("netra_stream_in_flight_events{sink=\"quick\"} 1\n"), "{metrics}");
    middle.intake.stop();
    for thread in middle.threads {
        thread.join().unwrap();
    }
}

fn metric(daemon: &Daemon, name: &str) -> Option<i64> {
    let text = daemon.intake.told.metrics();
    let line = format!("netra_stream_clock_{name}{{upstream=\"up\"}} ");
    text.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok())
}

#[test]
fn the_hubs_clock_is_known_to_the_sender_and_told_to_the_hub() {
    const HOUR: i64 = 3_600_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let address = Address::Unix(folder.path().join("hub.sock"));
    let hub = |clock: &Arc<Clock>| {
        let settings = Settings {
            state: folder.path().join("hub"),
            drain: Duration::ZERO,
            listen: vec![Listen::new(address.clone())],
            sinks: vec![SinkSettings {
                name: "null".to_owned(),
                kind: SinkKind::Null,
                optional: false,
            }],
            ..Settings::nothing()
        };
        Daemon::start(settings, Arc::new(Told::quiet()), Arc::clone(clock)).unwrap()
    };
    let (there, here) = (Arc::new(Clock::default()), Arc::new(Clock::default()));
    there.step(HOUR);
    let first = hub(&there);
    let heard: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let count = Arc::new(AtomicU64::new(0));
    let listen = |heard: Arc<Mutex<Vec<Sample>>>, count: Arc<AtomicU64>| {
        let mut subscriber = Subscriber::connect(&address, &Plain, "test", "metrics").unwrap();
        std::thread::spawn(move || {
            loop {
                match subscriber.receive() {
                    Ok(Received::Batch(batch)) if batch.head.kind == Kind::Metrics => {
                        heard.lock().unwrap().push(Sample::unpack(batch.body()).unwrap());
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(Received::End(_)) | Err(_) => return,
                    Ok(_) => {}
                }
            }
        });
    };
    listen(Arc::clone(&heard), Arc::clone(&count));
    poll("somebody subscribes", || first.intake.board.subscribers() == 1);
    let up = Upstream { name: "up".to_owned(), address: address.clone(), optional: false };
    let settings = Settings {
        state: folder.path().join("node"),
        drain: Duration::ZERO,
        upstreams: vec![up],
        ..Settings::nothing()
    };
    let node = Daemon::start(settings, Arc::new(Told::quiet()), Arc::clone(&here)).unwrap();
    poll("the clocks are compared", || metric(&node, "ahead_nanoseconds").is_some());
    let within = |expected: i64| {
        let ahead = metric(&node, "ahead_nanoseconds").unwrap();
        let error = metric(&node, "error_nanoseconds").unwrap();
        // Both daemons read one machine's clock, so what is not the step is error.
        assert!((ahead - expected).abs() <= error, "{ahead} is not {expected} within {error}");
    };
    within(HOUR);
    assert_eq!(metric(&node, "steps"), Some(0));
    poll("it arrives at the hub", || count.load(Ordering::Relaxed) >= 1);
    // The sender's clock is set, and the hub comes back: nothing is lost by it, and it is noticed.
    here.step(-2 * HOUR);
    node.intake.offer(&events(0, 50, 50)).unwrap();
    first.pause();
    let second = hub(&there);
    poll("the step is noticed", || metric(&node, "steps") == Some(1));
    within(3 * HOUR);
    poll("events arrive", || node.intake.is_drained());
    let received: u64 = second.intake.state().book.producers.values().map(|of| of.received()).sum();
    assert_eq!(received, 50);
    let heard = heard.lock().unwrap();
    let value = heard[0].value("up", "clock.ahead_ns");
    assert!(
        matches!(value, Some(Value::Gauge(ahead)) if (ahead - HOUR as f64).abs() < 1e10),
        "{value:?}"
    );
    assert_eq!(heard[0].value("up", "clock.steps"), Some(Value::Count(0)));
    drop(heard);
    node.pause();
    second.pause();
}
