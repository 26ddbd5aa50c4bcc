//! The objects that were there before the program began. The loader says where they lie, so a process whose
//! calls all come from them needs no list of the kernel's, which is the slower one to read.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::{Front, PT_LOAD, write};
use crate::arch;
use crate::arena::ARENA;
use crate::got::patch::dl_iterate_phdr;

/// Objects that are remembered; further ones are found in the kernel's list.
const MOST: usize = 64;

/// What the loader says of an object. All zeroes is none.
struct Known {
    base: AtomicUsize,
    name: AtomicPtr<c_char>,
    heads: AtomicPtr<libc::Elf64_Phdr>,
    count: AtomicUsize,
}

static KNOWN: [Known; MOST] = [const {
    Known {
        base: AtomicUsize::new(0),
        name: AtomicPtr::new(ptr::null_mut()),
        heads: AtomicPtr::new(ptr::null_mut()),
        count: AtomicUsize::new(0),
    }
}; MOST];

/// Objects that stay as long as the process runs: those of the start.
static STAY: AtomicUsize = AtomicUsize::new(0);

/// How far a walk has come.
#[derive(Default)]
struct Walk {
    count: usize,
    loaded: u64,
}

/// Remembers what is loaded. The loader takes a lock for it, so it is asked now and never again: in a child
/// of fork nobody might be there to give the lock back.
pub fn start() {
    let mut walk = Walk::default();
    // SAFETY: the walk outlives the call.
    unsafe { dl_iterate_phdr(remember, (&raw mut walk).cast()) };
    // A library that was initialised before ours may have loaded more, which may go again.
    if walk.loaded == walk.count as u64 {
        STAY.store(walk.count, Ordering::Release);
    }
}

/// How many objects, from the loader's first on, can never be unloaded.
pub fn staying() -> usize {
    STAY.load(Ordering::Acquire)
}

unsafe extern "C" fn remember(info: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    // SAFETY: `start` passes its walk, and waits; the loader passes a description that is whole.
    let (walk, info) = unsafe { (&mut *with.cast::<Walk>(), &*info) };
    let place = walk.count;
    walk.count = walk.count.wrapping_add(1);
    walk.loaded = info.dlpi_adds;
    let Some(known) = KNOWN.get(place) else { return 0 };
    known.base.store(info.dlpi_addr as usize, Ordering::Relaxed);
    known.name.store(info.dlpi_name.cast_mut(), Ordering::Relaxed);
    known.count.store(usize::from(info.dlpi_phnum), Ordering::Relaxed);
    known.heads.store(info.dlpi_phdr.cast_mut(), Ordering::Relaxed);
    0
}

/// Writes their rows.
pub(super) fn enter() {
    for known in KNOWN.iter().take(staying()) {
        known.enter();
    }
}

impl Known {
    fn enter(&self) {
        let (heads, count) =
            (self.heads.load(Ordering::Relaxed), self.count.load(Ordering::Relaxed));
        // SAFETY: the heads of an object that stays.
        let heads = unsafe { core::slice::from_raw_parts(heads, count) };
        let mut loads = heads.iter().filter(|head| head.p_type == PT_LOAD);
        let Some(first) = loads.next() else { return };
        let last = loads.next_back().unwrap_or(first);
        let name = self.name();
        // An object whose own head is not in memory, or whose name leads nowhere: the kernel knows more.
        if first.p_offset != 0 || name == 0 {
            return;
        }
        let (base, page) = (self.base.load(Ordering::Relaxed) as u64, arch::page_bytes() as u64);
        let from = base.wrapping_add(first.p_vaddr) & !page.wrapping_sub(1);
        let end = base.wrapping_add(last.p_vaddr).wrapping_add(last.p_memsz);
        let to = end.checked_next_multiple_of(page).unwrap_or(end);
        write((from, to), name, Some(Front::of_what_stays(from)));
    }

    /// Its name in the segment, 0 if it has none that begins at the root. The executable's is empty.
    fn name(&self) -> u64 {
        let name = self.name.load(Ordering::Relaxed);
        if name.is_null() {
            return 0;
        }
        // SAFETY: the loader's name of an object that stays.
        match unsafe { CStr::from_ptr(name) }.to_bytes() {
            [] => ARENA.header().map_or(0, |header| header.exe.load(Ordering::Relaxed)),
            name @ [b'/', ..] => ARENA.text(name),
            _ => 0,
        }
    }
}
