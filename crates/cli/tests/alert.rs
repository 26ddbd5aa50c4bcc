//! `netra serve --alert-command --alert-url` over a real daemon and a real job that writes byte by byte: each finding is told
//! once to each, though the server is killed, a recipient fails, or two servers run.
#![cfg(feature = "serve")]

mod node;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use node::{MINE, Node, ask, free_port, poll};
use serde_json::Value;

const NOWHERE: &str = "[[sink]]\nkind = \"null\"";
const CALLS: u64 = 20_000;
/// What the job does wrong on purpose: it costs little, but what it costs is much to this site, however long the job waits.
const RULE: &str = "site-byte-by-byte";
const SITE: &str = r#"
silence = ["blocking-writes"]

[thresholds]
high_share = 0.0
high_seconds = "0s"
floor_seconds = "0s"
worth_share = 0.0

[[rule]]
slug = "site-byte-by-byte"
title = "bytes are written one by one"
when = "posix.writes >= 20000 and posix.bytes_written == posix.writes"
lost = "posix.write_seconds"
says = "{posix.writes} writes for {posix.bytes_written:bytes}"

[[rule]]
slug = "site-note"
title = "it writes"
when = "posix.writes > 0"
says = "there are writes"
level = "INFO"
"#;

/// A web server that keeps what it gets, and answers as the test wishes.
struct Hook {
    url: String,
    answer: Arc<AtomicU16>,
    got: Arc<Mutex<Vec<(u16, Value)>>>,
}

impl Hook {
    fn new(answer: u16) -> Hook {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("a port"));
        let hook = Hook { url, answer: Arc::new(answer.into()), got: Arc::default() };
        let (answer, got) = (Arc::clone(&hook.answer), Arc::clone(&hook.got));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A server that is killed in the middle of a request has said nothing.
                if let Ok(body) = request(&stream) {
                    let status = answer.load(Ordering::Relaxed);
                    got.lock().expect("a lock").push((status, body));
                    write!(&stream, "HTTP/1.1 {status} Word\r\nContent-Length: 0\r\n\r\n").ok();
                }
            }
        });
        hook
    }

    /// Everything that was sent before is answered: it takes one after the other.
    fn finish(&self) {
        let place = self.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/hook"));
        let mut stream = TcpStream::connect(place.expect("a place")).expect("it listens");
        stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").expect("it reads");
        stream.read_to_end(&mut Vec::new()).expect("it answers");
    }

    /// What it was sent, and answered so.
    fn answered(&self, status: u16) -> Vec<Value> {
        let got = self.got.lock().expect("a lock");
        got.iter().filter(|one| one.0 == status).map(|one| one.1.clone()).collect()
    }
}

/// The body of a request.
fn request(stream: &TcpStream) -> io::Result<Value> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// What the command was given: it adds each to a file.
fn commanded(node: &Node) -> Vec<Value> {
    let text = fs::read_to_string(node.path("told")).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// A node whose site has rules.
fn node() -> Node {
    let node = Node::new(NOWHERE);
    fs::write(node.path("site.toml"), SITE).expect("a file");
    node
}

/// The words for a server: the site's rules, and room for all that they find.
fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["--thresholds", "site.toml", "--alert-limit", "100"], more].concat()
}

const COMMAND: &str = "{ cat; echo; } >> told";

/// How often each rule of each job was told.
fn counts(told: &[Value]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for one in told {
        let word = |name: &str| one[name].as_str().expect("a word").to_owned();
        *counts.entry((word("job"), word("rule"))).or_default() += 1;
    }
    counts
}

fn has(told: &[Value], job: &str) -> bool {
    told.iter().any(|one| one["job"] == job && one["rule"] == RULE)
}

/// Waits until a restart would know everything that a job's recipients were told: whoever is killed between telling and
/// remembering may tell again.
#[track_caller]
fn remembered(node: &Node, job: &str, recipients: &[(&str, Vec<Value>)]) {
    let folder = node.path(".local/state/netra/alerts");
    let of_job = |told: &[Value]| {
        let counts = counts(told).into_keys().filter(|one| one.0 == job);
        counts.map(|one| one.1).collect::<Vec<_>>()
    };
    let kept = |recipient: &str| {
        let places = fs::read_dir(&folder).expect("a folder").map(|one| one.expect("one").path());
        let files = places.map(|place| place.join(format!("{recipient}.told")));
        let texts: Vec<_> = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
        let lines = texts.iter().flat_map(|text| text.lines().skip(1));
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>()
    };
    for (recipient, told) in recipients {
        poll("it is remembered", || of_job(&kept(recipient)) == of_job(told));
    }
}

