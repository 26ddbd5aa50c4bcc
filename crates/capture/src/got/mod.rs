//! Functions of libraries beside the C library (MPI, HDF5, PnetCDF, liburing, libaio), and `mmap`, reached without
//! exporting their names: the slots through which loaded objects call them are made to lead to our hooks.
//!
//! An object calls a function of another one through a slot of its own, which the loader fills. We look
//! through the slots of every object at the start and after `dlopen` ([`patch`]), and put a trampoline
//! into those that lead to a function of a [`Family`]. A trampoline belongs to one pair of real function
//! and hook, so each copy of a library (h5py and netCDF4 bring their own HDF5) keeps its own real
//! functions; it leaves the real function and the return address in the thread's slot, where
//! [`taken`] finds them, and jumps into the hook with the arguments untouched.
//!
//! A layer is one [`Family`], in its own file, named in [`FAMILIES`]. What is not reached: calls by an
//! address from `dlsym` (Python's ctypes), function pointers in initialised data (but those to `mmap`),
//! and calls inside one object (a library that is linked statically).
//!
//! `mmap` is no export because other libraries patch its code: UCX writes a jump over the function that
//! `dlsym` finds, to learn of all memory that comes and goes. It finds libc's function, which everybody's
//! calls reach in the end, as without us.

pub mod copy;
mod loaded;
pub mod patch;

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::arch;
use crate::hook::{hdf5, libaio, map, mpiio, pnetcdf, uring};
use crate::tls;

/// The families of hooks. A layer adds its line.
pub static FAMILIES: &[&Family] = &[
    &hdf5::FAMILY,
    &mpiio::FAMILY,
    &pnetcdf::FILES,
    &pnetcdf::DATA,
    &uring::LIBURING,
    &uring::INLINED,
    &libaio::FAMILY,
    &map::FAMILY,
];

/// A library whose functions are hooked.
pub struct Family {
    /// A function that every copy of the library defines: where no loaded object does, nobody's slots
    /// are looked at.
    pub mark: &'static CStr,
    /// How the names of all rows begin.
    pub prefix: &'static [u8],
    /// The functions, by name in ascending order.
    pub rows: &'static [Row],
}

/// What a trampoline does before the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Leaves what [`taken`] gives.
    Take,
    /// The same, but for anonymous memory, with which it goes straight to the real `mmap`.
    Map,
}

/// Functions that libraries define which hook memory calls themselves, by patching code or slots: their own
/// slots, and those that they have made to lead to them, stay as they are.
const PATCHERS: &[&CStr] = &[c"ucm_set_event_handler"];

/// A hooked function.
pub struct Row {
    /// Its name.
    pub name: &'static [u8],
    hook: *const (),
    entry: Entry,
}

// SAFETY: the pointer is the address of code.
unsafe impl Sync for Row {}

impl Row {
    /// A row. `hook` has the C function's signature and begins with [`taken`].
    #[must_use]
    pub const fn new(name: &'static str, hook: *const ()) -> Row {
        Row { name: name.as_bytes(), hook, entry: Entry::Take }
    }

    /// The same for `mmap`, whose hook does not hear of anonymous memory.
    #[must_use]
    pub const fn mapping(name: &'static str, hook: *const ()) -> Row {
        Row { name: name.as_bytes(), hook, entry: Entry::Map }
    }
}

impl Family {
    /// The row of a function. The profiling interface of MPI (`PMPI_`) is the same functions.
    fn row(&self, name: &[u8]) -> Option<&Row> {
        let name = match name {
            [b'P', rest @ ..] if rest.starts_with(b"MPI_") => rest,
            name => name,
        };
        if !name.starts_with(self.prefix) {
            return None;
        }
        // A call of PnetCDF is the same for every C type that its name tells.
        let [front, back] = pnetcdf::untyped(name);
        let name = || front.iter().chain(back);
        let at = self.rows.binary_search_by(|row| row.name.iter().cmp(name())).ok()?;
        self.rows.get(at)
    }
}

/// Declares hooks for slots: each begins by taking what the trampoline left, as `$taken`, and `$real`,
/// the real function.
#[macro_export]
macro_rules! slot_hook {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),* $(,)?) -> $result:ty, $real:ident, $taken:ident => $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched. Only a
        /// trampoline of `got` may call it.
        pub(crate) unsafe extern "C" fn $name($($arg: $kind),*) -> $result {
            type Real = unsafe extern "C" fn($($kind),*) -> $result;
            let $taken = $crate::got::taken();
            // SAFETY: the slot that led here held a function of the hook's name and signature.
            let $real = unsafe { core::mem::transmute::<*const (), Real>($taken.real) };
            $body
        }
    )*};
}

/// The rows of a family: C name and hook.
#[macro_export]
macro_rules! slot_rows {
    ($($name:ident = $hook:path;)*) => {
        &[$($crate::got::Row::new(stringify!($name), $hook as *const ())),*]
    };
}

/// What a trampoline left for the hook it jumped into.
#[derive(Clone, Copy)]
pub struct Taken {
    /// The real function.
    pub real: *const (),
    /// The caller's return address.
    pub site: usize,
    /// The caller's stack pointer.
    pub stack: usize,
}

/// What the trampoline left. A hook asks first of all: the next trampoline writes over it.
#[inline(always)]
#[must_use]
pub fn taken() -> Taken {
    let slot = tls::slot();
    // SAFETY: a trampoline wrote the address of its route, which is never given back.
    let route = unsafe { &*core::ptr::with_exposed_provenance::<Route>(slot.route.get()) };
    let real = core::ptr::with_exposed_provenance(route.real.load(Ordering::Relaxed));
    Taken { real, site: slot.site.get(), stack: slot.stack.get() }
}

/// Where a trampoline leads. `arch` knows the places of its words.
#[repr(C)]
pub struct Route {
    real: AtomicUsize,
    entry: AtomicUsize,
    hook: AtomicUsize,
    spare: usize,
}

const _: () = assert!(size_of::<Route>() == 32);
const _: () = assert!(core::mem::offset_of!(Route, real) == 0);
const _: () = assert!(core::mem::offset_of!(Route, entry) == 8);
const _: () = assert!(core::mem::offset_of!(Route, hook) == 16);

/// The trampoline that leads to a hook and, through it, to a real function; none if all are in use.
fn trampoline(real: usize, row: &Row) -> Option<usize> {
    let hook = row.hook.expose_provenance();
    for (number, route) in arch::routes().iter().enumerate() {
        let held = route.hook.load(Ordering::Acquire);
        if held == 0 {
            // The loader's lock is held while slots are patched: nobody else takes it.
            route.real.store(real, Ordering::Relaxed);
            route.entry.store(arch::entry(row.entry), Ordering::Relaxed);
            route.hook.store(hook, Ordering::Release);
        } else if held != hook || route.real.load(Ordering::Relaxed) != real {
            continue;
        }
        return Some(arch::trampoline(number));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_rise_and_have_their_prefix() {
        assert!(FAMILIES.len() <= patch::FAMILIES);
        for family in FAMILIES {
            assert!(family.rows.is_sorted_by(|one, next| one.name < next.name));
            for row in family.rows {
                assert!(row.name.starts_with(family.prefix), "{}", row.name.escape_ascii());
                assert!(core::ptr::eq(family.row(row.name).unwrap(), row));
            }
        }
    }
}
