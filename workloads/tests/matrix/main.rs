//! Every workload does, call for call and byte for byte, what its `--expect` says.
//!
//! A *cell* is a workload with an MPI, a number of ranks and a setting of its knobs. It is run once,
//! each rank under `strace` and with libraries preloaded that count MPI-IO (through the profiling
//! interface), HDF5, PnetCDF and stdio calls; then the files are read. netra takes no part.
#![expect(clippy::unwrap_used, reason = "a judge that cannot read its evidence stops there")]
#![expect(clippy::print_stdout, reason = "each cell is told in a line")]

mod cell;
mod conflict;
mod content;
mod counter;
mod knobs;
mod layout;
mod trace;
mod verdict;

use cell::judge_all;

/// One test for each workload, and one that none was forgotten.
macro_rules! workloads {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            judge_all($name);
        })*

        #[test]
        fn every_workload_is_judged() {
            let judged = [$($name),*];
            let known: Vec<&str> =
                netra_workloads::catalogue::ALL.iter().map(|workload| workload.name).collect();
            assert_eq!(judged.as_slice(), known);
        }
    };
}

workloads! {
    mpi_io_test "mpi-io-test"
    hacc_checkpoint "hacc-checkpoint"
    hacc_io "hacc-io"
    flash "flash"
    nwchem "nwchem"
    qmcpack "qmcpack"
    sw4 "sw4"
    chombo "chombo"
    openpmd "openpmd"
    amrex "amrex"
    pnetcdf_var "pnetcdf-var"
    hmmer "hmmer"
    dlio "dlio"
    slow_rank "slow-rank"
    same_file_every_rank "same-file-every-rank"
    stdout_bulk "stdout-bulk"
    load "load"
}
