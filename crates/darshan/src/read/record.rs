//! What a record says, in the shape of its module's current version. Records borrow from the
//! reader, which uses the same memory for the next one.

use super::segments::Segments;
use crate::record::lustre::Component;
use netra_event::{Bytes, Rank, RecordId, Seconds};

/// A record of any module.
#[derive(Debug)]
#[non_exhaustive]
pub enum Record<'a> {
    /// Counters of a file, data set, object or machine.
    Counters(Counters<'a>),
    /// How a file is striped.
    Lustre(Lustre<'a>),
    /// Every read and write of a file by a process.
    Dxt(Dxt<'a>),
    /// Bytes over time.
    Heatmap(Heatmap<'a>),
    /// A key-value store.
    Mdhim(Mdhim<'a>),
    /// What precedes the MPI records.
    ApmpiHead(ApmpiHead),
    /// MPI communication of a process.
    Apmpi(Apmpi<'a>),
    /// What precedes the router records.
    ApxcHead(ApxcHead),
    /// Router counters of a blade.
    Apxc(Apxc<'a>),
}

impl Record<'_> {
    /// The record's id.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.base().0
    }

    /// The process, or all of them.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.base().1
    }

    fn base(&self) -> (RecordId, Rank) {
        match self {
            Record::Counters(record) => (record.id, record.rank),
            Record::Lustre(record) => (record.id, record.rank),
            Record::Dxt(record) => (record.head.id, record.head.rank),
            Record::Heatmap(record) => (record.id, record.rank),
            Record::Mdhim(record) => (record.id, record.rank),
            Record::ApmpiHead(record) => (record.id, record.rank),
            Record::Apmpi(record) => (record.id, record.rank),
            Record::ApxcHead(record) => (record.id, record.rank),
            Record::Apxc(record) => (record.id, record.rank),
        }
    }
}

/// Counters; their names are in [`counter`](crate::counter).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counters<'a> {
    /// The file, data set or object.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
    /// Whole numbers.
    pub ints: &'a [i64],
    /// Times, and variances.
    pub floats: &'a [f64],
    /// What some modules have besides.
    pub extra: Extra,
}

impl Counters<'_> {
    /// A counter; nothing where it was not monitored (−1) or does not exist.
    #[must_use]
    pub fn count(&self, index: usize) -> Option<u64> {
        self.ints.get(index).and_then(|&value| u64::try_from(value).ok())
    }

    /// A counter of bytes; nothing where it was not monitored.
    #[must_use]
    pub fn bytes(&self, index: usize) -> Option<Bytes> {
        self.count(index).map(Bytes)
    }

    /// A time; nothing where it was not monitored.
    #[must_use]
    pub fn seconds(&self, index: usize) -> Option<Seconds> {
        self.floats.get(index).filter(|&&value| value >= 0.0).map(|&value| Seconds(value))
    }
}

/// What some modules have besides counters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    #[default]
    None,
    /// The file that a data set or variable belongs to.
    File(RecordId),
    /// Where a file of a DAOS file system lies.
    Dfs {
        /// UUID of the pool.
        pool: [u8; 16],
        /// UUID of the container.
        container: [u8; 16],
    },
    /// Which object a DAOS record is about.
    Daos {
        /// UUID of the pool.
        pool: [u8; 16],
        /// UUID of the container.
        container: [u8; 16],
        /// The object's id, high and low half.
        object: (u64, u64),
    },
}

/// How a file is striped over Lustre's storage targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lustre<'a> {
    /// The file.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
    /// The file's parts.
    pub components: &'a [Component],
    /// The storage targets of all components, one component after another; −1 is unknown.
    pub targets: &'a [i64],
}

impl<'a> Lustre<'a> {
    /// Each component with its own storage targets.
    pub fn parts(&self) -> impl Iterator<Item = (&'a Component, &'a [i64])> + use<'a> {
        let mut rest = self.targets;
        self.components.iter().map(move |component| {
            let count = component.numbers[crate::counter::lustre::STRIPE_COUNT];
            let (own, others) = rest.split_at(usize::try_from(count).unwrap_or(0).min(rest.len()));
            rest = others;
            (component, own)
        })
    }
}

/// The reads and writes of a file by a process. Segments come in pieces: there can be millions.
#[derive(Debug)]
pub struct Dxt<'a> {
    /// Whose they are and how many.
    pub head: &'a DxtHead,
    /// The writes, then the reads.
    pub segments: Segments<'a>,
}

/// What is known before the segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DxtHead {
    /// The file.
    pub id: RecordId,
    /// The process.
    pub rank: Rank,
    /// The host that the process ran on.
    pub host: Vec<u8>,
    /// Number of writes.
    pub writes: u64,
    /// Number of reads.
    pub reads: u64,
}

/// Bytes over time, by one process through one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heatmap<'a> {
    /// The layer: the hash of `heatmap:POSIX` and so on.
    pub id: RecordId,
    /// The process.
    pub rank: Rank,
    /// How long a bin is.
    pub width: Seconds,
    /// Bytes written in each bin.
    pub writes: &'a [i64],
    /// Bytes read in each bin.
    pub reads: &'a [i64],
}

/// An MDHIM store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mdhim<'a> {
    /// The store.
    pub id: RecordId,
    /// The process, or all of them.
    pub rank: Rank,
    /// Whole numbers, see [`counter::mdhim`](crate::counter::mdhim).
    pub ints: &'a [i64],
    /// Times.
    pub floats: &'a [f64],
    /// Operations of each server.
    pub servers: &'a [i64],
}

/// What precedes the MPI records of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ApmpiHead {
    /// Hash of the head's fixed name.
    pub id: RecordId,
    /// The process that wrote it.
    pub rank: Rank,
    /// Whether the time spent waiting in collective calls was taken.
    pub sync: bool,
    /// Variance over ranks of the time in MPI.
    pub variance_total: f64,
    /// Variance over ranks of the time waiting.
    pub variance_sync: f64,
}

/// MPI communication of one process; names in [`counter::apmpi`](crate::counter::apmpi).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apmpi<'a> {
    /// Hash of the record's fixed name.
    pub id: RecordId,
    /// The process.
    pub rank: Rank,
    /// Counts, to be taken as unsigned.
    pub ints: &'a [i64],
    /// Times of operations.
    pub floats: &'a [f64],
    /// Times of waiting in collective calls.
    pub sync: &'a [f64],
    /// Time in MPI, and waiting.
    pub global: &'a [f64],
    /// The host, padded with NULs.
    pub node: &'a [u8],
}

/// What precedes the router records of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApxcHead {
    /// The record's id.
    pub id: RecordId,
    /// The process that wrote it.
    pub rank: Rank,
    /// Blades, chassis, groups, memory mode, cluster mode, application id.
    pub numbers: [i64; 6],
}

/// Router counters of a blade; names in [`counter::apxc`](crate::counter::apxc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apxc<'a> {
    /// The record's id.
    pub id: RecordId,
    /// The process.
    pub rank: Rank,
    /// Group, chassis, blade, node.
    pub place: [i64; 4],
    /// The counters, to be taken as unsigned.
    pub ints: &'a [i64],
}
