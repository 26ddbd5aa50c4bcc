//! Where a spool's bytes lie: a folder of files, as a trait, so that tests can make it fail, tear and
//! forget as disks do.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that is given up when the disk is full.
const RESERVE: &str = "reserve";
/// Its size: the state of a thousand processes.
const RESERVED: usize = 256 << 10;

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
    /// Puts bytes in place of a file's, all or none, durable when this returns.
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
}

impl Folder {
    /// Makes the folder if need be; others can not look into it.
    ///
    /// # Errors
    /// It can not be made.
    pub fn new(path: &Path, durable: bool) -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Folder { path: path.to_owned(), durable })
    }

    /// Sets space aside, so that the state can be kept, and the spool made shorter, on a disk that is full.
    pub fn set_aside(&self) {
        let path = self.path.join(RESERVE);
        // Without room for it there is none, until something was removed.
        if fs::metadata(&path).is_err() && fs::write(&path, vec![0; RESERVED]).is_err() {
            fs::remove_file(&path).ok();
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let draft = self.path.join(format!("{name}.new"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        let mut written = file.write_all(bytes);
        if written.is_ok() && self.durable {
            written = file.sync_all();
        }
        written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
        fs::rename(&draft, self.path.join(name))?;
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        if self.durable { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn file(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        options.mode(0o600).open(self.path.join(name))
    }
}

impl Storage for Folder {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names = names.collect::<io::Result<Vec<_>>>()?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        let file = self.file(name, OpenOptions::new().read(true).write(true).create_new(true))?;
        self.sync()?;
        Ok(Arc::new(Disk { file, durable: self.durable }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn Stored>> {
        let file = self.file(name, OpenOptions::new().read(true).write(true))?;
        Ok(Arc::new(Disk { file, durable: self.durable }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match self.put(name, bytes) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                self.remove(RESERVE).map_err(|_| error)?;
                self.put(name, bytes)
            }
            done => {
                self.set_aside();
                done
            }
        }
    }
}

#[derive(Debug)]
struct Disk {
    file: File,
    durable: bool,
}

impl Stored for Disk {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
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
