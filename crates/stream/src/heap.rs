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

/// How much the heap grows at a time once it is [wide](widen).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPAN: std::ffi::c_int = 32 << 20;
/// A large page.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: usize = 2 << 20;
/// More than a heap has left that has not been used much.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PROBE: usize = 1 << 20;
/// What is larger gets memory of its own, which can grow without being copied.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ALONE: std::ffi::c_int = 8 << 20;

/// Lets the heap grow by much at once, in large pages where the system has them: for who will soon need memory for a whole job.
/// Each small page costs its first use an interruption, and together these were a quarter to a third of the time that a report took. Memory that
/// is not used stays with the system. To be called by the first thread, whose heap this is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn widen() {
    use std::ffi::{c_int, c_void};
    const M_ARENA_MAX: c_int = -8;
    const M_TRIM_THRESHOLD: c_int = -1;
    const M_TOP_PAD: c_int = -2;
    const M_MMAP_THRESHOLD: c_int = -3;
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
        fn sbrk(more: isize) -> *mut c_void;
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    for (parameter, value) in [
        (M_TRIM_THRESHOLD, SPAN),
        (M_TOP_PAD, SPAN),
        (M_MMAP_THRESHOLD, ALONE),
        // Threads use it, too: they allocate little and much at a time, and a heap of their own would grow in small pages.
        (M_ARENA_MAX, 1),
    ] {
        // SAFETY: it takes two numbers and changes a setting of the allocator, under the allocator's own lock.
        unsafe { mallopt(parameter, value) };
    }
    // More than the heap has left, so that it grows.
    let probe = std::hint::black_box(Vec::<u8>::with_capacity(PROBE));
    let next = probe.as_ptr();
    drop(probe);
    // SAFETY: growing by nothing only tells where the heap ends.
    let end = unsafe { sbrk(0) };
    // A large page comes only where no small one is in use: behind the probe nothing was touched but the word that ends it.
    let behind = next.wrapping_add(PROBE + 64);
    let start = behind.wrapping_add(behind.align_offset(LARGE)).cast_mut();
    let length = end.addr().saturating_sub(start.addr());
    // Another thread's heap lies elsewhere.
    if length == 0 || length > 2 * SPAN as usize {
        return;
    }
    // SAFETY: from `start` to its end the heap has just got this memory, which is this process's own; the advice changes how it is
    // backed, not what it holds. Where it can not be followed, pages stay small.
    unsafe { madvise(start.cast(), length, MADV_HUGEPAGE) };
    // What lies before the first large page is never used, and so costs nothing.
    std::mem::forget(std::hint::black_box(Vec::<u8>::with_capacity(start.addr() - next.addr())));
}

/// Other C libraries have no such settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn widen() {}
