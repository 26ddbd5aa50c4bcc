//! Patterns: what only the order of single calls, or the spread over ranks, can show.
//!
//! Everything here takes O(n log n) time and a few words per call.

mod block;
mod conflict;
mod phase;
mod spread;
mod stripe;
mod traced;
mod unique;

pub use block::CommonBlocks;
pub use conflict::{Conflicts, Hazard};
pub use phase::{Phase, PhaseList, Phases, phases};
pub use spread::{Straggler, median, stragglers};
pub use stripe::SharedStripes;
pub use traced::{FileTrace, Traced};

#[cfg(test)]
pub(crate) mod random;
