//! Where results go: standard output, or a file that gets its name when it is whole. Every command writes its
//! files through here or, where the result is a log, through [`crate::draft`], which this stands on.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use netra_darshan::record::header::{MAGIC, MAGIC_AT};
use netra_event::segment;

use crate::draft::Draft;

/// Large enough that a million lines cost a few thousand system calls.
const BUFFER: usize = 256 << 10;

/// What every command writes to. What goes wrong while it is written says where that was.
pub(crate) struct Output {
    out: BufWriter<File>,
    path: PathBuf,
    /// The file without its name; none where bytes go straight to where they belong.
    draft: Option<Draft>,
}

/// Opens the output of a command that reads these files; `-` is standard output, taken without std's line buffer
/// in between. A file is written beside its place, and takes it in [`Output::finish`].
pub(crate) fn open<P: AsRef<Path>>(path: &Path, inputs: &[P]) -> Result<Output> {
    if is_standard(path) {
        return standard();
    }
    refuse(path, inputs)?;
    // A device or a pipe has nothing beside it.
    let is_plain = path.metadata().map_or(true, |data| data.is_file());
    let draft = if is_plain { Some(Draft::new(path)?) } else { None };
    let file = match &draft {
        Some(draft) => draft.file()?,
        None => File::create(path).with_context(|| format!("creating {}", path.display()))?,
    };
    Ok(Output { out: BufWriter::with_capacity(BUFFER, file), path: path.to_owned(), draft })
}

/// Opens the output of a command that goes on until it is stopped: what it has written so far can be seen.
pub(crate) fn open_at_once(path: &Path) -> Result<Output> {
    if is_standard(path) {
        return standard();
    }
    refuse::<&Path>(path, &[])?;
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    let out = BufWriter::with_capacity(BUFFER, file);
    Ok(Output { out, path: path.to_owned(), draft: None })
}

/// Standard output.
pub(crate) fn standard() -> Result<Output> {
    let file = io::stdout().as_fd().try_clone_to_owned().context("opening standard output")?;
    let out = BufWriter::with_capacity(BUFFER, File::from(file));
    Ok(Output { out, path: PathBuf::from("-"), draft: None })
}

/// Where to speak about a new log: on standard error if the log itself goes to standard output.
pub(crate) fn beside(log: &Path) -> Result<Output> {
    if !is_standard(log) {
        return standard();
    }
    let fd = io::stderr().as_fd().try_clone_to_owned().context("opening standard error")?;
    Ok(Output { out: BufWriter::new(File::from(fd)), path: PathBuf::from("-"), draft: None })
}

/// Whether this is the name for standard output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl Output {
    /// Everything is written: a file gets its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self.draft {
            Some(draft) => draft.publish(),
            None => Ok(()),
        }
    }

    fn named(&self, error: &io::Error) -> io::Error {
        let place = if is_standard(&self.path) {
            "the output".to_owned()
        } else {
            self.path.display().to_string()
        };
        io::Error::new(error.kind(), format!("writing {place}: {error}"))
    }
}

impl Write for Output {
    #[expect(clippy::disallowed_methods, reason = "whoever calls it is told how much was written")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| self.named(&error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes).map_err(|error| self.named(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.named(&error))
    }
}

/// A result takes the place of an older one, but not of what it is made from, nor of anybody's log.
fn refuse<P: AsRef<Path>>(path: &Path, inputs: &[P]) -> Result<()> {
    let Ok(there) = path.metadata() else { return Ok(()) };
    if !there.is_file() {
        return Ok(());
    }
    let same = |input: &Path| {
        input.metadata().is_ok_and(|data| (data.dev(), data.ino()) == (there.dev(), there.ino()))
    };
    if inputs.iter().any(|input| same(input.as_ref())) {
        bail!("{} is what is read: the result needs another name", path.display());
    }
    if let Some(kind) = kept(path) {
        bail!("{} is {kind} and stays: the result needs another name", path.display());
    }
    Ok(())
}

/// What a file is that nobody can make again, by its first bytes.
fn kept(path: &Path) -> Option<&'static str> {
    let mut begin = Vec::new();
    File::open(path).ok()?.take(16).read_to_end(&mut begin).ok()?;
    let magic = begin.get(MAGIC_AT..MAGIC_AT + 8);
    if magic.is_some_and(|it| it == MAGIC.to_le_bytes() || it == MAGIC.to_be_bytes()) {
        return Some("a Darshan log");
    }
    begin.starts_with(&segment::MAGIC).then_some("a segment of a process")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn refused(path: &Path, inputs: &[&Path], why: &str) {
        let before = fs::read(path).unwrap();
        let error = open(path, inputs).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(why), "{error:?}");
        assert_eq!(fs::read(path).unwrap(), before);
    }

    #[test]
    fn neither_an_input_nor_a_log_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let (note, link) = (folder.path().join("note"), folder.path().join("link"));
        fs::write(&note, "mine").unwrap();
        std::os::unix::fs::symlink(&note, &link).unwrap();
        refused(&note, &[&note], "is what is read");
        refused(&link, &[&note], "is what is read");
        let log = folder.path().join("page.html");
        for magic in [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()] {
            fs::write(&log, [b"3.41\0\0\0\0", &magic[..], b"rest"].concat()).unwrap();
            refused(&log, &[], "is a Darshan log");
        }
        fs::write(&log, segment::MAGIC).unwrap();
        refused(&log, &[], "is a segment of a process");
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        fs::write(&path, "old").unwrap();
        let mut out = open::<&Path>(&path, &[]).unwrap();
        out.write_all(b"new").unwrap();
        out.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(out);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half stays");
        let mut out = open::<&Path>(&path, &[]).unwrap();
        out.write_all(b"new").unwrap();
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn what_goes_wrong_names_the_place() {
        let mut out = open::<&Path>(Path::new("/dev/full"), &[]).unwrap();
        out.write_all(b"more").unwrap();
        let error = out.finish().unwrap_err().to_string();
        assert!(error.starts_with("writing /dev/full: No space left"), "{error}");
    }
}
