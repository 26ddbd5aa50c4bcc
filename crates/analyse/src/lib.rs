//! Diagnosis: from what a job did to its files to what is wrong, what it costs and what to change.
//!
//! The input is a [`Job`], decoded by somebody else; [`Facts`] are computed from it once, rules
//! ([`insight`]) look at facts, and a [`Report`] ranks what they found by the seconds it costs.
//!
//! Nothing here opens a file, reads a clock or knows a format: the same job gives the same
//! report, byte for byte. Odd data never fails; it becomes a remark in [`Trust`].
#![forbid(unsafe_code)]

mod aside;
mod call;
pub mod correlation;
mod decode;
pub mod detail;
mod gather;
pub mod history;
pub mod insight;
mod job;
mod mapped;
pub mod metric;
pub mod pattern;
mod report;
mod threshold;
mod trace;
mod trust;
mod unknown;
mod usage;
mod who;

#[cfg(test)]
mod sample;

pub use aside::{Aside, is_of_mpi};
pub use call::{Act, Commit, Frame, FunctionUse, Ledger, Place, SiteUse};
pub use decode::Decoder;
pub use gather::Gather;
pub use job::{
    Absent, Also, Attendance, Heatmap, Job, Layout, Mount, Opening, PartialModule, Threaded,
};
pub use mapped::Mapped;
pub use metric::Facts;
pub use report::{Report, Setup, diagnose, diagnose_and_draw, diagnose_with};
pub use threshold::{LIMITS, Limit, Ratio, Thresholds, Unit};
pub use trace::{Direction, InOrder, Rows, Run, Trace, TraceRow};
pub use trust::Trust;
pub use usage::{COUNTED, Extreme, Flow, Layer, Usage};
pub use who::{Who, program};
