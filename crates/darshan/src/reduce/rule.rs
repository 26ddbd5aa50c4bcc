//! How each counter is combined when records become one. The rule follows from the counter's name,
//! which is how Darshan names them. Works inside an application too: nothing is allocated, nothing panics.

use crate::counter;
use core::ops::Deref;
use netra_event::Module;

/// The most whole numbers and floats that a record of counters has.
pub(crate) const INTS: usize = counter::pnetcdf_var::INT.len();
pub(crate) const FLOATS: usize = counter::posix::FLOAT.len();

/// A few things in a row.
#[derive(Debug, Clone)]
pub(crate) struct List<T, const N: usize> {
    items: [T; N],
    count: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// Takes as many as there is room for; `filler` stands where there are none.
    fn collect(filler: T, from: impl Iterator<Item = T>) -> List<T, N> {
        let (mut items, mut count) = ([filler; N], 0);
        for (place, item) in items.iter_mut().zip(from) {
            *place = item;
            count = usize::saturating_add(count, 1);
        }
        List { items, count }
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.items.get(..self.count).unwrap_or_default()
    }
}

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
    pub(crate) ints: List<Int, INTS>,
    pub(crate) floats: List<Float, FLOATS>,
    pub(crate) commons: List<Common, 2>,
    /// Modules that move no data have none.
    pub(crate) ranking: Option<Ranking>,
    /// The highest offsets, for modules that know offsets.
    #[cfg(feature = "std")]
    pub(crate) max_bytes: Option<(usize, usize)>,
}

impl Rules {
    /// The rules of a module of counters.
    pub(crate) fn of(module: Module) -> Option<Rules> {
        let names = Bare::of(module)?;
        Some(Rules {
            ints: List::collect(Int::Unused, names.ints().map(int)),
            floats: List::collect(Float::Along, names.floats().map(|name| names.float(name))),
            commons: names.commons(),
            ranking: names.ranking(),
            #[cfg(feature = "std")]
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
        _ if has(name, b"EST_RANK") => Int::Along,
        _ if name.starts_with("MAX_") && name.ends_with("_TIME_SIZE") => Int::Along,
        _ if name.starts_with("STRIDE") || name.starts_with("ACCESS") => Int::Along,
        _ => Int::Sum,
    }
}

/// Whether a text is part of a name; the library's own search may panic, as far as the compiler knows.
fn has(name: &str, part: &[u8]) -> bool {
    name.as_bytes().windows(part.len()).any(|window| window == part)
}

/// A counter's name, filled up with zeroes. A name that is kept like this has no address in it, which the
/// loader of an application's process would have to set for each.
type Name = [u8; 40];

/// Names of the current counters of the modules whose records can be combined, and the length of their prefix.
macro_rules! named {
    ($($module:ident = $table:ident, $prefix:literal;)*) => {
        /// A module's counters without the module's prefix.
        struct Bare {
            prefix: usize,
            ints: &'static [Name],
            floats: &'static [Name],
        }

        impl Bare {
            fn of(module: Module) -> Option<Bare> {
                Some(match module {
                    $(Module::$module => {
                        static INT: [Name; counter::$table::INT.len()] = flat(&counter::$table::INT);
                        static FLOAT: [Name; counter::$table::FLOAT.len()] =
                            flat(&counter::$table::FLOAT);
                        Bare { prefix: $prefix.len(), ints: &INT, floats: &FLOAT }
                    })*
                    _ => return None,
                })
            }
        }
    };
}

named! {
    Null = null, "NULL_";
    Posix = posix, "POSIX_";
    Mpiio = mpiio, "MPIIO_";
    H5f = h5f, "H5F_";
    H5d = h5d, "H5D_";
    PnetcdfFile = pnetcdf_file, "PNETCDF_FILE_";
    PnetcdfVar = pnetcdf_var, "PNETCDF_VAR_";
    Bgq = bgq, "BGQ_";
    Stdio = stdio, "STDIO_";
    Dfs = dfs, "DFS_";
    Daos = daos, "DAOS_";
}

/// Makes names of texts, by the compiler: one that is too long stops it.
const fn flat<const N: usize>(texts: &[&str; N]) -> [Name; N] {
    let mut names = [[0; size_of::<Name>()]; N];
    let mut at = 0;
    while at < N {
        let text = texts[at].as_bytes();
        let mut place = 0;
        while place < text.len() {
            names[at][place] = text[place];
            place += 1;
        }
        at += 1;
    }
    names
}

impl Bare {
    fn ints(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.ints.iter().map(|name| self.bare(name))
    }

    fn floats(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.floats.iter().map(|name| self.bare(name))
    }

    fn bare(&self, name: &'static Name) -> &'static str {
        let text = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let bare = text.get(self.prefix..).unwrap_or_default();
        core::str::from_utf8(bare).unwrap_or_default()
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
            _ if has(name, b"_RANK_") => Float::Along,
            _ => Float::Sum,
        }
    }

    fn commons(&self) -> List<Common, 2> {
        let strides = self.int("STRIDE1_STRIDE").zip(self.int("STRIDE1_COUNT"));
        let accesses = self.int("ACCESS1_ACCESS").zip(self.int("ACCESS1_COUNT"));
        let four = |(values, counts): (usize, usize)| Common {
            values,
            width: counts.saturating_sub(values) / 4,
            counts,
        };
        let none = Common { values: 0, width: 0, counts: 0 };
        List::collect(none, strides.into_iter().chain(accesses).map(four))
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
