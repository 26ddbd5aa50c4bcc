//! Where tests write: in memory where the system has such a place. The store makes every file durable, and a disk that others use, too,
//! takes its time for that.

use std::path::Path;

/// An empty directory that goes with its owner.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.or_else(|_| tempfile::tempdir()).expect("a directory for the test")
}
