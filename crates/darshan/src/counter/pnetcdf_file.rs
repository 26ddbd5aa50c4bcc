//! PnetCDF files. A table: the order is the order in the record.

use super::{Table, counters, names};

counters! {
    "PNETCDF_FILE_" version 3
    int:
        CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN WAIT_FAILURES;
    float:
        F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WAIT_START_TIMESTAMP
        F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WAIT_END_TIMESTAMP F_META_TIME F_WAIT_TIME;
}

/// The counters of version 1.
pub const V1: Table = Table {
    int: names! { "PNETCDF_"
        INDEP_OPENS COLL_OPENS
    },
    float: names! { "PNETCDF_"
        F_OPEN_TIMESTAMP F_CLOSE_TIMESTAMP
    },
};

/// The counters of version 2.
pub const V2: Table = Table {
    int: V1.int,
    float: names! { "PNETCDF_"
        F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP
        F_CLOSE_END_TIMESTAMP
    },
};
