//! A job whose calls are slow while something else uses the machine: what that is, is found by correlation with the node's
//! metrics, and nothing is found where a job is slow by itself. Real processes, a real sampler, a real server.
#![cfg(feature = "serve")]

#[expect(dead_code, reason = "other tests kill daemons and wait for bytes")]
mod node;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use node::{MINE, Node, Running, ask, free_port, poll};
use serde_json::Value;

/// How long the other program works, and then rests: longer than a step and all by which the system may lead, and nothing that
/// a system does by itself.
const TURN: Duration = Duration::from_millis(4300);
/// Seconds that a disturbed job may run; it ends with the test, which ends as soon as it knows.
const LONG: &str = "170";
/// Steps after which a relation by chance is out of the question: a value of 0.6 over as many, with all that is asked, has a chance
/// below 1 in 10,000.
const MANY: usize = 64;
/// Programs that compute at the same time: many more than a busy machine has besides.
const CROWD: usize = 16;

/// Starts something again and again, and stops it, until told to end.
fn on_and_off(hog: impl Fn() -> Vec<Running>, over: &AtomicBool) {
    let mut running = Vec::new();
    while !over.load(Ordering::Relaxed) {
        running = if running.is_empty() { hog() } else { Vec::new() };
        let until = Instant::now() + TURN;
        while Instant::now() < until && !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    drop(running);
}

/// Ends the hog, whatever becomes of the test.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A node with a daemon, a server and a job.
struct Felt {
    node: Node,
    port: u16,
    _all: [Running; 3],
}

impl Felt {
    fn start(words: &[&str]) -> Felt {
        let node = Node::new("[[sink]]\nkind = \"null\"");
        let port = free_port();
        let (daemon, server) = (node.start(), node.serve(port, &[]));
        let data = node.path("data").display().to_string();
        let mut job = node.job("felt", "felt", &[&[data.as_str()], words].concat());
        let job = Running(job.stdin(Stdio::null()).spawn().expect("the job starts"));
        Felt { node, port, _all: [job, server, daemon] }
    }

    fn job(&self) -> Value {
        ask(self.port, "/api/jobs/felt", MINE).map_or(Value::Null, |answer| answer.1)
    }

    /// Follows the job beside a hog until a metric is named that fits; gives that relation.
    fn found(&self, hog: impl Fn(&Node) -> Vec<Running> + Sync, fits: &[&str]) -> Value {
        let over = AtomicBool::new(false);
        let mut told = Value::Null;
        std::thread::scope(|scope| {
            let _over = Over(&over);
            scope.spawn(|| on_and_off(|| hog(&self.node), &over));
            poll("a metric is named", || {
                let related = self.job()["diagnosis"]["related"].clone();
                let fit = |one: &&Value| fits.iter().any(|name| one["name"] == *name);
                told =
                    related.as_array().into_iter().flatten().find(fit).cloned().unwrap_or_default();
                !told.is_null()
            });
        });
        told
    }
}

/// What is told of every relation: a strong value, a small chance, a lag of seconds, the node.
#[track_caller]
fn is_told_well(one: &Value) {
    let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
    assert!((0.6..=1.0).contains(&number("value")), "{one:#}");
    assert!((0.0..=0.01).contains(&number("chance")), "{one:#}");
    assert!(number("lead").abs() <= 3.0 && number("steps") >= 16.0, "{one:#}");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    assert_eq!(one["host"], host.trim_end(), "{one:#}");
}

fn shell(script: &str) -> Running {
    let mut command = Command::new("/bin/sh");
    Running(command.args(["-c", script]).stdin(Stdio::null()).spawn().expect("a hog"))
}

/// The first core that we may use.
fn core() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let digits = |c: char| c.is_ascii_digit();
    list.expect("cores").trim().split(|c| !digits(c)).next().expect("a core").to_owned()
}

#[test]
fn a_processor_hog_is_named() {
    let core = core();
    let felt = Felt::start(&[LONG, "copy", &core]);
    let busy = |_| shell(&format!("exec taskset -c {core} sh -c 'while :; do :; done'"));
    let hog = |_: &Node| (0..CROWD).map(busy).collect();
    // Where the processors are busy anyway, only the number of those who wait for them changes.
    is_told_well(&felt.found(hog, &["cpu.running", "cpu.user_ms", "pressure.cpu_some_us"]));
}

#[test]
fn a_disk_hog_is_named() {
    let felt = Felt::start(&[LONG, "sync"]);
    let hog = |node: &Node| {
        let writer = |number: usize| {
            let file = node.path(&format!("hog.{number}")).display().to_string();
            let write = format!("dd if=/dev/zero of={file} bs=4M count=4 oflag=dsync");
            shell(&format!("while :; do {write} 2>/dev/null; done"))
        };
        (0..4).map(writer).collect()
    };
    let fits = [
        "disk.busy_ms",
        "disk.in_flight",
        "pressure.io_some_us",
        "cpu.blocked_on_io",
        "memory.dirty_bytes",
    ];
    is_told_well(&felt.found(hog, &fits));
}

/// The job makes its calls slow and quick by itself, whatever else the machine has to do.
#[test]
fn nothing_is_named_where_nothing_else_makes_calls_slow() {
    let felt = Felt::start(&[&(MANY + 4).to_string(), "own"]);
    poll("it ended, and was looked at then", || {
        let job = felt.job();
        let end = job["end"].as_f64().unwrap_or(f64::MAX);
        job["state"] == "ended" && job["diagnosis"]["at"].as_f64().is_some_and(|at| at >= end)
    });
    let job = felt.job();
    let steps = job["steps"].as_array().map_or(0, Vec::len);
    assert!(steps >= MANY, "{steps} steps");
    let metrics = job["metrics"].as_array().cloned().unwrap_or_default();
    assert!(metrics.iter().any(|metric| metric["name"] == "cpu.user_ms"), "{metrics:?}");
    assert_eq!(job["diagnosis"]["related"], serde_json::json!([]));
}
