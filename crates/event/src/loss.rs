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
}

#[cfg(test)]
mod tests {
    use super::Loss;

    #[test]
    fn code_leads_back() {
        for (code, &loss) in (0..).zip(Loss::ALL) {
            assert_eq!(Loss::from_code(code), Some(loss));
        }
        assert_eq!(Loss::from_code(200), None);
    }
}
