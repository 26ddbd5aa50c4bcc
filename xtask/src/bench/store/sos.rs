//! The same kind of events in SOS, the store of the published stack, with its three joint indices: an installation that `SOS_PREFIX=` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::place::{output, root, run as start, target};

/// SOS takes as long for each event of a hundred million, and half a terabyte hardly fits anywhere.
const EVENTS: &str = "1000000";
const RANKS: &str = "64";

/// Lines that say what it needs for an event and for a row; nothing where it is not installed.
pub(super) fn measure() -> Result<Option<Vec<u8>>> {
    let Some(prefix) = std::env::var_os("SOS_PREFIX").filter(|prefix| !prefix.is_empty()) else {
        return Ok(None);
    };
    let libraries = Path::new(&prefix).join("lib");
    let program = target().join("bench-sos");
    let mut compile = Command::new("gcc");
    compile.arg("-O2").arg("-I").arg(Path::new(&prefix).join("include")).arg("-o").arg(&program);
    compile
        .arg(root().join("xtask/bench/sos.c"))
        .arg("-L")
        .arg(&libraries)
        .args(["-lsos", "-lods"]);
    start(&mut compile)?;
    let place: PathBuf = target().join("store-sos");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let mut peer = Command::new(program);
    // It loads its indices by name while it runs.
    peer.arg(&place).args([EVENTS, RANKS]).env("LD_LIBRARY_PATH", &libraries);
    let said = output(&mut peer)?;
    std::fs::remove_dir_all(&place)?;
    Ok(Some(said))
}
