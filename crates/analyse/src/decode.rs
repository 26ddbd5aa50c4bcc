//! From a module's counters, by name, to a [`Usage`].
//!
//! Names are looked up once per module, so that a log of a million records pays for them once.
//! A counter that a version does not have is zero.

use netra_event::{Rank, RecordId};

use crate::{Extreme, Flow, Layer, Usage};

/// Reads the records of one layer.
#[derive(Debug, Clone)]
pub struct Decoder {
    layer: Layer,
    read: Columns,
    write: Columns,
    opens: Vec<usize>,
    seeks: Option<usize>,
    stats: Option<usize>,
    syncs: Vec<usize>,
    meta: Option<usize>,
    common: [(Option<usize>, Option<usize>); 4],
    strides: [(Option<usize>, Option<usize>); 4],
    views: Option<usize>,
    file_misaligned: Option<usize>,
    file_alignment: Option<usize>,
    memory_misaligned: Option<usize>,
    asks_collective: Option<usize>,
    fastest: [Option<usize>; 3],
    slowest: [Option<usize>; 3],
    variance: Option<usize>,
}

/// Where one direction's counters stand.
#[derive(Debug, Clone)]
struct Columns {
    calls: Vec<usize>,
    collective: Option<usize>,
    independent: Option<usize>,
    nonblocking: Vec<usize>,
    bytes: Option<usize>,
    bins: Option<usize>,
    consecutive: Option<usize>,
    sequential: Option<usize>,
    last_byte: Option<usize>,
    longest_bytes: Option<usize>,
    seconds: Option<usize>,
    longest: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
}

/// The names of a module's counters without their prefix.
struct Names<'a> {
    prefix: &'a str,
    int: &'a [&'a str],
    float: &'a [&'a str],
}

impl Names<'_> {
    fn place(&self, list: &[&str], name: &str) -> Option<usize> {
        list.iter().position(|known| known.strip_prefix(self.prefix) == Some(name))
    }
    fn int(&self, name: &str) -> Option<usize> {
        self.place(self.int, name)
    }
    fn ints(&self, names: &[&str]) -> Vec<usize> {
        names.iter().filter_map(|name| self.int(name)).collect()
    }
    fn float(&self, name: &str) -> Option<usize> {
        self.place(self.float, name)
    }
}

impl Decoder {
    /// For a layer whose records have counters of these names, in this order.
    #[must_use]
    pub fn new(layer: Layer, int: &[&str], float: &[&str]) -> Decoder {
        let prefix = match layer {
            Layer::Posix => "POSIX_",
            Layer::Stdio => "STDIO_",
            Layer::Daos => "DAOS_",
            Layer::Dfs => "DFS_",
            Layer::Mpiio => "MPIIO_",
            Layer::H5d => "H5D_",
            Layer::Pnetcdf => "PNETCDF_VAR_",
        };
        let names = Names { prefix, int, float };
        let pair = |what: &str, number: u32| {
            let value = format!("{what}{number}_{what}");
            let count = format!("{what}{number}_COUNT");
            (names.int(&value), names.int(&count))
        };
        let pairs = |what: &str| [1, 2, 3, 4].map(|number| pair(what, number));
        let extreme = |which: &str| {
            [
                names.int(&format!("{which}_RANK")),
                names.int(&format!("{which}_RANK_BYTES")),
                names.float(&format!("F_{which}_RANK_TIME")),
            ]
        };
        Decoder {
            layer,
            read: Columns::new(&names, "READ", "READ"),
            write: Columns::new(&names, "WRITE", "WRITTEN"),
            opens: names.ints(&[
                "OPENS",
                "INDEP_OPENS",
                "COLL_OPENS",
                "OBJ_OPENS",
                "ARRAY_OPENS",
                "KV_OPENS",
            ]),
            seeks: names.int("SEEKS"),
            stats: names.int("STATS"),
            syncs: names.ints(&["FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"]),
            meta: names.float("F_META_TIME"),
            common: pairs("ACCESS"),
            strides: pairs("STRIDE"),
            views: names.int("VIEWS"),
            file_misaligned: names.int("FILE_NOT_ALIGNED"),
            file_alignment: names.int("FILE_ALIGNMENT"),
            memory_misaligned: names.int("MEM_NOT_ALIGNED"),
            asks_collective: names.int("USE_MPIIO_COLLECTIVE"),
            fastest: extreme("FASTEST"),
            slowest: extreme("SLOWEST"),
            variance: names.float("F_VARIANCE_RANK_TIME"),
        }
    }

