//! A subscriber that stands still: its queue is full, the rest is counted as missed and told to it, and nobody
//! else notices.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;

use crate::fault::{end, load};
use crate::site::{Running, Site, poll};

/// Far less than one round of producers makes.
const QUEUE: &str = "64KiB";
/// Rounds in which it must have missed something: what the kernel holds between the two is not ours.
const ROUNDS: u64 = 20;

#[test]
fn a_reader_that_stands_still_holds_nobody_back_and_is_told_what_it_missed() {
    let site = Site::new();
    let near = format!(
        "[metrics]\naddress = \"unix:@/numbers.sock\"\n\
         [[listen]]\naddress = \"unix:@/near.sock\"\nqueue = \"{QUEUE}\"\n"
    );
    site.write("near", &near, "far");
    let _daemons = site.start_all();
    let (shown, told) = (site.path("shown.jsonl"), site.path("subscriber.log"));
    let address = format!("unix:{}", site.path("near.sock").display());
    let mut command = site.netra(&["subscribe", "io", "--daemon", &address]);
    command.stdout(File::create(&shown).expect("a file"));
    command.stderr(File::create(&told).expect("a file"));
    let reader = Running(command.spawn().expect("netra starts"));
    let signal = |name: &str| {
        let done = Command::new("kill").args([name, &reader.0.id().to_string()]).status();
        assert!(done.expect("kill starts").success());
    };
    // It is there once it sees something.
    poll("it reads", || {
        let mut one = site.produce("first", 0, 1);
        assert!(one.0.wait().expect("it ends").success());
        lines(&shown) > 0
    });
    poll("it has read everything", || {
        let before = lines(&shown);
        std::thread::sleep(std::time::Duration::from_millis(500));
        lines(&shown) == before
    });
    let (before, missed_before) = (lines(&shown), missed(&site));
    signal("-STOP");
    let (mut produced, mut rounds) = (0, 0);
    while missed(&site) == missed_before && rounds < ROUNDS {
        let job = format!("slow{rounds}");
        end(load().produce(&site, &job));
        produced += load().is_exact(&site, &job);
        rounds += 1;
    }
    let counted = missed(&site) - missed_before;
    assert!(counted > 0, "{produced} events waited for a reader that stood still");
    signal("-CONT");
    // Every event was shown or is told as missed, and both sides count the same.
    poll("all is shown or told", || lines(&shown) - before + told_missed(&told) == produced);
    assert_eq!(told_missed(&told), counted);
    println!(
        "slow reader: 1 stop, {counted} of {produced} events missed by it in {rounds} rounds, all delivered"
    );
}

/// Events shown, whole lines of them; where something is missing stands a line of its own.
fn lines(path: &std::path::Path) -> u64 {
    let shown = fs::read(path).expect("a file");
    let lines = shown.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.filter(|line| !line.starts_with(b"{\"missed\":")).count() as u64
}

/// What the reader was told.
fn told_missed(path: &std::path::Path) -> u64 {
    let text = fs::read_to_string(path).expect("a file");
    let number = |line: &str| {
        line.strip_prefix("netra: ")?.split_once(" missed here")?.0.parse::<u64>().ok()
    };
    text.lines().filter_map(number).sum()
}

/// What the hub says that its subscribers missed.
fn missed(site: &Site) -> u64 {
    let mut asked = UnixStream::connect(site.path("numbers.sock")).expect("the hub answers");
    asked.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it listens");
    let mut text = String::new();
    asked.read_to_string(&mut text).expect("an answer");
    let line =
        text.lines().find_map(|line| line.strip_prefix("netra_stream_subscribers_missed_total "));
    line.expect("a counter").parse().expect("a number")
}
