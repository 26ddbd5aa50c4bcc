//! A whole log around the bytes of one module, so that an input is about that module alone.

use netra_darshan::read::{Job, Mount, Source};
use netra_darshan::record::header::{
    Compression, Extent, Header, MODULES_AT, PARTIAL_AT, VERSIONS_AT,
};
use netra_darshan::write::Writer;
use netra_event::{Module, RecordId};
use std::io::{self, Cursor};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rest of a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) module: Module,
    pub(crate) version: u32,
    pub(crate) big: bool,
    pub(crate) compression: Compression,
    pub(crate) partial: bool,
}

impl Default for Frame {
    fn default() -> Frame {
        let (module, compression) = (Module::Posix, Compression::Zlib);
        Frame { module, version: 4, big: false, compression, partial: false }
    }
}

impl Frame {
    /// A log whose one module holds these bytes.
    pub(crate) fn around(self, bytes: &[u8]) -> Vec<u8> {
        static BARE: [OnceLock<Vec<u8>>; 3] = [const { OnceLock::new() }; 3];
        let made = || bare(self.compression);
        let mut log = BARE[self.compression as usize].get_or_init(made).clone();
        let slot = usize::from(self.module.code());
        let extent = Extent { offset: log.len() as u64, length: bytes.len() as u64 };
        let at = MODULES_AT + 16 * slot;
        log[at..at + 8].copy_from_slice(&extent.offset.to_le_bytes());
        log[at + 8..at + 16].copy_from_slice(&extent.length.to_le_bytes());
        let at = VERSIONS_AT + 4 * slot;
        log[at..at + 4].copy_from_slice(&self.version.to_le_bytes());
        let partial = u64::from(self.partial) << slot;
        log[PARTIAL_AT..PARTIAL_AT + 8].copy_from_slice(&partial.to_le_bytes());
        if self.big {
            swap(&mut log);
        }
        log.extend_from_slice(bytes);
        log
    }
}

/// A log without modules.
fn bare(compression: Compression) -> Vec<u8> {
    let mount = Mount { point: b"/scratch".to_vec(), kind: b"lustre".to_vec() };
    let job = Job { exe: b"app".to_vec(), mounts: vec![mount], ..Job::default() };
    let names = [(RecordId(0), &b"/scratch/file"[..])];
    let writer = Writer::new(Cursor::new(Vec::new()), compression, &job, names);
    writer.and_then(Writer::finish).expect("memory can be written").into_inner()
}

/// Turns the header's numbers around; the job and the names are then nonsense, which is allowed.
fn swap(log: &mut [u8]) {
    let size = Header::new(Compression::None).encode().len();
    let (numbers, versions) = log[..size].split_at_mut(VERSIONS_AT);
    for (at, word) in numbers.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // The version is text, the compression a single byte.
        if at != 0 && at != 2 {
            word.reverse();
        }
    }
    versions.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word.reverse());
}

/// A source that gives as few bytes at a time as it likes.
#[derive(Debug)]
pub(crate) struct Choppy {
    bytes: Vec<u8>,
    step: AtomicU64,
}

impl Choppy {
    pub(crate) fn new(bytes: Vec<u8>, seed: u8) -> Choppy {
        Choppy { bytes, step: AtomicU64::new(u64::from(seed)) }
    }
}

impl Source for Choppy {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let step = self.step.fetch_add(0x9e37_79b9, Ordering::Relaxed);
        let most = 1 + usize::try_from(step % 977).unwrap_or(0);
        let count = bytes.len().min(most);
        self.bytes.read_at(offset, &mut bytes[..count])
    }

    fn length(&self) -> io::Result<u64> {
        self.bytes.length()
    }
}
