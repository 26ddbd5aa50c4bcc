//! The hooks: one file a family. A hook begins a call, makes the real one, and ends it.

pub mod posix;
pub mod process;
