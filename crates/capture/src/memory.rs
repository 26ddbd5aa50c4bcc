//! What the process owns and nobody else sees: one private mapping that a child after fork finds
//! zeroed (`MADV_WIPEONFORK`), which is how it notices that it is another process. Only touched
//! pages exist.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::segment::REGIONS;

use crate::arena::Growth;
use crate::files::Open;
use crate::handle::{HANDLES, Place};
use crate::hook::aio::{REQUESTS, Request};
use crate::hook::mpiio;
use crate::hook::stdio::stream::Stream;
use crate::name::Known;
use crate::sys;
use crate::tls::Thread;

/// Descriptors that are followed; higher ones are counted as calls only.
pub const DESCRIPTORS: usize = 1 << 20;
/// Open files at a time.
pub const OPENS: usize = 1 << 18;
/// Files with a name of their own.
pub const FILES: usize = 1 << 16;
/// Heads of chains of names.
pub const BUCKETS: usize = 1 << 15;
/// Threads at a time.
pub const THREADS: usize = 4096;
/// Codes of functions that may be called before a process is set up.
pub const EARLY: usize = 640;
/// Places of the table of return addresses.
pub const SITES: usize = 1 << 16;

/// The mapping. All zeroes is its state before it is set up, and in a child after fork.
#[repr(C)]
pub struct Private {
    /// Not 0 once this process is set up.
    pub alive: AtomicU32,
    /// Not 0 while a thread sets it up.
    pub starting: AtomicU32,
    /// Free places for threads.
    pub threads_free: Stack,
    /// Free open files.
    pub opens_free: Stack,
    /// Call sites so far.
    pub sites_used: AtomicU32,
    /// Whether the loaded objects have been looked up, and how many bytes of names they took.
    pub objects: AtomicU32,
    /// Not 0 once the node's devices are recorded.
    pub devices: AtomicU32,
    /// Not 0 once the list of mounts is read (`mount`).
    pub mounts_listed: AtomicU32,
    /// About how many files the kernel was asked alone.
    pub mounts_asked: AtomicU32,
    /// Set once the log is written: late calls still count, but only in the segment.
    pub finished: AtomicU32,
    /// What came of the one log of the job (`job`).
    pub joined: AtomicU32,
    /// What had been read and written when this process's part of that log was made.
    pub moved: AtomicU64,
    /// Calls made before the process was set up, by code: closes, and a child's before exec.
    pub early: [AtomicU32; EARLY],
    /// How many of them are no reason to set the process up.
    pub early_any: AtomicU32,
    /// How many came from a signal handler while it was being set up.
    pub early_inside: AtomicU32,
    /// Space reserved in each region of the segment.
    pub growth: [Growth; REGIONS],
    /// Room for answers of the kernel.
    pub desk: Desk,
    /// By descriptor: 0 unknown, 1 ignored, else the address of an [`Open`].
    pub descriptors: [AtomicUsize; DESCRIPTORS],
    /// By descriptor: the stream that C's stdio has over it.
    pub streams: [Stream; DESCRIPTORS],
    /// Asynchronous transfers on their way.
    pub requests: [Request; REQUESTS],
    /// How many there are, with those that found no place.
    pub requests_open: AtomicU32,
    /// What handles of HDF5 and PnetCDF stand for.
    pub handles: [Place; HANDLES],
    /// Open files of MPI.
    pub mpi_files: [mpiio::Handle; mpiio::HANDLES],
    /// Reads and writes of MPI on their way.
    pub mpi_requests: [mpiio::Request; mpiio::REQUESTS],
    /// Chains of names by hash: index of a file.
    pub buckets: [AtomicU32; BUCKETS],
    /// What is known of a file beside its row in the segment.
    pub files: [Known; FILES],
    /// Open file descriptions.
    pub opens: [Open; OPENS],
    /// Return addresses and their call sites.
    pub sites: [AtomicU64; SITES],
    /// Threads' blocks.
    pub threads: [Thread; THREADS],
}

/// Room for what one thread at a time reads: a hook may have little stack, as on an alternate one of a signal
/// handler.
pub struct Desk {
    taken: AtomicU32,
    bytes: UnsafeCell<[u8; 4096]>,
}

impl Desk {
    /// Works with the room; none if others have it all the time.
    pub fn use_for<T>(&self, work: impl FnOnce(&mut [u8; 4096]) -> T) -> Option<T> {
        // Only a file's first name leads here; still nobody waits for ever.
        for _ in 0..10_000 {
            if self.taken.swap(1, Ordering::Acquire) == 0 {
                // SAFETY: whoever finds the mark unset has the bytes for itself until it clears it.
                let done = work(unsafe { &mut *self.bytes.get() });
                self.taken.store(0, Ordering::Release);
                return Some(done);
            }
            sys::give_way();
        }
        None
    }
}

