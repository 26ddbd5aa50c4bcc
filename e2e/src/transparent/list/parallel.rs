//! MPI programs, of both of Debian's MPIs and over each transport that works on one machine.

use crate::transparent::guest::{Aspect, Guest, Line, PLAIN};

const MPICH: &str = "Debian MPICH";
const OPEN: &str = "Debian Open MPI";

/// One program over one transport: a variable each, in front of the launcher, and the launcher's words.
const fn ranks(
    name: &'static str,
    library: &'static str,
    variables: &'static [&'static str],
    words: &'static [&'static str],
) -> Guest {
    let command = Line::Ranks { library, program: "mpi_io.c", variables, words };
    Guest { name, package: "mpich", command, apart: POLLING, ..PLAIN }
}

const POLLING: &[(Aspect, &str)] = &[
    (Aspect::Calls, "ranks ask for messages until there are some"),
    (Aspect::Ends, "what has come by then is another each time"),
];

const UCX: &[&str] = &[
    "--mca",
    "pml",
    "ucx",
    "--mca",
    "opal_common_ucx_tls",
    "any",
    "--mca",
    "opal_common_ucx_devices",
    "any",
];

pub(super) static ALL: &[Guest] = &[
    ranks("mpich", MPICH, &[], &[]),
    ranks("mpich_ucx_tcp", MPICH, &["UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"], &[]).long(),
    ranks("mpich_ucx_posix", MPICH, &["UCX_TLS=posix,self"], &[]).long(),
    ranks("mpich_ucx_sysv", MPICH, &["UCX_TLS=sysv,self"], &[]).long(),
    ranks("mpich_ucx_cma", MPICH, &["UCX_TLS=posix,cma,self"], &[]).long(),
    ranks("openmpi", OPEN, &[], &[]),
    ranks("openmpi_tcp", OPEN, &[], &["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]).long(),
    ranks("openmpi_vader", OPEN, &[], &["--mca", "pml", "ob1", "--mca", "btl", "vader,self"])
        .long(),
    ranks("openmpi_ucx", OPEN, &[], UCX).long(),
    ranks("openmpi_ucx_tcp", OPEN, &["UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"], UCX).long(),
    ranks("openmpi_romio", OPEN, &[], &["--mca", "io", "romio321"]).long(),
    // What an application maps before MPI begins is larger than a jump reaches.
    Guest {
        name: "openmpi_ucx_far",
        package: "openmpi-bin",
        command: Line::Ranks { library: OPEN, program: "mpi_far.c", variables: &[], words: UCX },
        apart: POLLING,
        ..PLAIN
    },
    Guest {
        name: "mpich_ucx_far",
        package: "mpich",
        command: Line::Ranks { library: MPICH, program: "mpi_far.c", variables: &[], words: &[] },
        apart: POLLING,
        ..PLAIN
    },
];
