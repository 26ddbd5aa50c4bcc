//! The shipped library in a running program, seen through its segment: what is counted, what is
//! dropped when nobody reads, what a reader gets and gives back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::mem::offset_of;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use netra_event::lane::{Lane, ack_word};
use netra_event::segment::shard::{direction, posix};
use netra_event::segment::{CHUNK_SLOTS, Entry, Header, Region, View};
use netra_event::{Function, Loss};

/// A program in a folder of its own, with the library in front of it.
struct Run {
    folder: PathBuf,
    child: Child,
}

impl Run {
    fn new(name: &str, calls: u64, settings: &[(&str, &str)]) -> Run {
        let folder = std::env::temp_dir().join(format!("netra-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        let child = Command::new(program())
            .arg(folder.join("data"))
            .arg(calls.to_string())
            .env("LD_PRELOAD", library())
            .env("NETRA_SEGMENT_DIR", &folder)
            .env("NETRA_LOG_DIR", folder.join("logs"))
            .env("NETRA_INCLUDE", &folder)
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Run { folder, child }
    }

    /// Lets the program make its calls once, and waits until it has.
    fn step(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b".").unwrap();
        let mut byte = [0];
        self.child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
    }

    fn segment(&self) -> PathBuf {
        let folders = fs::read_dir(&self.folder).unwrap().flatten();
        let folder = folders.map(|entry| entry.path()).find(|path| is_named(path, "netra-"));
        let file = fs::read_dir(folder.unwrap()).unwrap().flatten().next().unwrap();
        file.path()
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.segment()).unwrap()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn is_named(path: &Path, begins: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins))
}

/// The library as it is shipped, built once.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "netra-preload", "--profile", "preload"])
            .current_dir(&root)
            .status()
            .unwrap();
        assert!(built.success());
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        root.join(target).join("preload/libnetra_preload.so").canonicalize().unwrap()
    })
}

/// The program, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // Tests run as processes of their own: each compiles under its own name.
        let program = folder.join(format!("program-{}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program.c");
        let compiled = Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(source).status();
        assert!(compiled.unwrap().success());
        program
    })
}

/// Calls, events and losses of the only lane.
fn account(view: &View<'_>) -> (u64, u64, [u64; 5]) {
    let lane = view.lanes().next().unwrap();
    let calls = lane.calls().map(|(_, calls)| calls).sum();
    let lost = [Loss::Budget, Loss::Reentrant, Loss::Space, Loss::Excluded, Loss::Threads];
    (calls, lane.produced(), lost.map(|reason| lane.dropped(reason).0))
}

/// Writes and bytes in the POSIX record of the program's file.
fn written(view: &View<'_>) -> (u64, u64) {
    let file = view.files().find(|file| file.name.ends_with(b"/data")).unwrap();
    let record = view.records().find(|record| record.module == 1 && record.file == file.index);
    let record = record.unwrap();
    (record.word(posix::WRITE + direction::CALLS), record.word(posix::WRITE + direction::BYTES))
}

#[test]
fn a_killed_process_leaves_everything() {
    let mut run = Run::new("killed", 100, &[]);
    run.step();
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    assert_eq!(written(&view), (100, 6400));
    // The thread's beginning, one open, a hundred writes.
    assert_eq!(account(&view), (102, 102, [0; 5]));
    let lane = view.lanes().next().unwrap();
    let events: Vec<_> = lane.events().map(|(_, event)| event).collect();
    assert_eq!(events.len(), 102);
    assert_eq!(events[0].function(), Some(Function::Thread));
    assert_eq!(events[0].offset, i64::from(view.pid()));
    assert_eq!(events[1].function(), Some(Function::Open));
    for (number, event) in (0..).zip(&events[2..]) {
        assert_eq!(event.function(), Some(Function::Pwrite));
        assert_eq!((event.offset, event.length, event.result), (number * 64, 64, 64));
        let site = view.site(event.site).unwrap();
        let object = view.objects().find(|object| Some(object.index) == site.object).unwrap();
        assert!(object.name.starts_with(program().to_str().unwrap().as_bytes()));
    }
    assert!(events[1..].is_sorted_by_key(|event| event.start));
}

