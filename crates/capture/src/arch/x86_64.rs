//! x86-64, System V.

use core::arch::{asm, global_asm, naked_asm};
use core::ffi::{c_int, c_void};

use crate::got::{Entry, Route};

// The trampolines of `got`: each loads the address of its route and goes on at the route's entry. One entry
// leaves route and return address in the thread's slot and jumps to the route's hook; the other lets
// anonymous memory pass to the real `mmap` first, and touches nothing: allocators live of it, also in
// threads that were made without a block of their own. Only r10 and r11 are touched, which carry no
// arguments. A trampoline is long enough for a patcher that takes it for the function.
global_asm!(
    ".bss",
    ".globl netra_routes",
    ".hidden netra_routes",
    ".p2align 6",
    "netra_routes: .zero 32 * 1024",
    ".text",
    ".globl netra_trampolines",
    ".hidden netra_trampolines",
    ".p2align 4",
    "netra_trampolines:",
    ".set netra_route, 0",
    ".rept 1024",
    ".p2align 4",
    "lea r11, [rip + netra_routes + netra_route]",
    "jmp qword ptr [r11 + 8]",
    ".set netra_route, netra_route + 32",
    ".endr",
    ".p2align 4",
    ".globl netra_entry_mapping",
    ".hidden netra_entry_mapping",
    "netra_entry_mapping:",
    "test cl, 0x20",
    "jz netra_entry",
    "jmp qword ptr [r11]",
    ".p2align 4",
    ".globl netra_entry",
    ".hidden netra_entry",
    "netra_entry:",
    "mov r10, qword ptr [rip + netra_tls@GOTTPOFF]",
    "mov qword ptr fs:[r10 + 32], r11",
    "mov r11, qword ptr [rsp]",
    "mov qword ptr fs:[r10 + 40], r11",
    "mov qword ptr fs:[r10 + 48], rsp",
    "mov r11, qword ptr fs:[r10 + 32]",
    "jmp qword ptr [r11 + 16]",
);

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

/// Whether valgrind runs the process. It makes the system calls, knows those of its own time only,
/// and says so in the application's standard error when it meets another.
#[must_use]
pub fn simulated() -> bool {
    // `RUNNING_ON_VALGRIND` of `valgrind.h`, and no arguments.
    let question = [0x1001_u64, 0, 0, 0, 0, 0];
    let answer: u64;
    // SAFETY: four turns that add up to whole ones and an exchange of a register with itself: nothing to
    // a processor. valgrind takes them for the question that rax points to, and answers in rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") question.as_ptr(),
            inout("rdx") 0_u64 => answer,
            options(readonly, nostack),
        );
    }
    answer != 0
}

