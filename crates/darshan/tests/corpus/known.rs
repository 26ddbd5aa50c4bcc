//! Where `darshan-parser` and `darshan-dxt-parser` 3.5.0 are wrong, and we are not: by log and line.
//! Everything that is not listed here is equal.

/// A bug of theirs that shows in some logs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    /// What they do.
    bug: &'static str,
    /// The logs that show it.
    logs: &'static [&'static str],
    /// How the names of the counters begin; in lines that are no counters, the first word.
    names: &'static [&'static str],
    /// The column that differs.
    column: usize,
}

impl Difference {
    /// Whether two lines differ in the column that is known to differ, and in no other.
    pub(crate) fn explains(&self, log: &str, got: &str, want: &str) -> bool {
        let (name, got) = columns(got);
        let (_, want) = columns(want);
        self.logs.contains(&log)
            && self.names.iter().any(|known| name.starts_with(known))
            && got.len() == want.len()
            && (0..got.len()).all(|at| at == self.column || got[at] == want[at])
    }
}

/// The name that a line is about, and its columns.
fn columns(line: &str) -> (&str, Vec<&str>) {
    let columns: Vec<&str> = match line.contains('\t') {
        true => line.split('\t').collect(),
        false => line.split_whitespace().collect(),
    };
    let name = if line.contains('\t') { 3 } else { 0 };
    (columns.get(name).copied().unwrap_or_default(), columns)
}

const OLD_POSIX_BIG: &[&str] = &[
    "mpi-io-test-ppc64-3.0.0",
    "mpi-io-test-ppc64-3.1.0",
    "mpi-io-test-ppc64-3.1.1",
    "mpi-io-test-ppc64-3.1.3",
    "mpi-io-test-ppc64-3.1.4",
    "mpi-io-test-ppc64-3.1.6",
    "POSIX_v1_be",
    "POSIX_v2_be",
    "POSIX_v3_be",
    "log3.00_c0_be",
    "log3.00_c1_be",
    "log3.10_c0_be",
    "log3.10_c1_be",
];

pub(crate) const COUNTERS: &[Difference] = &[
    Difference {
        bug: "big-endian, POSIX before version 4: three times stay in the wrong byte order",
        logs: OLD_POSIX_BIG,
        names: &["POSIX_F_META_TIME", "POSIX_F_MAX_READ_TIME", "POSIX_F_MAX_WRITE_TIME"],
        column: 4,
    },
    Difference {
        bug: "POSIX version 3: the last two floats are lost",
        logs: &[
            "mpi-io-test-ppc64-3.1.0",
            "mpi-io-test-ppc64-3.1.1",
            "mpi-io-test-ppc64-3.1.3",
            "mpi-io-test-ppc64-3.1.4",
            "mpi-io-test-ppc64-3.1.6",
            "mpi-io-test-x86_64-3.1.1",
            "mpi-io-test-x86_64-3.1.2",
            "mpi-io-test-x86_64-3.1.4",
            "mpi-io-test-x86_64-3.1.5",
            "POSIX_v3_be",
            "POSIX_v3_le",
            "log3.10_c0_be",
            "log3.10_c0_le",
            "log3.10_c1_be",
            "log3.10_c1_le",
        ],
        names: &["POSIX_F_VARIANCE_RANK_"],
        column: 4,
    },
    Difference {
        bug: "POSIX version 2, which no release wrote: the last four floats are lost",
        logs: &["POSIX_v2_be", "POSIX_v2_le"],
        names: &[
            "POSIX_F_VARIANCE_RANK_",
            "POSIX_F_FASTEST_RANK_TIME",
            "POSIX_F_SLOWEST_RANK_TIME",
        ],
        column: 4,
    },
    Difference {
        bug: "big-endian, PNETCDF_FILE before version 3: opens are added before they are swapped",
        logs: &[
            "PNETCDF_FILE_v1_be",
            "PNETCDF_FILE_v2_be",
            "log3.00_c0_be",
            "log3.00_c1_be",
            "log3.10_c0_be",
            "log3.10_c1_be",
            "log3.20_c0_be",
            "log3.20_c1_be",
            "log3.21_c0_be",
            "log3.21_c1_be",
        ],
        names: &["PNETCDF_FILE_OPENS"],
        column: 4,
    },
    Difference {
        bug: "big-endian: the file of a data set is swapped only where H5F has version 2 or more",
        logs: &["H5D_v2_be"],
        names: &["H5D_FILE_REC_ID"],
        column: 4,
    },
    Difference {
        bug: "a heat map with a bin less than the first: read bins are shifted by one",
        logs: &["HEAT_v1_be", "HEAT_v1_le"],
        names: &["HEATMAP_READ_BIN_"],
        column: 4,
    },
    Difference {
        bug: "big-endian: UUIDs are reversed, as if they were numbers",
        logs: &["DFS_v1_be", "DAOS_v1_be", "log3.41_c0_be", "log3.41_c1_be"],
        names: &["DFS_", "DAOS_"],
        column: 6,
    },
    Difference {
        bug: "big-endian: thread ids are not swapped",
        logs: &["DXTP_v2_be", "DXTM_v3_be"],
        names: &["X_POSIX", "X_MPIIO"],
        column: 8,
    },
];

pub(crate) const TOTALS: &[Difference] = &[
    Difference {
        bug: "big-endian, POSIX before version 4: three times stay in the wrong byte order",
        logs: OLD_POSIX_BIG,
        names: &[
            "total_POSIX_F_META_TIME",
            "total_POSIX_F_MAX_READ_TIME",
            "total_POSIX_F_MAX_WRITE_TIME",
        ],
        column: 1,
    },
    Difference {
        bug: "the same, where no time is found to go along with the size",
        logs: &["mpi-io-test-ppc64-3.1.0", "mpi-io-test-ppc64-3.1.1", "mpi-io-test-ppc64-3.1.3"],
        names: &["total_POSIX_MAX_READ_TIME_SIZE"],
        column: 1,
    },
];
