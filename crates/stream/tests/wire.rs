//! Daemons over real sockets, in this process: garbage and half-open connections, frames that come
//! twice, versions that do not meet, a hub that comes late and goes away.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use netra_event::frame::{HEAD_BYTES, Head, Kind, LARGEST_BODY, Packing, Producer};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Listen, Settings, SinkKind, SinkSettings, Upstream};
use netra_stream::frame::{self, Subject};
use netra_stream::pack::Unpacker;
use netra_stream::told::Told;
use netra_stream::wire::{
    Address, Caller as _, Channel, Frames, Hello, Plain, Purpose, VERSIONS, read_control,
};

fn events(lane: u32, from: u64, count: u32) -> Vec<u8> {
    let slot: Vec<u8> =
        [1, 2, 3, 19_u64 << 32].iter().flat_map(|word| word.to_le_bytes()).collect();
    let producer = Producer { host: 1, start: 2, pid: 3 };
    let subject =
        Subject { kind: Kind::Events, producer, lane, from, count, events: count, time: 0 };
    let mut bytes = Vec::new();
    frame::seal(&subject, &slot.repeat(count as usize), &mut bytes).unwrap();
    bytes
}

fn address(folder: &Path, name: &str) -> Address {
    Address::Unix(folder.join(format!("{name}.sock")))
}

fn settings(folder: &Path, name: &str) -> Settings {
    Settings { state: folder.join(name), drain: Duration::ZERO, ..Settings::nothing() }
}

fn start(settings: Settings) -> Daemon {
    Daemon::start(settings, Arc::new(Told::quiet()), Arc::new(Clock::default())).unwrap()
}

fn hub(folder: &Path) -> Daemon {
    start(Settings {
        listen: vec![Listen::new(address(folder, "hub"))],
        sinks: vec![SinkSettings {
            name: "null".to_owned(),
            kind: SinkKind::Null,
            optional: false,
        }],
        ..settings(folder, "hub")
    })
}

fn hello(versions: (u32, u32)) -> Hello {
    let (name, purpose) = ("a test".to_owned(), Purpose::Deliver);
    Hello { versions, name, spool: 0, time: 0, purpose }
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends frames, and waits until all of them are acknowledged.
fn deliver(folder: &Path, frames: &[Vec<u8>]) {
    let (mut channel, mut answers, _) =
        Plain.call(&address(folder, "hub"), &hello(VERSIONS)).unwrap();
    for frame in frames {
        channel.write_all(frame).unwrap();
    }
    await_acks(&mut channel, &mut answers, frames.len() as u64);
}

fn await_acks(channel: &mut Channel, answers: &mut Frames, wanted: u64) {
    let mut acknowledged = 0;
    while acknowledged < wanted {
        let (kind, body) = read_control(answers, channel).unwrap();
        assert_eq!(kind, Kind::Ack);
        acknowledged = Unpacker::new(&body).long().unwrap();
    }
    assert_eq!(acknowledged, wanted);
}

fn received(daemon: &Daemon) -> u64 {
    daemon.intake.state().book.producers.values().map(|of| of.received()).sum()
}

/// Memory of this process, in kB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[test]
fn garbage_and_half_open_connections_hurt_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let hub = hub(folder.path());
    let path = folder.path().join("hub.sock");
    // A head that claims a body beyond the limit, with checksums that are right.
    let claim = Head {
        kind: Kind::Hello,
        packing: Packing::Plain,
        stored: LARGEST_BODY + 1,
        raw: 0,
        producer: Producer::default(),
        lane: 0,
        from: 0,
        count: 1,
        events: 1,
        time: 0,
        body_sum: 0,
    };
    let beyond: [u8; HEAD_BYTES] = claim.encode(crc32fast::hash);
    let garbage: [&[u8]; 4] =
        [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0", &[0; 100], &beyond];
    for bytes in garbage.iter().cycle().take(20) {
        // It may be closed before all is written.
        UnixStream::connect(&path).unwrap().write_all(bytes).ok();
    }
    let _half_open: Vec<UnixStream> =
        (0..50).map(|_| UnixStream::connect(&path).unwrap()).collect();
    // As large as any frame may be, but before anybody said who they are: no room is made for it.
    let large = Head { stored: LARGEST_BODY, raw: LARGEST_BODY, ..claim };
    let large: [u8; HEAD_BYTES] = large.encode(crc32fast::hash);
    let before = memory();
    for _ in 0..50 {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(&large).ok();
        stream.write_all(&[0; 60 << 10]).ok();
        let ended = stream.read(&mut [0; 16]);
        assert!(matches!(ended, Ok(0)) || ended.is_err_and(|error| !is_late(&error)));
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} kB for strangers");
    // A port scan: many that only knock.
    for _ in 0..500 {
        drop(UnixStream::connect(&path));
    }
    deliver(folder.path(), &[events(0, 0, 100), events(0, 100, 50)]);
    assert_eq!(received(&hub), 150);
    let refused = &hub.intake.told.counters.connections_refused;
    poll("garbage is counted", || refused.load(Ordering::Relaxed) >= 20);
    hub.pause();
}

#[test]
fn what_comes_twice_is_acknowledged_and_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let hub = hub(folder.path());
    deliver(folder.path(), &[events(0, 0, 100), events(1, 0, 10)]);
    // The same, another cut of the same, and something new behind it.
    deliver(folder.path(), &[events(0, 0, 100), events(0, 50, 100), events(1, 5, 20)]);
    assert_eq!(received(&hub), 150 + 25);
    hub.pause();
    let again = self::hub(folder.path());
    deliver(folder.path(), &[events(0, 0, 150), events(0, 150, 1)]);
    assert_eq!(received(&again), 151 + 25);
    poll("everything is delivered", || again.intake.is_drained());
    let state = again.intake.state();
    let delivered: u64 = state.outlets[0].tally.producers.values().map(|got| got.events()).sum();
    assert_eq!(delivered, 151 + 25);
    again.pause();
}

#[test]
fn versions_that_do_not_meet_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let hub = hub(folder.path());
    let refused = Plain.call(&address(folder.path(), "hub"), &hello((7, 9))).unwrap_err();
    assert!(refused.to_string().contains("speaks 7 to 9, here 1 to 1"), "{refused}");
    hub.pause();
}

#[test]
fn a_hub_that_comes_late_and_goes_away_gets_everything_once() {
    let folder = tempfile::tempdir().unwrap();
    let up =
        Upstream { name: "up".to_owned(), address: address(folder.path(), "hub"), optional: false };
    let near = start(Settings { upstreams: vec![up], ..settings(folder.path(), "near") });
    let mut next = 0;
    let mut offer = |near: &Daemon, frames: u64| {
        for _ in 0..frames {
            near.intake.offer(&events(0, next, 100)).unwrap();
            next += 100;
        }
        next
    };
    offer(&near, 50);
    let first = hub(folder.path());
    poll("the first frames arrive", || received(&first) == 5000);
    first.pause();
    let total = offer(&near, 50);
    let second = hub(folder.path());
    poll("the rest arrives", || received(&second) == total);
    poll("it is acknowledged", || near.intake.is_drained());
    assert_eq!(second.intake.told.counters.events_received.load(Ordering::Relaxed), 5000);
    near.pause();
    second.pause();
}
