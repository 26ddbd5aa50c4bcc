//! The netra section: what Darshan's format has no place for, behind the last region of the same
//! file. Darshan's tools do not see it; `docs/format/section.md` describes it.

pub mod layout;

#[cfg(feature = "std")]
mod attendance;
#[cfg(feature = "std")]
mod own;
#[cfg(feature = "std")]
mod read;
#[cfg(feature = "std")]
pub(crate) mod write;

#[cfg(feature = "std")]
pub use attendance::{Absent, Attendance, Host};
#[cfg(feature = "std")]
pub use own::{OwnRecord, OwnValue};
#[cfg(feature = "std")]
pub(crate) use read::trailer;
#[cfg(feature = "std")]
pub use read::{Block, Section};