#[track_caller]
fn each_once(told: &[Value], jobs: &[&str]) {
    let counts = counts(told);
    assert!(counts.values().all(|&count| count == 1), "{counts:?}");
    for &job in jobs {
        assert!(counts.contains_key(&(job.to_owned(), RULE.to_owned())), "{job}: {counts:?}");
    }
}

/// The job's findings as the page has them, once all of its calls were looked at and the rule speaks.
#[track_caller]
fn findings(port: u16, job: &str) -> Vec<Value> {
    let mut found = Vec::new();
    poll("the rule speaks", || {
        let Some((_, job)) = ask(port, &format!("/api/jobs/{job}"), MINE) else { return false };
        found = job["diagnosis"]["standings"].as_array().cloned().unwrap_or_default();
        let speaks = |one: &Value| one["slug"] == RULE && one["gone"].is_null();
        job["bytes_written"] == CALLS && found.iter().any(speaks)
    });
    found
}

/// Waits until somebody has been told of everything that stands.
#[track_caller]
fn all_told(job: &str, found: &[Value], told: impl Fn() -> Vec<Value>) {
    let is_loud = |one: &&Value| one["gone"].is_null() && one["level"] != "INFO";
    poll("everything is told", || {
        let told = counts(&told());
        let key = |one: &Value| (job.to_owned(), one["slug"].as_str().expect("a word").to_owned());
        found.iter().filter(is_loud).all(|one| told.contains_key(&key(one)))
    });
}

#[test]
fn each_finding_is_told_once_though_the_server_is_killed() {
    let node = node();
    let _daemon = node.start();
    let (port, hook) = (free_port(), Hook::new(204));
    let words = words(&["--alert-command", COMMAND, "--alert-url", &hook.url]);
    let mut server = node.serve(port, &words);
    let mut jobs = vec![node.produce("slurm.7", CALLS)];
    let found = findings(port, "slurm.7");
    let (stands, noted): (Vec<&Value>, Vec<&Value>) =
        found.iter().filter(|one| one["gone"].is_null()).partition(|one| one["level"] != "INFO");
    let slugs = |list: &[&Value], slug| list.iter().filter(|one| one["slug"] == slug).count();
    assert_eq!(slugs(&noted, "site-note"), 1, "there is a note which is not told: {found:#?}");
    assert_eq!(slugs(&stands, "small-writes"), 1, "netra's own rule speaks too: {found:#?}");
    all_told("slurm.7", &found, || commanded(&node));
    all_told("slurm.7", &found, || hook.answered(204));
    for told in [commanded(&node), hook.answered(204)] {
        each_once(&told, &["slurm.7"]);
        for one in &told {
            let known = found.iter().find(|known| known["slug"] == one["rule"]).expect("known");
            assert_eq!((&one["job"], &one["title"]), (&"slurm.7".into(), &known["title"]), "{one}");
            assert!(one["level"] == "HIGH" || one["level"] == "WARN", "{one}");
            assert!(!noted.iter().any(|noted| noted["slug"] == one["rule"]), "{one}");
        }
        let one = told.iter().find(|one| one["rule"] == RULE).expect("it was told");
        let uid = fs::metadata(node.folder.path()).expect("a folder").uid();
        assert_eq!((&one["uid"], &one["level"]), (&uid.into(), &"HIGH".into()), "{one}");
        assert_eq!(one["title"], "bytes are written one by one");
        assert_eq!(one["says"], "20,000 writes for 19.5 KiB");
        assert!(one["command"].as_str().is_some_and(|command| command.contains("burst")), "{one}");
        assert!(one["lost_seconds"].as_f64().is_some_and(|lost| lost > 0.0), "{one}");
        assert!(one["since_ns"].as_u64().is_some_and(|since| since > 0), "{one}");
    }
    for (before, next) in [("slurm.7", "slurm.8"), ("slurm.8", "slurm.9")] {
        let told = [("command", commanded(&node)), ("url", hook.answered(204))];
        remembered(&node, before, &told);
        server.kill();
        server = node.serve(port, &words);
        // It stands again, and would be told before the next job's, which are younger.
        findings(port, before);
        jobs.push(node.produce(next, CALLS));
        let found = findings(port, next);
        all_told(next, &found, || commanded(&node));
        all_told(next, &found, || hook.answered(204));
    }
    for told in [commanded(&node), hook.answered(204)] {
        each_once(&told, &["slurm.7", "slurm.8", "slurm.9"]);
    }
}

