//! Asking the store in SQL: one [`Session`] behind every door.
//!
//! A session knows who asks ([`Who`]), and what a question may cost ([`Limits`]). Everything that must hold at every
//! door stands here and nowhere else:
//!
//! - rights: a user sees the rows of their own jobs, an administrator all (`right`);
//! - nothing can be changed: the plan is looked at before it runs (`guard`), and the tables' names are fixed (`catalog`);
//! - memory, spill space and time have an end, and a question can be stopped ([`Ground`], [`Answer`]);
//! - sums over groups are made while rows are read (`tally`);
//! - the words that users need beside the standard's (`function`, `view`);
//! - analyses that sites and users bring along ([`analysis`]);
//! - errors say what was probably meant ([`Error`]).
//!
//! There is no JSON, no HTTP and no PostgreSQL here: doors turn an [`Answer`] and an [`Error`] into those.

pub mod analysis;
mod answer;
mod catalog;
mod error;
mod function;
mod ground;
mod guard;
mod job;
mod name;
mod right;
mod session;
mod source;
mod tally;
mod title;
mod view;
mod whole;

pub use answer::{Answer, Stopper};
pub use error::{Error, Kind};
pub use ground::{Ground, Limits};
pub use right::Who;
pub use session::{CATALOG, SCHEMA, Session};
pub use source::Source;

/// What asking gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;
