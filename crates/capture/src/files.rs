//! Descriptors: a table indexed by their number, which leads to what is open there. Descriptors
//! made by `dup` share one [`Open`], as they share one position in the kernel.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::segment::OTHER_FILE;

use crate::arch;
use crate::lustre;
use crate::memory;
use crate::module::POSIX;
use crate::name::{self, LONGEST};
use crate::settings::SETTINGS;
use crate::sys;
use crate::text::Text;

/// The descriptor is not a file, or its file is excluded.
const IGNORED: usize = 1;
/// Writes go to the end, whatever the position.
const APPENDS: u32 = 1;

/// An open file description. Its first line is written when it is opened, its second by every
/// call that moves the position. Pooled: its memory never becomes anything else.
#[repr(C, align(64))]
pub struct Open {
    /// The file's number.
    pub file: AtomicU32,
    flags: AtomicU32,
    descriptors: AtomicU32,
    next_free: AtomicU32,
    /// Bits of an offset that are zero where the file is aligned.
    pub mask: AtomicU64,
    line: [u64; 5],
    position: AtomicU64,
    end: AtomicU64,
    line_2: [u64; 6],
}

const _: () = assert!(size_of::<Open>() == 128);

/// What stands behind a descriptor.
pub enum Behind {
    /// Nothing we have seen.
    Unknown,
    /// No file, or one that is not recorded.
    Ignored,
    /// A file.
    File(&'static Open),
}

/// What the table holds for a descriptor.
#[inline(always)]
pub(crate) fn entry(descriptor: c_int) -> Option<usize> {
    Some(memory::descriptor(descriptor)?.load(Ordering::Acquire))
}

/// Whether that leads to a file that is recorded.
#[inline(always)]
pub(crate) fn is_tracked(entry: usize) -> bool {
    entry > IGNORED
}

/// The file behind a descriptor, if it is one that is recorded.
#[inline(always)]
#[must_use]
pub fn tracked(descriptor: c_int) -> Option<&'static Open> {
    entry(descriptor).filter(|&entry| is_tracked(entry)).and_then(open)
}

/// What stands behind a descriptor.
#[must_use]
pub fn behind(descriptor: c_int) -> Behind {
    match memory::descriptor(descriptor).map(|entry| entry.load(Ordering::Acquire)) {
        Some(0) => Behind::Unknown,
        None | Some(IGNORED) => Behind::Ignored,
        Some(entry) => open(entry).map_or(Behind::Ignored, Behind::File),
    }
}

#[inline(always)]
pub(crate) fn open(entry: usize) -> Option<&'static Open> {
    // SAFETY: entries above `IGNORED` are addresses of the pool, exposed by `track`; the pool is
    // never unmapped and consists of atomics.
    unsafe { core::ptr::with_exposed_provenance::<Open>(entry).as_ref() }
}

/// Begins to follow a descriptor that was just opened with a path.
pub fn track(descriptor: c_int, path: &[u8], flags: c_int) -> Option<&'static Open> {
    let entry = memory::descriptor(descriptor)?;
    if !SETTINGS.records(&POSIX) || name::excluded(path) {
        replace(entry, IGNORED);
        return None;
    }
    let (file, mask) = name::of(path, name::PATH);
    if file == OTHER_FILE {
        crate::shard::partial(&POSIX);
    }
    let fresh = take()?;
    fresh.file.store(file, Ordering::Relaxed);
    fresh.mask.store(mask, Ordering::Relaxed);
    fresh.position.store(0, Ordering::Relaxed);
    let appends = flags & libc::O_APPEND != 0;
    fresh.flags.store(if appends { APPENDS } else { 0 }, Ordering::Relaxed);
    if appends {
        fresh.end.store(sys::size(descriptor).unwrap_or(0), Ordering::Relaxed);
    }
    fresh.descriptors.store(1, Ordering::Relaxed);
    lustre::opened(file, descriptor);
    replace(entry, core::ptr::from_ref(fresh).expose_provenance());
    Some(fresh)
}

/// Takes a description from the pool.
fn take() -> Option<&'static Open> {
    let (private, opens) = (memory::private()?, memory::opens());
    let link = |number: u32| opens.get(number as usize).map(|open| &open.next_free);
    let number = private.opens_free.take(opens.len(), link)?;
    opens.get(number as usize)
}

fn replace(entry: &AtomicUsize, with: usize) {
    // As a rule the descriptor is new and nobody else knows it: no locked instruction is needed.
    if entry.load(Ordering::Relaxed) == 0 {
        return entry.store(with, Ordering::Release);
    }
    release(entry.swap(with, Ordering::AcqRel));
}

/// Gives one descriptor's share of a description back.
fn release(entry: usize) {
    if entry <= IGNORED {
        return;
    }
    if let Some(open) = open(entry) {
        open.release();
    }
}

/// Moves a position on; where it was before.
#[inline(always)]
pub fn go_on(position: &AtomicU64, bytes: u64) -> u64 {
    if memory::one_thread() {
        // Not locked, but whole: a signal handler may read from the same file.
        return arch::fetch_add(position, bytes);
    }
    position.fetch_add(bytes, Ordering::Relaxed)
}

