//! Patching: looks through the loaded objects and changes the slots that lead to hooked functions.
//!
//! The loader's list is walked under the loader's own lock (`dl_iterate_phdr`), because another thread
//! may unload an object. A slot that is still lazy, that is, leads into its own object, gets the function
//! that the loader would find, or the loader would write over us at the first call. Pages that the
//! loader made read-only are so again afterwards.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::loaded::{Loaded, Relocation};
use super::{Entry, Family, PATCHERS, Row, trampoline};
use crate::arch;
use crate::arena::note;
use crate::real;
use crate::sys;

/// Objects that are looked at; a process with more keeps the rest unpatched.
const OBJECTS: usize = 2048;
/// Objects that one object needs, directly or not, which are looked at for its lazy slots.
const CLOSURE: usize = 256;
/// Families that are looked for; `super::FAMILIES` has fewer.
pub(super) const FAMILIES: usize = 16;

unsafe extern "C" {
    pub(crate) fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int,
        with: *mut c_void,
    ) -> c_int;
}

/// Objects that were there at the start: the loader looks for everybody's symbols in them first. 0 before.
static FIRST: AtomicUsize = AtomicUsize::new(0);
/// How many objects had been unloaded when slots were last looked through.
static UNLOADED: AtomicU64 = AtomicU64::new(0);
/// Objects that have been looked through, by their number in no order: address of the dynamic section.
static DONE: [AtomicUsize; OBJECTS] = [const { AtomicUsize::new(0) }; OBJECTS];

/// What is to be done.
enum Task<'a> {
    /// Patch the slots of objects that were not looked through.
    Patch(&'a [&'static Family]),
    /// Find what the object at an address would be bound to.
    Find { near: usize, names: &'a [&'a CStr], found: &'a [AtomicUsize] },
}

/// What is known while the lock is held.
struct Walk<'a> {
    task: Task<'a>,
    objects: &'a mut [Loaded],
    count: usize,
    unloaded: u64,
}

