//! A preload library under test: netra's, built once, or Darshan's for a comparison.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::scene::Scene;

/// A library to preload and the settings that point it at a scene.
#[derive(Debug, Clone)]
pub struct Tool {
    kind: Kind,
    preloads: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Netra,
    Darshan,
}

impl Tool {
    /// The shipped library: `E2E_LIBRARY` if set, else built from this repository.
    pub fn netra() -> Result<Tool> {
        static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let library = BUILT.get_or_init(|| built().map_err(|error| format!("{error:#}")));
        match library {
            Ok(library) => Ok(Tool::other(library.clone())),
            Err(error) => bail!("libnetra_preload.so: {error}"),
        }
    }

    /// A library that takes netra's place, for tests of the tests.
    #[must_use]
    pub fn other(library: PathBuf) -> Tool {
        Tool { kind: Kind::Netra, preloads: vec![library] }
    }

    /// Darshan's runtime, built without MPI.
    #[must_use]
    pub fn darshan(library: PathBuf) -> Tool {
        Tool { kind: Kind::Darshan, preloads: vec![library] }
    }

    /// Another library in front, as a site's own LD_PRELOAD.
    #[must_use]
    pub fn behind(mut self, library: PathBuf) -> Tool {
        self.preloads.insert(0, library);
        self
    }

    /// Another library after it.
    #[must_use]
    pub fn before(mut self, library: PathBuf) -> Tool {
        self.preloads.push(library);
        self
    }

    /// The file that is tested.
    #[must_use]
    pub fn library(&self) -> &Path {
        self.preloads.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// What a process needs to see in its environment.
    #[must_use]
    pub fn environment(&self, scene: &Scene) -> Vec<(&'static str, OsString)> {
        let preload = self.preloads.iter().map(|path| path.display().to_string());
        let preload = preload.collect::<Vec<_>>().join(":").into();
        let (logs, segments) = (scene.logs().into_os_string(), scene.segments().into_os_string());
        match self.kind {
            Kind::Netra => vec![
                ("LD_PRELOAD", preload),
                ("NETRA_LOG_DIR", logs),
                ("NETRA_SEGMENT_DIR", segments),
            ],
            Kind::Darshan => vec![
                ("LD_PRELOAD", preload),
                ("DARSHAN_LOGDIR", logs),
                ("DARSHAN_ENABLE_NONMPI", "1".into()),
            ],
        }
    }
}

/// Builds the shipped object. `xtask test` gives the path instead, so that a hundred test processes
/// do not each ask cargo.
fn built() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("E2E_LIBRARY") {
        return Ok(given.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the repository's root")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--quiet", "--profile", "preload"]);
    command.args(["--package", "netra-preload"]);
    let done = command.output().context("run cargo build")?;
    if !done.status.success() {
        bail!("cargo build --profile preload: {}", String::from_utf8_lossy(&done.stderr));
    }
    let target = crate::program::output();
    let library = target.parent().context("target directory")?.join("preload/libnetra_preload.so");
    if !library.is_file() {
        bail!("cargo build did not make {}", library.display());
    }
    Ok(library)
}
