//! Where a spool's bytes lie: a folder of files, as a trait, so that tests can make it fail, tear and
//! forget as disks do.
//!
//! **A full disk.** Frames leave the spool only after the state was kept, and keeping the state takes room
//! itself; so some is set aside ([`Reserve`]), for the state alone: while it is missing, frames are refused.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reserve::Reserve;

/// What a file is called until it is whole.
const DRAFT: &str = ".new";

/// A folder of files.
pub trait Storage: Debug + Send + Sync {
    /// Names of the files, in any order.
    ///
    /// # Errors
    /// The folder can not be listed.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Makes a file that does not exist yet; its name is durable when this returns.
    ///
    /// # Errors
    /// It exists, or there is no room.
    fn create(&self, name: &str) -> io::Result<Arc<dyn Stored>>;
    /// Opens a file.
    ///
    /// # Errors
    /// It does not exist, or can not be opened.
    fn open(&self, name: &str) -> io::Result<Arc<dyn Stored>>;
    /// Removes a file.
    ///
    /// # Errors
    /// It can not be removed.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Puts bytes in place of a file's, all or none, durable when this returns. This works on a disk that has
    /// no room for frames any more.
    ///
    /// # Errors
    /// They could not be written; the old ones are still there.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
}

/// A file of a folder.
pub trait Stored: Debug + Send + Sync {
    /// Writes all of the bytes.
    ///
    /// # Errors
    /// They could not be written; some may have been.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads as many bytes as there are.
    ///
    /// # Errors
    /// They can not be read.
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Its length.
    ///
    /// # Errors
    /// The system does not say.
    fn length(&self) -> io::Result<u64>;
    /// Cuts it.
    ///
    /// # Errors
    /// It can not be cut.
    fn cut(&self, length: u64) -> io::Result<()>;
    /// Makes what was written durable.
    ///
    /// # Errors
    /// It is not, and nobody knows how much of it is.
    fn sync(&self) -> io::Result<()>;
}

/// A folder on disk.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// Whether files are made durable; without it they outlive us, but not the machine.
    durable: bool,
    /// None where nothing is written.
    reserve: Option<Arc<Reserve>>,
}

impl Folder {
    /// Makes the folder if need be; others can not look into it.
    ///
    /// # Errors
    /// It can not be made.
    pub fn new(path: &Path, durable: bool) -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Folder { path: path.to_owned(), durable, reserve: None })
    }

    /// Sets space aside, so that the state can be kept, and the spool made shorter, on a disk that is full.
    /// For the one that writes here.
    #[must_use]
    pub fn set_aside(mut self) -> Folder {
        for name in self.list().unwrap_or_default() {
            if name.ends_with(DRAFT) {
                // What never became whole takes room and says nothing.
                fs::remove_file(self.path.join(name)).ok();
            }
        }
        self.reserve = Some(Arc::new(Reserve::new(&self.path)));
        self
    }

    /// Writes a file that gets its name when it is whole. `room` is a file whose space is used for it.
    fn put(&self, name: &str, bytes: &[u8], room: Option<&Path>) -> io::Result<()> {
        let draft = self.path.join(format!("{name}{DRAFT}"));
        if let Some(room) = room {
            fs::rename(room, &draft)?;
        }
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(room.is_none()).mode(0o600);
            let file = options.open(&draft)?;
            file.write_all_at(bytes, 0)?;
            file.set_len(bytes.len() as u64)?;
            if self.durable { file.sync_all() } else { Ok(()) }
        };
        write().inspect_err(|_| drop(fs::remove_file(&draft)))?;
        fs::rename(&draft, self.path.join(name))?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        if self.durable { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn file(&self, name: &str, options: &mut OpenOptions) -> io::Result<Arc<dyn Stored>> {
        let file = options.mode(0o600).open(self.path.join(name))?;
        Ok(Arc::new(Disk { file, durable: self.durable, reserve: self.reserve.clone() }))
    }
}

/// Whether there is no room on the disk, or none for this user.
pub(super) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

impl Storage for Folder {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names = names.collect::<io::Result<Vec<_>>>()?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        let _held = self.reserve.as_deref().map(Reserve::hold).transpose()?;
        let file = self.file(name, OpenOptions::new().read(true).write(true).create_new(true))?;
        self.sync()?;
        Ok(file)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        self.file(name, OpenOptions::new().read(true).write(true))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match (self.put(name, bytes, None), &self.reserve) {
            (Err(error), Some(reserve)) if is_full(&error) => {
                reserve.spend(bytes.len(), |room| self.put(name, bytes, Some(room)))
            }
            (done, _) => done,
        }
    }
}

#[derive(Debug)]
struct Disk {
    file: File,
    durable: bool,
    reserve: Option<Arc<Reserve>>,
}

impl Stored for Disk {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _held = self.reserve.as_deref().map(Reserve::hold).transpose()?;
        self.file.write_all_at(bytes, at)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        if self.durable { self.file.sync_data() } else { Ok(()) }
    }
}
