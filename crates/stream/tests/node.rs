//! A node and a disk that fails for a while.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

#[expect(dead_code, reason = "tests of other crates use the rest of it")]
#[path = "../../darshan/tests/maker/mod.rs"]
mod maker;

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use maker::{Segment as Made, event, tick};
use netra_event::Function;
use netra_stream::clock::Clock;
use netra_stream::intake::{Intake, Setup};
use netra_stream::node::{Node, Root, Settings};
use netra_stream::spool::{Folder, Limits, Storage, Stored};
use netra_stream::stop::Stop;
use netra_stream::told::Told;

/// A disk that refuses to be written while it is broken.
#[derive(Debug, Clone)]
struct Moody {
    disk: Folder,
    mood: Arc<Mood>,
}

#[derive(Debug, Default)]
struct Mood {
    broken: AtomicBool,
    refused: AtomicU64,
}

impl Mood {
    fn ask(&self) -> io::Result<()> {
        if self.broken.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(io::Error::from_raw_os_error(5));
        }
        Ok(())
    }
}

impl Storage for Moody {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        self.mood.ask()?;
        let file = self.disk.create(name)?;
        Ok(Arc::new(MoodyFile { file, mood: Arc::clone(&self.mood) }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        self.disk.open(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.mood.ask()?;
        self.disk.replace(name, bytes)
    }
}

#[derive(Debug)]
struct MoodyFile {
    file: Arc<dyn Stored>,
    mood: Arc<Mood>,
}

impl Stored for MoodyFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.mood.ask()?;
        self.file.write_at(at, bytes)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, bytes)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with the segment of a process that has ended.
fn root(folder: &std::path::Path) -> PathBuf {
    // Of no named host, so that this one reads it.
    let mut made = Made { host: String::new(), ..Made::default() };
    let file = made.file("/scratch/data");
    let events = (0..30).map(|at| event(Function::Pwrite, file, tick(100 + at), 0, 8)).collect();
    made.lanes = vec![maker::Lane { tid: 500, events, dropped: Vec::new() }];
    let user = std::fs::metadata(folder).unwrap().uid();
    let segments = folder.join(format!("netra-{user}"));
    std::fs::DirBuilder::new().mode(0o700).create(&segments).unwrap();
    std::fs::write(segments.join("4242-1.segment"), made.bytes()).unwrap();
    folder.to_owned()
}

#[test]
fn a_disk_that_fails_for_a_while_costs_no_event() {
    let folder = tempfile::tempdir().unwrap();
    let mood = Arc::new(Mood::default());
    let disk = Folder::new(&folder.path().join("spool"), false).unwrap();
    let setup = Setup {
        limits: Limits::default(),
        own: Default::default(),
        images: false,
        outlets: Vec::new(),
        optional: BTreeSet::new(),
    };
    let storage = Arc::new(Moody { disk, mood: Arc::clone(&mood) });
    let told = Arc::new(Told::quiet());
    let intake = Intake::open(storage, setup, Arc::clone(&told), Arc::new(Clock::default()));
    let intake = Arc::new(intake.unwrap());
    mood.broken.store(true, Ordering::Relaxed);
    let settings = Settings { roots: vec![Root::All(root(folder.path()))], ..Settings::default() };
    let stop = Arc::new(Stop::new().unwrap());
    let mut node = Node::new(settings, Arc::clone(&intake)).unwrap();
    let thread = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || node.run(&stop).unwrap()
    });
    poll("the disk was asked again and again", || mood.refused.load(Ordering::Relaxed) > 3);
    let received = || -> u64 {
        intake.state().book.producers.keys().map(|producer| intake.received(producer, 0).1).sum()
    };
    assert_eq!(received(), 0);
    mood.broken.store(false, Ordering::Relaxed);
    poll("everything has come", || received() == 30);
    assert_eq!(told.counters.segments_refused.load(Ordering::Relaxed), 0);
    stop.set();
    thread.join().unwrap();
}
