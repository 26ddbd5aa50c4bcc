//! What belongs to a thread: 64 bytes of TLS that lead to its block in memory that a child after
//! fork sees as zeroes.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::AtomicU32;

use netra_event::lane::{CALL_PAGES, Lane, Producer};
use netra_event::segment::CHUNK_SLOTS;

use crate::arch;
use crate::call::Call;
use crate::heatmap::Heat;
use crate::lane::Page;
use crate::shard::Shard;
use crate::transfer::{Account, Outcome};

/// The thread's slot in TLS. All zeroes is a thread we have not met.
#[repr(C)]
pub struct Slot {
    /// The thread's block, once it has one.
    pub thread: Cell<Option<&'static Thread>>,
    /// The stack pointer of the bookkeeping that is going on; 0 if none is.
    pub busy: Cell<usize>,
    /// Not 0 in the child of vfork, which borrows this slot, and for a thread that has none. `arch::vfork` knows this place.
    pub borrowed: Cell<usize>,
    /// Calls of signal handlers that wait in the thread's block to be recorded.
    pub waiting: AtomicU32,
    /// Where the trampoline of the call at hand leads. `arch` knows this place and the next two.
    pub route: Cell<usize>,
    /// The return address of that call.
    pub site: Cell<usize>,
    /// The stack pointer at that call.
    pub stack: Cell<usize>,
    /// Not 0 while `mmap` goes on for the application: who has written over libc's may make the kernel's call through
    /// `syscall()`.
    pub mapping: Cell<usize>,
}

const _: () = assert!(size_of::<Slot>() == 64);
const _: () = assert!(core::mem::offset_of!(Slot, route) == 32);
const _: () = assert!(core::mem::offset_of!(Slot, site) == 40);
const _: () = assert!(core::mem::offset_of!(Slot, stack) == 48);
const _: () = assert!(core::mem::offset_of!(Slot, borrowed) == 16);

/// What stands for the slot of a thread that has none: its calls pass, as those of a child of vfork.
struct Foreign(Slot);

// SAFETY: nothing writes to it: who finds it borrowed leaves it alone.
unsafe impl Sync for Foreign {}

static FOREIGN: Foreign = Foreign(Slot {
    thread: Cell::new(None),
    busy: Cell::new(0),
    borrowed: Cell::new(1),
    waiting: AtomicU32::new(0),
    route: Cell::new(0),
    site: Cell::new(0),
    stack: Cell::new(0),
    mapping: Cell::new(0),
});

/// Whether the calling thread is none of libc's: a child of `clone` may have an empty thread block
/// (`CLONE_SETTLS`), where neither our slot nor libc's errno can be reached.
#[must_use]
pub fn is_foreign() -> bool {
    arch::is_foreign(arch::slot())
}

#[cold]
#[inline(never)]
fn foreign() -> &'static Slot {
    &FOREIGN.0
}

/// The calling thread's slot.
#[inline(always)]
#[must_use]
pub fn slot() -> &'static Slot {
    let slot = arch::slot();
    if arch::is_foreign(slot) {
        return foreign();
    }
    // SAFETY: the slot is 64 zeroed bytes aligned to 64, a valid `Slot`, alive as long as its
    // thread; `Cell` keeps it off other threads, and no reference outlives a call of a hook.
    unsafe { &*slot.cast::<Slot>() }
}

impl Slot {
    /// Marks that bookkeeping goes on in this frame of the stack.
    #[inline(always)]
    pub fn mark(&self) {
        // SAFETY: the slot is the calling thread's own, and the word is a `Cell` in it.
        unsafe {
            arch::mark_at::<{ core::mem::offset_of!(Slot, busy) }>(
                core::ptr::from_ref(self).cast(),
            );
        }
    }

    /// The thread's block, if it has one that is its own.
    #[inline(always)]
    pub fn attached(&self) -> Option<&'static Thread> {
        self.thread.get().filter(|thread| thread.owner.get() == core::ptr::from_ref(self).addr())
    }

    /// The thread's block, if the thread is at nothing of ours and no child of vfork.
    #[inline(always)]
    pub fn free(&self) -> Option<&'static Thread> {
        if self.busy.get() | self.borrowed.get() == 0 { self.attached() } else { None }
    }
}

/// How many files' records a thread finds without looking further, for each module.
pub const CACHED: usize = 16;

/// A record that the thread used lately.
#[derive(Default)]
pub struct Cached {
    /// The file; 0 if the place is free.
    pub file: Cell<u32>,
    /// The thread's record of it.
    pub shard: Cell<Option<Shard>>,
}

/// Reads and writes that can wait; more at a time are dropped and counted.
pub const WAITING: usize = 8;

/// A read or write of a signal handler, recorded as soon as the thread is done with what the signal
/// interrupted.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// Whether it wrote.
    pub write: bool,
    /// The call.
    pub call: Call,
    /// How it ended.
    pub outcome: Outcome,
    /// What it moved, where its file was known at once.
    pub moved: Option<Account>,
}

/// A thread's own state. It belongs to a *place* (one lane), which the next thread takes over when
/// this one ends. Zeroed, it belongs to nobody: so it looks in a child after fork.
#[repr(C, align(64))]
pub struct Thread {
    /// Address of the slot of the thread that uses the block, 0 if none does. A child after fork finds
    /// it wiped, and perhaps given to another of its threads: one has to attach again unless it
    /// is one's own.
    pub owner: Cell<usize>,
    /// Number of the lane plus one.
    pub place: Cell<u32>,
    /// Number of the call of an upper layer that is going on, else 0.
    pub parent: Cell<u32>,
    /// Counts of calls of POSIX and STDIO.
    pub calls: Cell<Option<Page>>,
    /// The lane's head.
    pub lane: Cell<Option<&'static Lane>>,
    /// The lane's writing end.
    pub producer: UnsafeCell<Producer<'static, CHUNK_SLOTS>>,
    /// Bytes over time, by module.
    pub heat: [Heat; crate::module::HEATED],
    /// Records used lately, by module.
    pub records: [[Cached; CACHED]; crate::module::COUNT],
    /// Counts of calls of all layers, in pages.
    pub pages: [Cell<Option<Page>>; CALL_PAGES],
    /// Calls of upper layers so far, to number them.
    pub numbered: Cell<u32>,
    /// Extensions of events used lately.
    pub extensions: [crate::extension::Used; crate::extension::CACHED],
    /// Calls of upper layers that go on.
    pub nested: crate::nest::Frames,
    /// The next free place plus one, while this one is free.
    pub next_free: AtomicU32,
    /// Reads and writes of signal handlers that came while the thread was at its bookkeeping.
    pub waiting: [Cell<Option<Waiting>>; WAITING],
    /// Room to put a path together.
    pub path: UnsafeCell<[u8; crate::name::LONGEST]>,
}
