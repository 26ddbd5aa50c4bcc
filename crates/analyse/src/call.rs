//! What only a trace of every function tells: which functions were called, how often they failed,
//! from which lines, and whether the trace has them all.

use netra_event::{Function, Loss, RecordId};

/// What all ranks did with one function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionUse {
    /// Which.
    pub function: Function,
    /// Calls made, whether they were traced or not.
    pub calls: u64,
    /// Calls in the trace.
    pub traced: u64,
    /// Traced calls that failed.
    pub failed: u64,
    /// How often they failed with which error number, most often first.
    pub errors: Vec<(u32, u64)>,
    /// Bytes that traced calls moved.
    pub bytes: u64,
    /// Seconds of all ranks in traced calls.
    pub seconds: f64,
    /// Of these, seconds that no traced call below it took.
    pub own_seconds: f64,
    /// The longest traced call.
    pub longest: f64,
}

impl FunctionUse {
    /// Nothing yet.
    #[must_use]
    pub fn new(function: Function) -> FunctionUse {
        FunctionUse {
            function,
            calls: 0,
            traced: 0,
            failed: 0,
            errors: Vec::new(),
            bytes: 0,
            seconds: 0.0,
            own_seconds: 0.0,
            longest: 0.0,
        }
    }
}

/// What one function did to one file from one place.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteUse {
    /// Which of [`crate::Job::places`].
    pub place: u32,
    /// The function that was called.
    pub function: Function,
    /// The file, if there was one.
    pub file: Option<RecordId>,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds of all ranks.
    pub seconds: f64,
}

/// A place in a program that calls, innermost frame first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The call's own frame, then its caller's, as far as a stack was taken.
    pub frames: Vec<Frame>,
}

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Frame {
    /// The executable or library.
    pub object: String,
    /// The address within it, in its own numbering.
    pub address: u64,
    /// The function, where symbols tell.
    pub function: Option<String>,
    /// The source file, where debug data tells.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// Whether it belongs to the application rather than to the system or to a library of MPI or HDF5.
    pub own: bool,
}

impl Place {
    /// The frame that a developer can change: the innermost of the application's own, else the
    /// call's.
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.own).or(self.frames.first())
    }
}

impl std::fmt::Display for Frame {
    /// `write_field (wave.c:42)`, or as much of it as is known.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let object = base(&self.object);
        match (&self.function, &self.file, self.line) {
            (Some(function), Some(file), Some(line)) => {
                write!(f, "{function} ({}:{line})", base(file))
            }
            (Some(function), _, _) => write!(f, "{function} in {object}"),
            (None, Some(file), Some(line)) => write!(f, "{}:{line}", base(file)),
            _ => write!(f, "{object}+{:#x}", self.address),
        }
    }
}

/// What a rank did to make its writes visible to others, or to see theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Commit {
    /// The file.
    pub file: RecordId,
    /// Whose.
    pub rank: u32,
    /// What.
    pub act: Act,
    /// Seconds since the job's start: when an open began, when a flush or a close had ended.
    pub time: f64,
}

/// See [`Commit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// Opened the file.
    Open,
    /// Flushed it.
    Sync,
    /// Closed it, which flushes too.
    Close,
}

/// The account of a trace: what was called, what is in it, what is not and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Calls that the library counted.
    pub calls: u64,
    /// Events that it wrote.
    pub produced: u64,
    /// Events that could be read.
    pub delivered: u64,
    /// Events that it did not write, by reason.
    pub dropped: Vec<(Loss, u64)>,
}

impl Ledger {
    /// Events dropped for any reason.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().map(|loss| loss.1).fold(0, u64::saturating_add)
    }

    /// Events that were written and are not here.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.produced.saturating_sub(self.delivered)
    }

    /// Whether every call is an event or counted as dropped.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.calls == self.produced.saturating_add(self.dropped())
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Ledger, Place};
    use netra_event::Loss;

    #[test]
    fn a_frame_says_what_is_known() {
        let frame = Frame { object: "/home/me/wave".into(), address: 0x11a0, ..Frame::default() };
        assert_eq!(frame.to_string(), "wave+0x11a0");
        let named = Frame { function: Some("step".into()), ..frame.clone() };
        assert_eq!(named.to_string(), "step in wave");
        let full = Frame { file: Some("/src/wave.c".into()), line: Some(42), ..named.clone() };
        assert_eq!(full.to_string(), "step (wave.c:42)");
        let library = Frame { object: "/usr/lib/libmpi.so".into(), ..Frame::default() };
        let own = Frame { own: true, ..named };
        let place = Place { frames: vec![library.clone(), own.clone()] };
        assert_eq!(place.frame(), Some(&own));
        assert_eq!(Place { frames: vec![library.clone()] }.frame(), Some(&library));
    }

    #[test]
    fn an_account_balances_or_does_not() {
        let mut ledger =
            Ledger { calls: 10, produced: 7, delivered: 6, dropped: vec![(Loss::Budget, 3)] };
        assert_eq!((ledger.balances(), ledger.missing()), (true, 1));
        ledger.calls = 11;
        assert!(!ledger.balances());
    }
}
