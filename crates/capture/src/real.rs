//! The functions we stand in front of, found in the objects that were loaded after ours.
//!
//! A pointer per function begins at a stub that finds the function at the first call, stores it
//! and forwards: there is no branch on the way and no order of initialisation. We look names up
//! ourselves in the loader's list of objects, in the order `dlsym(RTLD_NEXT)` would: that
//! neither allocates, locks nor touches errno, and ties the library to no version of glibc.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use crate::arch::MACHINE;
use crate::object;
use crate::tls;

/// The loader's list of objects (`<link.h>`, the part that has been stable for decades).
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
    next: *const LinkMap,
    previous: *const LinkMap,
}

#[repr(C)]
struct Debug {
    version: i32,
    map: *const LinkMap,
}

unsafe extern "C" {
    /// Our own dynamic section: tells which object is ours.
    #[link_name = "_DYNAMIC"]
    static DYNAMIC: [usize; 2];
}

const DT_STRTAB: usize = 5;
const DT_SYMTAB: usize = 6;
const DT_VERSYM: usize = 0x6fff_fff0;
const DT_GNU_HASH: usize = 0x6fff_fef5;
const HIDDEN_VERSION: u16 = 0x8000;
const STT_GNU_IFUNC: u8 = 10;

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

/// The tables of one loaded object that a lookup needs. All zeroes is one that defines nothing.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    base: usize,
    strings: *const c_char,
    symbols: *const Symbol,
    versions: *const u16,
    hash: *const u32,
}

/// What the loader keeps for debuggers: glibc under this name since 2.0, musl behind a pointer.
fn debug() -> *const Debug {
    let own = crate::weak!("_r_debug");
    if !own.is_null() {
        return own.cast();
    }
    let pointer = crate::weak!("_dl_debug_addr").cast::<*const Debug>();
    // SAFETY: the loader's variable, set before any code of ours runs.
    unsafe { pointer.as_ref() }.map_or(ptr::null(), |at| *at)
}

fn maps() -> impl Iterator<Item = &'static LinkMap> {
    // SAFETY: the loader fills the list before any code of ours runs. Objects that are loaded
    // later are appended, so the walk meets those of the start first, which stay for ever.
    let mut map = unsafe { debug().as_ref() }.map_or(ptr::null(), |debug| debug.map);
    core::iter::from_fn(move || {
        // SAFETY: a non-null entry of the list is a complete one.
        let entry = unsafe { map.as_ref() }?;
        map = entry.next;
        Some(entry)
    })
}

/// Whether the object between two addresses can never be unloaded: it was there at the start.
#[must_use]
pub fn stays((from, to): (u64, u64)) -> bool {
    let inside = |map: &LinkMap| (from..to).contains(&(map.dynamic.addr() as u64));
    maps().take(object::staying()).any(inside)
}

