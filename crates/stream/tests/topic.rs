//! Daemons that others publish to and subscribe at: over Unix sockets and TCP, proven and not.

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use maker::{Lane, Segment as Made, event, tick};
use netra_event::Function;
use netra_event::lane::Lane as LaneRow;
use netra_event::segment::{Region, View};
use netra_stream::auth::{Method, Secret};
use netra_stream::batch::{Form, Payload};
use netra_stream::clock::Clock;
use netra_stream::daemon::{Daemon, Settings};
use netra_stream::render::{self, Live};
use netra_stream::sample::Sample;
use netra_stream::told::Told;
use netra_stream::topic::{Publisher, Received, Subscriber};
use netra_stream::wire::{Address, Caller as _, Hello, Proven, Purpose, VERSIONS};
use tempfile::TempDir;

const OPEN: Proven = Proven { method: Method::Open, tls: None };

/// A daemon in a folder of its own.
struct Place {
    folder: TempDir,
    daemon: Option<Daemon>,
}

impl Place {
    /// A daemon whose file ends with these lines.
    fn start(lines: &str) -> Place {
        let folder = TempDir::new().expect("a folder");
        Place::start_in(folder, lines)
    }

    fn start_in(folder: TempDir, lines: &str) -> Place {
        let root = folder.path().display();
        let text = format!("state = \"{root}/state\"\ndrain = \"0s\"\ndurable = false\n{lines}");
        let text = text.replace("ROOT", &root.to_string());
        let settings = Settings::parse(&text).expect("settings");
        let (told, clock) = (Arc::new(Told::quiet()), Arc::new(Clock::default()));
        let daemon = Some(Daemon::start(settings, told, clock).expect("a daemon"));
        Place { folder, daemon }
    }

    fn address(&self, number: usize) -> Address {
        let daemon = self.daemon.as_ref().expect("a daemon");
        daemon.addresses[number].parse().expect("an address")
    }

    fn subscribe(&self, tag: &str) -> Subscriber {
        Subscriber::connect(&self.address(0), &OPEN, "test", tag).expect("a subscription")
    }

    fn publish(&self, tag: &str, form: Form, messages: &[&[u8]]) {
        let mut publisher =
            Publisher::connect(&self.address(0), &OPEN, "test").expect("a publisher");
        for message in messages {
            publisher.publish(tag, form, message).expect("it is sent");
        }
        assert_eq!(publisher.finish().expect("it is durable"), messages.len() as u64);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            // Sinks may be behind: nobody waits for them here.
            let _drained = daemon.finish();
        }
    }
}

const LOCAL: &str = "[[listen]]\naddress = \"unix:ROOT/socket\"\n[[sink]]\nkind = \"null\"\n";

/// What comes until there are so many batches.
fn receive(subscriber: &mut Subscriber, mut each: impl FnMut(&mut Subscriber, Received) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < deadline, "nothing more came");
        let received = subscriber.receive().expect("a connection");
        if each(subscriber, received) {
            return;
        }
    }
}

/// Tags, users and bytes of the next messages.
fn messages(subscriber: &mut Subscriber, count: usize) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    receive(subscriber, |_, received| {
        if let Received::Batch(batch) = received
            && let Ok(Some(Payload::Message(message))) = batch.payload()
        {
            let tag = String::from_utf8_lossy(message.tag).into_owned();
            found.push((tag, message.uid, message.bytes.to_vec()));
        }
        found.len() == count
    });
    found
}

