//! A job whose calls are slow when something else uses the machine: what it is, is found by correlation with the node's
//! metrics, and nothing is found where nothing disturbs it. Real processes, a real sampler, a real server.
#![cfg(feature = "serve")]

mod node;

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use node::{MINE, Node, Running, ask, free_port, poll};
use serde_json::Value;

/// How long the other program works, and then rests. Not a divisor of anything that a system does by itself.
const TURN: Duration = Duration::from_millis(3300);
/// Seconds that a job runs; the test ends as soon as it knows.
const LONG: &str = "170";

/// Starts something again and again, and stops it, until told to end.
fn on_and_off(hog: impl Fn() -> Vec<Running>, over: &AtomicBool) {
    let mut on = false;
    while !over.load(Ordering::Relaxed) {
        on = !on;
        let running = if on { hog() } else { Vec::new() };
        let until = Instant::now() + TURN;
        while Instant::now() < until && !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(running);
    }
}

/// Follows a job beside a hog until a metric is named that fits.
fn found(
    words: &[&str],
    cores: Option<&str>,
    hog: impl Fn(&Node) -> Vec<Running> + Sync,
    fits: &[&str],
) -> Value {
    let node = Node::new("[[sink]]\nkind = \"null\"");
    let _daemon = node.start();
    let port = free_port();
    let _server = node.serve(port, &[]);
    let _job = start(&node, words, cores);
    let over = AtomicBool::new(false);
    let mut told = Value::Null;
    std::thread::scope(|scope| {
        scope.spawn(|| on_and_off(|| hog(&node), &over));
        // Whatever happens, the hog must end.
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            poll("a metric is named", || {
                let Some((_, job)) = ask(port, "/api/jobs/felt", MINE) else { return false };
                let related = job["diagnosis"]["related"].as_array().cloned().unwrap_or_default();
                let fit = |one: &&Value| fits.iter().any(|name| one["name"] == *name);
                told = related.iter().find(fit).cloned().unwrap_or(Value::Null);
                !told.is_null()
            });
        }));
        over.store(true, Ordering::Relaxed);
        if let Err(panic) = seen {
            std::panic::resume_unwind(panic);
        }
    });
    told
}

fn start(node: &Node, words: &[&str], cores: Option<&str>) -> Running {
    let data = node.path("data").display().to_string();
    let words = [&[data.as_str()], words].concat();
    let job = node.job("felt", "felt", &words);
    let mut command = match cores {
        Some(cores) => {
            let mut pinned = Command::new("taskset");
            pinned.args(["-c", cores]).arg(job.get_program()).args(job.get_args()).env_clear();
            pinned.envs(job.get_envs().filter_map(|(key, value)| Some((key, value?))));
            // The library belongs into the job; what it does to taskset is the same job's.
            pinned.env("PATH", "/usr/bin:/bin");
            pinned
        }
        None => job,
    };
    Running(command.stdin(Stdio::null()).spawn().expect("the job starts"))
}

/// Checks what every told relation says: a strong value, a small chance, a lag of seconds.
fn is_told_well(one: &Value) {
    let (value, chance) =
        (one["value"].as_f64().unwrap_or(0.0), one["chance"].as_f64().unwrap_or(1.0));
    assert!((0.6..=1.0).contains(&value), "{one:#}");
    assert!((0.0..=0.01).contains(&chance), "{one:#}");
    assert!(one["lead"].as_i64().is_some_and(|lead| lead.abs() <= 3), "{one:#}");
    assert!(one["steps"].as_u64().is_some_and(|steps| steps >= 16), "{one:#}");
}

#[test]
fn a_processor_hog_is_found() {
    // Copies of half a mebibyte on one core, which six others share when the hog is on.
    let hog = |_: &Node| {
        let busy = || {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", "sh", "-c", "while :; do :; done"]);
            Running(command.stdin(Stdio::null()).spawn().expect("a hog"))
        };
        (0..6).map(|_| busy()).collect()
    };
    let fits = ["cpu.running", "cpu.user_ms", "cpu.system_ms", "pressure.cpu_some_us"];
    is_told_well(&found(&["524288", LONG], Some("0"), hog, &fits));
}

#[test]
fn a_disk_hog_is_found() {
    // Writes that wait for the disk, which four others use when the hog is on.
    let hog = |node: &Node| {
        let writer = |number: u32| {
            let file = node.path(&format!("hog.{number}")).display().to_string();
            let mut command = Command::new("sh");
            let script = format!(
                "while :; do dd if=/dev/zero of={file} bs=4M count=8 oflag=dsync 2>/dev/null; done"
            );
            command.args(["-c", &script]);
            Running(command.stdin(Stdio::null()).spawn().expect("a hog"))
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
    is_told_well(&found(&["16384", LONG, "sync"], None, hog, &fits));
}

/// A job that nothing disturbs.
#[test]
fn nothing_is_named_where_nothing_disturbs() {
    let node = Node::new("[[sink]]\nkind = \"null\"");
    let _daemon = node.start();
    let port = free_port();
    let _server = node.serve(port, &[]);
    // Before everybody else where that is allowed, so that the load of other programs is none of its own.
    let job = node.job("felt", "felt", &[&node.path("data").display().to_string(), "512", "40"]);
    let mut command = Command::new("sh");
    let script = "chrt --fifo --pid 50 $$ 2>/dev/null; exec \"$@\"";
    command.args(["-c", script, "sh"]).arg(job.get_program()).args(job.get_args()).env_clear();
    command
        .envs(job.get_envs().filter_map(|(key, value)| Some((key, value?))))
        .env("PATH", "/usr/bin:/bin");
    let _job = Running(command.stdin(Stdio::null()).spawn().expect("the job starts"));
    poll("it ended", || {
        ask(port, "/api/jobs/felt", MINE).is_some_and(|(_, job)| {
            job["state"] == "ended" && job["diagnosis"]["number"].as_u64() > Some(3)
        })
    });
    let (_, job) = ask(port, "/api/jobs/felt", MINE).expect("an answer");
    assert!(job["steps"].as_array().is_some_and(|steps| steps.len() >= 30), "{job:#}");
    assert!(job["metrics"].as_array().is_some_and(|all| all.len() > 3), "{job:#}");
    assert_eq!(job["diagnosis"]["related"], serde_json::json!([]));
}
