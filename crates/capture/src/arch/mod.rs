//! Everything that depends on the processor: the thread's slot, ticks, system calls, the jumps
//! that exported names are made of. One file an architecture, with the same names in each.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
