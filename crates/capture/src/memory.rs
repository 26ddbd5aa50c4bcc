//! What the process owns and nobody else sees: one private mapping that a child after fork finds
//! zeroed (`MADV_WIPEONFORK`), which is how it notices that it is another process. Only touched
//! pages exist; but addresses can be scarce too, and the tables are then smaller (`room`).

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
use crate::room;
use crate::sys;
use crate::tls::Thread;

/// Codes of functions that may be called before a process is set up.
pub const EARLY: usize = 640;
/// How often tables may be halved, where there is little room: then they have their fewest places.
const MOST_HALVED: u32 = 9;

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
    /// Asynchronous transfers on their way, with those that found no place.
    pub requests_open: AtomicU32,
}

/// A table behind [`Private`] in the mapping. Where it lies stays known in a child after fork.
struct Table<T> {
    at: AtomicPtr<T>,
    count: AtomicUsize,
}

impl<T> Table<T> {
    const fn new() -> Table<T> {
        Table { at: AtomicPtr::new(ptr::dangling_mut()), count: AtomicUsize::new(0) }
    }

    #[inline(always)]
    fn all(&self) -> &'static [T] {
        // Pairs with the Release in `place`.
        let count = self.count.load(Ordering::Acquire);
        // SAFETY: nothing at all, or a part of the mapping that is never unmapped, for which zeroes are a
        // value. What threads share in it is atomic, what belongs to one thread is reached through
        // that thread's slot only.
        unsafe { core::slice::from_raw_parts(self.at.load(Ordering::Relaxed), count) }
    }

    fn place(&self, at: *mut u8, count: usize) {
        self.at.store(at.cast(), Ordering::Relaxed);
        self.count.store(count, Ordering::Release);
    }
}

/// Declares the tables: how many places each has at most, and at least where there is little room. All
/// numbers are powers of two.
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: [$kind:ty; $most:expr, $least:expr];)*) => {
        struct Tables { $($name: Table<$kind>),* }

        static TABLES: Tables = Tables { $($name: Table::new()),* };

        $(
            $(#[$doc])*
            #[inline(always)]
            #[must_use]
            pub fn $name() -> &'static [$kind] {
                TABLES.$name.all()
            }
        )*

        /// Gives every table its place behind `Private`, each halved so often; the bytes of it all. Without
        /// a mapping it only counts.
        fn lay_out(mapping: Option<*mut u8>, halved: u32) -> usize {
            let mut end = size_of::<Private>();
            $(
                const { assert!(usize::is_power_of_two($most) && usize::is_power_of_two($least)) };
                let count = halve($most, $least, halved);
                let from = end.next_multiple_of(64);
                end = from.wrapping_add(count.wrapping_mul(size_of::<$kind>()));
                if let Some(mapping) = mapping {
                    TABLES.$name.place(mapping.wrapping_add(from), count);
                }
            )*
            end
        }
    };
}

tables! {
    /// By descriptor: 0 unknown, 1 ignored, else the address of an [`Open`]. Higher ones are counted as calls only.
    descriptors: [AtomicUsize; 1 << 20, 1 << 10];
    /// By descriptor: the stream that C's stdio has over it. As long as the one before.
    streams: [Stream; 1 << 20, 1 << 10];
    /// Asynchronous transfers on their way.
    requests: [Request; REQUESTS, 64];
    /// What handles of HDF5 and PnetCDF stand for.
    handles: [Place; HANDLES, 64];
    /// Open files of MPI.
    mpi_files: [mpiio::Handle; mpiio::HANDLES, 64];
    /// Reads and writes of MPI on their way.
    mpi_requests: [mpiio::Request; mpiio::REQUESTS, 64];
    /// Chains of names by hash: index of a file.
    buckets: [AtomicU32; 1 << 15, 64];
    /// What is known of a file beside its row in the segment: as many as have a name of their own.
    files: [Known; FILES, 256];
    /// Open file descriptions.
    opens: [Open; 1 << 18, 1 << 9];
    /// Return addresses and their call sites.
    sites: [AtomicU64; SITES, 256];
    /// Threads' blocks: as many as run at a time.
    threads: [Thread; THREADS, 16];
}

/// Where the first table begins.
const DESCRIPTORS: usize = size_of::<Private>().next_multiple_of(64);

/// Files with a name of their own.
pub const FILES: usize = 1 << 16;
/// Threads at a time.
pub const THREADS: usize = 4096;
/// Places of the table of return addresses.
pub const SITES: usize = 1 << 16;

