//! A file that gets its name when it is whole. Until then it has none where the file system has such files: whoever
//! is killed on the way leaves nothing behind.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use tempfile::{NamedTempFile, TempPath};

/// Where the kernel shows a process its open files.
const OPEN_FILES: &str = "/proc/self/fd";

/// What stands for the file until it has its name.
#[derive(Debug)]
pub(super) enum Draft {
    /// Nothing.
    Nameless,
    /// A name that goes with it.
    Named(TempPath),
}

impl Draft {
    /// Begins a file in a folder.
    pub(super) fn create(folder: &Path) -> io::Result<(File, Draft)> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) if Path::new(OPEN_FILES).is_dir() => Ok((file.into(), Draft::Nameless)),
            _ => {
                let (file, path) = NamedTempFile::with_prefix_in(".netra-", folder)?.into_parts();
                Ok((file, Draft::Named(path)))
            }
        }
    }

    /// Gives the file its name, which nobody may have.
    pub(super) fn publish(self, file: &File, path: &Path) -> io::Result<()> {
        match self {
            Draft::Named(draft) => draft.persist_noclobber(path).map_err(|refused| refused.error),
            Draft::Nameless => {
                let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
                Ok(rustix::fs::linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Draft;
    use std::fs;
    use std::io::{ErrorKind, Write as _};

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let count = || fs::read_dir(folder.path()).unwrap().count();
        let (mut file, draft) = Draft::create(folder.path()).unwrap();
        file.write_all(b"whole").unwrap();
        // Debian's usual file systems have nameless files, and the tests run on those.
        assert!(matches!(draft, Draft::Nameless));
        assert_eq!(count(), 0);
        draft.publish(&file, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let (file, second) = Draft::create(folder.path()).unwrap();
        assert_eq!(second.publish(&file, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap().as_slice(), count()), (&b"whole"[..], 1));
    }

    #[test]
    fn elsewhere_it_has_a_name_that_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let named = || {
            let made = tempfile::NamedTempFile::with_prefix_in(".netra-", folder.path());
            let (file, draft) = made.unwrap().into_parts();
            (file, Draft::Named(draft))
        };
        let (file, draft) = named();
        draft.publish(&file, &path).unwrap();
        let (file, second) = named();
        assert_eq!(second.publish(&file, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