/// Waits until the daemon knows its subscribers: a connection is answered before it is served.
fn wait_for_subscribers(place: &Place, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let board = &place.daemon.as_ref().expect("a daemon").intake.board;
    while board.subscribers() < count {
        assert!(Instant::now() < deadline, "no subscribers");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn messages_reach_those_who_wish_for_them() {
    let place = Place::start(LOCAL);
    let (mut one, mut all) = (place.subscribe("site.jobs"), place.subscribe("site.*"));
    wait_for_subscribers(&place, 2);
    let odd: &[u8] = b"\0\xff\nbytes";
    place.publish("site.other", Form::Bytes, &[odd, b""]);
    place.publish("site.jobs", Form::Json, &[b"{\"job\": 7}"]);
    place.publish("elsewhere", Form::Text, &[b"no"]);
    let uid = rustix::process::geteuid().as_raw();
    let want = |tag: &str, bytes: &[u8]| (tag.to_owned(), uid, bytes.to_vec());
    assert_eq!(messages(&mut one, 1), [want("site.jobs", b"{\"job\": 7}")]);
    assert_eq!(
        messages(&mut all, 3),
        [want("site.other", odd), want("site.other", b""), want("site.jobs", b"{\"job\": 7}")]
    );
}

#[test]
fn what_is_no_message_is_refused_with_a_reason() {
    let place = Place::start(LOCAL);
    for (tag, form, bytes, reason) in [
        ("t", Form::Json, &b"{"[..], "no JSON"),
        ("t", Form::Text, b"\xff", "no text"),
        ("io", Form::Text, b"x", "choose another"),
        ("a b", Form::Text, b"x", "is no tag"),
    ] {
        let mut publisher = Publisher::connect(&place.address(0), &OPEN, "test").unwrap();
        publisher.publish(tag, form, bytes).unwrap();
        let refused = publisher.finish().unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
    let large = vec![0; 5 << 20];
    let mut publisher = Publisher::connect(&place.address(0), &OPEN, "test").unwrap();
    assert!(publisher.publish("t", Form::Bytes, &large).is_err());
    let mut wrong = place.subscribe("a b");
    receive(&mut wrong, |_, received| match received {
        Received::End(reason) => {
            assert!(reason.contains("is no tag"), "{reason}");
            true
        }
        _ => false,
    });
}

#[test]
fn a_subscriber_that_does_not_read_holds_nobody_back() {
    let place = Place::start(LOCAL);
    let (mut quick, slow) = (place.subscribe("*"), place.subscribe("*"));
    wait_for_subscribers(&place, 2);
    // Bytes that can not be packed, and far more than a socket and a queue hold.
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let message: Vec<u8> = (0..(1 << 17)).flat_map(|_| random()).collect();
    let reader = std::thread::spawn(move || {
        let (mut frames, mut missed) = (0, 0);
        receive(&mut quick, |_, received| {
            match received {
                Received::Batch(_) => frames += 1,
                Received::Missed(loss) => missed += loss.frames,
                _ => {}
            }
            frames + missed == 40
        });
    });
    let messages = vec![message.as_slice(); 40];
    place.publish("t", Form::Bytes, &messages);
    reader.join().unwrap();
    let (mut slow, mut frames, mut missed) = (slow, 0, 0);
    receive(&mut slow, |_, received| {
        match received {
            Received::Batch(_) => frames += 1,
            Received::Missed(loss) => missed += loss.frames,
            _ => {}
        }
        frames + missed == 40
    });
    assert!(missed > 0, "the slow one got all {frames}");
}

fn secret(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("rights");
    path
}

#[test]
fn over_tcp_only_those_who_know_the_secret_are_let_in() {
    let folder = TempDir::new().unwrap();
    let right = secret(folder.path(), "right", "the right secret");
    let wrong = secret(folder.path(), "wrong", "the wrong secret");
    let lines = "[[listen]]\naddress = \"tcp:127.0.0.1:0\"\n[auth]\nmethod = \"secret\"\n\
        secret = \"ROOT/right\"\n[[sink]]\nkind = \"null\"\n";
    let place = Place::start_in(folder, lines);
    let call = |method: Method, purpose: Purpose| {
        let hello = Hello { versions: VERSIONS, name: "test".into(), spool: 0, time: 0, purpose };
        Proven { method, tls: None }.call(&place.address(0), &hello).map(|_| ())
    };
    let known = |path: &Path| Method::Secret(Secret::read(path).unwrap());
    for purpose in [Purpose::Deliver, Purpose::Publish, Purpose::Subscribe] {
        call(known(&right), purpose).unwrap();
        let refused = call(known(&wrong), purpose).unwrap_err().to_string();
        assert_eq!(refused, "the proof is not accepted");
        let refused = call(Method::Open, purpose).unwrap_err().to_string();
        assert!(refused.contains("asks for a shared secret"), "{refused}");
    }
    let caller = Proven { method: known(&right), tls: None };
    let mut publisher = Publisher::connect(&place.address(0), &caller, "test").unwrap();
    publisher.publish("t", Form::Text, b"hello").unwrap();
    assert_eq!(publisher.finish().unwrap(), 1);
}

#[test]
fn a_hub_that_proves_nothing_is_not_believed() {
    let folder = TempDir::new().unwrap();
    let right = secret(folder.path(), "right", "the right secret");
    let lines = "[[listen]]\naddress = \"tcp:127.0.0.1:0\"\n[[sink]]\nkind = \"null\"\n";
    let place = Place::start_in(folder, lines);
    let caller = Proven { method: Method::Secret(Secret::read(&right).unwrap()), tls: None };
    let refused = Publisher::connect(&place.address(0), &caller, "test").unwrap_err().to_string();
    assert_eq!(refused, "it does not prove itself, and a shared secret is set");
}

#[test]
fn other_machines_need_a_proof_or_a_word_of_the_operator() {
    let parse = |lines: &str| {
        Settings::parse(&format!("state = \"/s\"\n[[sink]]\nkind = \"null\"\n{lines}"))
    };
    let listen = "[[listen]]\naddress = \"tcp:0.0.0.0:4040\"\n";
    let problems = parse(listen).unwrap_err();
    assert!(problems[0].contains("can be reached from other machines"), "{problems:?}");
    assert!(parse(&format!("{listen}insecure = true\n")).is_ok());
    assert!(parse(&format!("{listen}[auth]\nmethod = \"munge\"\nusers = [\"0\"]\n")).is_ok());
    let problems = parse(
        "[[listen]]\naddress = \"unix:/s\"\n[auth]\nmethod = \"secret\"\n\
        secret = \"/nonexistent\"\nusers = [\"me\"]\n[sample]\ninterval = \"1ms\"\n",
    )
    .unwrap_err();
    for part in ["No such file", "me is no user's number", "at least 10ms"] {
        assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
    }
}

/// A process that has ended: it opened a file, wrote five times, and closed it.
fn recorded() -> Made {
    let mut made = Made { pid: u32::MAX - 7, rank: Some(1), ..Made::default() };
    made.host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    made.uid = rustix::process::geteuid().as_raw();
    let file = made.file("/scratch/out");
    let mut events = vec![event(Function::Open, file, tick(1000), 1, 3)];
    events.extend((0..5).map(|n| {
        let at = u64::from(n as u32) * 100;
        event(Function::Pwrite, file, tick(3000 + at), i64::from(n) * 10, 10)
    }));
    events.push(event(Function::Close, file, tick(9000), -1, 3));
    made.lanes = vec![Lane { tid: 7, events, dropped: Vec::new() }];
    made
}

const NODE: &str =
    "[node]\nown = [\"ROOT/netra-UID\"]\n[[listen]]\naddress = \"unix:ROOT/socket\"\n";

fn node(lines: &str) -> Place {
    let folder = TempDir::new().expect("a folder");
    let uid = rustix::process::geteuid().as_raw();
    let segments = folder.path().join(format!("netra-{uid}"));
    fs::create_dir(&segments).expect("a folder");
    fs::set_permissions(&segments, fs::Permissions::from_mode(0o700)).expect("rights");
    let lines = format!("{NODE}{lines}").replace("UID", &uid.to_string());
    Place::start_in(folder, &lines)
}

/// A segment whose first lane leads to its chunk, as a process's does and the maker's does not.
fn linked(made: &Made) -> Vec<u8> {
    let mut bytes = made.bytes();
    let view = View::new(&bytes).expect("a segment");
    let lanes = view.region(Region::Lanes).1.as_ptr().addr() - bytes.as_ptr().addr();
    let oldest = lanes + std::mem::offset_of!(LaneRow, oldest);
    bytes[oldest..oldest + 4].copy_from_slice(&1_u32.to_le_bytes());
    bytes
}

impl Place {
    /// Puts a segment where the daemon finds it.
    fn leave(&self, made: &Made) {
        let uid = rustix::process::geteuid().as_raw();
        let folder = self.folder.path();
        let (draft, path) = (folder.join("draft"), folder.join(format!("netra-{uid}/a.segment")));
        fs::write(&draft, linked(made)).expect("a segment");
        fs::rename(draft, path).expect("a name");
    }
}

#[test]
fn events_reach_subscribers_as_the_connectors_messages() {
    let place = node("[[sink]]\nkind = \"connector-csv\"\npath = \"ROOT/out.csv\"\n");
    let mut subscriber = place.subscribe("io");
    wait_for_subscribers(&place, 1);
    place.leave(&recorded());
    let (mut live, mut render) = (Live::default(), render::Form::ConnectorJson.render());
    let mut out = Vec::new();
    receive(&mut subscriber, |from, received| {
        let Received::Batch(batch) = received else { return false };
        let image = from.image(&batch.head.producer);
        live.batch(&batch, image, &mut *render, &mut out).unwrap();
        out.iter().filter(|&&byte| byte == b'\n').count() == 7
    });
    let lines = String::from_utf8(out).unwrap();
    let rows: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|all| format!("{} {} {}", all["op"].as_str().unwrap(), all["cnt"], all["rank"]))
        .collect();
    let want =
        ["open 1 1", "write 1 1", "write 2 1", "write 3 1", "write 4 1", "write 5 1", "close 1 1"];
    assert_eq!(rows, want);
    // The sink of text has the same, under the published header.
    let path = place.folder.path().join("out.csv");
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read_to_string(&path).unwrap_or_default();
        if text.lines().count() == 8 {
            assert!(text.starts_with("#module,uid,ProducerName,"), "{text}");
            assert_eq!(text.matches(",write,").count(), 5);
            break;
        }
        assert!(Instant::now() < deadline, "{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nothing more is to be had from such a lane, so the daemon must not look for it for ever.
#[test]
fn a_lane_that_leads_nowhere_does_not_keep_a_daemon_from_ending() {
    let place = node("[[sink]]\nkind = \"null\"\n");
    let uid = rustix::process::geteuid().as_raw();
    let path = place.folder.path().join(format!("netra-{uid}/a.segment"));
    fs::write(path, recorded().bytes()).unwrap();
    let intake = Arc::clone(&place.daemon.as_ref().unwrap().intake);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !intake.state().book.producers.values().any(|of| of.is_final()) {
        assert!(Instant::now() < deadline, "the daemon does not give the segment up");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn whoever_subscribes_late_learns_what_events_refer_to() {
    // This process runs, so the daemon follows the segment.
    let place = node("[[sink]]\nkind = \"null\"\n");
    place.leave(&recorded());
    let intake = Arc::clone(&place.daemon.as_ref().unwrap().intake);
    let deadline = Instant::now() + Duration::from_secs(30);
    while intake.images(0).is_none_or(|(_, images)| images.is_empty()) {
        assert!(Instant::now() < deadline, "the segment was not read");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut subscriber = place.subscribe("io");
    let mut names = Vec::new();
    receive(&mut subscriber, |from, received| {
        if let Received::Batch(batch) = received
            && let Some(view) = from.image(&batch.head.producer).and_then(|image| image.view())
        {
            names =
                view.files().map(|file| String::from_utf8_lossy(file.name).into_owned()).collect();
        }
        names.iter().any(|name| name == "/scratch/out")
    });
}

#[test]
fn whoever_subscribes_after_a_process_has_ended_learns_that_it_has() {
    // A hub that is away still needs what is known of it, so it is not forgotten.
    let place = node("[[upstream]]\nname = \"away\"\naddress = \"unix:ROOT/nobody\"\n");
    place.leave(&recorded());
    let intake = Arc::clone(&place.daemon.as_ref().unwrap().intake);
    let deadline = Instant::now() + Duration::from_secs(30);
    while intake.ended().is_empty() {
        assert!(Instant::now() < deadline, "the process does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut subscriber = place.subscribe("io");
    let (mut over, mut whole) = (false, false);
    receive(&mut subscriber, |_, received| {
        if let Received::Batch(batch) = received {
            match batch.payload() {
                Ok(Some(Payload::Life(process))) => over |= process.phase.is_over(),
                Ok(Some(Payload::Ledger(account))) => whole |= account.is_final,
                _ => {}
            }
        }
        over && whole
    });
}

#[test]
fn a_node_samples_itself() {
    let lines = "[sample]\ninterval = \"20ms\"\nidle = true\n[[sink]]\nkind = \"null\"\n";
    let place = node(lines);
    let mut subscriber = place.subscribe("metrics");
    let mut samples = Vec::new();
    receive(&mut subscriber, |_, received| {
        if let Received::Batch(batch) = received
            && let Ok(Some(Payload::Metrics(body))) = batch.payload()
        {
            samples.push((batch.head.time, Sample::unpack(body).unwrap()));
        }
        samples.len() == 3
    });
    assert!(samples.windows(2).all(|pair| pair[0].0 < pair[1].0), "time goes on");
    for (_, sample) in &samples {
        assert!(sample.value("", "memory.total_bytes").is_some_and(|bytes| bytes.number() > 1e6));
        assert!(sample.value("", "cpu.user_ms").is_some());
    }
}
