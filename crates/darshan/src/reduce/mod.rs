//! Many records become one: totals of a module, and records shared by all ranks. [`Pair`] also works inside
//! an application, where ranks join their records when MPI ends.

#[cfg(feature = "std")]
pub(crate) mod derived;
mod join;
mod pair;
pub(crate) mod rule;
#[cfg(feature = "std")]
mod shared;
#[cfg(feature = "std")]
mod total;

#[cfg(feature = "std")]
pub use derived::{Category, Derived, Files, Performance};
pub use pair::Pair;
#[cfg(feature = "std")]
pub use shared::Shared;
#[cfg(feature = "std")]
pub use total::Total;
