//! An object as the loader has put it into memory: where it lies, its relocations, names and needs.

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::AtomicUsize;

use crate::arch;
use crate::real::Object;
use crate::sys;

const PT_LOAD: u32 = 1;
const PF_W: u32 = 2;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_RELRO: u32 = 0x6474_e552;
const DT_NEEDED: usize = 1;
const DT_PLTRELSZ: usize = 2;
const DT_RELA: usize = 7;
const DT_RELASZ: usize = 8;
const DT_SONAME: usize = 14;
const DT_JMPREL: usize = 23;

/// Bytes of a relocation.
const RELOCATION: usize = size_of::<Relocation>();

/// A relocation with an addend, as ELF has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

impl Relocation {
    /// What is to be done at the place.
    pub(super) fn kind(&self) -> u32 {
        self.info as u32
    }

    /// Whether the place gets the symbol's address, and no other near it.
    pub(super) fn is_plain(&self) -> bool {
        self.addend == 0
    }
}

/// An object in memory. All zeroes is a valid one, of nothing.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    base: usize,
    name: *const c_char,
    pub(super) dynamic: *const [usize; 2],
    /// From its first byte to behind its last.
    span: (usize, usize),
    /// The same of what can be written.
    writable: (usize, usize),
    /// The part that the loader makes read-only.
    read_only: (usize, usize),
    tables: Object,
    /// The relocations of calls and all others: address and bytes.
    relocations: [(usize, usize); 2],
    soname: Option<core::num::NonZeroUsize>,
}

impl Loaded {
    /// Reads where an object keeps what is needed here; none if it has no dynamic section.
    ///
    /// # Safety
    /// The object stays loaded as long as the result is used.
    pub(super) unsafe fn read(info: &libc::dl_phdr_info) -> Option<Loaded> {
        let base = info.dlpi_addr as usize;
        let (mut span, mut writable) = ((usize::MAX, 0), (usize::MAX, 0));
        let (mut read_only, mut dynamic) = ((0, 0), None);
        for index in 0..usize::from(info.dlpi_phnum) {
            // SAFETY: the loader says how many there are.
            let head = unsafe { &*info.dlpi_phdr.wrapping_add(index) };
            let from = base.wrapping_add(head.p_vaddr as usize);
            let to = from.wrapping_add(head.p_memsz as usize);
            match head.p_type {
                PT_LOAD => {
                    span = (span.0.min(from), span.1.max(to));
                    if head.p_flags & PF_W != 0 {
                        writable = (writable.0.min(from), writable.1.max(to));
                    }
                }
                PT_DYNAMIC => dynamic = Some(from),
                PT_GNU_RELRO => read_only = (from, to),
                _ => {}
            }
        }
        let mut found = Loaded {
            base,
            name: info.dlpi_name,
            dynamic: ptr::with_exposed_provenance(dynamic?),
            span,
            writable,
            read_only,
            // SAFETY: the caller vouches.
            tables: unsafe { Object::read(base, ptr::with_exposed_provenance(dynamic?)) }?,
            relocations: [(0, 0); 2],
            soname: None,
        };
        let [mut calls, mut others] = found.relocations;
        for (tag, value) in found.rows() {
            match tag {
                DT_JMPREL => calls.0 = found.address(value),
                DT_PLTRELSZ => calls.1 = value,
                DT_RELA => others.0 = found.address(value),
                DT_RELASZ => others.1 = value,
                DT_SONAME => found.soname = core::num::NonZeroUsize::new(value),
                _ => {}
            }
        }
        found.relocations = [calls, others];
        Some(found)
    }

    /// glibc stores addresses in the dynamic section, except where it is read-only.
    fn address(&self, value: usize) -> usize {
        if value < self.base { value.wrapping_add(self.base) } else { value }
    }

    /// The dynamic section: tags and values.
    fn rows(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let mut row = self.dynamic;
        core::iter::from_fn(move || {
            // SAFETY: a row of pairs that ends with a zero tag; the object is loaded.
            let [tag, value] = unsafe { row.read() };
            row = row.wrapping_add(1);
            (tag != 0).then_some((tag, value))
        })
    }

    /// Its relocations.
    pub(super) fn relocations(&self) -> impl Iterator<Item = Relocation> + use<> {
        self.relocations.into_iter().flat_map(|(at, bytes)| {
            let first = ptr::with_exposed_provenance::<Relocation>(at);
            let count = if at == 0 { 0 } else { bytes / RELOCATION };
            // SAFETY: the object says where they lie and how many bytes they take.
            (0..count).map(move |index| unsafe { first.wrapping_add(index).read() })
        })
    }

    /// The name of the symbol that a relocation is for.
    pub(super) fn symbol_name(&self, relocation: &Relocation) -> *const c_char {
        self.tables.name((relocation.info >> 32) as usize)
    }

    /// The slot that a relocation is for, if it lies in what the object can write.
    pub(super) fn slot(&self, relocation: &Relocation) -> Option<&'static AtomicUsize> {
        let at = self.base.wrapping_add(relocation.offset);
        let inside = self.writable.0 <= at && at < self.writable.1;
        let whole = inside && at.is_multiple_of(align_of::<AtomicUsize>());
        // SAFETY: the slot lies in the object, which stays while the loader's lock is held; the loader
        // and we write it whole.
        whole.then(|| unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(at) })
    }

    /// Whether an address lies in the object.
    pub(super) fn holds(&self, address: usize) -> bool {
        self.span.0 <= address && address < self.span.1
    }

    /// From its first byte to behind its last.
    pub(super) fn span(&self) -> (usize, usize) {
        self.span
    }

    /// Whether a slot is in the part that the loader made read-only.
    pub(super) fn is_read_only(&self, slot: &AtomicUsize) -> bool {
        let (from, to) = self.read_only_pages();
        let at = ptr::from_ref(slot).addr();
        from <= at && at < to
    }

    /// As the loader rounds them: down, so that nothing behind the part is touched.
    fn read_only_pages(&self) -> (usize, usize) {
        let page = arch::page_bytes();
        let mask = !page.wrapping_sub(1);
        (self.read_only.0 & mask, self.read_only.1 & mask)
    }

    /// Makes the read-only part so, or writable; whether that worked.
    pub(super) fn protect(&self, read_only: bool) -> bool {
        let (from, to) = self.read_only_pages();
        // SAFETY: the pages are the object's; they can be read all the time.
        unsafe { sys::protect(from, to.wrapping_sub(from), !read_only) }.is_ok()
    }

    /// Whether it defines a function.
    pub(super) fn defines(&self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    /// The address of a function that it defines.
    pub(super) fn find(&self, name: &CStr) -> Option<usize> {
        self.tables.function(name).map(|found| found.addr())
    }

    /// The names of the objects that it needs.
    pub(super) fn needed(&self) -> impl Iterator<Item = &'static CStr> + use<> {
        let tables = self.tables;
        self.rows().filter(|row| row.0 == DT_NEEDED).map(move |row| tables.string(row.1))
    }

    /// Whether others need it by this name.
    pub(super) fn is_called(&self, name: &CStr) -> bool {
        if let Some(soname) = self.soname {
            return self.tables.string(soname.get()) == name;
        }
        if self.name.is_null() {
            return false;
        }
        // SAFETY: the loader's name of a loaded object is a C string.
        let own = unsafe { CStr::from_ptr(self.name) }.to_bytes();
        own.rsplit(|&byte| byte == b'/').next() == Some(name.to_bytes())
    }
}
