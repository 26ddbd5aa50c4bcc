//! Writes logs of the current version.

mod copy;
mod encode;
mod region;

pub(crate) use copy::copy_records;

use crate::read::{DxtHead, Job, Record};
use crate::record::dxt::{self, Segment};
use crate::record::header::{Compression, Extent, Header, SIZE};
use crate::section::layout::STORED;
use crate::section::write::Appender;
use crate::{Error, Result, counter, section};
use netra_event::{Module, RecordId};
use region::{Counted, Region};
use std::io::{Seek, SeekFrom, Write};

/// A log that is being written: the job and the names at once, then records, module by module in
/// the order of their codes, then blocks of the netra section.
///
/// Nothing is a log until [`finish`](Writer::finish) has written the header.
#[derive(Debug)]
pub struct Writer<W: Write> {
    /// Taken apart only while a region begins or ends.
    out: Option<Region<W>>,
    header: Header,
    /// The module whose region is open.
    open: Option<(Module, u64)>,
    last: Option<u8>,
    section: Option<Appender>,
    /// Whether traces tell threads.
    threads: bool,
    /// Segments that the open trace still expects.
    missing: u64,
    records: u64,
    /// A record's bytes before they are compressed.
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a log.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn new<'a>(
        out: W,
        compression: Compression,
        job: &Job,
        names: impl IntoIterator<Item = (RecordId, &'a [u8])>,
    ) -> Result<Writer<W>> {
        let mut out = Counted::new(out);
        out.write_all(&[0; SIZE])?;
        let mut writer = Writer {
            out: Some(Region::closed(out)),
            header: Header::new(compression),
            open: None,
            last: None,
            section: None,
            threads: false,
            missing: 0,
            records: 0,
            bytes: Vec::new(),
        };
        writer.begin(true)?;
        writer.put(&encode::job(job))?;
        writer.end()?;
        writer.write_names(names)?;
        Ok(writer)
    }

    fn write_names<'a>(
        &mut self,
        names: impl IntoIterator<Item = (RecordId, &'a [u8])>,
    ) -> Result<()> {
        let mut names = names.into_iter().peekable();
        let offset = self.begin(names.peek().is_some())?;
        for (id, name) in names {
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            self.put(&id.0.to_le_bytes())?;
            self.put(name)?;
            self.put(&[0])?;
        }
        // The job ends where the names begin, even if there are none.
        self.header.names = Extent { offset, length: self.end()? - offset };
        Ok(())
    }

    /// Writes a record in the shape of its module's current version. A trace takes its segments along.
    ///
    /// # Errors
    /// If a later module was written before, if the record is not one of this module, or if the
    /// output can not be written.
    pub fn record(&mut self, module: Module, record: Record<'_>) -> Result<()> {
        if let Record::Dxt(mut dxt) = record {
            self.begin_trace(module, dxt.head)?;
            while let Some((_, piece)) = dxt.segments.next_piece() {
                self.segments(piece)?;
            }
            return self.end_trace();
        }
        self.enter(module)?;
        self.records += 1;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let done = encode::record(module, &record, &mut bytes).and_then(|()| self.put(&bytes));
        self.bytes = bytes;
        done
    }

    /// Begins a trace, for segments that are not all at hand: as many writes as the head says follow,
    /// then as many reads, then [`end_trace`](Writer::end_trace).
    ///
    /// # Errors
    /// As [`record`](Writer::record).
    pub fn begin_trace(&mut self, module: Module, head: &DxtHead) -> Result<()> {
        if !matches!(module, Module::DxtPosix | Module::DxtMpiio) {
            return Err(Error::Shape { module: module.name(), expected: 0 });
        }
        self.enter(module)?;
        self.records += 1;
        self.missing = head.writes.saturating_add(head.reads);
        let bytes = dxt::head(head.id, head.rank, &head.host, head.writes, head.reads);
        self.put(&bytes)
    }

    /// Writes segments of the trace that was begun.
    ///
    /// # Errors
    /// If there are more than its head says, or the output can not be written.
    pub fn segments(&mut self, segments: &[Segment]) -> Result<()> {
        let left = self.missing.checked_sub(segments.len() as u64);
        self.missing = left.ok_or(Error::Segments { missing: 0 })?;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        for segment in segments {
            match self.threads {
                true => bytes.extend_from_slice(&segment.encode()),
                false => bytes.extend_from_slice(&segment.encode_unthreaded()),
            }
        }
        let done = self.put(&bytes);
        self.bytes = bytes;
        done
    }

