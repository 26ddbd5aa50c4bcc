//! HDF5 files. A table: the order is the order in the record.

use super::{Table, counters, names};

counters! {
    "H5F_" version 3
    int:
        OPENS FLUSHES USE_MPIIO;
    float:
        F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP
        F_CLOSE_END_TIMESTAMP F_META_TIME;
}

/// The counters of version 1.
pub const V1: Table = Table {
    int: names! { "HDF5_"
        OPENS
    },
    float: names! { "HDF5_"
        F_OPEN_TIMESTAMP F_CLOSE_TIMESTAMP
    },
};

/// The counters of version 2.
pub const V2: Table = Table {
    int: V1.int,
    float: names! { "HDF5_"
        F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP
        F_CLOSE_END_TIMESTAMP
    },
};
