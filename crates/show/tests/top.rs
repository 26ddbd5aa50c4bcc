//! Running jobs in a terminal of a test.
#![cfg(feature = "serve")]

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

#[expect(dead_code, reason = "another test tells of accounts too")]
mod feed;

use feed::Feed;
use maker::{START, Segment, event, tick};
use netra_event::Function;
use netra_show::live::Live;
use netra_show::top::Screen;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

const SECOND: u64 = 1_000_000_000;

fn drawn(live: &Live, screen: &mut Screen, wide: u16, high: u16, now: u64) -> String {
    let mut terminal = Terminal::new(TestBackend::new(wide, high)).unwrap();
    terminal.draw(|frame| screen.draw(frame, &live.lock(), now)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| -> String { (0..wide).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..high).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

/// Two jobs of two users; the first has two ranks, the second has ended.
fn two_jobs() -> Live {
    let live = Live::default();
    for rank in 0..2u32 {
        let mut made =
            Segment { rank: Some(rank), nprocs: 2, pid: 10 + rank, ..Segment::default() };
        let file = made.file("/scratch/a/long/path/to/the/output.dat");
        let mut feed = Feed::begin(&live, &made, START);
        let call = event(Function::Pwrite, file, tick(8 * SECOND), 0, 1 << 20);
        feed.calls(&live, &vec![call; 1 + 2 * rank as usize], START + 9 * SECOND);
    }
    let mut made = Segment { job: "other", uid: 5, pid: 99, ..Segment::default() };
    made.command = "./postprocess".to_owned();
    let file = made.file("/scratch/in.dat");
    let mut feed = Feed::begin(&live, &made, START);
    feed.calls(&live, &[event(Function::Pread, file, tick(10), 0, 100)], START + SECOND);
    feed.end(&live, START + 2 * SECOND);
    live
}

#[test]
fn a_job_is_shown_with_its_ranks_files_and_findings() {
    let live = two_jobs();
    // 3 + 1 writes of a MiB in the five seconds before the last one.
    let now = START - START % SECOND + 10 * SECOND;
    let text = drawn(&live, &mut Screen::new(Some(1000)), 130, 36, now);
    let line = |with: &str| text.lines().find(|line| line.contains(with)).unwrap_or_default();
    assert!(text.starts_with("netra top: 1 job, 1 running"), "{text}");
    assert!(line("app ").contains("819 KiB/s"), "{text}");
    assert!(line("app ").contains("running"), "{text}");
    assert!(line("write:").contains("4.00 MiB in 4 calls, at most 4.00 MiB/s"), "{text}");
    // Three writes come before one.
    let (first, second) = (text.find("rank 1").unwrap(), text.find("rank 0").unwrap());
    assert!(first < second, "{text}");
    assert!(line("output.dat").contains("4.00 MiB"), "{text}");
    assert!(text.contains("the rules have not been asked yet"), "{text}");
}

#[test]
fn keys_choose_among_everybodys_jobs() {
    let live = two_jobs();
    let mut screen = Screen::new(None);
    let now = START + 10 * SECOND;
    let text = drawn(&live, &mut screen, 110, 30, now);
    assert!(text.starts_with("netra top: 2 jobs, 1 running"), "{text}");
    assert!(text.contains("output.dat") && !text.contains("in.dat"), "{text}");
    for _ in 0..5 {
        screen.key(KeyCode::Down, KeyModifiers::NONE);
    }
    let text = drawn(&live, &mut screen, 110, 30, now);
    assert!(text.contains("in.dat") && !text.contains("output.dat"), "{text}");
    screen.key(KeyCode::Up, KeyModifiers::NONE);
    assert!(drawn(&live, &mut screen, 110, 30, now).contains("output.dat"));
}

#[test]
fn a_daemon_that_is_away_is_said() {
    let mut screen = Screen::new(None);
    screen.away = "unix:/run/netra.sock: no such file".to_owned();
    let text = drawn(&Live::default(), &mut screen, 90, 12, 1);
    let says = "q quits; nothing comes, tried again: unix:/run/netra.sock: no such file\n";
    assert!(text.ends_with(says), "{text}");
}

#[test]
fn no_jobs_and_tiny_terminals_are_no_trouble() {
    let nothing = Live::default();
    assert!(
        drawn(&nothing, &mut Screen::new(None), 60, 12, 1).contains("no job has been seen yet")
    );
    let live = two_jobs();
    for (wide, high) in [(1, 1), (10, 3), (20, 8), (300, 100)] {
        drawn(&live, &mut Screen::new(None), wide, high, START);
    }
}
