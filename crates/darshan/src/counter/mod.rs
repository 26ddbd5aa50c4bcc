//! The counters of each module: their names, their order, and named indices such as
//! [`posix::BYTES_READ`].

use netra_event::Module;

pub mod apmpi;
pub mod apxc;
pub mod bgq;
pub mod bin;
pub mod daos;
pub mod dfs;
pub mod h5d;
pub mod h5f;
pub mod lustre;
pub mod mdhim;
pub mod mpiio;
pub mod null;
pub mod pnetcdf_file;
pub mod pnetcdf_var;
pub mod posix;
pub mod stdio;

/// The names of a record's counters, in the order in which they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Whole numbers.
    pub int: &'static [&'static str],
    /// Times, and variances.
    pub float: &'static [&'static str],
}

impl Table {
    /// Where the whole number with this name is stored.
    #[must_use]
    pub fn int_index(&self, name: &str) -> Option<usize> {
        self.int.iter().position(|&known| known == name)
    }

    /// Where the time with this name is stored.
    #[must_use]
    pub fn float_index(&self, name: &str) -> Option<usize> {
        self.float.iter().position(|&known| known == name)
    }
}

/// The counters that a version of a module stores; nothing for modules that are not made of
/// counters (DXT, heat maps) and for versions that never existed.
#[must_use]
pub const fn table(module: Module, version: u32) -> Option<&'static Table> {
    Some(match (module, version) {
        (Module::Null, 1) => &null::TABLE,
        (Module::Posix, 1) => &posix::V1,
        (Module::Posix, 2) => &posix::V2,
        (Module::Posix, 3) => &posix::V3,
        (Module::Posix, 4) => &posix::TABLE,
        (Module::Mpiio, 1) => &mpiio::V1,
        (Module::Mpiio, 2) => &mpiio::V2,
        (Module::Mpiio, 3) => &mpiio::TABLE,
        (Module::H5f, 1) => &h5f::V1,
        (Module::H5f, 2) => &h5f::V2,
        (Module::H5f, 3) => &h5f::TABLE,
        (Module::H5d, 1) => &h5d::V1,
        (Module::H5d, 2) => &h5d::TABLE,
        (Module::PnetcdfFile, 1) => &pnetcdf_file::V1,
        (Module::PnetcdfFile, 2) => &pnetcdf_file::V2,
        (Module::PnetcdfFile, 3) => &pnetcdf_file::TABLE,
        (Module::PnetcdfVar, 1) => &pnetcdf_var::TABLE,
        (Module::Bgq, 1) => &bgq::V1,
        (Module::Bgq, 2) => &bgq::TABLE,
        (Module::Lustre, 1) => &lustre::V1,
        (Module::Lustre, 2) => &lustre::TABLE,
        (Module::Stdio, 1) => &stdio::V1,
        (Module::Stdio, 2) => &stdio::TABLE,
        (Module::Mdhim, 1) => &mdhim::TABLE,
        (Module::Apmpi, 1) => &apmpi::TABLE,
        (Module::Dfs, 1) => &dfs::TABLE,
        (Module::Daos, 1) => &daos::TABLE,
        _ => return None,
    })
}

/// The counters of a module's current version.
#[must_use]
pub const fn current(module: Module) -> Option<&'static Table> {
    table(module, version(module))
}

/// The newest version of a module that we know, which is also the one we write.
#[must_use]
pub const fn version(module: Module) -> u32 {
    match module {
        Module::Posix => posix::VERSION,
        Module::Mpiio => mpiio::VERSION,
        Module::H5f => h5f::VERSION,
        Module::H5d => h5d::VERSION,
        Module::PnetcdfFile => pnetcdf_file::VERSION,
        Module::Bgq => bgq::VERSION,
        Module::Lustre => lustre::VERSION,
        Module::Stdio => stdio::VERSION,
        Module::DxtPosix => 2,
        Module::DxtMpiio => 3,
        Module::Null
        | Module::PnetcdfVar
        | Module::Mdhim
        | Module::Apxc
        | Module::Apmpi
        | Module::Heatmap
        | Module::Dfs
        | Module::Daos => 1,
    }
}

/// Counter names with their prefix.
macro_rules! names {
    ($prefix:literal $($name:ident)*) => {
        &[$(concat!($prefix, stringify!($name))),*]
    };
}
use names;

/// A module's current counters: an index constant a counter, and the tables of names.
macro_rules! counters {
    ($prefix:literal version $version:literal int: $($int:ident)*; float: $($float:ident)*;) => {
        /// The current version of this module's records.
        pub const VERSION: u32 = $version;

        $(
            #[doc = concat!("Index of `", $prefix, stringify!($int), "` among the whole numbers.")]
            pub const $int: usize = super::place(&INT, concat!($prefix, stringify!($int)));
        )*
        $(
            #[doc = concat!("Index of `", $prefix, stringify!($float), "` among the floats.")]
            pub const $float: usize = super::place(&FLOAT, concat!($prefix, stringify!($float)));
        )*

        /// Names of the whole numbers.
        pub const INT: [&str; [$(stringify!($int)),*].len()] =
            [$(concat!($prefix, stringify!($int))),*];
        /// Names of the floats.
        pub const FLOAT: [&str; [$(stringify!($float)),*].len()] =
            [$(concat!($prefix, stringify!($float))),*];
        /// The current counters.
        pub const TABLE: super::Table = super::Table { int: &INT, float: &FLOAT };
    };
}
use counters;

/// Where a name stands in its table, found by the compiler; a name that is not there stops it.
const fn place(names: &[&str], name: &str) -> usize {
    let mut at = 0;
    while !same(names[at].as_bytes(), name.as_bytes()) {
        at += 1;
    }
    at
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
