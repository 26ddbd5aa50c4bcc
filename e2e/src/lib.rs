//! End-to-end tests: small programs, one per hazard, run without and with `libnetra_preload.so`.
//!
//! A [`Case`] is a program with its surroundings. [`Case::check`] runs it bare and under a
//! [`Tool`] in the same fresh directory and compares everything an application or its user could
//! notice (output, exit code or signal, files left behind), then the counters in the log with what
//! the program says it did (`programs/expect.h`): exactly, and with nothing beyond it.
//!
//! There is nothing here that knows netra's inside: the library is the shipped one, its log is
//! read as any log.
#![forbid(unsafe_code)]

mod case;
mod expectation;
mod job;
mod log;
mod mount;
mod mpi;
mod outcome;
mod program;
mod scene;
mod segment;
mod stream;
mod syscall;
mod tool;
pub mod transparent;

pub use case::{Case, Verdict};
pub use expectation::{Expectation, compare};
pub use job::{Job, Tally};
pub use log::{Counters, Log, Origin};
pub use mount::SmallDisk;
pub use mpi::{Found, Mpi};
pub use outcome::Outcome;
pub use program::Program;
pub use scene::{Left, Scene};
pub use stream::streams;
pub use syscall::{Traced, trace};
pub use tool::Tool;
