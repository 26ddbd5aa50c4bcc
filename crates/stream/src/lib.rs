//! The way from the segments that processes leave to whoever wants to know.
//!
//! [`source::Segment`] is one process's record, read while it runs or after it died; a
//! [`job::Job`] is all of them that belong together, and becomes one log. A [`batch::Batch`] is what
//! travels while they run: it is sealed into a frame, kept in a spool, sent on, and ends in a
//! [`sink::Sink`].
//!
//! [`render`] writes events as others want to read them. [`sample`] reads what the node itself does.
//!
//! A segment is somebody else's file: nothing in it is believed before it is checked, it is never
//! mapped, and it is removed only when its process is gone and the log is safe on disk.
#![deny(unsafe_code)]

pub mod auth;
pub mod batch;
pub mod clock;
pub mod daemon;
mod error;
pub mod frame;
pub mod guess;
pub mod heap;
pub mod intake;
pub mod job;
pub mod ledger;
pub mod memory;
pub mod node;
pub mod offset;
pub mod outlet;
pub mod pack;
pub mod render;
pub mod sample;
pub mod sink;
pub mod source;
pub mod spool;
pub mod stop;
mod tick;
pub mod told;
pub mod topic;
pub mod wire;

pub use error::{Error, Result};