/// A number that was halved so often, but not below the least.
#[must_use]
pub const fn halve(most: usize, least: usize, halved: u32) -> usize {
    let less = most >> halved;
    if less < least { least } else { less }
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
    /// The table of streams, which is as long as that of descriptors.
    streams: AtomicPtr<Stream>,
    /// The table of return addresses, and its length less one.
    sites: AtomicPtr<AtomicU64>,
    sites_mask: AtomicUsize,
    /// Not 0 once a second thread has made a hooked call.
    threads: AtomicU32,
}

/// Stands for the table of return addresses until there is one.
static NO_SITES: [AtomicU64; 1] = [AtomicU64::new(0)];

static DOOR: Door = Door {
    limit: AtomicUsize::new(0),
    private: AtomicPtr::new(ptr::null_mut()),
    streams: AtomicPtr::new(ptr::dangling_mut()),
    sites: AtomicPtr::new((&raw const NO_SITES).cast_mut().cast()),
    sites_mask: AtomicUsize::new(0),
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
    // atomic.
    unsafe { DOOR.private.load(Ordering::Acquire).as_ref() }
}

/// What stands in the table for a descriptor; 0 as well where there is none.
#[inline(always)]
#[must_use]
pub fn descriptor(number: i32) -> Option<&'static AtomicUsize> {
    // A negative number becomes a large one, beyond the limit.
    let index = number as u32 as usize;
    // Pairs with the Release in `map`.
    if index >= DOOR.limit.load(Ordering::Acquire) {
        return None;
    }
    let private = DOOR.private.load(Ordering::Relaxed);
    // SAFETY: the limit is 0 until the mapping is known, and then the length of the table, which is the
    // first behind `Private`; it is never unmapped.
    unsafe { Some(&*private.byte_add(DESCRIPTORS).cast::<AtomicUsize>().add(index)) }
}

/// What is known of the stream over a descriptor.
#[inline(always)]
#[must_use]
pub fn stream(number: i32) -> Option<&'static Stream> {
    let index = number as u32 as usize;
    if index >= DOOR.limit.load(Ordering::Acquire) {
        return None;
    }
    let first = DOOR.streams.load(Ordering::Relaxed);
    // SAFETY: as in `descriptor`.
    unsafe {
        core::hint::assert_unchecked(!first.is_null());
        Some(&*first.add(index))
    }
}

/// The place of the table of return addresses that a hash leads to.
#[inline(always)]
#[must_use]
pub fn site(hash: usize) -> &'static AtomicU64 {
    // Pairs with the Release in `map`.
    let index = hash & DOOR.sites_mask.load(Ordering::Acquire);
    // SAFETY: the mask is one less than the table's length, which is a power of two; the table is never
    // unmapped. Until there is one, the only place of the one that stands for it.
    unsafe { &*DOOR.sites.load(Ordering::Relaxed).add(index) }
}

/// Descriptors that are followed.
#[must_use]
pub fn limit() -> usize {
    DOOR.limit.load(Ordering::Acquire)
}

/// Maps the memory once. Returns nothing if there is no room for it or the kernel refuses: netra is then
/// off.
#[must_use]
pub fn map() -> Option<&'static Private> {
    if let Some(private) = private() {
        return is_laid_out().then_some(private);
    }
    let most = room::left().memory();
    let halved = (0..=MOST_HALVED).find(|&halved| lay_out(None, halved) as u64 <= most)?;
    let bytes = lay_out(None, halved);
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
        Ok(_) => {
            lay_out(Some(fresh), halved);
            DOOR.streams.store(streams().as_ptr().cast_mut(), Ordering::Relaxed);
            DOOR.sites.store(sites().as_ptr().cast_mut(), Ordering::Relaxed);
            DOOR.sites_mask.store(sites().len().wrapping_sub(1), Ordering::Release);
            DOOR.limit.store(descriptors().len(), Ordering::Release);
        }
        // SAFETY: another thread was first; nobody knows this one.
        Err(_) => unsafe { sys::unmap(fresh, bytes) },
    }
    private().filter(|_| is_laid_out())
}

/// Whether the tables have their places: the thread that mapped them is about to say so.
fn is_laid_out() -> bool {
    for _ in 0..10_000 {
        if limit() != 0 {
            return true;
        }
        sys::give_way();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{MOST_HALVED, lay_out};

    #[test]
    fn tables_shrink_until_they_have_their_fewest_places() {
        let sizes: Vec<usize> = (0..=MOST_HALVED + 1).map(|halved| lay_out(None, halved)).collect();
        assert!(sizes.is_sorted_by(|one, next| one >= next), "{sizes:?}");
        assert!(sizes[0] < 128 << 20, "{sizes:?}");
        assert!(sizes[MOST_HALVED as usize] < 1 << 20, "{sizes:?}");
    }
}