/// Looks through the slots of all objects that have not been looked through.
pub fn scan(families: &[&'static Family]) {
    walk(Task::Patch(families));
}

/// Remembers how many objects there were at the start, and forgets what may be another one by now.
fn take_note(count: usize, unloaded: u64) {
    if FIRST.load(Ordering::Relaxed) == 0 {
        FIRST.store(count, Ordering::Relaxed);
    }
    // What was unloaded may have come back at the same address, with slots of its own.
    if UNLOADED.swap(unloaded, Ordering::Relaxed) != unloaded {
        for done in &DONE {
            done.store(0, Ordering::Relaxed);
        }
        crate::hook::hdf5::doubt_copies();
        crate::hook::pnetcdf::doubt_copies();
    }
}

/// Finds functions or data as the object at an address would see them; what is not there stays 0.
pub fn find(near: usize, names: &[&CStr], found: &[AtomicUsize]) {
    walk(Task::Find { near, names, found });
}

fn walk(task: Task<'_>) {
    let mut walk = Walk { task, objects: &mut [], count: 0, unloaded: 0 };
    // SAFETY: the walk outlives the call.
    unsafe { dl_iterate_phdr(locked, (&raw mut walk).cast()) };
}

/// Called with the loader's lock held, which is recursive: gathers all objects, does what is to be done,
/// and ends the outer walk.
unsafe extern "C" fn locked(_: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    let mut count = 0_usize;
    // SAFETY: the count outlives the call.
    unsafe { dl_iterate_phdr(number, (&raw mut count).cast()) };
    let count = count.min(OBJECTS);
    let bytes = count.wrapping_mul(size_of::<Loaded>());
    // SAFETY: anywhere.
    let Ok(memory) = (unsafe { sys::map_private(0, bytes) }) else { return 1 };
    // SAFETY: `scan` passes its walk, and waits.
    let walk = unsafe { &mut *with.cast::<Walk<'_>>() };
    // SAFETY: the mapping is ours until the end of this function, zeroed, which is a valid `Loaded`,
    // large enough, and aligned to a page.
    walk.objects = unsafe { core::slice::from_raw_parts_mut(memory.cast::<Loaded>(), count) };
    // SAFETY: as above.
    unsafe { dl_iterate_phdr(gather, with) };
    match walk.task {
        Task::Patch(families) => walk.patch(families),
        Task::Find { near, names, found } => walk.find(near, names, found),
    }
    walk.objects = &mut [];
    // SAFETY: nobody refers to the objects any more.
    unsafe { sys::unmap(memory, bytes) };
    1
}

/// Counts the objects.
unsafe extern "C" fn number(_: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    // SAFETY: `locked` passes its count, and waits.
    let count = unsafe { &mut *with.cast::<usize>() };
    *count = count.wrapping_add(1);
    0
}

unsafe extern "C" fn gather(info: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    // SAFETY: `locked` passes the walk, and waits; the loader passes a description that is whole.
    let (walk, info) = unsafe { (&mut *with.cast::<Walk<'_>>(), &*info) };
    walk.unloaded = info.dlpi_subs;
    // SAFETY: the object is loaded, and stays so while the lock is held.
    let found = unsafe { Loaded::read(info) };
    if let (Some(found), Some(place)) = (found, walk.objects.get_mut(walk.count)) {
        *place = found;
        walk.count = walk.count.wrapping_add(1);
    }
    0
}

impl Walk<'_> {
    fn all(&self) -> &[Loaded] {
        self.objects.get(..self.count).unwrap_or_default()
    }

    fn patch(&self, families: &[&'static Family]) {
        take_note(self.count, self.unloaded);
        // Most programs have few of the libraries.
        let mut there: [Option<&'static Family>; FAMILIES] = [None; FAMILIES];
        let found = families.iter().filter(|family| {
            // The C library defines `mmap`, and is always there.
            let of_libc = family.rows.iter().all(|row| row.entry == Entry::Map);
            of_libc || self.all().iter().any(|object| object.defines(family.mark))
        });
        for (place, family) in there.iter_mut().zip(found) {
            *place = Some(family);
        }
        for object in self.all() {
            // In the crate's tests the program is us, and is patched all the same.
            let foreign = object.dynamic != real::own() || cfg!(test);
            if foreign && !mark_done(object.dynamic.addr()) {
                self.patch_object(object, &there);
            }
        }
    }

    fn patch_object(&self, object: &Loaded, families: &[Option<&'static Family>]) {
        let mut writable = false;
        for relocation in object.relocations() {
            let Some(row) = row(object, &relocation, families) else { continue };
            let Some(slot) = object.slot(&relocation) else { continue };
            let held = slot.load(Ordering::Relaxed);
            // Absent and weak: it stays absent. Ours: it was patched before.
            if held == 0 || arch::is_trampoline(held) {
                continue;
            }
            let target = if row.entry == Entry::Map {
                self.mapping(object, &relocation, held)
            } else if object.holds(held) {
                self.bind(object, object.symbol_name(&relocation))
            } else {
                Some(held)
            };
            let Some(to) = target.and_then(|real| trampoline(real, row)) else { continue };
            if object.is_read_only(slot) && !writable {
                if !object.protect(false) {
                    note(b"an object's slots cannot be changed: its calls of MPI, HDF5 or mmap pass unseen");
                    return;
                }
                writable = true;
            }
            slot.store(to, Ordering::Release);
        }
        if writable {
            object.protect(true);
        }
    }

    /// The `mmap` that a slot leads to; none if the slot is to stay as it is.
    fn mapping(&self, object: &Loaded, relocation: &Relocation, held: usize) -> Option<usize> {
        // SAFETY: as in `row`.
        let name = unsafe { CStr::from_ptr(object.symbol_name(relocation)) };
        // Who defines the function wraps it, and has ways of its own to the one behind.
        if object.defines(name) || is_patcher(object) {
            return None;
        }
        if relocation.kind() == arch::ADDRESS {
            // Data, which the program may have changed since.
            return self.bind(object, name.as_ptr()).filter(|&bound| bound == held);
        }
        if object.holds(held) {
            // Lazy, or the place in the executable that stands for the function's address, whose own slot
            // is patched.
            let lazy = relocation.kind() == arch::JUMP_SLOT;
            return if lazy { self.bind(object, name.as_ptr()) } else { None };
        }
        let holder = self.all().iter().find(|other| other.holds(held));
        let stands_for_it = |holder: &Loaded| {
            let executable = self.all().first().is_some_and(|first| ptr::eq(first, holder));
            executable && !holder.defines(name)
        };
        let stays = holder.is_some_and(|holder| is_patcher(holder) || stands_for_it(holder));
        (!stays).then_some(held)
    }

    /// Finds names for the object that holds an address.
    fn find(&self, near: usize, names: &[&CStr], found: &[AtomicUsize]) {
        let Some(object) = self.all().iter().find(|one| one.holds(near)) else { return };
        for (name, place) in names.iter().zip(found) {
            place.store(self.bind(object, name.as_ptr()).unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// The function that the loader would bind a symbol of an object to: that of the objects of the
    /// start, else of the object and what it needs, else of anybody.
    fn bind(&self, object: &Loaded, name: *const core::ffi::c_char) -> Option<usize> {
        // SAFETY: as in `row`.
        let name = unsafe { CStr::from_ptr(name) };
        let first = self.all().get(..FIRST.load(Ordering::Relaxed)).unwrap_or_default();
        first
            .iter()
            .find_map(|one| one.find(name))
            .or_else(|| self.bind_near(object, name))
            .or_else(|| self.all().iter().find_map(|one| one.find(name)))
    }

    /// A symbol among an object and those it needs, nearest first.
    fn bind_near(&self, object: &Loaded, name: &CStr) -> Option<usize> {
        let mut row = [ptr::from_ref(object); CLOSURE];
        let (mut at, mut count) = (0_usize, 1_usize);
        while let Some(&one) = row.get(..count)?.get(at) {
            // SAFETY: the row holds references to objects of this walk.
            let one = unsafe { &*one };
            if let Some(found) = one.find(name) {
                return Some(found);
            }
            for needed in one.needed() {
                let Some(other) = self.all().iter().find(|other| other.is_called(needed)) else {
                    continue;
                };
                let known = row.get(..count)?.iter().any(|&known| ptr::eq(known, other));
                if !known && let Some(place) = row.get_mut(count) {
                    *place = other;
                    count = count.wrapping_add(1);
                }
            }
            at = at.wrapping_add(1);
        }
        None
    }
}

/// The row of the function that a relocation is for.
fn row(
    object: &Loaded,
    relocation: &Relocation,
    families: &[Option<&'static Family>],
) -> Option<&'static Row> {
    let kind = relocation.kind();
    let data = kind == arch::ADDRESS && relocation.is_plain();
    if kind != arch::JUMP_SLOT && kind != arch::GLOBAL_DATA && !data {
        return None;
    }
    let name = object.symbol_name(relocation);
    // SAFETY: a name of the object's string table has at least its ending NUL.
    let initial = unsafe { name.cast::<u8>().read() };
    let possible = |family: &&Family| family.prefix.first() == Some(&initial);
    if initial != b'P' && !families.iter().flatten().any(possible) {
        return None;
    }
    // SAFETY: names end with NUL, and the object stays loaded while the lock is held.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let row = families.iter().flatten().find_map(|family| family.row(name))?;
    (!data || row.entry == Entry::Map).then_some(row)
}

/// Whether an object hooks memory calls itself.
fn is_patcher(object: &Loaded) -> bool {
    PATCHERS.iter().any(|mark| object.defines(mark))
}

/// Remembers that an object is being looked through; whether it was before.
fn mark_done(dynamic: usize) -> bool {
    let start = (dynamic >> 4).wrapping_mul(0x9e37_79b9) % OBJECTS;
    for step in 0..OBJECTS {
        let Some(place) = DONE.get(start.wrapping_add(step) % OBJECTS) else { return false };
        match place.load(Ordering::Relaxed) {
            0 => {
                place.store(dynamic, Ordering::Relaxed);
                return false;
            }
            held if held == dynamic => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering};

    use super::super::Family;
    use super::scan;

    static CALLS: AtomicU32 = AtomicU32::new(0);
    static SITE: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

    crate::slot_hook! {
        /// Counts, and goes on to the real function.
        fn number_of_parent() -> libc::pid_t, real, taken => {
            CALLS.fetch_add(1, Ordering::Relaxed);
            SITE.store(taken.site, Ordering::Relaxed);
            // SAFETY: the caller's contract is the real function's.
            unsafe { real() }
        }
    }

    static FAMILY: Family = Family {
        mark: c"getppid",
        prefix: b"getppid",
        rows: crate::slot_rows! { getppid = number_of_parent; },
    };
    static ABSENT: Family = Family {
        mark: c"netra_has_no_such_function",
        prefix: b"getuid",
        rows: crate::slot_rows! { getuid = number_of_parent; },
    };

    #[test]
    fn a_patched_slot_leads_through_the_hook_to_the_real_function() {
        // SAFETY: takes nothing.
        let before = unsafe { libc::getppid() };
        scan(&[&ABSENT]);
        scan(&[&FAMILY]);
        super::DONE.iter().for_each(|done| done.store(0, Ordering::Relaxed));
        scan(&[&FAMILY]);
        // SAFETY: takes nothing.
        assert_eq!(unsafe { libc::getppid() }, before);
        assert_eq!(CALLS.load(Ordering::Relaxed), 1, "once, although patched twice");
        let here = a_patched_slot_leads_through_the_hook_to_the_real_function as fn() as usize;
        let site = SITE.load(Ordering::Relaxed);
        assert!(site.abs_diff(here) < 1 << 20, "{site:x} is not near {here:x}");
        // The pages that were read-only are so again.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = std::env::current_exe().unwrap();
        let own = own.to_string_lossy();
        let rights: Vec<&str> = maps
            .lines()
            .filter(|line| line.ends_with(own.as_ref()))
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        assert!(rights.contains(&"r--p") && !rights.contains(&"rwxp"), "{rights:?}");
    }
}
