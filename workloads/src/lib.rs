//! The I/O patterns of the papers' applications as small programs, and what builds and starts them.
//!
//! A workload is a folder beside this one (`mpi-io-test/`, `hacc-io/`, …) with one program and its
//! page, and one row in [`catalogue::ALL`]. [`compile`] makes it for an [`Mpi`], a [`Launch`] runs
//! it, [`Expected`] is what it promises, and [`command`] is `cargo xtask workload`. Whether a program does, call for call, what its
//! `--expect` says is judged by `tests/matrix/`.
//!
//! Nothing here knows netra: it is judged with these programs, so they are judged without it.
#![forbid(unsafe_code)]

pub mod catalogue;
pub mod command;
pub mod compile;
pub mod expected;
mod launch;
mod mpi;

pub use catalogue::Workload;
pub use expected::Expected;
pub use launch::Launch;
pub use mpi::{Missing, Mpi, need};
