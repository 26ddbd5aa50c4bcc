//! What would not work here, and why: one file a matter, each a list of findings.

mod clock;
mod loader;
mod place;
mod program;
mod setting;

use std::ffi::{OsStr, OsString};

pub(crate) use program::{Start, start};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// As it should be.
    Good,
    /// Works, but somebody may wonder.
    Note,
    /// Does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    pub(crate) says: String,
}

pub(crate) fn good(says: impl Into<String>) -> Finding {
    Finding { level: Level::Good, says: says.into() }
}

pub(crate) fn note(says: impl Into<String>) -> Finding {
    Finding { level: Level::Note, says: says.into() }
}

pub(crate) fn bad(says: impl Into<String>) -> Finding {
    Finding { level: Level::Bad, says: says.into() }
}

/// Looks at a command alone.
pub(crate) fn program(command: &OsStr) -> Vec<Finding> {
    program::examine(command)
}

/// Variables that look like settings and are none, each in a sentence.
pub(crate) fn unknown_settings() -> Vec<String> {
    setting::unknown(std::env::vars_os())
}

/// Looks at everything; at a command too if there is one, and at what a launcher starts.
pub(crate) fn examine(command: &[OsString]) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(loader::examine());
    findings.extend(place::examine());
    findings.extend(setting::examine(std::env::vars_os()));
    findings.extend(clock::examine());
    findings.extend(command.first().map(|first| program::examine(first)).unwrap_or_default());
    findings.extend(program::launched(command));
    findings
}
