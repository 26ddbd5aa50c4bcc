//! The MDHIM key-value store. A table: the order is the order in the record.

use super::counters;

counters! {
    "MDHIM_" version 1
    int:
        PUTS GETS PUT_MAX_SIZE GET_MAX_SIZE SERVERS;
    float:
        F_PUT_TIMESTAMP F_GET_TIMESTAMP F_PUT_MAX_DURATION F_GET_MAX_DURATION;
}
