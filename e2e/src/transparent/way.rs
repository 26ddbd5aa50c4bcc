//! The ways in which a command is started: bare, with the library alone, and under `netra run`.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;

use crate::scene::Scene;
use crate::tool::Tool;

use super::guest::Aspect;

/// How a command is started.
#[derive(Debug, Clone)]
pub enum Way {
    /// As its user starts it.
    Bare,
    /// The library in `LD_PRELOAD`.
    Library,
    /// Another library there, for tests of the tests.
    Other(Tool),
    /// `netra run -q --` in front.
    Run {
        /// The program netra.
        netra: PathBuf,
    },
    /// `netra run --live -q --` in front.
    Live {
        /// The program netra.
        netra: PathBuf,
    },
}

impl Way {
    /// What reports call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Way::Bare => "bare",
            Way::Library => "library",
            Way::Other(_) => "other",
            Way::Run { .. } => "netra run",
            Way::Live { .. } => "netra run --live",
        }
    }

    /// The words in front of the command.
    pub(crate) fn prefix(&self, scene: &Scene) -> Vec<OsString> {
        let (netra, live) = match self {
            Way::Bare | Way::Library | Way::Other(_) => return Vec::new(),
            Way::Run { netra } => (netra, false),
            Way::Live { netra } => (netra, true),
        };
        let mut words = vec![netra.clone().into_os_string(), "run".into(), "-q".into()];
        words.extend(live.then(|| "--live".into()));
        words.extend(["--log-dir".into(), scene.logs().into_os_string(), "--".into()]);
        words
    }

    /// What a guest says that cannot be started in this way.
    pub(crate) fn aspect(&self) -> Aspect {
        if self.is_below_netra() { Aspect::Run } else { Aspect::Library }
    }

    /// Whether the command is a child of netra's.
    pub(crate) fn is_below_netra(&self) -> bool {
        matches!(self, Way::Run { .. } | Way::Live { .. })
    }

    /// What the command, or netra in front of it, must see in its environment.
    pub(crate) fn environment(&self, scene: &Scene) -> Result<Vec<(&'static str, OsString)>> {
        let tool = Tool::netra()?;
        Ok(match self {
            Way::Bare => Vec::new(),
            Way::Library => tool.environment(scene),
            Way::Other(other) => other.environment(scene),
            Way::Run { .. } | Way::Live { .. } => vec![
                ("NETRA_PRELOAD", tool.library().into()),
                ("NETRA_SEGMENT_DIR", scene.segments().into()),
            ],
        })
    }
}
