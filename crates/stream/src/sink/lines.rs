//! The sink that writes events as lines of text into one file: the connector's messages, its table, or
//! netra's own lines. After a crash the file is cut where it was known to be durable, and goes on from there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Mark, Sink};
use crate::batch::{Batch, Images};
use crate::render::{Form, Live, Render};

/// Writes lines.
pub struct Lines {
    path: PathBuf,
    form: Form,
    durable: bool,
    open: Option<Open>,
}

struct Open {
    out: BufWriter<Counted>,
    render: Box<dyn Render>,
    live: Live,
}

/// A file that knows how much was written to it.
struct Counted {
    file: File,
    length: u64,
}

impl Write for Counted {
    #[expect(clippy::disallowed_methods, reason = "this is the `write` that `write_all` calls")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.length += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lines {{ path: {:?}, form: {:?} }}", self.path, self.form)
    }
}

impl Lines {
    /// Writes this form into a file.
    #[must_use]
    pub fn new(path: &Path, form: Form, durable: bool) -> Lines {
        Lines { path: path.to_owned(), form, durable, open: None }
    }

    fn open(&mut self) -> io::Result<&mut Open> {
        self.open.as_mut().ok_or_else(|| io::Error::other("the sink was not resumed"))
    }
}

impl Sink for Lines {
    fn take(&mut self, batch: &Batch, images: &Images) -> io::Result<()> {
        let open = self.open()?;
        let image = images.get(&batch.head.producer).map(|image| &**image);
        open.live.batch(batch, image, &mut *open.render, &mut open.out)?;
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Mark> {
        let durable = self.durable;
        let open = self.open()?;
        open.out.flush()?;
        let counted = open.out.get_ref();
        if durable {
            counted.file.sync_data()?;
        }
        Ok(counted.length.to_le_bytes().to_vec())
    }

    fn resume(&mut self, mark: &[u8]) -> io::Result<()> {
        let length = match mark {
            [] => 0,
            mark => {
                let mark = mark.try_into().map_err(|_| io::Error::other("no mark of this sink"))?;
                u64::from_le_bytes(mark)
            }
        };
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false).mode(0o600);
        let mut file = options.open(&self.path)?;
        let found = file.metadata()?.len();
        if found < length {
            let path = self.path.display();
            let says = format!("{path} has {found} bytes, and had {length}: somebody cut it");
            return Err(io::Error::new(io::ErrorKind::InvalidData, says));
        }
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        let mut out = BufWriter::with_capacity(256 << 10, Counted { file, length });
        let mut render = self.form.render();
        if length == 0 {
            render.begin(&mut out)?;
        }
        self.open = Some(Open { out, render, live: Live::default() });
        Ok(())
    }
}
