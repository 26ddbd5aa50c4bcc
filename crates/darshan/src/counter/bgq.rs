//! Blue Gene/Q partitions. A table: the order is the order in the record.

use super::{Table, counters};

counters! {
    "BGQ_" version 2
    int:
        CSJOBID NNODES RANKSPERNODE DDRPERNODE INODES ANODES BNODES CNODES DNODES ENODES
        TORUSENABLED;
    float:
        F_TIMESTAMP;
}

/// The counters of version 1.
pub const V1: Table = Table { int: &INT, float: &FLOAT };
