//! What one screen says about a log: the sums behind it, gathered in one pass over the records.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use netra_analyse::metric::{Critical, Spending};
use netra_analyse::{COUNTED, Decoder, Thresholds};
use netra_darshan::counter::{self, daos, dfs, mpiio, posix, stdio};
use netra_darshan::read::{Counters, Names};
use netra_event::{Bytes, Module, RecordId, Seconds};

/// A module that moves bytes, and where it counts them.
#[derive(Debug)]
struct Layer {
    module: Module,
    /// The layer below it. Where the log has that one too, both count the same bytes, and only the
    /// lower one may be added to others.
    above: Option<Module>,
    read: usize,
    written: usize,
    read_time: usize,
    write_time: usize,
    meta_time: usize,
}

macro_rules! layer {
    ($module:ident, $counter:ident, $above:expr) => {
        Layer {
            module: Module::$module,
            above: $above,
            read: $counter::BYTES_READ,
            written: $counter::BYTES_WRITTEN,
            read_time: $counter::F_READ_TIME,
            write_time: $counter::F_WRITE_TIME,
            meta_time: $counter::F_META_TIME,
        }
    };
}

const LAYERS: &[Layer] = &[
    layer!(Posix, posix, None),
    layer!(Mpiio, mpiio, Some(Module::Posix)),
    layer!(Stdio, stdio, None),
    layer!(Dfs, dfs, Some(Module::Daos)),
    layer!(Daos, daos, None),
];

/// Bytes and time, added up.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Sum {
    /// Bytes that came out of files.
    pub read: Bytes,
    /// Bytes that went into files.
    pub written: Bytes,
    /// In read calls, over all processes.
    pub read_time: Seconds,
    /// In write calls, over all processes.
    pub write_time: Seconds,
    /// In calls that move no data (open, close, stat, seek, sync), over all processes.
    pub meta_time: Seconds,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        // Counters of a damaged log may be anything.
        self.read = Bytes(self.read.0.saturating_add(other.read.0));
        self.written = Bytes(self.written.0.saturating_add(other.written.0));
        self.read_time += other.read_time;
        self.write_time += other.write_time;
        self.meta_time += other.meta_time;
    }

    /// In any call, over all processes.
    #[must_use]
    pub fn time(&self) -> Seconds {
        self.read_time + self.write_time + self.meta_time
    }

    /// Read and written.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes(self.read.0.saturating_add(self.written.0))
    }
}

/// What is known about one file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileSum {
    /// The file.
    pub id: RecordId,
    /// Bytes and times of the lowest layer that saw it.
    pub sum: Sum,
    /// How many processes used it; nothing where one record stands for all of them.
    pub processes: Option<u64>,
}

/// One layer of the log, over all files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerSum {
    /// The layer.
    pub module: Module,
    /// Records, which is files or files times processes.
    pub records: u64,
    /// Bytes and times.
    pub sum: Sum,
}

/// Everything that was added up.
#[derive(Debug, Default)]
pub struct Summary {
    /// The modules that the log has.
    modules: Vec<Module>,
    layers: BTreeMap<Module, LayerSum>,
    lowest: BTreeMap<RecordId, FileSum>,
    upper: BTreeMap<RecordId, FileSum>,
    decoders: BTreeMap<Module, Decoder>,
    spending: Spending,
    run_time: Seconds,
    limits: Thresholds,
}

impl Summary {
    /// Nothing yet, of a log with these modules whose job ran so long.
    #[must_use]
    pub fn new(modules: impl IntoIterator<Item = Module>, run_time: Seconds) -> Summary {
        let mut decoders = BTreeMap::new();
        for layer in COUNTED.into_iter().filter(|layer| layer.is_io()) {
            if let Some(table) = counter::current(layer.module()) {
                decoders.insert(layer.module(), Decoder::new(layer, table.int, table.float));
            }
        }
        let modules = modules.into_iter().collect();
        Summary { modules, decoders, run_time, ..Summary::default() }
    }

