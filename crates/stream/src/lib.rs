//! The way from the segments that processes leave to whoever wants to know.
//!
//! [`source::Segment`] is one process's record, read while it runs or after it died; a
//! [`job::Job`] is all of them that belong together, and becomes one log.
//!
//! A segment is somebody else's file: nothing in it is believed before it is checked, it is never
//! mapped, and it is removed only when its process is gone and the log is safe on disk.
#![forbid(unsafe_code)]

mod error;
pub mod job;
pub mod memory;
pub mod source;

pub use error::{Error, Result};