/// Names of one function. In the C library each row is one address, and so it is in ours: who writes over
/// the code of one name means all of them. The hook is called by the first.
const ALIASES: &[&[&CStr]] = &[
    &[c"__fxstat", c"__fxstat64"],
    &[c"__fxstatat", c"__fxstatat64"],
    &[c"__lxstat", c"__lxstat64"],
    &[c"__xstat", c"__xstat64"],
    &[c"_exit", c"_Exit"],
    &[c"aio_fsync", c"aio_fsync64"],
    &[c"aio_read", c"aio_read64"],
    &[c"aio_return", c"aio_return64"],
    &[c"aio_suspend", c"aio_suspend64"],
    &[c"aio_write", c"aio_write64"],
    &[c"creat", c"creat64"],
    &[c"euidaccess", c"eaccess"],
    &[c"fallocate", c"fallocate64"],
    &[c"fcntl", c"fcntl64"],
    &[c"fgetc", c"_IO_getc", c"getc"],
    &[c"fgetc_unlocked", c"getc_unlocked"],
    &[c"fgetwc", c"getwc"],
    &[c"fgetwc_unlocked", c"getwc_unlocked"],
    &[c"fileno", c"fileno_unlocked"],
    &[c"fopen", c"fopen64"],
    &[c"fseeko", c"fseeko64"],
    &[c"fsetpos", c"fsetpos64"],
    &[c"fstat", c"fstat64"],
    &[c"fstatat", c"fstatat64"],
    &[c"fstatfs", c"fstatfs64"],
    &[c"fstatvfs", c"fstatvfs64"],
    &[c"ftruncate", c"ftruncate64"],
    &[c"getdelim", c"__getdelim"],
    &[c"lio_listio", c"lio_listio64"],
    &[c"lockf", c"lockf64"],
    &[c"longjmp", c"_longjmp", c"siglongjmp"],
    &[c"lseek", c"lseek64"],
    &[c"lstat", c"lstat64"],
    &[c"mkostemp", c"mkostemp64"],
    &[c"mkostemps", c"mkostemps64"],
    &[c"mkstemp", c"mkstemp64"],
    &[c"mkstemps", c"mkstemps64"],
    &[c"open", c"open64"],
    &[c"openat", c"openat64"],
    &[c"posix_fadvise", c"posix_fadvise64"],
    &[c"pread", c"pread64"],
    &[c"preadv", c"preadv64"],
    &[c"preadv2", c"preadv64v2"],
    &[c"putc", c"_IO_putc"],
    &[c"puts", c"_IO_puts"],
    &[c"pwrite", c"pwrite64"],
    &[c"pwritev", c"pwritev64"],
    &[c"pwritev2", c"pwritev64v2"],
    &[c"readdir", c"readdir64"],
    &[c"sendfile", c"sendfile64"],
    &[c"stat", c"stat64"],
    &[c"statfs", c"statfs64"],
    &[c"statvfs", c"statvfs64"],
    &[c"tmpfile", c"tmpfile64"],
    &[c"truncate", c"truncate64"],
];

/// The next definition of a function behind ours, or null.
#[must_use]
pub fn next(name: &CStr) -> *mut c_void {
    next_of(&[name])
}

/// The function behind a hook of this name, or null: the nearest object that defines it under any of its
/// names. A library behind ours that stands in front of one name alone is asked for all of them.
#[must_use]
pub fn behind(name: &CStr) -> *mut c_void {
    match ALIASES.iter().find(|names| names.first() == Some(&name)) {
        Some(names) => next_of(names),
        None => next(name),
    }
}

fn next_of(names: &[&CStr]) -> *mut c_void {
    let own = own();
    let mut behind = false;
    for entry in maps() {
        if behind && let Some(object) = object(entry) {
            let find = |name: &&CStr| object.find(name, gnu_hash(name.to_bytes()));
            if let Some(found) = names.iter().find_map(find) {
                return found;
            }
        }
        behind |= entry.dynamic == own;
    }
    ptr::null_mut()
}

/// The dynamic section of our own object: tells which one is ours.
pub(crate) fn own() -> *const [usize; 2] {
    (&raw const DYNAMIC).cast()
}

/// The path that the loader was told for our own object; empty if it is not known.
#[must_use]
pub fn own_name() -> &'static [u8] {
    let own = own();
    let name = maps().find(|entry| entry.dynamic == own).map(|entry| entry.name);
    match name.filter(|name| !name.is_null()) {
        // SAFETY: the loader's name of an object that stays.
        Some(name) => unsafe { CStr::from_ptr(name) }.to_bytes(),
        None => &[],
    }
}

fn object(entry: &LinkMap) -> Option<Object> {
    // SAFETY: an entry of the loader's list is a loaded object.
    unsafe { Object::read(entry.base, entry.dynamic) }
}