/// A lock-free stack of numbers plus one, linked through their own structures. The upper half of
/// the word counts pushes, so that a number that comes back is not taken for one that never left.
#[derive(Default)]
pub struct Stack {
    top: AtomicU64,
    used: AtomicU32,
}

impl Stack {
    /// Takes a free number, or the next never used one below `limit`.
    pub fn take(
        &self,
        limit: usize,
        link: impl Fn(u32) -> Option<&'static AtomicU32>,
    ) -> Option<u32> {
        let mut top = self.top.load(Ordering::Acquire);
        while let Some(number) = (top as u32).checked_sub(1) {
            let next = link(number)?.load(Ordering::Relaxed);
            let new = (top >> 32) << 32 | u64::from(next);
            match self.top.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(now) => top = now,
            }
        }
        let fresh = |used: u32| ((used as usize) < limit).then(|| used.wrapping_add(1));
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fresh).ok()
    }

    /// Gives a number back.
    pub fn give(&self, number: u32, link: &AtomicU32) {
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            link.store(top as u32, Ordering::Relaxed);
            let pushes = (top >> 32).wrapping_add(1);
            let new = pushes << 32 | u64::from(number.wrapping_add(1));
            match self.top.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Numbers ever used.
    pub fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }
}

/// What the hot path reads first; on a line of its own, written once.
#[repr(align(64))]
struct Door {
    /// Descriptors that can be looked up: 0 until the mapping exists.
    limit: AtomicUsize,
    private: AtomicPtr<Private>,
    /// Not 0 once a second thread has made a hooked call.
    threads: AtomicU32,
}

static DOOR: Door = Door {
    limit: AtomicUsize::new(0),
    private: AtomicPtr::new(ptr::null_mut()),
    threads: AtomicU32::new(0),
};

/// Whether only one thread has made hooked calls: it may then do without locked instructions. The
/// second thread says so before its first call is recorded.
#[inline(always)]
#[must_use]
pub fn one_thread() -> bool {
    DOOR.threads.load(Ordering::Relaxed) == 0
}

/// A second thread is here. (In a child after fork it stays said, which only costs a little.)
pub fn more_threads() {
    DOOR.threads.store(1, Ordering::SeqCst);
}

/// The mapping, if it exists.
#[inline(always)]
#[must_use]
pub fn private() -> Option<&'static Private> {
    // SAFETY: the pointer is null or a mapping that is never unmapped; what threads share in it is
    // atomic, what belongs to one thread is reached through that thread's slot only.
    unsafe { DOOR.private.load(Ordering::Acquire).as_ref() }
}

/// What stands in the table for a descriptor; 0 as well where there is none.
#[inline(always)]
#[must_use]
pub fn descriptor(number: i32) -> Option<&'static AtomicUsize> {
    // A negative number becomes a large one, beyond the limit.
    let index = number as u32 as usize;
    if index >= DOOR.limit.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: the limit is 0 until the mapping is known, and never above `DESCRIPTORS`; the mapping
    // is never unmapped. Both words are written once, so no order between them matters here: a
    // processor that reads the new limit and the old pointer is ruled out by Release in `map`
    // and the dependency of the table's address on the pointer.
    unsafe { Some((*DOOR.private.load(Ordering::Acquire)).descriptors.get_unchecked(index)) }
}

/// Maps the memory once. Returns nothing if the kernel refuses: netra is then off.
#[must_use]
pub fn map() -> Option<&'static Private> {
    if let Some(private) = private() {
        return Some(private);
    }
    let bytes = size_of::<Private>();
    // SAFETY: anywhere.
    let fresh = unsafe { sys::map_private(0, bytes) }.ok()?;
    if sys::wipe_on_fork(fresh, bytes).is_err() {
        // Without it a child would count into its parent's records.
        // SAFETY: nobody knows the mapping yet.
        unsafe { sys::unmap(fresh, bytes) };
        return None;
    }
    let none = ptr::null_mut();
    let ours = fresh.cast();
    match DOOR.private.compare_exchange(none, ours, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => DOOR.limit.store(DESCRIPTORS, Ordering::Release),
        // SAFETY: another thread was first; nobody knows this one.
        Err(_) => unsafe { sys::unmap(fresh, bytes) },
    }
    private()
}
