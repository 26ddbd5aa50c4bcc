//! Patterns: what only the order of single calls, or the spread over ranks, can show.
//!
//! Calls are read from packed runs, those of a file once (`calls`), and never copied as a whole.

mod block;
mod calls;
mod conflict;
mod cover;
mod lone;
pub(crate) mod parallel;
mod phase;
mod radix;
mod size;
mod spread;
mod step;
mod stripe;
mod target;
mod traced;
mod visible;

pub use block::CommonBlocks;
pub use conflict::{Conflicts, Hazard};
pub(crate) use cover::{Contested, Ranges, holds, join};
pub use lone::{Lone, Longest, Share};
pub use phase::{Phase, PhaseList, Phases, phases};
pub(crate) use size::sizes;
pub use size::{SizeBasis, Sizes};
pub use spread::{Straggler, median, stragglers};
pub use step::Steps;
pub use stripe::SharedStripes;
pub use target::OstActivity;
pub(crate) use target::activity;
pub use traced::{AboveTrace, Contention, FileTrace, Traced};

#[cfg(test)]
pub(crate) mod random;
