//! What `darshan-parser --file` and `--perf` derive from the records of a module: categories of
//! files, and an estimate of performance.

use super::rule::{Ranking, Rules};
use crate::read::Counters;
use netra_event::{Module, RecordId};
use std::collections::{BTreeMap, HashMap};

/// Files of one kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Category {
    /// How many.
    pub files: i64,
    /// Bytes read and written.
    pub bytes: i64,
    /// The highest offset; −1 where the module does not know offsets.
    pub max_offset: i64,
}

/// Files by what was done to them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Files {
    /// All of them.
    pub total: Category,
    /// Only read.
    pub read_only: Category,
    /// Only written.
    pub write_only: Category,
    /// Read and written.
    pub read_write: Category,
    /// Touched by one process.
    pub unique: Category,
    /// Touched by several.
    pub shared: Category,
}

/// How fast the job's I/O was, taking the slowest rank as the measure.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Performance {
    /// Bytes read and written.
    pub bytes: i64,
    /// The rank with the most time in files of its own.
    pub slowest_rank: i64,
    /// Its time.
    pub io_time: f64,
    /// Of which metadata.
    pub meta_time: f64,
    /// Of which data.
    pub rw_time: f64,
    /// Time of the slowest ranks in shared files.
    pub shared_time: f64,
}

impl Performance {
    /// Seconds of I/O that the job waited for.
    #[must_use]
    pub fn agg_time(&self) -> f64 {
        self.io_time + self.shared_time
    }

    /// MiB/s; 0 without any time.
    #[must_use]
    pub fn agg_perf(&self) -> f64 {
        let time = self.agg_time();
        if time == 0.0 { 0.0 } else { self.bytes as f64 / 1_048_576.0 / time }
    }
}

/// Takes in records, gives [`Files`] and [`Performance`].
#[derive(Debug)]
pub struct Derived {
    ranking: Ranking,
    max_bytes: Option<(usize, usize)>,
    files: HashMap<RecordId, File>,
    ranks: BTreeMap<i64, Times>,
    bytes: i64,
    shared_time: f64,
}

#[derive(Debug, Default, Clone, Copy)]
struct File {
    read: i64,
    written: i64,
    max_offset: i64,
    /// −1 once a record of all ranks has been seen.
    processes: i64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Times {
    io: f64,
    rw: f64,
    meta: f64,
}

impl Derived {
    /// Nothing added yet; for modules that count bytes and times.
    #[must_use]
    pub fn new(module: Module) -> Option<Derived> {
        let rules = Rules::of(module)?;
        Some(Derived {
            ranking: rules.ranking?,
            max_bytes: rules.max_bytes,
            files: HashMap::new(),
            ranks: BTreeMap::new(),
            bytes: 0,
            shared_time: 0.0,
        })
    }

    /// Takes in a record.
    pub fn add(&mut self, record: &Counters<'_>) {
        let at = self.ranking;
        let (ints, floats) = (record.ints, record.floats);
        let (read, written) = (ints[at.bytes_read], ints[at.bytes_written]);
        let max_offset = self.max_bytes.map_or(-1, |(r, w)| ints[r].max(ints[w]));
        self.bytes = self.bytes.wrapping_add(read).wrapping_add(written);
        if record.rank.is_shared() {
            self.shared_time += floats[at.slowest_time];
        } else {
            let times = self.ranks.entry(record.rank.0).or_default();
            let (read, write, meta) =
                (floats[at.read_time], floats[at.write_time], floats[at.meta_time]);
            times.io += meta + read + write;
            times.rw += read + write;
            times.meta += meta;
        }
        let file = self.files.entry(record.id).or_default();
        file.read = file.read.wrapping_add(read);
        file.written = file.written.wrapping_add(written);
        file.max_offset = if max_offset == -1 { -1 } else { file.max_offset.max(max_offset) };
        file.processes = if record.rank.is_shared() { -1 } else { file.processes + 1 };
    }

    /// What the slowest rank decides.
    #[must_use]
    pub fn performance(&self) -> Performance {
        let mut slowest = Performance {
            bytes: self.bytes,
            shared_time: self.shared_time,
            ..Performance::default()
        };
        for (&rank, times) in &self.ranks {
            if times.io > slowest.io_time {
                slowest.slowest_rank = rank;
                slowest.io_time = times.io;
                slowest.rw_time = times.rw;
                slowest.meta_time = times.meta;
            }
        }
        slowest
    }

    /// How many files there are of each category.
    #[must_use]
    pub fn files(&self) -> Files {
        let mut files = Files::default();
        // Two kinds of sharing, added at the end: by all ranks, and by some.
        let (mut all, mut some) = (Category::default(), Category::default());
        for file in self.files.values() {
            files.total.add(file);
            match (file.read > 0, file.written > 0) {
                (true, false) if file.written == 0 => files.read_only.add(file),
                (false, true) if file.read == 0 => files.write_only.add(file),
                (true, true) => files.read_write.add(file),
                _ => {}
            }
            match file.processes {
                1 => files.unique.add(file),
                -1 => all.add(file),
                _ => some.add(file),
            }
        }
        files.shared = Category {
            files: all.files + some.files,
            bytes: all.bytes.wrapping_add(some.bytes),
            max_offset: all.max_offset.wrapping_add(some.max_offset),
        };
        files
    }
}

impl Category {
    fn add(&mut self, file: &File) {
        self.files += 1;
        self.bytes = self.bytes.wrapping_add(file.read).wrapping_add(file.written);
        self.max_offset =
            if file.max_offset == -1 { -1 } else { self.max_offset.max(file.max_offset) };
    }
}
