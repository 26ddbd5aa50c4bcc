//! How each counter is combined when records become one. The rule follows from the counter's name,
//! which is how Darshan names them.

use crate::counter::{self, Table};
use netra_event::Module;

/// How a whole number is combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Int {
    /// Added.
    Sum,
    /// The larger one.
    Max,
    /// A property of the file: the last one seen.
    Last,
    /// A flag: set if it is set anywhere.
    Any,
    /// Not by itself: sizes of the slowest call, fastest and slowest rank, common values.
    Along,
    /// Never counted by anybody.
    Unused,
}

/// How a float is combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Float {
    /// Added.
    Sum,
    /// The first time something happened; 0 is never.
    Earliest,
    /// The last time something happened.
    Latest,
    /// The longest call; its size goes along, where a module has it.
    Longest {
        /// Where the size is.
        size: usize,
    },
    /// Not by itself: times of the fastest and slowest rank, variances.
    Along,
}

/// Four values and how often they occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Common {
    /// Where the values begin.
    pub(crate) values: usize,
    /// Numbers that make up a value.
    pub(crate) width: usize,
    /// Where their counts begin.
    pub(crate) counts: usize,
}

/// Where a module keeps what tells ranks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ranking {
    pub(crate) fastest: usize,
    pub(crate) fastest_bytes: usize,
    pub(crate) slowest: usize,
    pub(crate) slowest_bytes: usize,
    pub(crate) fastest_time: usize,
    pub(crate) slowest_time: usize,
    /// DFS and DAOS have none.
    pub(crate) variance: Option<Variance>,
    pub(crate) bytes_read: usize,
    pub(crate) bytes_written: usize,
    pub(crate) read_time: usize,
    pub(crate) write_time: usize,
    pub(crate) meta_time: usize,
}

/// Where variances over ranks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Variance {
    pub(crate) time: usize,
    pub(crate) bytes: usize,
}

/// The rules of a module.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) ints: Vec<Int>,
    pub(crate) floats: Vec<Float>,
    pub(crate) commons: Vec<Common>,
    /// Modules that move no data have none.
    pub(crate) ranking: Option<Ranking>,
    /// The highest offsets, for modules that know offsets.
    pub(crate) max_bytes: Option<(usize, usize)>,
}

impl Rules {
    /// The rules of a module of counters.
    pub(crate) fn of(module: Module) -> Option<Rules> {
        crate::record::layout(module, counter::version(module))?;
        let table = counter::current(module)?;
        let names = Bare::new(module, table);
        Some(Rules {
            ints: names.ints().map(int).collect(),
            floats: names.floats().map(|name| names.float(name)).collect(),
            commons: names.commons(),
            ranking: names.ranking(),
            max_bytes: names.int("MAX_BYTE_READ").zip(names.int("MAX_BYTE_WRITTEN")),
        })
    }
}

fn int(name: &str) -> Int {
    const PROPERTY: [&str; 19] = [
        "MODE",
        "RENAMED_FROM",
        "MEM_ALIGNMENT",
        "FILE_ALIGNMENT",
        "CHUNK_SIZE",
        "OBJ_OTYPE",
        "ARRAY_CELL_SIZE",
        "ARRAY_CHUNK_SIZE",
        "DATASPACE_NDIMS",
        "DATASPACE_NPOINTS",
        "DATATYPE_SIZE",
        "CHUNK_SIZE_D1",
        "CHUNK_SIZE_D2",
        "CHUNK_SIZE_D3",
        "CHUNK_SIZE_D4",
        "CHUNK_SIZE_D5",
        "NDIMS",
        "NPOINTS",
        "IS_RECORD_VAR",
    ];
    match name {
        "MAX_BYTE_READ" | "MAX_BYTE_WRITTEN" => Int::Max,
        "NB_OPS" => Int::Unused,
        _ if PROPERTY.contains(&name) => Int::Last,
        _ if name.starts_with("USE_") => Int::Any,
        _ if name.contains("EST_RANK") => Int::Along,
        _ if name.starts_with("MAX_") && name.ends_with("_TIME_SIZE") => Int::Along,
        _ if name.starts_with("STRIDE") || name.starts_with("ACCESS") => Int::Along,
        _ => Int::Sum,
    }
}

/// A module's counters without the module's prefix.
struct Bare {
    prefix: usize,
    table: &'static Table,
}

impl Bare {
    fn new(module: Module, table: &'static Table) -> Bare {
        let prefix = match module {
            Module::PnetcdfFile => "PNETCDF_FILE_",
            Module::PnetcdfVar => "PNETCDF_VAR_",
            Module::Mpiio => "MPIIO_",
            Module::Bgq => "BGQ_",
            // "POSIX" and so on: the module's name is the prefix.
            _ => return Bare { prefix: module.name().len() + 1, table },
        };
        Bare { prefix: prefix.len(), table }
    }

    fn ints(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.table.int.iter().map(|name| &name[self.prefix..])
    }

    fn floats(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.table.float.iter().map(|name| &name[self.prefix..])
    }

    fn int(&self, wanted: &str) -> Option<usize> {
        self.ints().position(|name| name == wanted)
    }

    fn time(&self, wanted: &str) -> Option<usize> {
        self.floats().position(|name| name == wanted)
    }

    fn float(&self, name: &str) -> Float {
        let size = match name {
            "F_MAX_READ_TIME" => self.int("MAX_READ_TIME_SIZE"),
            "F_MAX_WRITE_TIME" => self.int("MAX_WRITE_TIME_SIZE"),
            _ => None,
        };
        match name {
            "F_MAX_READ_TIME" | "F_MAX_WRITE_TIME" => {
                size.map_or(Float::Latest, |size| Float::Longest { size })
            }
            _ if name.ends_with("_START_TIMESTAMP") => Float::Earliest,
            _ if name.ends_with("_END_TIMESTAMP") => Float::Latest,
            _ if name.contains("_RANK_") => Float::Along,
            _ => Float::Sum,
        }
    }

    fn commons(&self) -> Vec<Common> {
        let strides = self.int("STRIDE1_STRIDE").zip(self.int("STRIDE1_COUNT"));
        let accesses = self.int("ACCESS1_ACCESS").zip(self.int("ACCESS1_COUNT"));
        let four = |(values, counts): (usize, usize)| Common {
            values,
            width: (counts - values) / 4,
            counts,
        };
        strides.into_iter().chain(accesses).map(four).collect()
    }

    fn ranking(&self) -> Option<Ranking> {
        Some(Ranking {
            fastest: self.int("FASTEST_RANK")?,
            fastest_bytes: self.int("FASTEST_RANK_BYTES")?,
            slowest: self.int("SLOWEST_RANK")?,
            slowest_bytes: self.int("SLOWEST_RANK_BYTES")?,
            fastest_time: self.time("F_FASTEST_RANK_TIME")?,
            slowest_time: self.time("F_SLOWEST_RANK_TIME")?,
            variance: self
                .time("F_VARIANCE_RANK_TIME")
                .zip(self.time("F_VARIANCE_RANK_BYTES"))
                .map(|(time, bytes)| Variance { time, bytes }),
            bytes_read: self.int("BYTES_READ")?,
            bytes_written: self.int("BYTES_WRITTEN")?,
            read_time: self.time("F_READ_TIME")?,
            write_time: self.time("F_WRITE_TIME")?,
            meta_time: self.time("F_META_TIME")?,
        })
    }
}
