//! Fills the input of the analysis from what netra can read.

mod calls;
mod darshan;
mod holder;
mod running;
mod section;
#[cfg(feature = "store")]
mod store;
mod symbol;
mod together;

pub use darshan::job;
pub use running::still_running;
pub(crate) use section::who;
#[cfg(feature = "store")]
pub use store::stored;
pub use together::one_job;