    /// One record. `file` is the file itself, also for records of data sets.
    #[must_use]
    pub fn usage(&self, file: RecordId, rank: Rank, ints: &[i64], floats: &[f64]) -> Usage {
        let mut values = Values { ints, floats, impossible: 0 };
        let mut usage = Usage::new(self.layer, file, rank);
        usage.read = self.read.flow(&mut values);
        usage.write = self.write.flow(&mut values);
        usage.opens = values.sum(&self.opens);
        usage.seeks = values.count(self.seeks);
        usage.stats = values.count(self.stats);
        usage.syncs = values.sum(&self.syncs);
        usage.meta = values.time(self.meta);
        usage.common = self.common.map(|(size, count)| (values.count(size), values.count(count)));
        usage.strides = self.strides.map(|(gap, count)| (values.count(gap), values.count(count)));
        usage.views = values.count(self.views);
        usage.file_misaligned = values.count(self.file_misaligned);
        usage.file_alignment = values.count(self.file_alignment);
        usage.memory_misaligned = values.count(self.memory_misaligned);
        usage.asks_collective = values.count(self.asks_collective) > 0;
        if rank.is_shared() {
            usage.extremes = values.extreme(self.fastest).zip(values.extreme(self.slowest));
            usage.variance = values.time(self.variance);
        }
        usage.impossible = values.impossible;
        usage
    }
}

impl Columns {
    fn new(names: &Names<'_>, verb: &str, moved: &str) -> Columns {
        let plural = format!("{verb}S");
        let number = |name: &str| names.int(&name.replace('*', verb));
        let time = |name: &str| names.float(&name.replace('*', verb));
        let of = |kind: &str| names.int(&format!("{kind}_{plural}"));
        let plain = [plural.clone(), format!("{verb}XS"), format!("ARRAY_{plural}")];
        let objects: &[&str] =
            if verb == "READ" { &["OBJ_FETCHES", "KV_GETS"] } else { &["OBJ_UPDATES", "KV_PUTS"] };
        let mut calls: Vec<usize> = plain.iter().filter_map(|name| names.int(name)).collect();
        calls.extend(names.ints(objects));
        calls.extend([of("INDEP"), of("COLL"), of("SPLIT"), of("NB")].into_iter().flatten());
        Columns {
            calls,
            collective: of("COLL"),
            independent: of("INDEP"),
            nonblocking: [of("SPLIT"), of("NB")].into_iter().flatten().collect(),
            bytes: names.int(&format!("BYTES_{moved}")),
            bins: number("SIZE_*_0_100").or_else(|| number("SIZE_*_AGG_0_100")),
            consecutive: names.int(&format!("CONSEC_{plural}")),
            sequential: names.int(&format!("SEQ_{plural}")),
            last_byte: names.int(&format!("MAX_BYTE_{moved}")),
            longest_bytes: number("MAX_*_TIME_SIZE"),
            seconds: time("F_*_TIME"),
            longest: time("F_MAX_*_TIME"),
            start: time("F_*_START_TIMESTAMP"),
            end: time("F_*_END_TIMESTAMP"),
        }
    }

