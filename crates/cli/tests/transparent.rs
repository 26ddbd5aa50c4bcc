//! Whatever an observer can see of real programs is the same under `netra run` as without it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use netra_e2e::transparent::{self, Way};

fn main() -> ExitCode {
    let netra = PathBuf::from(env!("CARGO_BIN_EXE_netra"));
    transparent::main(&[Way::Run { netra: netra.clone() }, Way::Live { netra }], &[])
}
