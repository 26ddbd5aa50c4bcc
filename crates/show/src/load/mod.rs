//! Fills the input of the analysis from what netra can read.

mod calls;
mod darshan;
mod holder;
mod section;
#[cfg(feature = "store")]
mod store;
mod symbol;
mod together;

pub use darshan::job;
#[cfg(feature = "store")]
pub use store::stored;
pub use together::one_job;
