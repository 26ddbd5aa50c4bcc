//! A reader of a running process's first lane, as a daemon would read it: what is published is read
//! chunk by chunk, and each chunk that is done with is given back.

use std::fs::{self, File, OpenOptions};
use std::mem::offset_of;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use netra_event::lane::{Lane, ack_word};
use netra_event::segment::{
    CHUNK_BYTES, CHUNK_SLOTS, Entry, Header, LaneChunk, MAGIC, REGIONS, Region,
};

/// Follows the first segment that appears in a folder, until it is dropped.
pub(super) struct Follower {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub(super) fn start(folder: &Path) -> Follower {
        let stop = Arc::new(AtomicBool::new(false));
        let (folder, told) = (folder.to_owned(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || follow(&folder, &told));
        Follower { stop, thread: Some(thread) }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A reader that failed gives nothing back, which the measurement then shows.
            let _ended = thread.join();
        }
    }
}

fn follow(folder: &Path, stop: &AtomicBool) {
    let mut open: Option<Segment> = None;
    while !stop.load(Ordering::Relaxed) {
        match &mut open {
            Some(segment) => segment.step(),
            None => open = segments(folder).into_iter().find_map(|path| Segment::open(&path)),
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let files =
        folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let paths = files.map(|file| file.path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "segment")).collect()
}

struct Segment {
    file: File,
    lane: u64,
    chunks: u64,
    /// The chunk at hand, and how many were left behind.
    chunk: Option<u64>,
    done: u32,
}

impl Segment {
    fn open(path: &Path) -> Option<Segment> {
        let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        let mut segment = Segment { file, lane: 0, chunks: 0, chunk: None, done: 0 };
        if segment.word(0)? != u64::from_le_bytes(MAGIC) {
            return None;
        }
        segment.lane = segment.region(Region::Lanes)?;
        segment.chunks = segment.region(Region::Chunks)?;
        Some(segment)
    }

    fn region(&self, wanted: Region) -> Option<u64> {
        (0..REGIONS)
            .map(|row| (offset_of!(Header, directory) + row * size_of::<Entry>()) as u64)
            .find(|&row| self.half(row) == Some(wanted as u32))
            .and_then(|row| self.word(row + offset_of!(Entry, offset) as u64))
    }

    fn word(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn half(&self, at: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// Reads every chunk that is full and linked to a next one, and gives it back.
    fn step(&mut self) {
        while self.next().is_some() {}
    }

    fn next(&mut self) -> Option<()> {
        let head = self.word(self.lane + offset_of!(Lane, head) as u64)?;
        if head / (CHUNK_SLOTS as u64) <= u64::from(self.done) {
            return None;
        }
        let number = match self.chunk {
            Some(number) => number,
            None => {
                u64::from(self.half(self.lane + offset_of!(Lane, oldest) as u64)?.checked_sub(1)?)
            }
        };
        let at = self.chunks + number * CHUNK_BYTES as u64;
        let next = self.half(at + offset_of!(LaneChunk, next) as u64)?.checked_sub(1)?;
        let mut events = vec![0; CHUNK_BYTES];
        self.file.read_exact_at(&mut events, at).ok()?;
        self.chunk = Some(u64::from(next));
        self.done += 1;
        let ack = ack_word(self.done).to_le_bytes();
        self.file.write_all_at(&ack, self.lane + offset_of!(Lane, ack) as u64).ok()
    }
}
