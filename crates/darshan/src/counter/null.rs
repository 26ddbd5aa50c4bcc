//! Darshan's example module. A table: the order is the order in the record.

use super::counters;

counters! {
    "NULL_" version 1
    int:
        FOOS FOO_MAX_DAT;
    float:
        F_FOO_TIMESTAMP F_FOO_MAX_DURATION;
}
