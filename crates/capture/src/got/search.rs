//! Where the loader looks for a library that is asked for by its name alone: for each caller its own places
//! (`DT_RUNPATH`), those of whoever loaded it (`DT_RPATH`), and those that are everybody's.

use core::ffi::{c_int, c_void};

use super::loaded::Loaded;
use super::patch::dl_iterate_phdr;

/// What is asked while the loader's objects pass by.
struct Question {
    caller: usize,
    objects: usize,
    found: bool,
    own_places: bool,
}

/// Whether the loader looks in the same places for the code at an address as for ours, which has none of its
/// own. Where that is not sure, it does not.
#[must_use]
pub fn is_everybodys(caller: usize) -> bool {
    let mut question = Question { caller, objects: 0, found: false, own_places: false };
    // SAFETY: the question outlives the call.
    unsafe { dl_iterate_phdr(look, (&raw mut question).cast()) };
    question.found && !question.own_places
}

unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, with: *mut c_void) -> c_int {
    // SAFETY: `is_everybodys` passes its question, and waits; the loader's description is whole.
    let (question, info) = unsafe { (&mut *with.cast::<Question>(), &*info) };
    let executable = question.objects == 0;
    question.objects = question.objects.wrapping_add(1);
    // SAFETY: the object is loaded, and stays so while the loader's lock is held.
    let Some(object) = (unsafe { Loaded::read(info) }) else { return 0 };
    let places = object.places();
    if object.holds(question.caller) {
        question.found = true;
        question.own_places |= places.own || places.inherited || places.no_others;
    } else {
        // Those of the executable are everybody's; others may have loaded the caller.
        question.own_places |= places.inherited && !executable;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::is_everybodys;

    #[test]
    fn an_ordinary_caller_has_no_places_of_its_own() {
        assert!(is_everybodys(libc::getpid as *const () as usize));
        assert!(!is_everybodys(8), "nobody's code");
    }
}