    /// Adds one record; modules that move no bytes are left out.
    pub fn add(&mut self, module: Module, record: &Counters<'_>) {
        let Some(layer) = LAYERS.iter().find(|layer| layer.module == module) else { return };
        let sum = layer.sum(record);
        let of_layer = self.layers.entry(module).or_insert(LayerSum {
            module,
            records: 0,
            sum: Sum::default(),
        });
        of_layer.records += 1;
        of_layer.sum.add(sum);
        let lowest = layer.above.is_none_or(|below| !self.modules.contains(&below));
        let files = if lowest { &mut self.lowest } else { &mut self.upper };
        add_file(files, record, sum);
        if let Some(decoder) = self.decoders.get(&module) {
            let usage = decoder.usage(record.id, record.rank, record.ints, record.floats);
            self.spending.add(&usage, self.run_time.0, &self.limits);
        }
    }

    /// The layers, in the order of their modules.
    pub fn layers(&self) -> impl Iterator<Item = &LayerSum> {
        self.layers.values()
    }

    /// How many files moved bytes or took time.
    #[must_use]
    pub fn files(&self) -> usize {
        self.all_files().count()
    }

    /// The files that took most time, or moved most bytes, by some measure; equal ones by name.
    #[must_use]
    pub fn top<K: PartialOrd>(
        &self,
        count: usize,
        names: &Names,
        key: impl Fn(&Sum) -> K,
    ) -> Vec<FileSum> {
        let mut files: Vec<FileSum> = self.all_files().copied().collect();
        files.sort_by(|a, b| {
            let order = key(&b.sum).partial_cmp(&key(&a.sum)).unwrap_or(Ordering::Equal);
            order.then_with(|| names.get(a.id).cmp(&names.get(b.id)))
        });
        files.truncate(count);
        files
    }

    /// What is known about a file.
    #[must_use]
    pub fn file(&self, id: RecordId) -> Option<&FileSum> {
        self.lowest.get(&id).or_else(|| self.upper.get(&id))
    }

    /// All files together.
    #[must_use]
    pub fn total(&self) -> Sum {
        self.all_files().fold(Sum::default(), |mut sum, file| {
            sum.add(file.sum);
            sum
        })
    }

    /// Time in I/O of the slowest process, by the same reckoning as a report's. Where threads
    /// overlap it is not cut off at the run: who asks may want to say so.
    #[must_use]
    pub fn critical(&self, processes: i64) -> Critical {
        let processes = u64::try_from(processes).unwrap_or(0);
        self.spending.clone().critical(processes, f64::INFINITY)
    }

    /// Every file, by the lowest layer that saw it.
    fn all_files(&self) -> impl Iterator<Item = &FileSum> {
        let alone = self.upper.values().filter(|file| !self.lowest.contains_key(&file.id));
        self.lowest.values().chain(alone)
    }
}

impl Layer {
    fn sum(&self, record: &Counters<'_>) -> Sum {
        Sum {
            read: record.bytes(self.read).unwrap_or_default(),
            written: record.bytes(self.written).unwrap_or_default(),
            read_time: record.seconds(self.read_time).unwrap_or_default(),
            write_time: record.seconds(self.write_time).unwrap_or_default(),
            meta_time: record.seconds(self.meta_time).unwrap_or_default(),
        }
    }
}

