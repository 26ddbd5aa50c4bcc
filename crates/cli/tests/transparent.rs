//! Whatever an observer can see of real programs and of the workloads is the same under `netra run` as
//! without it.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use netra_e2e::transparent::{self, Aspect, Guest, Line, PLAIN, Way};
use netra_workloads::catalogue::{self, Library};
use netra_workloads::{Launch, Mpi};

/// Workloads are ranks that wait for each other.
const RANKS: &[(Aspect, &str)] = &[
    (Aspect::Calls, "ranks ask for messages until there are some"),
    (Aspect::Ends, "what has come by then is another each time"),
];

fn main() -> ExitCode {
    let netra = PathBuf::from(env!("CARGO_BIN_EXE_netra"));
    let workloads = catalogue::ALL.iter().map(|workload| Guest {
        name: workload.name,
        package: "mpich",
        command: Line::Made(line),
        apart: RANKS,
        long: true,
        ..PLAIN
    });
    let ways = [Way::Run { netra: netra.clone() }, Way::Live { netra }];
    transparent::main(&ways, workloads.collect::<Vec<_>>().leak())
}

/// The first trial of a workload, by two ranks.
fn line(name: &str) -> anyhow::Result<Vec<OsString>> {
    let workload = catalogue::find(name)?;
    let open = workload.libraries.contains(&Library::Pnetcdf);
    let knobs = workload.trials.first().unwrap_or(&"").split_whitespace();
    let launch = Launch {
        workload,
        mpi: if open { Mpi::OpenMpi } else { Mpi::Mpich },
        ranks: 2,
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: knobs.map(str::to_owned).collect(),
    };
    let command = launch.command(Path::new("."))?;
    let words = iter::once(command.get_program()).chain(command.get_args());
    Ok(words.map(OsString::from).collect())
}
