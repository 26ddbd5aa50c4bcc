//! `cargo xtask workload NAME …`: builds and runs one of the papers' applications in small.
//!
//! Everything it does is in `workloads/src/`; here the program's exit code becomes ours.

use std::fmt;

use anyhow::Result;
use netra_workloads::command;

/// A program that ended with something other than 0. It has said why itself.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) u8);

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the workload ended with {}", self.0)
    }
}

impl std::error::Error for Ended {}

/// Runs the workload; an exit code that is not 0 comes back as [`Ended`].
pub(crate) fn run(words: &[String]) -> Result<()> {
    match command::run(words)? {
        Some(status) if !status.success() => {
            let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
            Err(Ended(code).into())
        }
        _ => Ok(()),
    }
}
