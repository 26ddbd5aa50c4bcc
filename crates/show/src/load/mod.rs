//! Fills the input of the analysis from what netra can read.

mod darshan;
mod together;

pub use darshan::job;
pub use together::one_job;
