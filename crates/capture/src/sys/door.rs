//! The one door through which netra's own system calls go. A process may forbid calls to itself, most
//! often on pain of death: then the door lets through what all of its filters allow, and refuses the
//! rest as the kernel would.
//!
//! A filter is known where the process installs it through a function that we hook (`sandbox`). Its copy
//! lies in memory that children inherit, as they inherit the filter. Where one cannot be known, the door is
//! closed for good.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::filter::{self, Instruction, Verdict};
use crate::arch;

/// A filter that was installed, with the one before it.
#[repr(C)]
pub struct Filter {
    before: *mut Filter,
    length: usize,
    program: [Instruction; filter::LONGEST],
}

/// What hinders: filters, and reasons to let nothing through.
static HINDERED: AtomicU32 = AtomicU32::new(0);
/// Reasons to let nothing through.
static CLOSED: AtomicU32 = AtomicU32::new(0);
/// Calls on their way to the kernel, of all threads.
static INSIDE: AtomicU32 = AtomicU32::new(0);
/// The newest filter.
static FILTERS: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

/// A raw system call, if the process has not forbidden it to itself.
///
/// # Safety
/// As the system call itself demands of its arguments.
#[inline(never)]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    // In this order, which `wait_until_empty` counts on: said to be inside, then asked.
    INSIDE.fetch_add(1, Ordering::SeqCst);
    let done = match HINDERED.load(Ordering::SeqCst) {
        // SAFETY: the caller vouches.
        0 => unsafe { arch::syscall(number, args) },
        _ => match refused(number, &args) {
            Some(errno) => (errno as isize).wrapping_neg(),
            // SAFETY: the caller vouches.
            None => unsafe { arch::syscall(number, args) },
        },
    };
    INSIDE.fetch_sub(1, Ordering::Release);
    done
}

/// Waits until the calls of other threads that asked before the door was closed have reached the kernel. Not
/// without end: a call may take long there, and one that a signal handler or a parent was in counts as well.
pub fn wait_until_empty() {
    for _ in 0..1_000 {
        if INSIDE.load(Ordering::SeqCst) == 0 {
            return;
        }
        if refused_by_filters(libc::SYS_sched_yield, &[0; 6]).is_none() {
            // SAFETY: takes nothing. The filter that the door was closed for is not there yet.
            unsafe { arch::syscall(libc::SYS_sched_yield, [0; 6]) };
        }
    }
}

/// Why a call would be refused: the kernel's error number.
#[cold]
#[inline(never)]
fn refused(number: i64, args: &[usize; 6]) -> Option<i32> {
    if CLOSED.load(Ordering::Acquire) != 0 {
        return Some(libc::EPERM);
    }
    refused_by_filters(number, args)
}

/// The same as far as filters are known.
fn refused_by_filters(number: i64, args: &[usize; 6]) -> Option<i32> {
    let mut at = FILTERS.load(Ordering::Acquire).cast_const();
    // SAFETY: the list holds filters that `add` has written; they are never changed or unmapped.
    while let Some(held) = unsafe { at.as_ref() } {
        let program = held.program.get(..held.length).unwrap_or_default();
        match filter::verdict(program, number, Some(args)) {
            Verdict::Allowed => at = held.before,
            Verdict::Fails(errno) => return Some(errno),
            Verdict::Forbidden => return Some(libc::EPERM),
        }
    }
    None
}

/// Whether the process has forbidden itself anything.
#[must_use]
pub fn is_hindered() -> bool {
    HINDERED.load(Ordering::Relaxed) != 0
}

/// Whether all of these calls would be let through, as far as that does not depend on what they are given.
#[must_use]
pub fn allows(numbers: &[i64]) -> bool {
    !is_hindered() || numbers.iter().all(|&number| refused(number, &[0; 6]).is_none())
}

/// How many filters there are, if none of them does anything but let these calls through or make them fail,
/// whatever they are given.
#[must_use]
pub fn harmless_for(numbers: &[i64]) -> Option<u64> {
    let mut at = FILTERS.load(Ordering::Acquire).cast_const();
    let mut count = 0_u64;
    // SAFETY: as in `refused_by_filters`.
    while let Some(held) = unsafe { at.as_ref() } {
        let program = held.program.get(..held.length).unwrap_or_default();
        let harms = |&number: &i64| filter::verdict(program, number, None) == Verdict::Forbidden;
        if numbers.iter().any(harms) {
            return None;
        }
        at = held.before;
        count = count.wrapping_add(1);
    }
    (CLOSED.load(Ordering::Acquire) == 0).then_some(count)
}

/// Lets nothing through from now on.
pub fn close() {
    CLOSED.fetch_add(1, Ordering::AcqRel);
    HINDERED.fetch_add(1, Ordering::SeqCst);
}

/// Takes one [`close`] back.
pub fn reopen() {
    HINDERED.fetch_sub(1, Ordering::AcqRel);
    CLOSED.fetch_sub(1, Ordering::AcqRel);
}

/// Room for a filter, while memory can still be asked for.
pub fn room() -> Option<*mut Filter> {
    // SAFETY: anywhere.
    let place = unsafe { super::map_private(0, size_of::<Filter>()) };
    place.ok().map(<*mut u8>::cast)
}

/// Gives room back that was not needed.
///
/// # Safety
/// It came from [`room`] and was not given to [`add`].
pub unsafe fn give_back(room: *mut Filter) {
    // SAFETY: the caller vouches.
    unsafe { super::unmap(room.cast(), size_of::<Filter>()) };
}

/// A filter as a program describes it (`struct sock_fprog`).
#[repr(C)]
struct Described {
    length: u16,
    program: *const Instruction,
}

/// Adds a filter that the kernel has just taken; false if its description cannot be one.
///
/// # Safety
/// `room` came from [`room`]. The kernel has read the description and the program at this very address,
/// and whoever called it keeps both until its call returns.
pub unsafe fn add(room: *mut Filter, described: usize) -> bool {
    // SAFETY: the caller vouches.
    let described =
        unsafe { ptr::with_exposed_provenance::<Described>(described).read_unaligned() };
    let length = usize::from(described.length);
    if length > filter::LONGEST {
        return false;
    }
    // SAFETY: as above; the room is ours alone, and as long as the longest program.
    unsafe {
        let to = (&raw mut (*room).program).cast::<Instruction>();
        ptr::copy_nonoverlapping(described.program, to, length);
        (*room).length = length;
    }
    let mut before = FILTERS.load(Ordering::Acquire);
    loop {
        // SAFETY: nobody else knows the room yet.
        unsafe { (*room).before = before };
        match FILTERS.compare_exchange(before, room, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(now) => before = now,
        }
    }
    HINDERED.fetch_add(1, Ordering::AcqRel);
    true
}
