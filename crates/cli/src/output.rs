//! Where the result goes: standard output, or a file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::AsFd as _;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Large enough that a million lines cost a few thousand system calls.
const BUFFER: usize = 256 << 10;

/// What every command writes to.
pub(crate) type Output = BufWriter<File>;

/// Opens the output; `-` is standard output, taken without std's line buffer in between.
pub(crate) fn open(path: &Path) -> Result<Output> {
    let file = if is_standard(path) {
        File::from(io::stdout().as_fd().try_clone_to_owned().context("opening standard output")?)
    } else {
        File::create(path).with_context(|| format!("creating {}", path.display()))?
    };
    Ok(BufWriter::with_capacity(BUFFER, file))
}

/// Where to speak about a new log: on standard error if the log itself goes to standard output.
pub(crate) fn beside(log: &Path) -> Result<Output> {
    if !is_standard(log) {
        return open(Path::new("-"));
    }
    let fd = io::stderr().as_fd().try_clone_to_owned().context("opening standard error")?;
    Ok(BufWriter::new(File::from(fd)))
}

/// Whether this is the name for standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}
