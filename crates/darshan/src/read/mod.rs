//! Reads logs: the header, the job and the names at once, the records of a module one by one.

mod decode;
mod header;
mod inflate;
mod job;
mod names;
mod order;
mod record;
mod records;
mod region;
mod segments;
mod source;

pub use header::{Header, Region, Seal, Version};
pub use job::{Job, Mount};
pub use names::{Names, Place};
pub use order::Order;
pub use record::{
    Apmpi, ApmpiHead, Apxc, ApxcHead, Counters, Dxt, DxtHead, Extra, Heatmap, Lustre, Mdhim, Record,
};
pub use records::Records;
pub use segments::{Direction, Segments};
pub(crate) use source::fill;
pub use source::{OnDemand, Seekable, Source};

use crate::damage::{Damage, Part, Reason};
use crate::record::header::Extent;
use crate::section::{self, Section};
use crate::{Error, Result, counter};
use netra_event::Module;
use region::Limit;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// An open log.
pub struct Log {
    source: Arc<dyn Source>,
    length: u64,
    header: Header,
    job: Job,
    names: Names,
    damage: Vec<Damage>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("header", &self.header).finish_non_exhaustive()
    }
}

impl Log {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file can not be read or is not a Darshan log. A damaged log is not an error.
    pub fn open(path: impl AsRef<Path>) -> Result<Log> {
        let path = path.as_ref();
        let file =
            File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        Log::new(file)
    }

    /// Opens a file without keeping it open: for merging more logs than there are descriptors.
    ///
    /// # Errors
    /// As [`open`](Log::open).
    pub fn open_on_demand(path: impl AsRef<Path>) -> Result<Log> {
        let path = path.as_ref();
        let file =
            OnDemand::new(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
        Log::new(file)
    }

    /// Reads a log from memory.
    ///
    /// # Errors
    /// If it is not a Darshan log.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Log> {
        Log::new(bytes.into())
    }

    /// Reads a log from anything that has bytes at offsets; [`Seekable`] wraps what reads and seeks.
    ///
    /// # Errors
    /// If it can not be read or is not a Darshan log.
    pub fn new(source: impl Source + 'static) -> Result<Log> {
        let source: Arc<dyn Source> = Arc::new(source);
        let length = source.length().map_err(|source| Error::Read { at: 0, source })?;
        let header = Header::read(&*source)?;
        let mut log = Log {
            source,
            length,
            job: Job::default(),
            names: Names::default(),
            damage: Vec::new(),
            header,
        };
        if log.header.seal.is_some_and(|seal| !seal.fits) {
            log.damage.push(Damage { part: Part::Header, at: 0, reason: Reason::Checksum });
        }
        log.read_job();
        log.read_names();
        log.look_at_regions();
        if log.header.seal.is_none() {
            log.look_for_gaps();
        }
        Ok(log)
    }

    fn read_job(&mut self) {
        let extent = self.header.job(self.end());
        if let Some(region) = self.kept(Part::Job, extent) {
            let old = self.header.version < Version::V3_41;
            let (job, damage) = Job::read(region, self.header.order, old);
            self.job = job;
            self.damage.extend(damage);
        }
    }

    fn read_names(&mut self) {
        let extent = self.header.names;
        if extent.length > 0
            && let Some(region) = self.kept(Part::Names, extent)
        {
            let prefixed = self.header.version == Version::V3_00;
            let (names, damage) = Names::read(region, self.header.order, prefixed);
            self.names = names;
            self.damage.extend(damage);
        }
        self.names.set_mounts(&self.job.mounts);
    }

    /// Says what can be said about the modules without reading them.
    fn look_at_regions(&mut self) {
        for region in self.header.regions() {
            let part = region.module.map_or(Part::Unknown(region.code), Part::Module);
            let at = region.extent.offset;
            if region.partial {
                self.damage.push(Damage { part, at, reason: Reason::Incomplete });
            }
            if region.module.is_none() {
                self.damage.push(Damage { part, at, reason: Reason::UnknownModule });
            }
        }
    }

