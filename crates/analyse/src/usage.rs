//! One record in the words of the domain: what one rank, or all ranks together, did to one file
//! through one layer. Counters of the same meaning have the same field here, whatever their
//! module calls them.

use netra_event::{Module, Rank, RecordId};

use crate::Direction;

/// The layers whose records are read, outermost last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// System calls.
    Posix,
    /// C's streams.
    Stdio,
    /// DAOS objects.
    Daos,
    /// DAOS' file system.
    Dfs,
    /// `MPI_File_*`.
    Mpiio,
    /// HDF5 data sets.
    H5d,
    /// PnetCDF variables.
    Pnetcdf,
}

impl Layer {
    /// The name that logs and tools print.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.module().name()
    }

    /// The module that counts this layer.
    #[must_use]
    pub fn module(self) -> Module {
        match self {
            Layer::Posix => Module::Posix,
            Layer::Stdio => Module::Stdio,
            Layer::Daos => Module::Daos,
            Layer::Dfs => Module::Dfs,
            Layer::Mpiio => Module::Mpiio,
            Layer::H5d => Module::H5d,
            Layer::Pnetcdf => Module::PnetcdfVar,
        }
    }

    /// Whether its time is taken as time spent in I/O. Libraries above MPI-IO are left out: their
    /// calls convert, compress and communicate besides.
    #[must_use]
    pub fn is_io(self) -> bool {
        !matches!(self, Layer::H5d | Layer::Pnetcdf)
    }
}

/// The layers with counters of reads and writes.
pub const COUNTED: [Layer; 7] =
    [Layer::Posix, Layer::Stdio, Layer::Daos, Layer::Dfs, Layer::Mpiio, Layer::H5d, Layer::Pnetcdf];

/// Upper bounds of the ten size bins (the last has none); a size equal to the bound is inside.
const BIN_UPPER: [u64; 9] =
    [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30];

/// One direction of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Flow {
    /// Calls of all kinds.
    pub calls: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds spent.
    pub seconds: f64,
    /// Calls by size; `None` where the layer does not count sizes.
    pub bins: Option<[u64; 10]>,
    /// Calls that began where the last of this direction ended.
    pub consecutive: u64,
    /// Calls that began behind the last of this direction.
    pub sequential: u64,
    /// Offset of the last byte touched.
    pub last_byte: Option<u64>,
    /// The longest call.
    pub longest: f64,
    /// What the longest call moved.
    pub longest_bytes: u64,
    /// Collective calls (MPI-IO).
    pub collective: u64,
    /// Independent calls (MPI-IO).
    pub independent: u64,
    /// Non-blocking and split calls (MPI-IO).
    pub nonblocking: u64,
    /// When the first call began and the last ended; zero where there was none.
    pub span: (f64, f64),
}

/// The fastest or slowest rank of a record that is summed over ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// Which.
    pub rank: Rank,
    /// What it moved.
    pub bytes: u64,
    /// What it took.
    pub seconds: f64,
}

/// What one rank, or all together, did to one file through one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// Through what.
    pub layer: Layer,
    /// To which file; for a data set or variable, the file that holds it.
    pub file: RecordId,
    /// Who.
    pub rank: Rank,
    /// Reads.
    pub read: Flow,
    /// Writes.
    pub write: Flow,
    /// Opens.
    pub opens: u64,
    /// Seeks.
    pub seeks: u64,
    /// `stat` and relatives.
    pub stats: u64,
    /// Flushes to the device.
    pub syncs: u64,
    /// Seconds in metadata calls.
    pub meta: f64,
    /// The most common sizes of calls, reads and writes together, with their counts.
    pub common: [(u64, u64); 4],
    /// The most common distances between the end of a call and the begin of the next one behind it, with their counts;
    /// none where calls follow each other, or where the layer does not count them.
    pub strides: [(u64, u64); 4],
    /// File views that were set (MPI-IO): then offsets do not say where bytes lie.
    pub views: u64,
    /// Calls at an offset that is no multiple of `file_alignment`.
    pub file_misaligned: u64,
    /// The file system's block.
    pub file_alignment: u64,
    /// Calls with a buffer that is not aligned in memory.
    pub memory_misaligned: u64,
    /// Whether the library asked MPI-IO for collective transfers.
    pub asks_collective: bool,
    /// Fastest and slowest rank, in records summed over all ranks.
    pub extremes: Option<(Extreme, Extreme)>,
    /// Variance of the seconds over ranks, in summed records.
    pub variance: f64,
    /// Times in the record that cannot be true; they were taken as zero.
    pub impossible: u32,
}

impl Usage {
    /// A record in which nothing happened.
    #[must_use]
    pub fn new(layer: Layer, file: RecordId, rank: Rank) -> Usage {
        Usage {
            layer,
            file,
            rank,
            read: Flow::default(),
            write: Flow::default(),
            opens: 0,
            seeks: 0,
            stats: 0,
            syncs: 0,
            meta: 0.0,
            common: [(0, 0); 4],
            strides: [(0, 0); 4],
            views: 0,
            file_misaligned: 0,
            file_alignment: 0,
            memory_misaligned: 0,
            asks_collective: false,
            extremes: None,
            variance: 0.0,
            impossible: 0,
        }
    }