#[test]
fn who_answers_with_an_error_is_told_again_and_once() {
    let node = node();
    let _daemon = node.start();
    let (port, hook) = (free_port(), Hook::new(500));
    // Whatever lies where it keeps what was told.
    fs::create_dir(node.path("alerts")).expect("a folder");
    fs::write(node.path("alerts/url.told"), b"no line of netra's\n").expect("a file");
    let words = words(&["--alert-url", &hook.url, "--alert-state", "alerts"]);
    let _server = node.serve(port, &words);
    let _job = node.produce("slurm.7", CALLS);
    let refused =
        |times| hook.answered(500).iter().filter(|one| one["rule"] == RULE).count() >= times;
    poll("it is tried twice", || refused(2));
    hook.answer.store(204, Ordering::Relaxed);
    poll("it is told", || has(&hook.answered(204), "slurm.7"));
    let _next = node.produce("slurm.8", CALLS);
    poll("the next job is told", || has(&hook.answered(204), "slurm.8"));
    each_once(&hook.answered(204), &["slurm.7", "slurm.8"]);
    let said = fs::read_to_string(node.path("serve.log")).expect("a file");
    let about = |word: &str| said.lines().filter(|line| line.contains(word)).count();
    assert_eq!(about("it answers HTTP/1.1 500"), 1, "{said}");
    assert_eq!(about("alerts/url.told: line 1"), 1, "{said}");
    let aside = fs::read(node.path("alerts/url.damaged")).expect("a file");
    assert_eq!(aside, b"no line of netra's\n");
}

#[test]
fn what_one_was_told_before_the_server_was_killed_only_the_other_is_told_after() {
    let node = node();
    let _daemon = node.start();
    let (port, hook) = (free_port(), Hook::new(503));
    let words = words(&["--alert-command", COMMAND, "--alert-url", &hook.url]);
    let mut server = node.serve(port, &words);
    let _job = node.produce("slurm.7", CALLS);
    all_told("slurm.7", &findings(port, "slurm.7"), || commanded(&node));
    poll("the other refuses", || has(&hook.answered(503), "slurm.7"));
    remembered(&node, "slurm.7", &[("command", commanded(&node))]);
    server.kill();
    hook.finish();
    hook.answer.store(204, Ordering::Relaxed);
    let _server = node.serve(port, &words);
    poll("the other is told", || has(&hook.answered(204), "slurm.7"));
    let _next = node.produce("slurm.8", CALLS);
    poll("the next job is told", || has(&commanded(&node), "slurm.8"));
    poll("the next job is told", || has(&hook.answered(204), "slurm.8"));
    each_once(&hook.answered(204), &["slurm.7", "slurm.8"]);
    each_once(&commanded(&node), &["slurm.7", "slurm.8"]);
}

#[test]
fn of_two_servers_one_tells_and_the_other_when_it_is_killed() {
    let node = node();
    let _daemon = node.start();
    let ports = [free_port(), free_port()];
    let words = words(&["--alert-command", COMMAND]);
    let mut first = node.serve(ports[0], &words);
    let _job = node.produce("slurm.7", CALLS);
    all_told("slurm.7", &findings(ports[0], "slurm.7"), || commanded(&node));
    let _second = node.serve(ports[1], &words);
    findings(ports[1], "slurm.7");
    let said = || fs::read_to_string(node.path("serve.log")).expect("a file");
    poll("the second says that it waits", || said().contains("another server tells from"));
    remembered(&node, "slurm.7", &[("command", commanded(&node))]);
    first.kill();
    let _next = node.produce("slurm.8", CALLS);
    poll("the next job is told", || has(&commanded(&node), "slurm.8"));
    each_once(&commanded(&node), &["slurm.7", "slurm.8"]);
}
