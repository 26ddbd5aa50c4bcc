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

// The thread's slot: initial-exec TLS, which costs two instructions. A preloaded library may use
// it, because the loader sets room aside before the program starts. `netra_tls` is hidden.
core::arch::global_asm!(
    ".section .tbss.netra_tls,\"awT\",@nobits",
    ".globl netra_tls",
    ".hidden netra_tls",
    ".type netra_tls,@object",
    ".size netra_tls,64",
    ".p2align 6",
    "netra_tls: .zero 64",
    ".text",
);

/// Gives a hook that takes a list the name by which the C of the preload library calls it.
#[macro_export]
macro_rules! list_entry {
    ($name:ident, $hook:path) => {
        core::arch::global_asm!(
            concat!(".globl netra_list_", stringify!($name)),
            concat!(".hidden netra_list_", stringify!($name)),
            concat!("netra_list_", stringify!($name), ":"),
            concat!($crate::jump!(), " {hook}"),
            hook = sym $hook,
        );
    };
}