    /// Ends a trace.
    ///
    /// # Errors
    /// If there were fewer segments than its head says.
    pub fn end_trace(&mut self) -> Result<()> {
        match std::mem::take(&mut self.missing) {
            0 => Ok(()),
            missing => Err(Error::Segments { missing }),
        }
    }

    /// Records so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether the traces that follow tell the thread of each segment. They do not, unless this says
    /// so: the tools of Darshan 3.5.0 and before can not read traces that do.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn keep_threads(&mut self, keep: bool) -> Result<()> {
        self.leave()?;
        self.threads = keep;
        Ok(())
    }

    /// Says that records of a module are missing.
    pub fn set_partial(&mut self, module: Module) {
        self.header.partial |= 1 << module.code();
    }

    /// Appends a block to the netra section; records can not follow.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn block(&mut self, kind: u16, bytes: &[u8]) -> Result<()> {
        self.with_section(|section, out| section.block(out, kind, bytes))
    }

    /// Appends a block of another log, compressing it where it was only stored.
    ///
    /// # Errors
    /// If the output can not be written. A damaged block is left out, and comes back as damage.
    pub fn copy_block(&mut self, block: &section::Block) -> Result<Option<crate::Damage>> {
        let head = block.head;
        match block.stored() {
            Ok(stored) if head.compression == STORED && head.raw_len == head.stored_len => {
                self.block(head.kind, &stored)?;
            }
            // What is packed stays as it is: so does what nobody here understands.
            Ok(stored) => {
                self.with_section(|section, out| section.stored(out, head, &stored))?;
            }
            Err(damage) => return Ok(Some(damage)),
        }
        Ok(None)
    }

    fn with_section(
        &mut self,
        act: impl FnOnce(&mut Appender, &mut Counted<W>) -> std::io::Result<()>,
    ) -> Result<()> {
        self.leave()?;
        let mut section = match self.section.take() {
            Some(section) => section,
            None => {
                let at = self.closed()?.position();
                Appender::begin(self.closed()?, at)?
            }
        };
        act(&mut section, self.closed()?)?;
        self.section = Some(section);
        Ok(())
    }

    /// Ends the log and gives the output back.
    ///
    /// # Errors
    /// If the output can not be written.
    pub fn finish(mut self) -> Result<W> {
        self.leave()?;
        if let Some(section) = self.section.take() {
            (self.header.behind, self.header.heads) = section.finish(self.closed()?)?;
        }
        let header = self.header.encode();
        let mut out = self.take()?.into_inner();
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&header)?;
        out.seek(SeekFrom::End(0))?;
        out.flush()?;
        Ok(out)
    }

    fn version(&self, module: Module) -> u32 {
        match module {
            Module::DxtPosix | Module::DxtMpiio if !self.threads => counter::version(module) - 1,
            _ => counter::version(module),
        }
    }

    /// Opens the region of a module, unless it is open.
    fn enter(&mut self, module: Module) -> Result<()> {
        if self.open.is_some_and(|open| open.0 == module) {
            return Ok(());
        }
        self.leave()?;
        let after = if self.section.is_some() { Some(u8::MAX) } else { self.last };
        if let Some(after) = after.filter(|&after| module.code() <= after) {
            return Err(Error::Order { module: module.code(), after });
        }
        let offset = self.begin(true)?;
        self.open = Some((module, offset));
        self.last = Some(module.code());
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        if let Some((module, offset)) = self.open.take() {
            let length = self.end()? - offset;
            let slot = usize::from(module.code());
            self.header.modules[slot] = Extent { offset, length };
            self.header.versions[slot] = self.version(module);
        }
        Ok(())
    }

    /// Begins a region and gives its offset. Without content it has no stream either.
    fn begin(&mut self, content: bool) -> Result<u64> {
        let out = self.take()?;
        let offset = out.position();
        let region = match content {
            true => Region::open(out, self.header.compression),
            false => Region::closed(out),
        };
        self.out = Some(region);
        Ok(offset)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let out = self.out.as_mut().ok_or(Error::Poisoned)?;
        Ok(out.write_all(bytes)?)
    }

    /// Ends a region and gives the offset behind it.
    fn end(&mut self) -> Result<u64> {
        let out = self.take()?;
        let offset = out.position();
        self.out = Some(Region::closed(out));
        Ok(offset)
    }

    /// The output, which is only ever away inside `begin` and `end`.
    fn take(&mut self) -> Result<Counted<W>> {
        Ok(self.out.take().ok_or(Error::Poisoned)?.close()?)
    }

    fn closed(&mut self) -> Result<&mut Counted<W>> {
        match &mut self.out {
            Some(Region::Plain(out)) => Ok(out),
            _ => Err(Error::Poisoned),
        }
    }
}