impl Open {
    /// One descriptor less; the last one gives the description back.
    pub fn release(&'static self) {
        // The only descriptor of a description cannot be duplicated while it is being closed.
        if self.descriptors.load(Ordering::Acquire) == 1 {
            self.descriptors.store(0, Ordering::Relaxed);
        } else if self.descriptors.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let Some(private) = memory::private() else { return };
        let first = memory::opens().as_ptr().addr();
        const BYTES: usize = size_of::<Open>();
        let number = core::ptr::from_ref(self).addr().wrapping_sub(first) / BYTES;
        private.opens_free.give(number as u32, &self.next_free);
    }

    /// Where a call began that moved `bytes` from the current position.
    #[inline(always)]
    pub fn advance<const WRITE: bool>(&self, bytes: u64) -> u64 {
        if WRITE && self.flags.load(Ordering::Relaxed) & APPENDS != 0 {
            let offset = self.end.fetch_add(bytes, Ordering::Relaxed);
            self.position.store(offset.wrapping_add(bytes), Ordering::Relaxed);
            return offset;
        }
        go_on(&self.position, bytes)
    }

    /// Sets the position.
    pub fn seek(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// Takes over a change of the status flags by `fcntl`.
    pub fn set_flags(&self, descriptor: c_int, flags: c_int) {
        let appends = flags & libc::O_APPEND != 0;
        if appends && self.flags.load(Ordering::Relaxed) & APPENDS == 0 {
            self.end.store(sys::size(descriptor).unwrap_or(0), Ordering::Relaxed);
        }
        self.flags.store(if appends { APPENDS } else { 0 }, Ordering::Relaxed);
    }

    /// The end of the file as far as this description knows it changed.
    pub fn set_end(&self, end: u64) {
        self.end.store(end, Ordering::Relaxed);
    }
}

/// Stops following a descriptor that is about to be closed; what was there. The caller releases it.
pub fn detach(descriptor: c_int) -> Behind {
    let Some(entry) = memory::descriptor(descriptor) else { return Behind::Ignored };
    match entry.swap(0, Ordering::AcqRel) {
        0 => Behind::Unknown,
        IGNORED => Behind::Ignored,
        held => open(held).map_or(Behind::Ignored, |open| {
            lustre::closing(open.file.load(Ordering::Relaxed), descriptor);
            Behind::File(open)
        }),
    }
}

/// Forgets a descriptor, and what was open there with it.
pub fn forget(descriptor: c_int) {
    if let Behind::File(open) = detach(descriptor) {
        open.release();
    }
}

/// Forgets descriptors from `first` to `last`.
pub fn forget_range(first: u32, last: u32) {
    let limit = memory::limit() as u32;
    for descriptor in first..=last.min(limit) {
        // Entries of pages that were never touched read as zero; the kernel shares one page.
        if memory::descriptor(descriptor as c_int)
            .is_some_and(|entry| entry.load(Ordering::Relaxed) != 0)
        {
            forget(descriptor as c_int);
        }
        // A program that closes everything does so up to its limit, which few reach.
        if descriptor > 65_536 {
            break;
        }
    }
}

/// `to` has become a duplicate of `from`.
pub fn duplicate(from: c_int, to: c_int) -> Option<&'static Open> {
    let shared = match behind(from) {
        Behind::File(open) => Some(open),
        Behind::Ignored => None,
        Behind::Unknown => adopt(from),
    };
    let entry = memory::descriptor(to)?;
    match shared {
        Some(open) => {
            open.descriptors.fetch_add(1, Ordering::Relaxed);
            replace(entry, core::ptr::from_ref(open).expose_provenance());
        }
        None => replace(entry, IGNORED),
    }
    shared
}

/// A descriptor that we did not see being opened: inherited over exec or fork, received over a
/// socket, or made by a call we do not hook. The kernel tells what it is.
#[cold]
#[inline(never)]
pub fn adopt(descriptor: c_int) -> Option<&'static Open> {
    let entry = memory::descriptor(descriptor)?;
    let mut buffer = [0_u8; 1024];
    let path = kernel_path(descriptor, &mut buffer);
    let Some(path) = path.filter(|path| path.first() == Some(&b'/')) else {
        replace(entry, IGNORED);
        return None;
    };
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let flags = sys::status_flags(descriptor).unwrap_or(0);
    let open = track(descriptor, path, flags)?;
    open.seek(sys::position(descriptor).unwrap_or(0));
    Some(open)
}

/// Looks at a descriptor while the kernel can be asked what it is.
pub fn meet(descriptor: c_int) {
    if let Behind::Unknown = behind(descriptor) {
        let _open = adopt(descriptor);
    }
}

fn kernel_path(descriptor: c_int, buffer: &mut [u8]) -> Option<&[u8]> {
    let mut link = Text::<32>::new();
    link.push(b"/proc/thread-self/fd/").number(u64::try_from(descriptor).ok()?);
    sys::read_link(link.path()?, buffer)
}

/// Writes the path of a directory's descriptor into a buffer; its length.
pub fn path_of(directory: c_int, buffer: &mut [u8; LONGEST]) -> Option<usize> {
    if let Some(open) = tracked(directory) {
        let name = name::text(open.file.load(Ordering::Relaxed));
        for (to, from) in buffer.iter_mut().zip(name) {
            *to = *from;
        }
        return Some(name.len()).filter(|&length| length < LONGEST);
    }
    kernel_path(directory, buffer).filter(|path| path.first() == Some(&b'/')).map(<[u8]>::len)
}
