//! What netra does inside an application: it stands in front of its I/O functions, counts what
//! passes, and writes each call as an event into memory that others can read.
//!
//! Start at [`call::Call`]: a hook begins one, makes the real call, and ends it. [`tls::Thread`]
//! is what a thread owns, [`memory::Private`] what the process owns, and the *segment*
//! ([`arena`]) is what others see. [`life`] tells how a process begins, forks and ends.
//!
//! The rules of a guest hold for every line: nothing here allocates with malloc, panics, locks,
//! waits, prints, or calls a function that we hook, except through `real!`. What goes wrong is
//! counted or noted in the segment, never raised.
#![cfg_attr(not(test), no_std)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::todo,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::allow_attributes,
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::panic,
        reason = "tests may fail"
    )
)]

pub mod arch;
pub mod arena;
pub mod call;
pub mod extension;
pub mod files;
pub mod flow;
pub mod got;
pub mod handle;
pub mod heatmap;
pub mod hold;
pub mod hook;
pub mod jail;
pub mod job;
pub mod lane;
pub mod launcher;
pub mod life;
pub mod log;
pub mod lustre;
pub mod memory;
pub mod module;
pub mod mount;
pub mod mpi;
pub mod name;
pub mod nest;
pub mod object;
pub mod platform;
pub mod real;
pub mod roll;
pub mod room;
pub mod sandbox;
pub mod settings;
pub mod shard;
pub mod site;
pub mod stack;
pub mod sys;
pub mod target;
pub mod text;
pub mod time;
pub mod tls;
pub mod transfer;
pub mod who;
