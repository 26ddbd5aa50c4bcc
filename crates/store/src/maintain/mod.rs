//! Keeping a store small, quick and right: what it holds ([`Stats`]), whether it is what was written ([`Problem`]), small files put
//! together ([`Store::compact`](crate::Store::compact)), what arrived twice ([`Store::repair`](crate::Store::repair)), old rows and files that nobody needs removed ([`Store::expire`](crate::Store::expire), [`Store::clean`](crate::Store::clean)).
//!
//! Every change is one commit of one table: a reader sees the version before it or the one behind it. Files that a version gave
//! up stay for an hour, so that whoever reads that version can end.

mod check;
mod clean;
mod compact;
mod expire;
mod keeper;
mod replace;
mod stats;
mod twice;
mod window;
mod writing;

use std::time::Duration;

pub use check::Problem;
pub use compact::Compacted;
pub use keeper::{Keeper, Rules};
pub use stats::Stats;
pub use twice::Repaired;

/// How long files that no version has any more stay.
pub const LINGER: Duration = Duration::from_secs(3600);
