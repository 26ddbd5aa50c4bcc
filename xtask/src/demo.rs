//! `cargo xtask demo`: builds netra and shows what it does.

use anyhow::Result;

use crate::place::{cargo, run as start};

/// Builds the program.
pub(crate) fn run(_: &[String]) -> Result<()> {
    start(&mut cargo(&["build", "--workspace"]))
}
