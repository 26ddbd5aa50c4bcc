//! What is known of jobs while they run: batches in, sums out.
#![cfg(feature = "serve")]

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

mod feed;

use std::sync::Arc;

use feed::Feed;
use maker::{START, Segment, event, tick};
use netra_event::frame::{Kind, Producer};
use netra_event::segment::State;
use netra_event::segment::shard::{direction, posix};
use netra_event::{Event, Function, Loss, Module};
use netra_show::live::{Doctor, Live, Setup, Way};
use netra_stream::batch::{Batch, Images};
use netra_stream::clock::Clock;
use netra_stream::frame::Subject;
use netra_stream::sample::Sample;

const SECOND: u64 = 1_000_000_000;

/// A call that began so many nanoseconds after the start and took so many.
fn call(function: Function, file: u32, begin: u64, took: u64, bytes: u32) -> Event {
    Event { duration: 2 * took, ..event(function, file, tick(begin), 0, u64::from(bytes)) }
}

fn process(rank: u32) -> (Segment, u32) {
    let mut made = Segment { rank: Some(rank), nprocs: 2, pid: 100 + rank, ..Segment::default() };
    let file = made.file("/scratch/out.dat");
    (made, file)
}

#[test]
fn calls_count_where_they_end_and_their_time_is_spread() {
    let live = Live::default();
    let (made, file) = process(0);
    let mut feed = Feed::begin(&live, &made, START);
    let now = START + 10 * SECOND;
    feed.calls(
        &live,
        &[
            call(Function::Open, file, 0, 1000, 0),
            call(Function::Pwrite, file, SECOND, SECOND / 2, 4096),
            // From 2.25 s after the full second to 4.25 s.
            call(Function::Pread, file, 2 * SECOND, 2 * SECOND, 100),
            Event { failed: true, result: -5, ..call(Function::Pwrite, file, 5 * SECOND, 10, 50) },
        ],
        now,
    );
    let state = live.lock();
    let job = &state.jobs["host.1.2"];
    let steps: Vec<(u64, u64, u64, u64)> = job
        .series
        .iter()
        .map(|(at, step)| {
            let (read, write) = (step.cells.lowest(Way::Read), step.cells.lowest(Way::Write));
            (at - START / SECOND, read.calls, read.nanos, write.bytes)
        })
        .collect();
    assert_eq!(
        steps,
        [
            (0, 0, 0, 0),
            (1, 0, 0, 4096),
            (2, 0, 750_000_000, 0),
            (3, 0, SECOND, 0),
            (4, 1, 250_000_000, 0),
            (5, 0, 0, 0),
        ]
    );
    let [read, write] = job.moved();
    assert_eq!((read.calls, read.bytes, write.calls, write.bytes), (1, 100, 2, 4096));
    let top = job.files.top(5);
    assert_eq!((top.len(), top[0].path.as_str()), (1, "/scratch/out.dat"));
    assert_eq!(top[0].of(Way::Read).nanos, 2 * SECOND);
    assert_eq!(job.latency[0][1].calls(), 2);
    assert_eq!(job.lag, 5 * SECOND - 10);
    assert_eq!(job.members()[0].longest, 2 * SECOND);
    // Of ten seconds: a half of writing, two of reading, an open.
    assert!((job.share(now) - 0.25).abs() < 1e-6, "{}", job.share(now));
}

#[test]
fn files_that_mpi_makes_for_itself_count_nowhere() {
    let live = Live::default();
    let (mut made, file) = process(0);
    let own = made.file("/dev/shm/ucx_shm_posix_7944d30e");
    let mut feed = Feed::begin(&live, &made, START);
    let calls = [file, own].map(|file| call(Function::Pwrite, file, 10, 10, 7));
    feed.calls(&live, &calls, START + SECOND);
    let state = live.lock();
    let job = &state.jobs["host.1.2"];
    let [_, write] = job.moved();
    assert_eq!((write.calls, write.bytes, job.files.count()), (1, 7, 1));
    // It came all the same.
    assert_eq!(job.completeness().delivered, 2);
}

#[test]
fn ranks_of_one_job_are_one_job_and_it_ends_with_the_last() {
    let live = Live::default();
    let mut feeds = Vec::new();
    for rank in [1, 0] {
        let (made, file) = process(rank);
        let mut feed = Feed::begin(&live, &made, START);
        feed.calls(&live, &[call(Function::Pwrite, file, 10, 10, 7)], START + SECOND);
        feeds.push(feed);
    }
    let end = || live.lock().jobs["host.1.2"].end();
    feeds[0].end(&live, START + 2 * SECOND);
    assert_eq!(end(), None);
    feeds[1].end(&live, START + 3 * SECOND);
    assert_eq!(end(), Some(START + 3 * SECOND));
    let state = live.lock();
    let job = &state.jobs["host.1.2"];
    let ranks: Vec<_> = job.members().iter().map(|process| process.about.rank).collect();
    assert_eq!((ranks, job.ranks(), job.uid()), (vec![Some(0), Some(1)], 2, Some(1000)));
    assert_eq!(job.moved()[1].bytes, 14);
    assert_eq!((job.start(), job.hosts().len()), (START, 1));
}

