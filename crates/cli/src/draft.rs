//! A file that is being written. It gets its name when it is whole: nobody finds half a result, and a log
//! may even replace the one it is made from.

use std::fs::{File, Permissions};
use std::io::{self, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use netra_darshan::read::Log;
use tempfile::NamedTempFile;

use crate::output::{self, is_standard};

/// A file without its final name.
pub(crate) struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins a file that will be called `path`; `-` is standard output.
    pub(crate) fn new(path: &Path) -> Result<Draft> {
        // A link goes on leading where it leads.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            _ if is_standard(path) => std::env::temp_dir(),
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // The umask takes away what the user does not want others to have.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".netra-").permissions(Permissions::from_mode(0o666));
        let file =
            builder.tempfile_in(&folder).with_context(|| format!("creating {}", path.display()))?;
        Ok(Draft { file, path: path.to_owned() })
    }

    /// What to write to.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.reopen().with_context(|| format!("opening {}", self.path.display()))
    }

    /// The new log, once everything is written.
    pub(crate) fn log(&self) -> Result<Log> {
        Log::new(self.file()?).context("reading the new log")
    }

    /// The log is whole.
    pub(crate) fn publish(mut self) -> Result<()> {
        if is_standard(&self.path) {
            let mut out = output::standard()?;
            self.file.rewind().context("reading the new log")?;
            io::copy(&mut self.file, &mut out)?;
            return out.finish();
        }
        let path = &self.path;
        self.file.persist(path).with_context(|| format!("creating {}", path.display()))?;
        Ok(())
    }
}
