//! AArch64. The twin of `x86_64.rs`; compiled only where that target is installed.

use core::arch::{asm, global_asm, naked_asm};
use core::ffi::{c_int, c_void};

use crate::got::{Entry, Route};

// The trampolines of `got`; see the twin. Each has its own address in x17, from which its route is
// found: both have 32 bytes. Only x9, x16 and x17 are touched, which carry no arguments.
global_asm!(
    ".bss",
    ".globl netra_routes",
    ".hidden netra_routes",
    ".p2align 6",
    "netra_routes: .zero 32 * 1024",
    ".text",
    ".globl netra_trampolines",
    ".hidden netra_trampolines",
    ".p2align 5",
    "netra_trampolines:",
    ".rept 1024",
    ".p2align 5",
    "adr x17, .",
    "b 9f",
    ".endr",
    ".p2align 5",
    "9:",
    "adrp x16, netra_trampolines",
    "add x16, x16, :lo12:netra_trampolines",
    "sub x17, x17, x16",
    "adrp x16, netra_routes",
    "add x16, x16, :lo12:netra_routes",
    "add x17, x16, x17",
    "ldr x16, [x17, #8]",
    "br x16",
    ".p2align 4",
    ".globl netra_entry_mapping",
    ".hidden netra_entry_mapping",
    "netra_entry_mapping:",
    "tbz w3, #5, netra_entry",
    "ldr x16, [x17]",
    "br x16",
    ".p2align 4",
    ".globl netra_entry",
    ".hidden netra_entry",
    "netra_entry:",
    "mrs x9, tpidr_el0",
    "adrp x16, :gottprel:netra_tls",
    "ldr x16, [x16, :gottprel_lo12:netra_tls]",
    "add x9, x9, x16",
    "stp x17, x30, [x9, #32]",
    "mov x16, sp",
    "str x16, [x9, #48]",
    "ldr x16, [x17, #16]",
    "br x16",
);

/// The first byte of the calling thread's slot: 64 zeroed bytes, aligned to 64.
#[inline(always)]
#[must_use]
pub fn slot() -> *mut c_void {
    let slot: *mut c_void;
    // SAFETY: reads the thread pointer and a link-time constant; touches no memory of ours.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:netra_tls",
            "ldr {1}, [{1}, :gottprel_lo12:netra_tls]",
            "add {0}, {0}, {1}",
            out(reg) slot,
            out(reg) _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    slot
}

/// Whether valgrind runs the process; see the twin.
#[must_use]
pub fn simulated() -> bool {
    let question = [0x1001_u64, 0, 0, 0, 0, 0];
    let answer: u64;
    // SAFETY: four turns that add up to whole ones and a register that is made itself: nothing to a
    // processor. valgrind takes them for the question that x4 points to, and answers in x3.
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") question.as_ptr(),
            inout("x3") 0_u64 => answer,
            options(readonly, nostack),
        );
    }
    answer != 0
}

