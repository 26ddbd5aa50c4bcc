//! The heaps of this process.
#![expect(unsafe_code, reason = "the allocator has no safe name for its settings")]

/// Heaps of the C library that threads share. It would make eight for each processor, and what a thread gave back to one of them serves
/// no other: a store that reads and writes files in many threads kept half as much again as it needed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: std::ffi::c_int = 2;

/// Makes threads share few heaps, from now on: to be called before there are any.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn share() {
    const M_ARENA_MAX: std::ffi::c_int = -8;
    unsafe extern "C" {
        fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
    }
    // SAFETY: it takes two numbers and changes a setting of the allocator, under the allocator's own lock.
    unsafe { mallopt(M_ARENA_MAX, HEAPS) };
}

/// Other C libraries have one heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share() {}