impl Object {
    /// Reads where an object keeps its tables; none if it has no table of GNU's kind.
    ///
    /// # Safety
    /// The dynamic section is that of an object which stays loaded as long as the result is used.
    pub(crate) unsafe fn read(base: usize, dynamic: *const [usize; 2]) -> Option<Object> {
        let mut found = Object {
            base,
            strings: ptr::null(),
            symbols: ptr::null(),
            versions: ptr::null(),
            hash: ptr::null(),
        };
        let mut row = dynamic;
        while !row.is_null() {
            // SAFETY: the dynamic section is a row of pairs that ends with a zero tag.
            let [tag, value] = unsafe { row.read() };
            // glibc stores addresses here, except where the section is read-only (the vDSO).
            let at = if value < base { value.wrapping_add(base) } else { value };
            match tag {
                0 => break,
                DT_STRTAB => found.strings = ptr::with_exposed_provenance(at),
                DT_SYMTAB => found.symbols = ptr::with_exposed_provenance(at),
                DT_VERSYM => found.versions = ptr::with_exposed_provenance(at),
                DT_GNU_HASH => found.hash = ptr::with_exposed_provenance(at),
                _ => {}
            }
            row = row.wrapping_add(1);
        }
        let complete =
            !found.strings.is_null() && !found.symbols.is_null() && !found.hash.is_null();
        complete.then_some(found)
    }

    /// A text of the object's string table.
    pub(crate) fn string(&self, at: usize) -> &'static CStr {
        // SAFETY: the object's own tables refer to texts that end with NUL; it stays loaded.
        unsafe { CStr::from_ptr(self.strings.wrapping_add(at)) }
    }

    /// The name of a symbol, by its number.
    pub(crate) fn name(&self, symbol: usize) -> *const c_char {
        // SAFETY: the number comes from the object's own tables.
        let at = unsafe { (*self.symbols.wrapping_add(symbol)).name };
        self.strings.wrapping_add(at as usize)
    }

    /// The default version of a function that it defines.
    pub(crate) fn function(&self, name: &CStr) -> Option<*mut c_void> {
        self.find(name, gnu_hash(name.to_bytes()))
    }
}

impl Object {
    /// The default version of a symbol, by the GNU hash table.
    fn find(&self, name: &CStr, hash: u32) -> Option<*mut c_void> {
        // SAFETY: the table of a loaded object lies whole in memory: a head of four words, a
        // filter of `filters` 64-bit words, `buckets` words, then the chains.
        let [buckets, first, filters, shift] =
            unsafe { self.hash.cast::<[u32; 4]>().read_unaligned() };
        let filter = self.hash.wrapping_add(4).cast::<u64>();
        let table = filter.wrapping_add(filters as usize).cast::<u32>();
        let word = (hash / 64).checked_rem(filters)? as usize;
        // SAFETY: as above; `word` is below `filters`.
        let bits = unsafe { filter.wrapping_add(word).read_unaligned() };
        let wanted = 1_u64 << (hash % 64) | 1_u64 << (hash.wrapping_shr(shift) % 64);
        if bits & wanted != wanted {
            return None;
        }
        let bucket = hash.checked_rem(buckets)? as usize;
        // SAFETY: as above; `bucket` is below `buckets`.
        let mut index = unsafe { table.wrapping_add(bucket).read() };
        let chain = table.wrapping_add(buckets as usize);
        while index >= first && index != 0 {
            // SAFETY: chains run over hashed symbols only and end with an odd word.
            let entry = unsafe { chain.wrapping_add(index.wrapping_sub(first) as usize).read() };
            if entry | 1 == hash | 1
                && let Some(found) = self.check(name, index as usize)
            {
                return Some(found);
            }
            if entry & 1 == 1 {
                return None;
            }
            index = index.wrapping_add(1);
        }
        None
    }

    /// The address of a symbol if it has this name, is defined, and is the default version.
    fn check(&self, name: &CStr, index: usize) -> Option<*mut c_void> {
        // SAFETY: the index comes from the object's own hash table.
        let symbol = unsafe { &*self.symbols.wrapping_add(index) };
        // SAFETY: names lie in the object's string table and end with NUL.
        let found = unsafe { CStr::from_ptr(self.strings.wrapping_add(symbol.name as usize)) };
        if symbol.section == 0 || found != name {
            return None;
        }
        if !self.versions.is_null() {
            // SAFETY: the table of versions has an entry for each symbol.
            let version = unsafe { self.versions.wrapping_add(index).read() };
            if version & HIDDEN_VERSION != 0 {
                return None;
            }
        }
        let address = symbol.value.wrapping_add(self.base);
        if symbol.info & 0xf == STT_GNU_IFUNC {
            // SAFETY: the symbol says that its value is a function that returns the address.
            let choose: extern "C" fn() -> *mut c_void =
                unsafe { core::mem::transmute(ptr::with_exposed_provenance::<c_void>(address)) };
            return Some(choose());
        }
        Some(ptr::with_exposed_provenance_mut(address))
    }
}

fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

// The tables above are those of 64-bit ELF on the machines we know.
const _: () = assert!(size_of::<Symbol>() == 24 && (MACHINE == 62 || MACHINE == 183));

/// Declares the functions behind our hooks: a name, its C signature, and what it returns where the
/// system has no such function (errno is then `ENOSYS`).
///
/// A missing function is not fatal: nobody can have called it before us either, since only our
/// own exported name led here.
#[macro_export]
macro_rules! real {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),*) -> $result:ty, else $absent:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// The caller keeps the C function's contract.
            #[inline(always)]
            pub(crate) unsafe fn $name($($arg: $kind),*) -> $result {
                type Real = unsafe extern "C" fn($($kind),*) -> $result;
                static REAL: core::sync::atomic::AtomicPtr<core::ffi::c_void> =
                    core::sync::atomic::AtomicPtr::new(find_it as *mut core::ffi::c_void);

                #[cold]
                #[inline(never)]
                unsafe extern "C" fn find_it($($arg: $kind),*) -> $result {
                    const NAME: &core::ffi::CStr =
                        match core::ffi::CStr::from_bytes_with_nul(
                            concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => c"",
                        };
                    let mut found = $crate::real::behind(NAME);
                    if found.is_null() {
                        found = do_without as *mut core::ffi::c_void;
                    }
                    REAL.store(found, core::sync::atomic::Ordering::Release);
                    // SAFETY: the pointer is a function of this signature; contract: the caller's.
                    unsafe { core::mem::transmute::<*mut core::ffi::c_void, Real>(found)($($arg),*) }
                }

                unsafe extern "C" fn do_without($(_: $kind),*) -> $result {
                    $crate::real::set_errno(libc::ENOSYS);
                    $absent
                }

                let real = REAL.load(core::sync::atomic::Ordering::Relaxed);
                // SAFETY: the pointer is always a function of this signature: the stub, the real
                // function or the one for an absent name. Contract: the caller's.
                unsafe { core::mem::transmute::<*mut core::ffi::c_void, Real>(real)($($arg),*) }
            }
        )*
    };
}

/// The calling thread's errno; 0 for a thread that has none.
#[must_use]
pub fn errno() -> i32 {
    if tls::is_foreign() {
        return 0;
    }
    // SAFETY: libc gives a valid address for the life of the thread.
    unsafe { libc::__errno_location().read() }
}

/// Sets the calling thread's errno, where we stand in for a function that would.
pub fn set_errno(value: i32) {
    // SAFETY: libc gives a valid address for the life of the thread.
    unsafe { libc::__errno_location().write(value) };
}

#[cfg(test)]
mod tests {
    use super::{ALIASES, behind, gnu_hash, next};

    #[test]
    fn hashes_names_as_the_linker_does() {
        assert_eq!(gnu_hash(b""), 5381);
        assert_eq!(gnu_hash(b"printf"), 0x156b_2bb8);
    }

    #[test]
    fn finds_what_the_loader_finds() {
        for name in [c"pwrite64", c"open64", c"close_range", c"pthread_key_create", c"fopen"] {
            // SAFETY: asks the loader only.
            let want = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            assert!(!want.is_null());
            assert_eq!(next(name), want, "{name:?}");
        }
        assert!(next(c"netra_has_no_such_function").is_null());
    }

    #[test]
    fn aliases_are_one_function_in_the_c_library() {
        for names in ALIASES {
            let first = next(names[0]);
            assert_eq!(behind(names[0]), first, "{names:?}");
            for name in names.iter().filter(|name| !next(name).is_null()) {
                assert_eq!(next(name), first, "{name:?}");
            }
        }
    }
}