    /// Darshan puts region behind region. What lies between them or behind them was one, too; a sealed header is
    /// known to be right, and need not be asked.
    fn look_for_gaps(&mut self) {
        let mut extents: Vec<Extent> = self.header.regions().map(|region| region.extent).collect();
        extents.extend([self.header.job(self.end()), self.header.names]);
        extents.sort_by_key(|extent| extent.offset);
        let mut at = self.header.size as u64;
        // A section, even one that was cut, speaks for itself.
        let section = self.section();
        let is_plain = section.blocks().is_empty() && section.damage().is_empty();
        let end = if is_plain { self.length } else { self.header.end() };
        let end = Extent { offset: end, length: 0 };
        for extent in extents.into_iter().chain([end]) {
            // Up to seven zeros stand in front of a section.
            if extent.offset >= at.saturating_add(8) {
                let bytes = extent.offset.min(self.length).saturating_sub(at);
                let reason = Reason::Unclaimed { bytes };
                self.damage.push(Damage { part: Part::Header, at, reason });
            }
            at = at.max(extent.offset.saturating_add(extent.length));
        }
    }

    fn kept(&mut self, part: Part, extent: Extent) -> Option<region::Region> {
        if let Some(reason) = self.outside(extent) {
            self.damage.push(Damage { part, at: extent.offset, reason });
            return None;
        }
        Some(self.region(extent, Limit::KEPT))
    }

    /// A region must begin in the file; what is cut off at its end is noticed when it is reached.
    fn outside(&self, extent: Extent) -> Option<Reason> {
        let Extent { offset, length } = extent;
        let wrong = offset < self.header.size as u64
            || offset >= self.length
            || offset.checked_add(length).is_none();
        wrong.then_some(Reason::OutsideFile { offset, length, file: self.length })
    }

    fn region(&self, extent: Extent, limit: Limit) -> region::Region {
        region::Region::new(self.source.clone(), extent, self.header.compression, limit)
    }

    /// The header, in the shape of the current version.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The names of records.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Takes the names out: who needs them together does not need them twice.
    pub(crate) fn take_names(&mut self) -> Names {
        std::mem::take(&mut self.names)
    }

    /// Bytes of the file.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.length
    }

    /// netra's own section behind the log, if there is one.
    #[must_use]
    pub fn section(&self) -> Section {
        Section::find(&self.source, self.length, &self.header)
    }

    /// Where the log ends: a section may follow.
    fn end(&self) -> u64 {
        if let Some(seal) = self.header.seal.filter(|seal| seal.fits && seal.behind.length > 0) {
            return seal.behind.offset.min(self.length);
        }
        let trailer = section::trailer(&*self.source, self.length);
        trailer.map_or(self.length, |trailer| trailer.offset.min(self.length))
    }

    /// Bytes that the job takes in the file.
    #[must_use]
    pub fn job_length(&self) -> u64 {
        self.header.job(self.end()).length
    }

    /// What is missing from the job, the names and the list of modules. What is missing from a
    /// module, [its records](Records::damage) tell once they have been read.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The modules that have records, as far as they are known.
    pub fn modules(&self) -> impl Iterator<Item = Module> + '_ {
        let there = self.header.regions().filter(|region| region.extent.length > 0);
        there.filter_map(|region| region.module)
    }

    /// Whether the traces of a module tell the thread of each segment.
    #[must_use]
    pub fn has_threads(&self, module: Module) -> bool {
        let traces = matches!(module, Module::DxtPosix | Module::DxtMpiio);
        traces && self.header.region(module).version == counter::version(module)
    }

    /// The records of a module, none if it has none. Several modules, or one several times, can be
    /// read side by side.
    #[must_use]
    pub fn records(&self, module: Module) -> Records {
        let Region { version, extent, .. } = self.header.region(module);
        let empty = Extent { offset: extent.offset, length: 0 };
        let start = |extent| {
            let region = self.region(extent, Limit::STREAM);
            Records::new(module, version, region, self.header.order)
        };
        let known = counter::version(module);
        if extent.length == 0 {
            start(empty)
        } else if let Some(reason) = self.outside(extent) {
            start(empty).refused(extent.offset, reason)
        } else if !(1..=known).contains(&version) {
            let reason = Reason::Version { found: version, known };
            start(empty).refused(extent.offset, reason)
        } else {
            start(extent)
        }
    }
}
