//! Why an event or a record is missing. Every loss has one of these reasons, and is counted by it.

use core::fmt;

macro_rules! losses {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $slug:literal, $text:literal;)*) => {
        /// The reason for a loss.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Loss { $($(#[$doc])* $name = $code),* }

        impl Loss {
            /// Every reason, in the order of their codes.
            pub const ALL: &[Loss] = &[$(Loss::$name),*];

            /// The reason with this code, if it is known.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Loss> {
                match code { $($code => Some(Loss::$name),)* _ => None }
            }

            /// A stable word for metrics, JSON and settings.
            #[must_use]
            pub const fn slug(self) -> &'static str {
                match self { $(Loss::$name => $slug),* }
            }
        }

        impl fmt::Display for Loss {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Loss::$name => $text),* })
            }
        }
    };
}

losses! {
    /// The lane's memory budget was spent and nobody read it.
    Budget = 0, "budget", "the trace budget was spent";
    /// The call came from inside another recorded call of the same thread (a signal handler).
    Reentrant = 1, "reentrant", "the call came from inside netra's own work";
    /// No space could be reserved for the next chunk.
    Space = 2, "space", "no space could be reserved for events";
    /// The module or path is excluded from tracing by a setting.
    Excluded = 3, "excluded", "a setting excludes it from the trace";
    /// There was no thread slot left.
    Threads = 4, "threads", "more threads than lanes";
    /// A filter of the daemon leaves its module or path out of the stream.
    Filtered = 5, "filtered", "a filter of the daemon leaves it out of the stream";
    /// Its slot held nothing that can be an event, or was gone before it could be read.
    Torn = 6, "torn", "its slot was damaged, or gone before it was read";
    /// A sink was so far behind that it was told to go without.
    Behind = 7, "behind", "a sink was too far behind";
    /// The process was killed during the call: it is counted, and was never written.
    Killed = 8, "killed", "the process was killed during the call";
    /// A reason that this netra does not know.
    Unknown = 255, "unknown", "of a reason this netra does not know";
}

impl Loss {
    /// Reasons that a lane counts itself; the others come about on the way from there.
    pub const OF_LANES: usize = 5;

    /// Whether the event had been written into a lane before it was lost.
    #[must_use]
    pub const fn is_on_the_way(self) -> bool {
        matches!(self, Loss::Filtered | Loss::Torn | Loss::Behind)
    }
}

#[cfg(test)]
mod tests {
    use super::Loss;

    #[test]
    fn code_leads_back() {
        for &loss in Loss::ALL {
            assert_eq!(Loss::from_code(loss as u8), Some(loss));
        }
        assert!(!Loss::Threads.is_on_the_way() && Loss::Filtered.is_on_the_way());
        assert_eq!(Loss::from_code(200), None);
    }
}