/// The address of a name that another C library may not have; see the twin.
#[macro_export]
macro_rules! weak {
    ($name:literal) => {{
        let address: *mut core::ffi::c_void;
        // SAFETY: reads a slot that the loader has filled.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("adrp {0}, :got:", $name),
                concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Whether a thread has no slot: its first word, which leads to the blocks of its libraries, is empty.
#[inline(always)]
#[must_use]
pub fn is_foreign(_slot: *mut c_void) -> bool {
    let first: usize;
    // SAFETY: the thread pointer leads to at least the two words that the ABI reserves.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "ldr {0}, [{0}]",
            out(reg) first,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    first == 0
}

/// The thread pointer; glibc's `pthread_self()` lies at a fixed distance below it.
#[must_use]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: reads a register.
    unsafe {
        asm!("mrs {0}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags))
    };
    pointer
}

/// The stack pointer, to tell frames that still exist from frames that are gone.
#[inline(always)]
#[must_use]
pub fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {0}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Registers that unwinding follows, by their numbers in call frame information: x0 to x30, the stack
/// pointer.
pub const REGISTERS: usize = 32;
/// The stack pointer among them.
pub const STACK_REGISTER: usize = 31;

/// The registers that a caller gets back, as they are here; and where here is.
#[inline(always)]
pub fn registers(into: &mut [u64; REGISTERS]) -> u64 {
    let here: u64;
    // SAFETY: writes to the array only, at the places of x19 to x30 and sp.
    unsafe {
        asm!(
            "stp x19, x20, [{into}, #152]",
            "stp x21, x22, [{into}, #168]",
            "stp x23, x24, [{into}, #184]",
            "stp x25, x26, [{into}, #200]",
            "stp x27, x28, [{into}, #216]",
            "stp x29, x30, [{into}, #232]",
            "mov {here}, sp",
            "str {here}, [{into}, #248]",
            "adr {here}, .",
            into = in(reg) into.as_mut_ptr(),
            here = out(reg) here,
            options(nostack, preserves_flags),
        );
    }
    here
}

/// A return address as it lies on the stack, without the signature that it may carry in its upper bits.
#[must_use]
pub fn return_address(held: u64) -> u64 {
    held & 0xffff_ffff_ffff
}

/// Writes the stack pointer into a word of the thread's slot.
#[inline(always)]
pub fn mark(word: &core::cell::Cell<usize>) {
    word.set(stack_pointer());
}

/// The same for the word `AT` bytes behind an address.
///
/// # Safety
/// The word is the calling thread's own.
#[inline(always)]
pub unsafe fn mark_at<const AT: usize>(base: *const c_void) {
    let word = base.wrapping_byte_add(AT).cast_mut().cast::<usize>();
    // SAFETY: the caller vouches.
    unsafe { word.write(stack_pointer()) };
}

/// The virtual counter.
#[inline(always)]
#[must_use]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: Linux lets users read the counter.
    unsafe {
        asm!("mrs {0}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags))
    };
    count
}

/// The counter where ticks are read from it, else what else says.
#[inline(always)]
pub fn counter_or(slow: impl FnOnce() -> u64) -> u64 {
    const COUNTER: u32 = netra_event::segment::Clock::Counter as u32;
    if crate::time::CLOCK.load(core::sync::atomic::Ordering::Relaxed) == COUNTER {
        counter()
    } else {
        slow()
    }
}

/// The architecture promises one rate.
#[must_use]
pub fn steady_counter() -> bool {
    true
}

/// Adds one to a word that only this thread writes, so that a signal handler that adds to the same
/// word in between loses nothing.
#[inline(always)]
pub fn increment(word: &core::sync::atomic::AtomicU64) {
    word.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
}

/// Adds to a word that other threads do not write, and gives what it held.
#[inline(always)]
pub fn fetch_add(word: &core::sync::atomic::AtomicU64, value: u64) -> u64 {
    word.fetch_add(value, core::sync::atomic::Ordering::Relaxed)
}

/// A raw system call. Does not touch errno; errors are `-errno`.
///
/// # Safety
/// As the system call itself demands of its arguments.
#[inline(always)]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let done: isize;
    // SAFETY: the caller keeps the call's contract; the kernel preserves all other registers.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => done,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            in("x4") args[4],
            in("x5") args[5],
            options(nostack),
        );
    }
    done
}

/// Bytes of a page, which the kernel chooses here.
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: asks the C library for what the kernel told it at the start.
    let told = unsafe { libc::getauxval(libc::AT_PAGESZ) };
    if told == 0 { 65_536 } else { told as usize }
}

/// The ELF machine of objects that can be loaded here.
pub const MACHINE: u16 = 183;
/// An application's addresses are below.
pub const HIGHEST: usize = 1 << 48;

/// Trampolines there are.
pub const TRAMPOLINES: usize = 1024;
/// Relocation of a slot through which functions are called.
pub const JUMP_SLOT: u32 = 1026;
/// Relocation of a slot that holds an address.
pub const GLOBAL_DATA: u32 = 1025;
/// Relocation of a word of data that holds an address.
pub const ADDRESS: u32 = 257;
/// Bytes of a trampoline.
const TRAMPOLINE_BYTES: usize = 32;

unsafe extern "C" {
    #[link_name = "netra_trampolines"]
    static TRAMPOLINE: [[u8; TRAMPOLINE_BYTES]; TRAMPOLINES];
    #[link_name = "netra_routes"]
    static ROUTES: [Route; TRAMPOLINES];
    #[link_name = "netra_entry"]
    static ENTRY: u8;
    #[link_name = "netra_entry_mapping"]
    static ENTRY_MAPPING: u8;
}

