//! The sink that keeps events as they are: a file for each process, its frames one behind the other.
//! From it a job's log gets the whole trace, though the process's own memory was used again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use netra_event::frame::{HEAD_BYTES, Kind, Producer};

use super::{Mark, Sink};
use crate::batch::{Batch, Images};
use crate::frame::{self, Subject};
use crate::pack::{Malformed, Packer, Unpacker};

/// Keeps events, a file a process.
#[derive(Debug)]
pub struct Trace {
    folder: PathBuf,
    durable: bool,
    open: BTreeMap<Producer, (File, u64)>,
    buffer: Vec<u8>,
}

impl Trace {
    /// Keeps them in a folder.
    #[must_use]
    pub fn new(folder: &Path, durable: bool) -> Trace {
        let (open, buffer) = Default::default();
        Trace { folder: folder.to_owned(), durable, open, buffer }
    }

    /// The file of a process.
    #[must_use]
    pub fn path(folder: &Path, producer: &Producer) -> PathBuf {
        let Producer { host, start, pid } = producer;
        folder.join(format!("{host:016x}-{start}-{pid}.trace"))
    }

    /// The process of a file.
    fn producer(path: &Path) -> Option<Producer> {
        let name = path.file_name()?.to_str()?.strip_suffix(".trace")?;
        let mut parts = name.split('-');
        let host = u64::from_str_radix(parts.next()?, 16).ok()?;
        let (start, pid) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Producer { host, start, pid })
    }

    fn file(&mut self, producer: Producer) -> io::Result<&mut (File, u64)> {
        use std::collections::btree_map::Entry;
        match self.open.entry(producer) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let path = Trace::path(&self.folder, &producer);
                let mut options = OpenOptions::new();
                options.create(true).write(true).truncate(false).mode(0o600);
                let mut file = options.open(path)?;
                let length = file.seek(SeekFrom::End(0))?;
                Ok(entry.insert((file, length)))
            }
        }
    }
}

impl Sink for Trace {
    fn take(&mut self, batch: &Batch, _: &Images) -> io::Result<()> {
        let head = &batch.head;
        if head.kind != Kind::Events {
            return Ok(());
        }
        let subject = Subject {
            kind: head.kind,
            producer: head.producer,
            lane: head.lane,
            from: head.from,
            count: head.count,
            events: head.events,
            time: head.time,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        frame::seal(&subject, batch.body(), &mut buffer).map_err(io::Error::other)?;
        let (file, length) = self.file(head.producer)?;
        let written = file.write_all(&buffer);
        *length += buffer.len() as u64;
        self.buffer = buffer;
        written
    }

    fn commit(&mut self) -> io::Result<Mark> {
        let mut packer = Packer::default();
        packer.count(self.open.len());
        for (producer, (file, length)) in &self.open {
            if self.durable {
                file.sync_data()?;
            }
            packer.long(producer.host).long(producer.start).word(producer.pid).long(*length);
        }
        Ok(packer.bytes)
    }

    fn resume(&mut self, mark: &[u8]) -> io::Result<()> {
        self.open.clear();
        fs::create_dir_all(&self.folder)?;
        let mut lengths = lengths(mark).map_err(io::Error::other)?;
        // Files that the mark does not know were begun behind it.
        for entry in fs::read_dir(&self.folder)?.flatten() {
            if let Some(producer) = Trace::producer(&entry.path()) {
                lengths.entry(producer).or_insert(0);
            }
        }
        for (producer, length) in lengths {
            let (file, end) = self.file(producer)?;
            file.set_len(length)?;
            *end = file.seek(SeekFrom::End(0))?;
        }
        Ok(())
    }
}

/// The files of a mark and how long they were.
fn lengths(mark: &[u8]) -> Result<BTreeMap<Producer, u64>, Malformed> {
    let mut unpacker = Unpacker::new(mark);
    let mut lengths = BTreeMap::new();
    if mark.is_empty() {
        return Ok(lengths);
    }
    for _ in 0..unpacker.count(28)? {
        let (host, start, pid) = (unpacker.long()?, unpacker.long()?, unpacker.word()?);
        lengths.insert(Producer { host, start, pid }, unpacker.long()?);
    }
    Ok(lengths)
}

/// Slots by lane: the index of the first, and their bytes.
pub type Kept = BTreeMap<u32, Vec<(u64, Vec<u8>)>>;

/// The slots that were kept of a process, as they were taken. What lies behind damage is left out.
///
/// # Errors
/// The file can not be read.
pub fn kept(folder: &Path, producer: &Producer) -> io::Result<Kept> {
    let bytes = match fs::read(Trace::path(folder, producer)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let mut lanes = Kept::new();
    let mut at = 0;
    while at + HEAD_BYTES <= bytes.len() {
        let Ok((head, body)) = frame::open(&bytes[at..]) else { break };
        at += frame::length(&head);
        if head.kind == Kind::Events && head.producer == *producer {
            lanes.entry(head.lane).or_default().push((head.from, body));
        }
    }
    Ok(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(pid: u32, from: u64, slots: usize) -> Batch {
        let subject = Subject {
            kind: Kind::Events,
            producer: Producer { host: 1, start: 2, pid },
            lane: 0,
            from,
            count: slots as u32,
            events: 0,
            time: 0,
        };
        Batch::plain(&subject, vec![pid as u8; slots * 32])
    }

    #[test]
    fn what_lies_behind_the_mark_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let images = Images::new();
        let mut sink = Trace::new(folder.path(), true);
        sink.resume(&[]).unwrap();
        sink.take(&batch(1, 0, 10), &images).unwrap();
        let mark = sink.commit().unwrap();
        sink.take(&batch(1, 10, 5), &images).unwrap();
        sink.take(&batch(2, 0, 5), &images).unwrap();
        let mut again = Trace::new(folder.path(), true);
        again.resume(&mark).unwrap();
        again.take(&batch(1, 10, 7), &images).unwrap();
        again.commit().unwrap();
        let kept = |pid: u32| kept(folder.path(), &Producer { host: 1, start: 2, pid }).unwrap();
        assert_eq!(kept(1)[&0], [(0, vec![1; 320]), (10, vec![1; 224])]);
        assert!(kept(2).is_empty() && kept(3).is_empty());
    }
}