/// The address of a name that another C library may not have, null where it has not: a weak symbol.
#[macro_export]
macro_rules! weak {
    ($name:literal) => {{
        let address: *mut core::ffi::c_void;
        // SAFETY: reads a slot that the loader has filled.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Whether a thread has no slot: its first word, to which the slot lies at a negative distance, is not the
/// thread pointer but empty.
#[inline(always)]
#[must_use]
pub fn is_foreign(slot: *mut c_void) -> bool {
    slot.addr().cast_signed() < 0
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

/// Registers that unwinding follows, by their numbers in call frame information: sixteen, and the return
/// address.
pub const REGISTERS: usize = 17;
/// The stack pointer among them.
pub const STACK_REGISTER: usize = 7;

/// The registers that a caller gets back, as they are here; and where here is.
#[inline(always)]
pub fn registers(into: &mut [u64; REGISTERS]) -> u64 {
    let here: u64;
    // SAFETY: writes to the array only, at the places of rbx, rbp, rsp and r12 to r15.
    unsafe {
        asm!(
            "mov qword ptr [{into} + 24], rbx",
            "mov qword ptr [{into} + 48], rbp",
            "mov qword ptr [{into} + 56], rsp",
            "mov qword ptr [{into} + 96], r12",
            "mov qword ptr [{into} + 104], r13",
            "mov qword ptr [{into} + 112], r14",
            "mov qword ptr [{into} + 120], r15",
            "lea {here}, [rip]",
            into = in(reg) into.as_mut_ptr(),
            here = out(reg) here,
            options(nostack, preserves_flags),
        );
    }
    here
}

/// A return address as it lies on the stack.
#[must_use]
pub fn return_address(held: u64) -> u64 {
    held
}

/// Writes the stack pointer into a word of the thread's slot.
#[inline(always)]
pub fn mark(word: &core::cell::Cell<usize>) {
    // SAFETY: the word is the calling thread's own.
    unsafe {
        asm!("mov qword ptr [{0}], rsp", in(reg) word.as_ptr(), options(nostack, preserves_flags))
    };
}

/// The same for the word `AT` bytes behind an address, in one instruction.
///
/// # Safety
/// The word is the calling thread's own.
#[inline(always)]
pub unsafe fn mark_at<const AT: usize>(base: *const c_void) {
    // SAFETY: the caller vouches.
    unsafe {
        asm!("mov qword ptr [{0} + {1}], rsp", in(reg) base, const AT, options(nostack, preserves_flags))
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

/// The time stamp counter where ticks are read from it, else what else says. To compare in memory and jump takes
/// an instruction less than what an atomic load is compiled to, twice in each call.
#[inline(always)]
pub fn counter_or(slow: impl FnOnce() -> u64) -> u64 {
    const COUNTER: u32 = netra_event::segment::Clock::Counter as u32;
    // SAFETY: reads one aligned word, which is atomic.
    unsafe {
        asm!(
            "cmp dword ptr [rip + {clock}], {counter}",
            "jne {other}",
            clock = sym crate::time::CLOCK,
            counter = const COUNTER,
            other = label { return slow() },
            options(readonly, nostack),
        );
    }
    counter()
}

/// Whether the counter runs at one rate in every state of the processor (constant and non-stop).
#[must_use]
pub fn steady_counter() -> bool {
    // Every 64-bit processor knows the leaf.
    const ADVANCED: u32 = 0x8000_0007;
    // Asked once at most: in a virtual machine the host has to answer, which takes ten microseconds.
    let words = loader_knows().unwrap_or_else(|| core::arch::x86_64::__cpuid(ADVANCED).edx);
    words & 1 << 8 != 0
}

/// What the loader was told of the same leaf when it started the process, where it says so (glibc 2.33,
/// `<sys/platform/x86.h>`).
fn loader_knows() -> Option<u32> {
    /// The leaf's number among those that the loader keeps.
    const ADVANCED: u32 = 4;
    type Leaf = unsafe extern "C" fn(u32) -> *const [u32; 4];
    let found = crate::real::next(c"__x86_get_cpuid_feature_leaf");
    if found.is_null() {
        return None;
    }
    // SAFETY: the C library's function has this signature; it gives a table that stays, of which the first
    // words are the processor's answer (eax to edx), or null for a leaf it does not know.
    let leaf =
        unsafe { core::mem::transmute::<*mut core::ffi::c_void, Leaf>(found)(ADVANCED).as_ref() };
    leaf.map(|words| words[3])
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

/// Bytes of a page.
#[must_use]
pub fn page_bytes() -> usize {
    4096
}

/// The ELF machine of objects that can be loaded here.
pub const MACHINE: u16 = 62;
/// An application's addresses are below.
pub const HIGHEST: usize = 1 << 47;

/// Trampolines there are.
pub const TRAMPOLINES: usize = 1024;
/// Relocation of a slot through which functions are called.
pub const JUMP_SLOT: u32 = 7;
/// Relocation of a slot that holds an address.
pub const GLOBAL_DATA: u32 = 6;
/// Relocation of a word of data that holds an address.
pub const ADDRESS: u32 = 1;
/// Bytes of a trampoline.
const TRAMPOLINE_BYTES: usize = 16;

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

/// `dlopen(3)`. The loader looks at who calls it, so it may not be called from here: we only choose
/// where to jump.
///
/// # Safety
/// The caller keeps the contract of `dlopen(3)`.
#[unsafe(naked)]
pub unsafe extern "C" fn dlopen() -> *mut c_void {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {choose}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        choose = sym crate::hook::load::choose,
    )
}

/// What an exported name is: takes its own return address as one more argument and jumps into the
/// hook. `@n` is the number of arguments the C function has. It has 16 bytes, and all that a patcher
/// writes over the beginning of a function (5 to 14 bytes) stays inside.
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
        core::arch::naked_asm!($load, concat!($crate::jump!(), " {hook}"), ".p2align 4", hook = sym $hook)
    };
}

/// The instruction that goes to another function for good.
#[macro_export]
macro_rules! jump {
    () => {
        "jmp"
    };
}