/// Where a trampoline goes on.
#[must_use]
pub fn entry(entry: Entry) -> usize {
    match entry {
        Entry::Take => (&raw const ENTRY).addr(),
        Entry::Map => (&raw const ENTRY_MAPPING).addr(),
    }
}

/// Where the trampolines lead, by their number.
#[must_use]
pub fn routes() -> &'static [Route; TRAMPOLINES] {
    // SAFETY: zeroed memory of this size, which is valid; atomics only.
    unsafe { &ROUTES }
}

/// The address of a trampoline.
#[must_use]
pub fn trampoline(number: usize) -> usize {
    (&raw const TRAMPOLINE).addr().wrapping_add(number.wrapping_mul(TRAMPOLINE_BYTES))
}

/// Whether an address is that of a trampoline.
#[must_use]
pub fn is_trampoline(address: usize) -> bool {
    let first = (&raw const TRAMPOLINE).addr();
    (first..first.wrapping_add(TRAMPOLINES.wrapping_mul(TRAMPOLINE_BYTES))).contains(&address)
}

/// `vfork(2)`, as `clone(CLONE_VM | CLONE_VFORK | SIGCHLD)`; see the twin for why it is naked.
///
/// # Safety
/// The caller keeps the contract of `vfork(2)`.
#[unsafe(naked)]
pub unsafe extern "C" fn vfork() -> c_int {
    naked_asm!(
        "mrs x9, tpidr_el0",
        "adrp x10, :gottprel:netra_tls",
        "ldr x10, [x10, :gottprel_lo12:netra_tls]",
        "add x9, x9, x10",
        "mov x11, #1",
        "str x11, [x9, #16]",
        "mov x0, #0x4111",
        "mov x1, #0",
        "mov x2, #0",
        "mov x3, #0",
        "mov x4, #0",
        "mov x8, #220",
        "svc 0",
        "cbz x0, 3f",
        "str xzr, [x9, #16]",
        "cmn x0, #4095",
        "b.hs 4f",
        "3:",
        "ret",
        "4:",
        "neg w0, w0",
        "stp x29, x30, [sp, #-32]!",
        "str x0, [sp, #16]",
        "bl {errno}",
        "ldr x1, [sp, #16]",
        "str w1, [x0]",
        "mov w0, #-1",
        "ldp x29, x30, [sp], #32",
        "ret",
        errno = sym libc::__errno_location,
    )
}

/// `dlopen(3)`; see the twin.
///
/// # Safety
/// The caller keeps the contract of `dlopen(3)`.
#[unsafe(naked)]
pub unsafe extern "C" fn dlopen() -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "bl {choose}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "br x16",
        choose = sym crate::hook::load::choose,
    )
}

/// What an exported name is: takes its own return address as one more argument and jumps into the
/// hook. `@n` is the number of arguments the C function has. It has 32 bytes; patchers write up to 20.
#[macro_export]
macro_rules! export_jump {
    (@0 $hook:path) => { $crate::export_jump!(@with "mov x0, x30", $hook) };
    (@1 $hook:path) => { $crate::export_jump!(@with "mov x1, x30", $hook) };
    (@2 $hook:path) => { $crate::export_jump!(@with "mov x2, x30", $hook) };
    (@3 $hook:path) => { $crate::export_jump!(@with "mov x3, x30", $hook) };
    (@4 $hook:path) => { $crate::export_jump!(@with "mov x4, x30", $hook) };
    (@5 $hook:path) => { $crate::export_jump!(@with "mov x5, x30", $hook) };
    // As on x86-64 the hook does without its call site; variadic functions have arguments there.
    (@6 $hook:path) => { $crate::export_jump!(@with "nop", $hook) };
    (@with $load:literal, $hook:path) => {
        core::arch::naked_asm!($load, concat!($crate::jump!(), " {hook}"), ".p2align 5", hook = sym $hook)
    };
}

/// The instruction that goes to another function for good.
#[macro_export]
macro_rules! jump {
    () => {
        "b"
    };
}
