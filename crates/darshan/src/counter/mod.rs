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

/// What is known of each version of each module.
macro_rules! versions {
    ($($module:ident $version:literal = $table:path;)*) => {
        /// The counters that a version of a module stores; nothing for modules that are not made of
        /// counters (DXT, heat maps) and for versions that never existed.
        #[must_use]
        pub const fn table(module: Module, version: u32) -> Option<&'static Table> {
            Some(match (module, version) {
                $((Module::$module, $version) => &$table,)*
                _ => return None,
            })
        }

        /// How many whole numbers and floats these are. The compiler counts them, so that who asks for no
        /// more has no names: each costs the loader of an application's process a relocation.
        #[must_use]
        pub(crate) const fn counts(module: Module, version: u32) -> Option<(usize, usize)> {
            Some(match (module, version) {
                $((Module::$module, $version) => const { ($table.int.len(), $table.float.len()) },)*
                _ => return None,
            })
        }
    };
}

versions! {
    Null 1 = null::TABLE;
    Posix 1 = posix::V1;
    Posix 2 = posix::V2;
    Posix 3 = posix::V3;
    Posix 4 = posix::TABLE;
    Mpiio 1 = mpiio::V1;
    Mpiio 2 = mpiio::V2;
    Mpiio 3 = mpiio::TABLE;
    H5f 1 = h5f::V1;
    H5f 2 = h5f::V2;
    H5f 3 = h5f::TABLE;
    H5d 1 = h5d::V1;
    H5d 2 = h5d::TABLE;
    PnetcdfFile 1 = pnetcdf_file::V1;
    PnetcdfFile 2 = pnetcdf_file::V2;
    PnetcdfFile 3 = pnetcdf_file::TABLE;
    PnetcdfVar 1 = pnetcdf_var::TABLE;
    Bgq 1 = bgq::V1;
    Bgq 2 = bgq::TABLE;
    Lustre 1 = lustre::V1;
    Lustre 2 = lustre::TABLE;
    Stdio 1 = stdio::V1;
    Stdio 2 = stdio::TABLE;
    Mdhim 1 = mdhim::TABLE;
    Apmpi 1 = apmpi::TABLE;
    Dfs 1 = dfs::TABLE;
    Daos 1 = daos::TABLE;
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
