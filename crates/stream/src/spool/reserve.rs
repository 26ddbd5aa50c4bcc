//! Room that is kept for the state of a daemon whose disk is full.
//!
//! It is a file. When the state has no room, that file becomes the state's draft and is written over, so that
//! nobody else can take its room in between; then it is made anew, from what the old state has left. Frames
//! are written only while the reserve is whole: they never take what the next state needs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Its name.
const NAME: &str = "reserve";
/// Its size, if the state is smaller: that of a thousand processes.
const LEAST: u64 = 256 << 10;
/// Below this it is not worth a file.
const BLOCK: u64 = 4 << 10;

/// The reserve of a folder.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    size: RwLock<Size>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    wanted: u64,
    held: u64,
}

impl Size {
    fn is_whole(self) -> bool {
        self.held >= self.wanted
    }
}

impl Reserve {
    /// Sets aside what can be had.
    pub(super) fn new(folder: &Path) -> Reserve {
        let path = folder.join(NAME);
        let held = fs::metadata(&path).map_or(0, |found| found.len());
        let mut size = Size { wanted: LEAST, held };
        refill(&path, &mut size);
        Reserve { path, size: RwLock::new(size) }
    }

    /// The reserve stays as it is while the guard lives.
    ///
    /// # Errors
    /// It is not whole: there is no room for frames.
    pub(super) fn hold(&self) -> io::Result<RwLockReadGuard<'_, Size>> {
        let size = self.size.read().unwrap_or_else(PoisonError::into_inner);
        if size.is_whole() {
            return Ok(size);
        }
        drop(size);
        // Something may have been removed since.
        refill(&self.path, &mut self.size.write().unwrap_or_else(PoisonError::into_inner));
        let size = self.size.read().unwrap_or_else(PoisonError::into_inner);
        if size.is_whole() { Ok(size) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// Gives the file away to be written over with so many bytes, and makes a new one.
    ///
    /// # Errors
    /// There is none, or what `with` says.
    pub(super) fn spend(
        &self,
        bytes: usize,
        with: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut size = self.size.write().unwrap_or_else(PoisonError::into_inner);
        if size.held < bytes as u64 {
            refill(&self.path, &mut size);
        }
        // What is short is tried all the same: the rest may be there.
        let done =
            if size.held > 0 { with(&self.path) } else { Err(io::ErrorKind::StorageFull.into()) };
        // The state grows, and with it what the next one needs.
        size.wanted = size.wanted.max(2 * bytes as u64);
        size.held = fs::metadata(&self.path).map_or(0, |found| found.len());
        refill(&self.path, &mut size);
        done
    }
}

/// Takes as much as there is, up to what is wanted.
fn refill(path: &Path, size: &mut Size) {
    let mut next = size.wanted;
    while size.held < size.wanted && next >= BLOCK && next > size.held {
        match grow(path, next) {
            Ok(()) => size.held = next,
            Err(_) => next /= 2,
        }
    }
}

/// Makes the file so long, with zeroes that take room.
fn grow(path: &Path, length: u64) -> io::Result<()> {
    use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let from = file.metadata()?.len();
    let zeroes = vec![0; usize::try_from(length.saturating_sub(from)).unwrap_or(0)];
    file.write_all_at(&zeroes, from).inspect_err(|_| {
        // As long as it was; nothing at all is no reserve.
        file.set_len(from).ok();
        if from == 0 {
            fs::remove_file(path).ok();
        }
    })
}