#[test]
fn a_spent_budget_costs_events_and_no_counts() {
    let mut run = Run::new("budget", 10_000, &[("NETRA_TRACE_BUDGET", "64KiB")]);
    run.step();
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    assert_eq!(written(&view), (10_000, 640_000));
    let room = 2 * CHUNK_SLOTS as u64;
    assert_eq!(account(&view), (10_002, room, [10_002 - room, 0, 0, 0, 0]));
    let (count, first, last) = view.lanes().next().unwrap().dropped(Loss::Budget);
    assert!(count > 0 && view.start().0 < first && first < last);
}

#[test]
fn without_a_trace_every_call_is_still_counted() {
    let mut run = Run::new("untraced", 1_000, &[("NETRA_TRACE", "off")]);
    run.step();
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    assert_eq!(written(&view), (1_000, 64_000));
    assert_eq!(account(&view), (1_002, 0, [0, 0, 0, 1_002, 0]));
}

#[test]
fn what_a_reader_gives_back_is_used_again() {
    const STEPS: u64 = 20;
    let calls = CHUNK_SLOTS as u64;
    let mut run = Run::new("reader", calls, &[("NETRA_TRACE_BUDGET", "128KiB")]);
    let mut done = 0;
    for _ in 0..STEPS {
        run.step();
        let file = OpenOptions::new().read(true).write(true).open(run.segment()).unwrap();
        let bytes = run.bytes();
        let view = View::new(&bytes).unwrap();
        let head = view.lanes().next().unwrap().head();
        // Full chunks that have a successor; the last one stays.
        done = u32::try_from((head - 1) / CHUNK_SLOTS as u64).unwrap().max(done);
        let lanes = region(&bytes, Region::Lanes) + offset_of!(Lane, ack) as u64;
        file.write_all_at(&ack_word(done).to_le_bytes(), lanes).unwrap();
    }
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    // Four chunks held twenty times as many events, and none was lost.
    let made = STEPS * calls + 2;
    assert_eq!(account(&view), (made, made, [0; 5]));
    assert!(view.region(Region::Chunks).1.len() <= 4 * 32 * 1024);
    // What was not given back is still there, and is the end of the lane.
    let events: Vec<_> = view.lanes().next().unwrap().events().collect();
    assert_eq!(events.last().unwrap().0, made - 1);
}

/// Where a region begins.
fn region(bytes: &[u8], wanted: Region) -> u64 {
    let directory = bytes[offset_of!(Header, directory)..].chunks_exact(size_of::<Entry>());
    let number = |row: &[u8], at: usize| u64::from_le_bytes(*row[at..].first_chunk().unwrap());
    let found = directory.into_iter().find(|row| number(row, 0) as u32 == wanted as u32);
    number(found.unwrap(), offset_of!(Entry, offset))
}

#[test]
fn an_impossible_acknowledgement_changes_nothing() {
    let calls = 3 * CHUNK_SLOTS as u64;
    let mut run = Run::new("vandal", calls, &[("NETRA_TRACE_BUDGET", "64KiB")]);
    run.step();
    let file = OpenOptions::new().write(true).open(run.segment()).unwrap();
    let ack = region(&run.bytes(), Region::Lanes) + offset_of!(Lane, ack) as u64;
    file.write_all_at(&ack_word(1_000_000).to_le_bytes(), ack).unwrap();
    run.step();
    file.write_all_at(&[0xff; 8], ack).unwrap();
    run.step();
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    let made = 3 * calls + 2;
    let room = 2 * CHUNK_SLOTS as u64;
    assert_eq!(account(&view), (made, room, [made - room, 0, 0, 0, 0]));
    assert_eq!(written(&view).0, 3 * calls);
}

#[test]
fn bad_settings_are_noted_and_change_nothing() {
    let settings = [("NETRA_TRACE_BUDGET", "lots"), ("NETRA_MODULES", "-TAPE")];
    let mut run = Run::new("settings", 10, &settings);
    run.step();
    let bytes = run.bytes();
    let view = View::new(&bytes).unwrap();
    let notes: Vec<_> = view.notes().map(String::from_utf8_lossy).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("trace_budget: \"lots\"")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("modules: \"TAPE\" is no module")), "{notes:?}");
    assert_eq!(view.budget(), 8 << 20);
    assert_eq!(written(&view).0, 10);
}
