//! Other functions of the object that a real function belongs to: a hook asks the very copy of a
//! library that it was called for, never another one.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use super::loaded::Loaded;
use super::patch::dl_iterate_phdr;

/// What is looked for.
struct Search<'a> {
    address: usize,
    names: &'a [&'static CStr],
    found: &'a [AtomicUsize],
    span: Option<(usize, usize)>,
}

/// Finds functions in the object that holds `address`, each 0 where that has none. Gives the object's
/// first address and the one behind its last; none if no object holds it.
pub fn functions(
    address: usize,
    names: &[&'static CStr],
    found: &[AtomicUsize],
) -> Option<(usize, usize)> {
    let mut search = Search { address, names, found, span: None };
    // SAFETY: the search outlives the call.
    unsafe { dl_iterate_phdr(look, (&raw mut search).cast()) };
    search.span
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    // SAFETY: `functions` passes its search, and waits; the loader's description is whole.
    let (search, info) = unsafe { (&mut *with.cast::<Search<'_>>(), &*info) };
    // SAFETY: the object is loaded, and stays so while the loader's lock is held.
    let Some(object) = (unsafe { Loaded::read(info) }) else { return 0 };
    if !object.holds(search.address) {
        return 0;
    }
    for (name, place) in search.names.iter().zip(search.found) {
        place.store(object.find(name).unwrap_or(0), Ordering::Relaxed);
    }
    search.span = Some(object.span());
    1
}
