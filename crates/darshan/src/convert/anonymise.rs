//! Hides what a log says about people and places, part by part.
//!
//! What is hidden is replaced by a keyed hash, so that equal things stay equal, in one log and in
//! all logs that are converted with the same key. Whoever has the key can test guesses.

use crate::Result;
use crate::counter::posix;
use crate::read::{Apmpi, Counters, DxtHead, Extra, Job, Log, Lustre, Mount, Record};
use crate::record::lustre::POOL;
use crate::write::Writer;
use netra_event::{Module, RecordId, jenkins64};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Seek, Write};

/// What is hidden.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Anonymise {
    /// Names of files, data sets and objects, and the ids that are hashes of them.
    pub names: bool,
    /// The command line.
    pub exe: bool,
    /// The user.
    pub uid: bool,
    /// The job's number.
    pub jobid: bool,
    /// Mount points, pools and containers; what kind of file system it is stays.
    pub mounts: bool,
    /// The metadata, but for the version of the library.
    pub metadata: bool,
    /// Names of hosts.
    pub hosts: bool,
    /// The key of the hashes.
    pub key: u64,
}

impl Anonymise {
    /// Everything, with a key.
    #[must_use]
    pub fn all(key: u64) -> Anonymise {
        Anonymise {
            names: true,
            exe: true,
            uid: true,
            jobid: true,
            mounts: true,
            metadata: true,
            hosts: true,
            key,
        }
    }

    /// Whether anything is hidden.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self != Anonymise { key: self.key, ..Anonymise::default() }
    }
}

/// Names that Darshan gives itself: they say nothing, and tools look for them.
#[must_use]
pub fn is_fixed(name: &[u8]) -> bool {
    name.starts_with(b"<")
        || name.starts_with(b"heatmap:")
        || [&b"darshan-bgq-record"[..], b"total-mdhim-obj-stats", b"darshan-apmpi-header", b"APMPI"]
            .contains(&name)
}

/// Hides what shall be hidden in the parts of one log.
pub(super) struct Mask<'a> {
    what: Anonymise,
    /// Old and new mount points, the longest first.
    points: Vec<(&'a [u8], Vec<u8>)>,
    /// New ids of the records that have names.
    ids: HashMap<RecordId, RecordId>,
}

impl<'a> Mask<'a> {
    pub(super) fn new(log: &'a Log, what: Anonymise) -> Mask<'a> {
        let points = log.names().mounts().iter().enumerate().map(|(at, mount)| {
            // The root says nothing about a place.
            let hidden = what.mounts && mount.point != b"/";
            let new = if hidden { format!("/mount{at}").into_bytes() } else { mount.point.clone() };
            (&mount.point[..], new)
        });
        let mut mask = Mask { what, points: points.collect(), ids: HashMap::new() };
        if what.names {
            let named = log.names().iter().filter(|(_, name)| !is_fixed(name));
            mask.ids = named.map(|(id, name)| (id, RecordId::of(&mask.name(name)))).collect();
            for (id, _) in log.names().iter().filter(|(_, name)| is_fixed(name)) {
                mask.ids.insert(id, id);
            }
        }
        mask
    }

    pub(super) fn id(&self, id: RecordId) -> RecordId {
        if !self.what.names || id.0 == 0 {
            return id;
        }
        self.ids.get(&id).copied().unwrap_or(RecordId(self.hash(&id.0.to_le_bytes())))
    }

    /// A hidden name lies on the same mount as before, so that file systems are still told apart.
    pub(super) fn name<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        if is_fixed(name) || !(self.what.names || self.what.mounts) {
            return Cow::Borrowed(name);
        }
        let mount = self.points.iter().find(|(old, _)| name.starts_with(old));
        let (old, new) = mount.map_or((&b""[..], &b""[..]), |(old, new)| (*old, &new[..]));
        let mut hidden = new.to_vec();
        if self.what.names {
            if !hidden.ends_with(b"/") {
                hidden.push(b'/');
            }
            hidden.extend_from_slice(format!("{:016x}", self.hash(name)).as_bytes());
        } else {
            hidden.extend_from_slice(&name[old.len()..]);
        }
        Cow::Owned(hidden)
    }

