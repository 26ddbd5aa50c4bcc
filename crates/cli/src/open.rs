//! Opens logs so that reading them moves a progress bar, and so that thousands can be open at once.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use netra_darshan::Error;
use netra_darshan::read::{Log, Source};
use netra_event::Bytes;
use netra_show::Progress;

/// Opens the logs of one run, whose reading moves one progress bar.
pub(crate) struct Opener {
    progress: Arc<Mutex<Progress>>,
    /// More logs than a process may have files open are opened again for each read.
    many: bool,
}

impl Opener {
    /// Far below the usual limit of 1024, and far above what one wants to wait for.
    const MANY: usize = 500;

    pub(crate) fn new<P: AsRef<Path>>(paths: &[P]) -> Opener {
        let total: Bytes = paths
            .iter()
            .filter_map(|path| path.as_ref().metadata().ok())
            .map(|data| Bytes(data.len()))
            .sum();
        let progress = Arc::new(Mutex::new(Progress::new(total)));
        Opener { progress, many: paths.len() > Opener::MANY }
    }

    pub(crate) fn open(&self, path: &Path) -> Result<Log, Error> {
        let file =
            File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        let bytes = if self.many { Held::Closed(path.to_owned()) } else { Held::Open(file) };
        Log::new(Watched { bytes, progress: Arc::clone(&self.progress) })
    }

    /// Takes the progress bar away, so that what is said next begins on a clean line.
    pub(crate) fn clear(&self) {
        lock(&self.progress).clear();
    }
}

/// A file whose reading moves the progress bar.
struct Watched {
    bytes: Held,
    progress: Arc<Mutex<Progress>>,
}

enum Held {
    Open(File),
    Closed(PathBuf),
}

impl Source for Watched {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let count = match &self.bytes {
            Held::Open(file) => Source::read_at(file, offset, bytes)?,
            Held::Closed(path) => Source::read_at(&File::open(path)?, offset, bytes)?,
        };
        lock(&self.progress).add(Bytes(count as u64));
        Ok(count)
    }

    fn length(&self) -> io::Result<u64> {
        match &self.bytes {
            Held::Open(file) => file.length(),
            Held::Closed(path) => Ok(path.metadata()?.len()),
        }
    }
}

/// A panic elsewhere leaves nothing half done in a progress bar.
fn lock(progress: &Mutex<Progress>) -> std::sync::MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
