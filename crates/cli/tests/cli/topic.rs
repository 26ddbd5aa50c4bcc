//! `netra daemon`, `netra publish` and `netra subscribe` as processes that talk to each other.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use crate::netra::Place;

/// A daemon that ends with the test.
struct Daemon {
    child: Child,
}

impl Daemon {
    fn start(place: &Place) -> Daemon {
        let root = place.path("").display().to_string();
        let lines = format!(
            "name = \"test\"\nstate = \"{root}/state\"\ndrain = \"0s\"\n\
             [[listen]]\naddress = \"unix:{root}/socket\"\n[[sink]]\nkind = \"null\"\n"
        );
        place.file("daemon.toml", lines.as_bytes());
        let mut command = place.command(&["daemon", "daemon.toml"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("netra starts");
        // It says when it is ready.
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        said.read_line(&mut line).expect("a line");
        assert!(line.contains("is ready"), "{line}");
        Daemon { child }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn what_is_published_is_received() {
    let place = Place::new();
    let daemon = Daemon::start(&place);
    let address = format!("unix:{}", place.path("socket").display());
    let words = ["subscribe", "site.*", "--daemon", &address, "--count", "4"];
    let mut subscriber = place.command(&words);
    let mut subscriber = subscriber.stdout(Stdio::piped()).spawn().expect("netra starts");
    let mut lines = BufReader::new(subscriber.stdout.take().expect("a pipe")).lines();
    // A subscription begins at some moment; from the first message on nothing may be missing.
    let mut first = None;
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        for line in lines.by_ref() {
            let line: serde_json::Value =
                serde_json::from_str(&line.expect("a line")).expect("JSON");
            if line["tag"] != "site.probe" {
                all.push(line);
            } else {
                first = Some(line);
            }
        }
        (first, all)
    });
    let publish = |words: &[&str], input: &[u8]| {
        let words = [&["publish"], words, &["--daemon", &address]].concat();
        let mut child = place.command(&words).stdin(Stdio::piped()).spawn().expect("netra starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("a pipe");
        assert!(child.wait().expect("a child").success(), "{words:?}");
    };
    // Until the subscriber is there.
    publish(&["site.probe", "are you there"], b"");
    while subscriber.try_wait().expect("a child").is_none() {
        publish(&["site.probe", "are you there"], b"");
        publish(&["site.lines"], b"one\ntwo");
    }
    let (probe, all) = reader.join().expect("a reader");
    assert!(probe.is_some() || !all.is_empty());
    for line in &all {
        assert_eq!(line["tag"], "site.lines");
        assert!(line["text"] == "one" || line["text"] == "two", "{line}");
        assert_eq!(line["uid"], rustix::process::geteuid().as_raw());
    }
    drop(daemon);
}

#[test]
fn wrong_words_and_missing_daemons_are_said() {
    let place = Place::new();
    let done = place.netra(&["publish", "a b", "x"]);
    assert_eq!(done.code, 64);
    assert!(done.err.contains("is no tag"), "{}", done.err);
    let done = place.netra(&["publish", "t", "x", "--daemon", "unix:/nonexistent/socket"]);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with("netra: calling unix:/nonexistent/socket: "), "{}", done.err);
    let done = place.netra(&["subscribe", "jobs", "--as", "connector-json", "--daemon", "unix:/x"]);
    assert_eq!(done.code, 2);
    assert_eq!(done.err, "netra: only the tag io has the connector's messages\n");
}
