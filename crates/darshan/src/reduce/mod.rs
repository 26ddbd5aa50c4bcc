//! Many records become one: totals of a module, and records shared by all ranks.

pub(crate) mod derived;
pub(crate) mod rule;
mod shared;
mod total;

pub use derived::{Category, Derived, Files, Performance};
pub use shared::Shared;
pub use total::Total;