fn add_file(files: &mut BTreeMap<RecordId, FileSum>, record: &Counters<'_>, sum: Sum) {
    let new = FileSum { id: record.id, sum: Sum::default(), processes: Some(0) };
    let file = files.entry(record.id).or_insert(new);
    file.sum.add(sum);
    file.processes = match file.processes {
        Some(count) if !record.rank.is_shared() => Some(count + 1),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use netra_darshan::read::Extra;
    use netra_event::Rank;

    fn empty(modules: [Module; 2]) -> Summary {
        Summary::new(modules, Seconds(100.0))
    }

    /// Adds a record with these bytes written and this time in writing.
    fn add(summary: &mut Summary, module: Module, id: u64, rank: i64, written: i64, time: f64) {
        let layer = LAYERS.iter().find(|layer| layer.module == module).unwrap();
        let (mut ints, mut floats) = ([0; 80], [0.0; 20]);
        ints[layer.written] = written;
        floats[layer.write_time] = time;
        let slowest = counter::current(module).unwrap().float;
        let slowest = slowest.iter().position(|name| name.ends_with("F_SLOWEST_RANK_TIME"));
        floats[slowest.unwrap()] = time / 2.0;
        let (id, rank) = (RecordId(id), Rank(rank));
        let record = Counters { id, rank, ints: &ints, floats: &floats, extra: Extra::default() };
        summary.add(module, &record);
    }

    #[test]
    fn a_file_seen_by_two_layers_counts_once() {
        let mut summary = empty([Module::Posix, Module::Mpiio]);
        add(&mut summary, Module::Posix, 1, 0, 100, 1.0);
        add(&mut summary, Module::Mpiio, 1, 0, 100, 3.0);
        add(&mut summary, Module::Mpiio, 2, 0, 7, 0.5);
        let top = summary.top(5, &Names::default(), Sum::bytes);
        let bytes: Vec<u64> = top.iter().map(|file| file.sum.written.0).collect();
        assert_eq!(bytes, [100, 7]);
        assert_eq!(top[0].sum.time(), Seconds(1.0));
        assert_eq!(summary.files(), 2);
    }

    #[test]
    fn an_upper_layer_counts_where_the_lower_one_was_not_recorded() {
        let mut summary = empty([Module::Mpiio, Module::Dfs]);
        add(&mut summary, Module::Mpiio, 1, 0, 100, 3.0);
        add(&mut summary, Module::Dfs, 2, 0, 100, 1.0);
        assert_eq!(summary.critical(1).seconds, 4.0);
        assert_eq!(summary.total().written, Bytes(200));
        let mut summary = empty([Module::Dfs, Module::Daos]);
        add(&mut summary, Module::Dfs, 2, 0, 100, 1.0);
        add(&mut summary, Module::Daos, 2, 0, 101, 2.0);
        assert_eq!(summary.critical(1).seconds, 2.0);
        assert_eq!(summary.total().written, Bytes(101));
    }

    #[test]
    fn the_slowest_process_has_its_own_and_the_shared_files() {
        let mut summary = empty([Module::Posix, Module::Mpiio]);
        add(&mut summary, Module::Posix, 1, 0, 1, 1.0);
        add(&mut summary, Module::Posix, 1, 1, 1, 2.0);
        add(&mut summary, Module::Posix, 2, -1, 1, 4.0);
        // Whose slowest half of the shared file is, is not known; it is one of the two.
        let critical = summary.critical(2);
        assert_eq!((critical.mean, critical.at_most), (3.5, 4.0));
        assert_eq!(summary.top(1, &Names::default(), Sum::time)[0].processes, None);
    }

    #[test]
    fn values_that_were_not_monitored_add_nothing() {
        let mut summary = empty([Module::Posix, Module::Mpiio]);
        add(&mut summary, Module::Posix, 1, 0, -1, -1.0);
        assert_eq!(summary.top(1, &Names::default(), Sum::time)[0].sum, Sum::default());
    }

    #[test]
    fn absurd_counters_do_not_overflow() {
        let mut summary = empty([Module::Posix, Module::Mpiio]);
        for rank in 0..4 {
            add(&mut summary, Module::Posix, 1, rank, i64::MAX, 1.0);
        }
        assert_eq!(summary.top(1, &Names::default(), Sum::bytes)[0].sum.written, Bytes(u64::MAX));
    }
}