    fn flow(&self, values: &mut Values<'_>) -> Flow {
        let calls = values.sum(&self.calls);
        Flow {
            calls,
            bytes: values.count(self.bytes),
            seconds: values.time(self.seconds),
            bins: self.bins.and_then(|first| values.bins(first)),
            consecutive: values.count(self.consecutive),
            sequential: values.count(self.sequential),
            last_byte: (calls > 0)
                .then(|| self.last_byte.map(|at| values.count(Some(at))))
                .flatten(),
            longest: values.time(self.longest),
            longest_bytes: values.count(self.longest_bytes),
            collective: values.count(self.collective),
            independent: values.count(self.independent),
            nonblocking: values.sum(&self.nonblocking),
            span: (values.time(self.start), values.time(self.end)),
        }
    }
}

/// A record's numbers. What cannot be true is zero and counted: a negative count means "not
/// counted", a negative or endless time is damage.
struct Values<'a> {
    ints: &'a [i64],
    floats: &'a [f64],
    impossible: u32,
}

impl Values<'_> {
    fn count(&self, at: Option<usize>) -> u64 {
        at.and_then(|at| self.ints.get(at)).map_or(0, |&value| u64::try_from(value).unwrap_or(0))
    }

    fn sum(&self, at: &[usize]) -> u64 {
        at.iter().fold(0, |sum, &at| sum.saturating_add(self.count(Some(at))))
    }

    fn bins(&self, first: usize) -> Option<[u64; 10]> {
        self.ints.get(first..first + 10)?;
        Some(std::array::from_fn(|bin| self.count(Some(first + bin))))
    }

    fn time(&mut self, at: Option<usize>) -> f64 {
        match at.and_then(|at| self.floats.get(at)) {
            None => 0.0,
            Some(&value) if value.is_finite() && value >= 0.0 => value,
            Some(_) => {
                self.impossible += 1;
                0.0
            }
        }
    }

    fn extreme(&mut self, [rank, bytes, time]: [Option<usize>; 3]) -> Option<Extreme> {
        let rank = rank.and_then(|at| self.ints.get(at)).copied()?;
        Some(Extreme { rank: Rank(rank), bytes: self.count(bytes), seconds: self.time(time) })
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;
    use crate::Layer;
    use netra_event::{Rank, RecordId};

    const INT: [&str; 6] = [
        "MPIIO_INDEP_OPENS",
        "MPIIO_COLL_OPENS",
        "MPIIO_INDEP_READS",
        "MPIIO_COLL_READS",
        "MPIIO_NB_READS",
        "MPIIO_BYTES_READ",
    ];
    const FLOAT: [&str; 2] = ["MPIIO_F_READ_TIME", "MPIIO_F_META_TIME"];

    #[test]
    fn finds_counters_by_name() {
        let decoder = Decoder::new(Layer::Mpiio, &INT, &FLOAT);
        let usage = decoder.usage(RecordId(7), Rank(3), &[1, 2, 10, 20, 5, 4096], &[1.5, 0.25]);
        assert_eq!((usage.opens, usage.read.calls, usage.read.collective), (3, 35, 20));
        assert_eq!((usage.read.bytes, usage.read.nonblocking), (4096, 5));
        assert_eq!((usage.read.seconds, usage.meta, usage.impossible), (1.5, 0.25, 0));
        assert_eq!(usage.write.calls, 0);
    }

    #[test]
    fn impossible_times_are_zero_and_counted() {
        let decoder = Decoder::new(Layer::Mpiio, &INT, &FLOAT);
        let usage = decoder.usage(RecordId(7), Rank(3), &[-1; 6], &[-2662.7, f64::NAN]);
        assert_eq!((usage.read.seconds, usage.meta, usage.impossible), (0.0, 0.0, 2));
        assert_eq!(usage.read.bytes, 0);
    }

    #[test]
    fn a_short_record_is_read_as_far_as_it_goes() {
        let decoder = Decoder::new(Layer::Mpiio, &INT, &FLOAT);
        assert_eq!(decoder.usage(RecordId(7), Rank(3), &[1], &[]).opens, 1);
    }
}