#[test]
fn completeness_follows_the_account() {
    let live = Live::default();
    let (made, file) = process(0);
    let mut feed = Feed::begin(&live, &made, START);
    feed.calls(&live, &[call(Function::Pwrite, file, 10, 10, 7)], START);
    let found = || live.lock().jobs["host.1.2"].completeness();
    feed.account(&live, 3, 0, false, START);
    assert_eq!((found().produced, found().delivered, found().in_flight), (3, 1, 2));
    assert!(!found().is_complete);
    feed.calls(&live, &[call(Function::Pwrite, file, 20, 10, 7); 2], START);
    feed.account(&live, 3, 0, true, START);
    assert!(found().is_complete, "{:?}", found());
    feed.account(&live, 3, 9, true, START);
    assert_eq!((found().is_complete, found().dropped[&Loss::Budget]), (false, 9));
}

#[test]
fn times_that_can_not_be_stay_within_the_run() {
    let live = Live::default();
    let (made, file) = process(0);
    let mut feed = Feed::begin(&live, &made, START);
    let now = START + 5 * SECOND;
    let far = Event { start: u64::MAX / 2, ..call(Function::Pread, file, 0, 10, 1) };
    let long = Event { duration: u64::MAX / 4, ..call(Function::Pread, file, 0, 10, 1) };
    feed.calls(&live, &[far, long], now);
    let state = live.lock();
    let job = &state.jobs["host.1.2"];
    let steps: Vec<u64> = job.series.iter().map(|(at, _)| at - START / SECOND).collect();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5]);
    assert_eq!(job.moved()[0].calls, 2);
}

/// The same rules as over a finished job, over what has come so far.
#[test]
fn rules_are_asked_while_the_job_runs() {
    let live = Arc::new(Live::default());
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock::default());
    let doctor = Doctor::new(Arc::clone(&live), clock, Setup::default(), folder.path().to_owned());
    let (mut made, file) = process(0);
    let calls: Vec<Event> =
        (0..4000).map(|at| call(Function::Pwrite, file, at * 1_000_000, 900_000, 100)).collect();
    // The counters that the process has by then.
    made.lanes = vec![maker::Lane { tid: 1, events: calls.clone(), dropped: Vec::new() }];
    let mut words = vec![0; posix::WORDS];
    words[posix::WRITE + direction::CALLS] = 4000;
    words[posix::WRITE + direction::BYTES] = 400_000;
    made.record(u32::from(Module::Posix.code()), 0, file, words);
    (made.state, made.end) = (State::Running, 0);
    let mut feed = Feed::begin(&live, &made, START);
    feed.calls(&live, &calls, START + 4 * SECOND);
    doctor.look("host.1.2");
    let state = live.lock();
    let found = &state.jobs["host.1.2"].diagnosis;
    assert_eq!((found.failed.as_deref(), found.number), (None, 1));
    let (job, report) = &**found.report.as_ref().unwrap();
    assert_eq!(job.trace.rows().count(), 4000);
    assert_eq!(report.facts.nprocs, 2);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn metrics_of_the_nodes_go_with_their_jobs() {
    let live = Live::default();
    let (made, file) = process(0);
    let mut feed = Feed::begin(&live, &made, START);
    // Calls are slow while the disk is busy: seven seconds on, seven off.
    let busy = |second: u64| (second / 7).is_multiple_of(2);
    let mut counted = 0;
    for second in 0..70 {
        let took = if busy(second) { 50_000_000 } else { 1_000_000 } + 1000 * second;
        let now = START + (second + 1) * SECOND;
        let calls = [call(Function::Pwrite, file, second * SECOND, took, 10); 3];
        feed.calls(&live, &calls, now);
        counted += if busy(second) { 900 } else { 100 } + second % 5;
        let mut sample = Sample::default();
        sample.count("sda", "disk.busy_ms", counted);
        sample.gauge("", "cpu.running", (second * 7919 % 13) as f64);
        let subject = Subject::single(
            Kind::Metrics,
            Producer { host: feed.producer.host, start: 1, pid: 1 },
            0,
            second,
            START + second * SECOND,
        );
        live.take(&Batch::plain(&subject, sample.pack()), &Images::new(), now);
    }
    let state = live.lock();
    let found = netra_show::live::relations(&state, &state.jobs["host.1.2"]);
    let named: Vec<(&str, &str)> =
        found.iter().map(|one| (one.target.as_str(), one.name.as_str())).collect();
    assert_eq!(named, [("sda", "disk.busy_ms")]);
    assert!(found[0].found.value > 0.7 && found[0].found.chance < 0.01, "{found:?}");
}
