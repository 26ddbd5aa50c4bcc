//! How a run ended, and the exit code that says so.

use std::path::Path;
use std::process::ExitCode;

/// A word that makes no sense, found out only after all words were read: wrong usage.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What happened to the logs of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Logs of which something could be read.
    read: usize,
    /// Logs of which nothing could be read.
    unreadable: usize,
    /// Whether something was missing from a log that could be read, or two logs differ.
    remark: bool,
}

impl Outcome {
    /// A log was read, with or without something missing.
    pub(crate) fn read(&mut self, complete: bool) {
        self.read += 1;
        self.remark |= !complete;
    }

    /// Another part of the same run.
    pub(crate) fn add(&mut self, other: Outcome) {
        self.read += other.read;
        self.unreadable += other.unreadable;
        self.remark |= other.remark;
    }

    /// Two logs differ.
    pub(crate) fn differs(&mut self) {
        self.remark = true;
    }

    /// Says why nothing could be read of a log, and goes on.
    pub(crate) fn unreadable(&mut self, path: &Path, error: &anyhow::Error) {
        self.unreadable += 1;
        eprintln!("netra: {}", crate::sentence::about(path, error));
    }

    /// 0 all is well; 1 something was missing or differs; 2 nothing could be read.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Outcome { read: 0, unreadable: 1.., .. } => 2,
            Outcome { unreadable: 1.., .. } | Outcome { remark: true, .. } => 1,
            _ => 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;
    use std::process::ExitCode;

    #[track_caller]
    fn check(read: usize, unreadable: usize, remark: bool, code: u8) {
        let outcome = Outcome { read, unreadable, remark };
        // ExitCode cannot be compared, but it can be shown.
        assert_eq!(format!("{:?}", outcome.code()), format!("{:?}", ExitCode::from(code)));
    }

    #[test]
    fn a_code_says_how_much_was_read() {
        check(3, 0, false, 0);
        check(3, 0, true, 1);
        check(2, 1, false, 1);
        check(0, 1, false, 2);
        check(0, 0, false, 0);
    }
}
