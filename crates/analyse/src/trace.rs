//! Single reads and writes of a job, in columns: ten million of them take 450 MB.

use std::collections::BTreeMap;

use netra_event::{Rank, RecordId};

use crate::Layer;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the file.
    Read,
    /// Into the file.
    Write,
}

impl Direction {
    /// Both, reads first.
    pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Direction {
        match self {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
        }
    }

    /// `read` or `write`.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

/// Traced calls. A row is what stands at one index in every column.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    files: Vec<RecordId>,
    index: BTreeMap<RecordId, u32>,
    file: Vec<u32>,
    rank: Vec<u32>,
    start: Vec<f64>,
    end: Vec<f64>,
    offset: Vec<u64>,
    length: Vec<u64>,
    /// Bit 0: a write. Bit 1: MPI-IO, else POSIX.
    kind: Vec<u8>,
}

/// One traced call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRow {
    /// Which of [`Trace::files`].
    pub file: u32,
    /// Whose.
    pub rank: u32,
    /// Through MPI-IO rather than POSIX.
    pub mpiio: bool,
    /// Which way.
    pub direction: Direction,
    /// Seconds since the job's start.
    pub start: f64,
    /// Seconds since the job's start, not before `start`.
    pub end: f64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Trace {
    /// The number that stands for a file in rows; to be asked once per file and kept.
    pub fn file(&mut self, id: RecordId) -> u32 {
        let next = self.files.len() as u32;
        let number = *self.index.entry(id).or_insert(next);
        if number == next {
            self.files.push(id);
        }
        number
    }

    /// Adds a call. An end before the start becomes the start.
    pub fn push(&mut self, row: TraceRow) {
        self.file.push(row.file);
        self.rank.push(row.rank);
        self.start.push(row.start);
        self.end.push(if row.end >= row.start { row.end } else { row.start });
        self.offset.push(row.offset);
        self.length.push(row.length);
        let write = u8::from(row.direction == Direction::Write);
        self.kind.push(write | u8::from(row.mpiio) << 1);
    }

    /// The calls, in the order in which they were added.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = TraceRow> + '_ {
        (0..self.len()).map(|at| self.row(at))
    }

    /// The call at an index; indices come from this trace.
    #[must_use]
    pub fn row(&self, at: usize) -> TraceRow {
        let kind = self.kind[at];
        TraceRow {
            file: self.file[at],
            rank: self.rank[at],
            mpiio: kind & 2 != 0,
            direction: if kind & 1 != 0 { Direction::Write } else { Direction::Read },
            start: self.start[at],
            end: self.end[at],
            offset: self.offset[at],
            length: self.length[at],
        }
    }

    /// How many calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether nothing was traced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// The files that rows speak of.
    #[must_use]
    pub fn files(&self) -> &[RecordId] {
        &self.files
    }
}

impl TraceRow {
    /// Through which layer.
    #[must_use]
    pub fn layer(&self) -> Layer {
        if self.mpiio { Layer::Mpiio } else { Layer::Posix }
    }

    /// Whose, as an id.
    #[must_use]
    pub fn whose(&self) -> Rank {
        Rank(i64::from(self.rank))
    }

    /// First byte behind it.
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}