    /// Bytes in both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes.saturating_add(self.write.bytes)
    }

    /// Seconds in both directions and in metadata calls.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.read.seconds + self.write.seconds + self.meta
    }

    /// One direction.
    #[must_use]
    pub fn flow(&self, direction: Direction) -> &Flow {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    /// Calls of a direction that are smaller than a limit.
    ///
    /// Bins count sizes up to and with their bound. Where the limit is a bound, the calls of
    /// exactly that size are taken off again as far as the most common sizes tell; those do not
    /// tell reads from writes, so they are shared out as the bin is. A limit inside a bin leaves
    /// the whole bin out.
    #[must_use]
    pub fn smaller_than(&self, direction: Direction, limit: u64) -> u64 {
        let Some(bins) = self.flow(direction).bins else { return 0 };
        let within: u64 =
            bins.iter().zip(BIN_UPPER).filter(|(_, upper)| *upper <= limit).map(|(n, _)| n).sum();
        let Some(bin) = BIN_UPPER.iter().position(|upper| *upper == limit) else { return within };
        let equal = self.common.iter().find(|(size, _)| *size == limit).map_or(0, |(_, n)| *n);
        let mine = bins[bin];
        let both = mine + self.flow(direction.other()).bins.map_or(0, |other| other[bin]);
        let share = if both == 0 { 0.0 } else { mine as f64 / both as f64 };
        within - ((equal as f64 * share).round() as u64).min(mine)
    }

    /// Takes in another record of the same file and layer: sums, and the larger of the larger.
    pub fn absorb(&mut self, other: &Usage) {
        self.absorb_counts(other);
        merge(&mut self.common, &other.common);
        merge(&mut self.strides, &other.strides);
    }

    /// The same without the most common sizes and distances.
    pub(crate) fn absorb_counts(&mut self, other: &Usage) {
        self.read.absorb(&other.read);
        self.write.absorb(&other.write);
        self.opens += other.opens;
        self.seeks += other.seeks;
        self.stats += other.stats;
        self.syncs += other.syncs;
        self.meta += other.meta;
        self.file_misaligned += other.file_misaligned;
        self.file_alignment = self.file_alignment.max(other.file_alignment);
        self.memory_misaligned += other.memory_misaligned;
        self.asks_collective |= other.asks_collective;
        self.impossible += other.impossible;
        self.views += other.views;
    }
}

/// Adds counts of equal values and keeps the four most common; ties go to the larger value.
fn merge(mine: &mut [(u64, u64); 4], other: &[(u64, u64); 4]) {
    // Done for every record of a log, so without the heap.
    let mut all = [(0, 0); 8];
    all[..4].copy_from_slice(mine);
    let mut known = 4;
    for &(value, count) in other {
        match all[..known].iter_mut().find(|known| known.0 == value) {
            Some(known) => known.1 += count,
            None => {
                all[known] = (value, count);
                known += 1;
            }
        }
    }
    all.sort_by_key(|&(value, count)| std::cmp::Reverse((count, value)));
    for (slot, &value) in mine.iter_mut().zip(&all) {
        *slot = value;
    }
}

impl Flow {
    fn absorb(&mut self, other: &Flow) {
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.seconds += other.seconds;
        self.bins = match (self.bins, other.bins) {
            (Some(mut mine), Some(theirs)) => {
                mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
                Some(mine)
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.consecutive += other.consecutive;
        self.sequential += other.sequential;
        self.last_byte = self.last_byte.max(other.last_byte);
        // Of equals the larger, whichever comes first.
        if (other.longest, other.longest_bytes) > (self.longest, self.longest_bytes) {
            (self.longest, self.longest_bytes) = (other.longest, other.longest_bytes);
        }
        self.collective += other.collective;
        self.independent += other.independent;
        self.nonblocking += other.nonblocking;
        self.span = join(self.span, other.span);
    }
}

/// The span of both; (0, 0) stands for nothing.
fn join(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    match (a.1 > 0.0, b.1 > 0.0) {
        (true, true) => (a.0.min(b.0), a.1.max(b.1)),
        (true, false) => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::{Layer, Usage};
    use crate::Direction;
    use netra_event::{Rank, RecordId};

    /// A record with this many reads and writes between 100 KiB and 1 MiB, of which some exactly 1 MiB.
    #[track_caller]
    fn small(reads: u64, writes: u64, exact: u64, want: (u64, u64)) {
        let mut usage = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        usage.read.bins = Some([0, 0, 0, 0, reads, 0, 0, 0, 0, 0]);
        usage.write.bins = Some([0, 0, 0, 0, writes, 0, 0, 0, 0, 0]);
        usage.common[0] = (1 << 20, exact);
        let got = (
            usage.smaller_than(Direction::Read, 1 << 20),
            usage.smaller_than(Direction::Write, 1 << 20),
        );
        assert_eq!(got, want);
    }

    #[test]
    fn exactly_the_limit_is_not_small() {
        small(0, 50_000, 50_000, (0, 0));
        small(0, 50_000, 49_000, (0, 1_000));
        small(50_000, 50_000, 100_000, (0, 0));
        small(100, 0, 0, (100, 0));
    }

    #[test]
    fn common_sizes_add_up_and_keep_the_four_largest_counts() {
        let mut one = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        one.common = [(10, 5), (20, 4), (30, 3), (40, 2)];
        let mut two = one.clone();
        two.common = [(50, 9), (20, 4), (0, 0), (0, 0)];
        one.absorb(&two);
        assert_eq!(one.common, [(50, 9), (20, 8), (10, 5), (30, 3)]);
    }
}
