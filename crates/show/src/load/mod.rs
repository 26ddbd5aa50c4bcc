//! Fills the input of the analysis from what netra can read.

mod darshan;
mod section;
mod symbol;
mod together;

pub use darshan::job;
pub use together::one_job;