    pub(super) fn job(&self, job: &Job) -> Job {
        let mut job = job.clone();
        let number = |number: i64| (self.hash(&number.to_le_bytes()) >> 33).cast_signed();
        if self.what.uid {
            job.numbers.uid = number(job.numbers.uid);
        }
        if self.what.jobid {
            job.numbers.jobid = number(job.numbers.jobid);
        }
        if self.what.exe {
            job.exe = format!("{:016x}", self.hash(&job.exe)).into_bytes();
        }
        if self.what.metadata {
            let version = job.metadata().find(|(key, _)| *key == b"lib_ver");
            let version = version.map(|(_, version)| [b"lib_ver=", version, b"\n"].concat());
            job.metadata = version.unwrap_or_default();
        }
        for mount in &mut job.mounts {
            if let Some((_, new)) = self.points.iter().find(|(old, _)| *old == mount.point) {
                *mount = Mount { point: new.clone(), kind: mount.kind.clone() };
            }
        }
        job
    }

    pub(super) fn write<W: Write + Seek>(
        &self,
        module: Module,
        record: Record<'_>,
        writer: &mut Writer<W>,
    ) -> Result<()> {
        match record {
            Record::Counters(record) if super::is_about_files(module) => {
                self.counters(module, &record, writer)
            }
            Record::Lustre(record) => self.lustre(&record, writer),
            Record::Dxt(mut dxt) => {
                let host = self.host(&dxt.head.host).into_owned();
                let head = DxtHead { id: self.id(dxt.head.id), host, ..dxt.head.clone() };
                writer.begin_trace(module, &head)?;
                while let Some((_, piece)) = dxt.segments.next_piece() {
                    writer.segments(piece)?;
                }
                writer.end_trace()
            }
            Record::Apmpi(record) => {
                let node = self.host(record.node);
                writer.record(module, Record::Apmpi(Apmpi { node: &node, ..record }))
            }
            record => writer.record(module, record),
        }
    }

    fn counters<W: Write + Seek>(
        &self,
        module: Module,
        record: &Counters<'_>,
        writer: &mut Writer<W>,
    ) -> Result<()> {
        let mut ints = Cow::Borrowed(record.ints);
        if self.what.names && module == Module::Posix && ints[posix::RENAMED_FROM] != 0 {
            let from = RecordId(ints[posix::RENAMED_FROM].cast_unsigned());
            ints.to_mut()[posix::RENAMED_FROM] = self.id(from).0.cast_signed();
        }
        let extra = match record.extra {
            Extra::None => Extra::None,
            Extra::File(file) => Extra::File(self.id(file)),
            Extra::Dfs { pool, container } => {
                Extra::Dfs { pool: self.uuid(pool), container: self.uuid(container) }
            }
            Extra::Daos { pool, container, object } => Extra::Daos {
                pool: self.uuid(pool),
                container: self.uuid(container),
                object: self.object(object),
            },
        };
        let id = self.id(record.id);
        writer.record(module, Record::Counters(Counters { id, ints: &ints, extra, ..*record }))
    }

    fn lustre<W: Write + Seek>(&self, record: &Lustre<'_>, writer: &mut Writer<W>) -> Result<()> {
        let mut components = Cow::Borrowed(record.components);
        if self.what.mounts {
            components.to_mut().iter_mut().for_each(|component| component.pool = [0; POOL]);
        }
        let record = Lustre { id: self.id(record.id), components: &components, ..*record };
        writer.record(Module::Lustre, Record::Lustre(record))
    }

    fn host<'n>(&self, host: &'n [u8]) -> Cow<'n, [u8]> {
        if !self.what.hosts {
            return Cow::Borrowed(host);
        }
        let bare = host.split(|&byte| byte == 0).next().unwrap_or_default();
        Cow::Owned(format!("{:016x}", self.hash(bare)).into_bytes())
    }

    fn uuid(&self, uuid: [u8; 16]) -> [u8; 16] {
        // All zeros means that nobody knew it.
        if !self.what.mounts || uuid == [0; 16] {
            return uuid;
        }
        let mut hidden = [0; 16];
        let (low, high) = hidden.split_at_mut(8);
        low.copy_from_slice(&self.hash(&uuid).to_be_bytes());
        high.copy_from_slice(&jenkins64(&uuid, !self.what.key).to_be_bytes());
        hidden
    }

    fn object(&self, (high, low): (u64, u64)) -> (u64, u64) {
        if !self.what.names {
            return (high, low);
        }
        (self.hash(&high.to_le_bytes()), self.hash(&low.to_le_bytes()))
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        jenkins64(bytes, self.what.key)
    }
}
