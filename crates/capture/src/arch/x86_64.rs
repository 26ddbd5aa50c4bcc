//! x86-64, System V.

use core::arch::{asm, naked_asm};
use core::ffi::{c_int, c_void};

/// The first byte of the calling thread's slot: 64 zeroed bytes, aligned to 64.
#[inline(always)]
#[must_use]
pub fn slot() -> *mut c_void {
    let slot: *mut c_void;
    // SAFETY: reads the thread pointer and a link-time constant; touches no memory of ours.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + netra_tls@GOTTPOFF]",
            "add {0}, qword ptr fs:[0]",
            out(reg) slot,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    slot
}

/// The thread pointer, which is `pthread_self()`.
#[must_use]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the ABI keeps the thread pointer in its first word.
    unsafe {
        asm!("mov {0}, qword ptr fs:[0]", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// The stack pointer, to tell frames that still exist from frames that are gone.
#[inline(always)]
#[must_use]
pub fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {0}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Writes the stack pointer into a word of the thread's slot.
#[inline(always)]
pub fn mark(word: &core::cell::Cell<usize>) {
    // SAFETY: the word is the calling thread's own.
    unsafe {
        asm!("mov qword ptr [{0}], rsp", in(reg) word.as_ptr(), options(nostack, preserves_flags))
    };
}

/// The time stamp counter.
#[inline(always)]
#[must_use]
pub fn counter() -> u64 {
    // SAFETY: rdtsc is permitted to users on Linux unless a process forbids it to itself by
    // PR_SET_TSC, and `steady_counter` is asked first.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Whether the counter runs at one rate in every state of the processor (constant and non-stop).
#[must_use]
pub fn steady_counter() -> bool {
    const ADVANCED: u32 = 0x8000_0007;
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= ADVANCED && core::arch::x86_64::__cpuid(ADVANCED).edx & 1 << 8 != 0
}

/// Adds one to a word that only this thread writes, in one instruction, so that a signal handler
/// that adds to the same word in between loses nothing.
#[inline(always)]
pub fn increment(word: &core::sync::atomic::AtomicU64) {
    // SAFETY: the reference makes the address valid; other threads only read the word, and an
    // aligned 8-byte store is whole.
    unsafe { asm!("inc qword ptr [{0}]", in(reg) word.as_ptr(), options(nostack)) };
}

/// Adds to a word that other threads do not write, in one instruction, and gives what it held.
#[inline(always)]
pub fn fetch_add(word: &core::sync::atomic::AtomicU64, value: u64) -> u64 {
    let held: u64;
    // SAFETY: as in `increment`.
    unsafe {
        asm!("xadd qword ptr [{0}], {1}", in(reg) word.as_ptr(), inout(reg) value => held, options(nostack));
    }
    held
}

/// A raw system call. Does not touch errno; errors are `-errno`.
///
/// # Safety
/// As the system call itself demands of its arguments.
#[inline(always)]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let done: isize;
    // SAFETY: the caller keeps the call's contract; the kernel preserves all but rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => done,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    done
}

/// The ELF machine of objects that can be loaded here.
pub const MACHINE: u16 = 62;

/// `vfork(2)`. The child borrows our memory and stack until it execs, so this may not be an
/// ordinary function: the return address is kept in a register, and the thread's slot is marked
/// (byte 16) so that every hook in the child lets calls pass untouched.
///
/// # Safety
/// The caller keeps the contract of `vfork(2)`.
#[unsafe(naked)]
pub unsafe extern "C" fn vfork() -> c_int {
    naked_asm!(
        "pop rdi",
        "mov rsi, qword ptr [rip + netra_tls@GOTTPOFF]",
        "mov qword ptr fs:[rsi + 16], 1",
        "mov eax, 58",
        "syscall",
        "push rdi",
        "test rax, rax",
        "je 3f",
        "mov qword ptr fs:[rsi + 16], 0",
        "cmp rax, -4095",
        "jae 4f",
        "3:",
        "ret",
        "4:",
        "neg eax",
        "push rax",
        "call {errno}@PLT",
        "pop rcx",
        "mov dword ptr [rax], ecx",
        "mov eax, -1",
        "ret",
        errno = sym libc::__errno_location,
    )
}

/// What an exported name is: takes its own return address as one more argument and jumps into the
/// hook. `@n` is the number of arguments the C function has.
#[macro_export]
macro_rules! export_jump {
    (@0 $hook:path) => { $crate::export_jump!(@with "mov rdi, qword ptr [rsp]", $hook) };
    (@1 $hook:path) => { $crate::export_jump!(@with "mov rsi, qword ptr [rsp]", $hook) };
    (@2 $hook:path) => { $crate::export_jump!(@with "mov rdx, qword ptr [rsp]", $hook) };
    (@3 $hook:path) => { $crate::export_jump!(@with "mov rcx, qword ptr [rsp]", $hook) };
    (@4 $hook:path) => { $crate::export_jump!(@with "mov r8, qword ptr [rsp]", $hook) };
    (@5 $hook:path) => { $crate::export_jump!(@with "mov r9, qword ptr [rsp]", $hook) };
    // All six registers are taken: the hook does without its call site.
    (@6 $hook:path) => { $crate::export_jump!(@with "nop", $hook) };
    (@with $load:literal, $hook:path) => {
        core::arch::naked_asm!($load, concat!($crate::jump!(), " {hook}"), hook = sym $hook)
    };
}

/// The instruction that goes to another function for good.
#[macro_export]
macro_rules! jump {
    () => {
        "jmp"
    };
}
