//! The modules of a log: each counts one layer of I/O. Codes and names are Darshan's.

use core::fmt;

macro_rules! modules {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// One instrumented layer, with the code it has in a log of the current version.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Module { $($(#[$doc])* $name = $code),* }

        impl Module {
            /// Every module, in the order of their codes.
            pub const ALL: &[Module] = &[$(Module::$name),*];

            /// The module with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Module> {
                match code { $($code => Some(Module::$name),)* _ => None }
            }

            /// The name that logs and tools print.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Module::$name => $text),* }
            }
        }
    };
}

modules! {
    /// Darshan's own example module; no normal run writes it.
    Null = 0, "NULL";
    /// System calls on files.
    Posix = 1, "POSIX";
    /// `MPI_File_*`.
    Mpiio = 2, "MPI-IO";
    /// HDF5 files.
    H5f = 3, "H5F";
    /// HDF5 data sets.
    H5d = 4, "H5D";
    /// PnetCDF files.
    PnetcdfFile = 5, "PNETCDF_FILE";
    /// PnetCDF variables.
    PnetcdfVar = 6, "PNETCDF_VAR";
    /// Blue Gene/Q partition.
    Bgq = 7, "BG/Q";
    /// Lustre layout of files.
    Lustre = 8, "LUSTRE";
    /// C's buffered streams.
    Stdio = 9, "STDIO";
    /// Every POSIX read and write.
    DxtPosix = 10, "DXT_POSIX";
    /// Every MPI-IO read and write.
    DxtMpiio = 11, "DXT_MPIIO";
    /// MDHIM key-value store.
    Mdhim = 12, "MDHIM";
    /// AutoPerf: Cray XC network.
    Apxc = 13, "APXC";
    /// AutoPerf: MPI communication.
    Apmpi = 14, "APMPI";
    /// Bytes over time.
    Heatmap = 15, "HEATMAP";
    /// DAOS file system.
    Dfs = 16, "DFS";
    /// DAOS objects.
    Daos = 17, "DAOS";
}

impl Module {
    /// The code in a log of the current version.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The module that tools call by this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Module> {
        Module::ALL.iter().copied().find(|module| module.name() == name)
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Module;

    #[test]
    fn code_and_name_lead_back() {
        for (code, &module) in (0..).zip(Module::ALL) {
            assert_eq!(module.code(), code);
            assert_eq!(Module::from_code(code), Some(module));
            assert_eq!(Module::from_name(module.name()), Some(module));
        }
        assert_eq!(Module::from_code(18), None);
        assert_eq!(Module::from_name("posix"), None);
    }
}
