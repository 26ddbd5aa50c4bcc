//! Copies of a library: a hook asks other functions of the very copy that it was called for, never of
//! another one. They are looked up once, when a call of that copy is first recorded.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::loaded::Loaded;
use super::patch::dl_iterate_phdr;

const FREE: u32 = 0;
const BUSY: u32 = 1;
const KNOWN: u32 = 2;
/// It was known, but objects have been unloaded since.
const DOUBTFUL: u32 = 3;

/// A copy of a library, of which `N` functions are asked.
pub struct Copy<const N: usize> {
    state: AtomicU32,
    first: AtomicUsize,
    behind: AtomicUsize,
    functions: [AtomicUsize; N],
    /// What the layer wants to remember of it.
    pub trait_word: AtomicU32,
    /// Its number plus one, 0 for one of which nothing is known.
    pub number: u32,
}

impl<const N: usize> Copy<N> {
    /// A place for a copy.
    #[must_use]
    pub const fn new(number: u32) -> Copy<N> {
        Copy {
            state: AtomicU32::new(FREE),
            first: AtomicUsize::new(0),
            behind: AtomicUsize::new(0),
            functions: [const { AtomicUsize::new(0) }; N],
            trait_word: AtomicU32::new(0),
            number,
        }
    }

    /// The address of a function that it has, else null.
    pub fn function(&self, place: usize) -> *const () {
        let found = self.functions.get(place).map_or(0, |found| found.load(Ordering::Relaxed));
        core::ptr::with_exposed_provenance(found)
    }

    fn holds(&self, address: usize) -> bool {
        self.first.load(Ordering::Relaxed) <= address
            && address < self.behind.load(Ordering::Relaxed)
    }

    fn claim(&self, state: u32) -> bool {
        self.state.compare_exchange(state, BUSY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The copy that a function belongs to, among the places for copies; none if it is in no object, or all
/// places are taken. `meet` is called with one that is new, before others see it.
pub fn of<T: AsRef<Copy<N>>, const N: usize>(
    all: &'static [T],
    names: &[&'static CStr; N],
    real: *const (),
    meet: impl FnOnce(&T),
) -> Option<&'static T> {
    let address = real.addr();
    let known = |one: &&T| {
        let copy = one.as_ref();
        copy.state.load(Ordering::Acquire) == KNOWN && copy.holds(address)
    };
    all.iter().find(known).or_else(|| find(all, names, address, meet))
}

#[cold]
fn find<T: AsRef<Copy<N>>, const N: usize>(
    all: &'static [T],
    names: &[&'static CStr; N],
    address: usize,
    meet: impl FnOnce(&T),
) -> Option<&'static T> {
    // What is there again keeps its number, and with it the handles that are known.
    let again = all.iter().find(|one| one.as_ref().holds(address) && one.as_ref().claim(DOUBTFUL));
    // Two threads at once may both meet a copy; each then has a number for it, and handles that one
    // thread opened are strangers to the other until they are asked about. That is all.
    let one = again.or_else(|| all.iter().find(|one| one.as_ref().claim(FREE)))?;
    let copy = one.as_ref();
    let Some((first, behind)) = functions(address, names, &copy.functions) else {
        copy.state.store(FREE, Ordering::Release);
        return None;
    };
    copy.first.store(first, Ordering::Relaxed);
    copy.behind.store(behind, Ordering::Relaxed);
    meet(one);
    copy.state.store(KNOWN, Ordering::Release);
    Some(one)
}

/// Doubts all copies: an object was unloaded, and another may lie at its addresses.
pub fn doubt<T: AsRef<Copy<N>>, const N: usize>(all: &[T]) {
    for one in all {
        let state = &one.as_ref().state;
        // One that is being looked up is looked up now.
        let _was = state.compare_exchange(KNOWN, DOUBTFUL, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// What is looked for.
struct Search<'a> {
    address: usize,
    names: &'a [&'static CStr],
    found: &'a [AtomicUsize],
    span: Option<(usize, usize)>,
}

/// Finds functions in the object that holds `address`, each 0 where that has none. Gives the object's
/// first address and the one behind its last; none if no object holds it.
fn functions(
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

/// Declares what is asked of a library: a type for a copy of it, with a method for each function.
#[macro_export]
macro_rules! copied_library {
    ($(#[$doc:meta])* $library:ident: $($name:ident = $symbol:literal: fn($($kind:ty),*) -> $result:ty;)*) => {
        #[derive(Clone, Copy)]
        #[expect(non_camel_case_types, reason = "as the methods are called")]
        enum Place { $($name),* }

        /// What is asked of a copy.
        const NAMES: [&core::ffi::CStr; [$(stringify!($name)),*].len()] = [$($symbol),*];

        $(#[$doc])*
        pub(super) struct $library($crate::got::copy::Copy<{ NAMES.len() }>);

        impl AsRef<$crate::got::copy::Copy<{ NAMES.len() }>> for $library {
            fn as_ref(&self) -> &$crate::got::copy::Copy<{ NAMES.len() }> {
                &self.0
            }
        }

        impl $library {
            $(
                /// The copy's function of this name, if it has one.
                pub(super) fn $name(&self) -> Option<unsafe extern "C" fn($($kind),*) -> $result> {
                    let found = self.0.function(Place::$name as usize);
                    // SAFETY: a function of this name has this signature in every version.
                    (!found.is_null()).then(|| unsafe { core::mem::transmute(found) })
                }
            )*
        }
    };
}
