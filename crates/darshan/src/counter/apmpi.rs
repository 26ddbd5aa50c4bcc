//! AutoPerf's MPI communication counters. The 636 names follow from 74 operations.

use super::Table;

macro_rules! counts {
    (data $op:ident) => {
        &[
            concat!("MPI_", stringify!($op), "_CALL_COUNT"),
            concat!("MPI_", stringify!($op), "_TOTAL_BYTES"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_0_256"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_256_1K"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_1K_8K"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_8K_256K"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_256K_1M"),
            concat!("MPI_", stringify!($op), "_MSG_SIZE_AGG_1M_PLUS"),
        ]
    };
    (call $op:ident) => {
        &[concat!("MPI_", stringify!($op), "_CALL_COUNT")]
    };
}

macro_rules! operations {
    ($($kind:ident: $($op:ident)*;)*) => {
        /// Calls, bytes and message sizes.
        pub const INT: [&str; 396] = flat(&[$($(counts!($kind $op)),*),*]);
        /// Three times an operation.
        pub const FLOAT: [&str; 222] = flat(&[$($(&[
            concat!("MPI_", stringify!($op), "_TOTAL_TIME"),
            concat!("MPI_", stringify!($op), "_MIN_TIME"),
            concat!("MPI_", stringify!($op), "_MAX_TIME"),
        ]),*),*]);
    };
}

operations! {
    data: SEND SSEND RSEND BSEND RECV SENDRECV SENDRECV_REPLACE ISEND ISSEND IRSEND IBSEND IRECV;
    call: PROBE IPROBE TEST TESTANY TESTALL TESTSOME WAIT WAITANY WAITALL WAITSOME BARRIER IBARRIER;
    data: BCAST GATHER GATHERV SCATTER SCATTERV SCAN EXSCAN ALLGATHER ALLGATHERV REDUCE ALLREDUCE
        REDUCE_SCATTER ALLTOALL ALLTOALLV ALLTOALLW;
    data: IBCAST IGATHER IGATHERV ISCATTER ISCATTERV ISCAN IEXSCAN IALLGATHER IALLGATHERV IREDUCE
        IALLREDUCE IREDUCE_SCATTER IALLTOALL IALLTOALLV IALLTOALLW;
    data: PUT GET ACCUMULATE GET_ACCUMULATE;
    call: FETCH_AND_OP COMPARE_AND_SWAP WIN_FENCE WIN_START WIN_COMPLETE WIN_POST WIN_WAIT WIN_TEST
        WIN_LOCK WIN_UNLOCK WIN_UNLOCK_ALL WIN_FLUSH WIN_FLUSH_ALL WIN_FLUSH_LOCAL
        WIN_FLUSH_LOCAL_ALL WIN_SYNC;
}

/// Time spent waiting for others in collective calls.
pub const SYNC: [&str; 16] = [
    "MPI_BARRIER_TOTAL_SYNC_TIME",
    "MPI_BCAST_TOTAL_SYNC_TIME",
    "MPI_GATHER_TOTAL_SYNC_TIME",
    "MPI_GATHERV_TOTAL_SYNC_TIME",
    "MPI_SCATTER_TOTAL_SYNC_TIME",
    "MPI_SCATTERV_TOTAL_SYNC_TIME",
    "MPI_SCAN_TOTAL_SYNC_TIME",
    "MPI_EXSCAN_TOTAL_SYNC_TIME",
    "MPI_ALLGATHER_TOTAL_SYNC_TIME",
    "MPI_ALLGATHERV_TOTAL_SYNC_TIME",
    "MPI_REDUCE_TOTAL_SYNC_TIME",
    "MPI_ALLREDUCE_TOTAL_SYNC_TIME",
    "MPI_REDUCE_SCATTER_TOTAL_SYNC_TIME",
    "MPI_ALLTOALL_TOTAL_SYNC_TIME",
    "MPI_ALLTOALLV_TOTAL_SYNC_TIME",
    "MPI_ALLTOALLW_TOTAL_SYNC_TIME",
];

/// Time in all MPI calls, and waiting in all collective ones.
pub const GLOBAL: [&str; 2] = ["MPI_TOTAL_COMM_TIME", "MPI_TOTAL_COMM_SYNC_TIME"];

/// Counts and times; [`SYNC`] and [`GLOBAL`] follow them in a record.
pub const TABLE: Table = Table { int: &INT, float: &FLOAT };

/// Joins groups of names into one array.
const fn flat<const N: usize>(groups: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut group, mut at) = (0, 0);
    while group < groups.len() {
        let mut member = 0;
        while member < groups[group].len() {
            all[at] = groups[group][member];
            at += 1;
            member += 1;
        }
        group += 1;
    }
    // A wrong N stops the compilation.
    assert!(at == N);
    all
}
