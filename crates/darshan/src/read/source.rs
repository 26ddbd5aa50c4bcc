//! Where a log's bytes come from. Reading at an offset, without a position of its own, lets several
//! regions be read side by side.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Bytes that can be read at any offset.
pub trait Source: Send + Sync {
    /// Reads some bytes from `offset`; 0 only at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// All bytes there are.
    ///
    /// # Errors
    /// What the system says.
    fn length(&self) -> io::Result<u64>;
}

impl Source for File {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, bytes, offset)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// A file that is opened for each read, so that thousands of logs do not need thousands of
/// descriptors.
#[derive(Debug)]
pub struct OnDemand {
    path: PathBuf,
    length: u64,
}

impl OnDemand {
    /// Looks at a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(path: impl Into<PathBuf>) -> io::Result<OnDemand> {
        let path = path.into();
        let length = File::open(&path)?.length()?;
        Ok(OnDemand { path, length })
    }
}

impl Source for OnDemand {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        Source::read_at(&File::open(&self.path)?, offset, bytes)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }
}

impl Source for Vec<u8> {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// Anything that reads and seeks.
#[derive(Debug)]
pub struct Seekable<R>(Mutex<R>);

impl<R: Read + Seek> Seekable<R> {
    /// Wraps a reader.
    pub fn new(reader: R) -> Seekable<R> {
        Seekable(Mutex::new(reader))
    }
}

impl<R: Read + Seek + Send> Source for Seekable<R> {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        // A panic of another reader leaves no half-done state behind: every read seeks first.
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(offset))?;
        reader.read(bytes)
    }

    fn length(&self) -> io::Result<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seek(SeekFrom::End(0))
    }
}

/// Reads until `bytes` is full or the source ends; gives the number of bytes read.
pub(crate) fn fill(source: &dyn Source, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut have = 0;
    while have < bytes.len() {
        match source.read_at(offset.saturating_add(have as u64), &mut bytes[have..]) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(have)
}
