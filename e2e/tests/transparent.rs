//! Whatever an observer can see of real programs is the same with the library as without it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use netra_e2e::transparent::{self, Way};

fn main() -> ExitCode {
    transparent::main(&[Way::Library], &[])
}
