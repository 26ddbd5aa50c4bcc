//! Names of files: from what a call was given to an absolute path, and from there to a number in
//! the segment. A path is looked up without a lock; it is written once.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use netra_event::RecordId;
use netra_event::segment::{OTHER_FILE, OTHER_NAME, PARTIAL, Region, table};

use crate::arena::ARENA;
use crate::files;
use crate::lustre;
use crate::memory;
use crate::module;
use crate::mount;
use crate::settings::SETTINGS;
use crate::sys;
use crate::text::Text;
use crate::time;
use crate::tls::Thread;

/// The longest path that is put together; longer ones are summed under the other files.
pub const LONGEST: usize = 4096;

/// A path.
pub const PATH: u32 = 1;
/// A stream without one.
pub const STREAM: u32 = 2;
/// The record of all files that have none of their own.
pub const OTHER: u32 = 3;
/// An object inside a file: a data set, a group, a variable.
pub const OBJECT: u32 = 4;

/// What is known of a file beside its row in the segment.
#[derive(Default)]
pub struct Known {
    /// Hash of its name.
    id: AtomicU64,
    /// Next file with the same bucket.
    next: AtomicU32,
    /// Its alignment minus one, 0 if it has none.
    mask: AtomicU32,
    /// What is known of its layout on Lustre (see `crate::lustre`); 0 anywhere else.
    pub lustre: AtomicU32,
    /// The newest record of each module: byte offset plus one.
    pub records: [AtomicU64; module::COUNT],
}

/// Prefixes that are not recorded, as Darshan has them; but `/dev/shm` holds files.
const EXCLUDED: [&[u8]; 11] = [
    b"/etc/", b"/dev/", b"/usr/", b"/bin/", b"/boot/", b"/lib/", b"/opt/", b"/sbin/", b"/sys/",
    b"/proc/", b"/var/",
];
/// Prefixes that are, although one of the above fits.
const INCLUDED: [&[u8]; 2] = [b"/dev/shm/", b"/var/opt/cray/dws/mounts/"];

/// Whether files of this name are not recorded.
#[must_use]
pub fn excluded(path: &[u8]) -> bool {
    if SETTINGS.chooses_paths() {
        if SETTINGS.includes(path) {
            return false;
        }
        if SETTINGS.excludes(path) {
            return true;
        }
    }
    // The first letter rules most paths out.
    let [b'/', b'e' | b'd' | b'u' | b'b' | b'l' | b'o' | b's' | b'p' | b'v', ..] = path else {
        return false;
    };
    let starts = |prefix: &&[u8]| path.starts_with(prefix);
    EXCLUDED.iter().any(starts) && !INCLUDED.iter().any(starts)
}

/// The path of a call as records are named: absolute, without `//` and `/./`. Symbolic links and
/// `..` stay as they are. The result may lie in the thread's own buffer.
///
/// # Safety
/// `path` is what the application gave to a call that took it: a C string.
pub unsafe fn clean(thread: &Thread, directory: c_int, path: *const c_char) -> Option<&[u8]> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller vouches; the string is read before the hook returns.
    let given = unsafe { CStr::from_ptr(path) }.to_bytes();
    if given.first() == Some(&b'/') && is_clean(given) {
        return Some(given);
    }
    // SAFETY: the buffer belongs to this thread, which does one thing at a time (the busy mark).
    let buffer = unsafe { &mut *thread.path.get() };
    let mut length = 0;
    if given.first() != Some(&b'/') {
        length = base(directory, buffer)?;
    }
    let rest = buffer.get_mut(length..)?;
    if given.len() > rest.len() {
        return None;
    }
    for (to, from) in rest.iter_mut().zip(given) {
        *to = *from;
    }
    length = length.checked_add(given.len())?;
    let length = squeeze(buffer.get_mut(..length)?);
    buffer.get(..length)
}

/// What relative paths are relative to, with a slash at its end.
fn base(directory: c_int, buffer: &mut [u8; LONGEST]) -> Option<usize> {
    let length = if directory == libc::AT_FDCWD {
        sys::working_directory(buffer)?.len()
    } else {
        files::path_of(directory, buffer)?
    };
    *buffer.get_mut(length)? = b'/';
    length.checked_add(1)
}

fn is_clean(path: &[u8]) -> bool {
    let mut after_slash = false;
    for &byte in path {
        // A name that begins with a dot is rare enough to be put together anew.
        if after_slash && (byte == b'/' || byte == b'.') {
            return false;
        }
        after_slash = byte == b'/';
    }
    true
}

/// Drops doubled slashes and `/./` in place; what is left.
fn squeeze(path: &mut [u8]) -> usize {
    let mut kept = 0_usize;
    let mut at = 0_usize;
    while let Some(&byte) = path.get(at) {
        let slash = kept > 0 && path.get(kept.wrapping_sub(1)) == Some(&b'/');
        if slash && byte == b'/' {
            at = at.wrapping_add(1);
        } else if slash && byte == b'.' && path.get(at.wrapping_add(1)) == Some(&b'/') {
            at = at.wrapping_add(2);
        } else {
            if let Some(to) = path.get_mut(kept) {
                *to = byte;
            }
            kept = kept.wrapping_add(1);
            at = at.wrapping_add(1);
        }
    }
    kept
}

/// The number of the file with this name, and its alignment mask. Without room it is the number of
/// the other files, which the segment then says.
pub fn of(name: &[u8], kind: u32) -> (u32, u64) {
    let id = RecordId::of(name).0;
    let buckets = memory::buckets();
    // The low bits of the hash are as good as any, and the table's length is a power of two.
    let bucket = buckets.get(id as usize & buckets.len().wrapping_sub(1));
    let Some(bucket) = bucket else { return (OTHER_FILE, 0) };
    let head = bucket.load(Ordering::Acquire);
    if let Some(found) = search(head, 0, id) {
        return found;
    }
    let Some(index) = add(name, id, kind) else {
        if let Some(header) = ARENA.header() {
            header.flags.fetch_or(PARTIAL, Ordering::Relaxed);
        }
        return (OTHER_FILE, 0);
    };
    let Some(known) = memory::files().get(index as usize) else { return (OTHER_FILE, 0) };
    let mut seen = head;
    loop {
        known.next.store(seen, Ordering::Relaxed);
        match bucket.compare_exchange(seen, index, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return (index, u64::from(known.mask.load(Ordering::Relaxed))),
            // Another thread put names here; ours may be among them, and our row is then idle.
            Err(now) => match search(now, seen, id) {
                Some(found) => return found,
                None => seen = now,
            },
        }
    }
}

/// The bits of an offset that are zero where a file is aligned.
#[must_use]
pub fn mask(file: u32) -> u64 {
    let known = memory::files().get(file as usize);
    known.map_or(0, |known| u64::from(known.mask.load(Ordering::Relaxed)))
}

/// Looks along a chain from `from` until it reaches `until`.
fn search(from: u32, until: u32, id: u64) -> Option<(u32, u64)> {
    let files = memory::files();
    let mut index = from;
    while index != until && index != 0 {
        let known = files.get(index as usize)?;
        if known.id.load(Ordering::Relaxed) == id {
            return Some((index, u64::from(known.mask.load(Ordering::Relaxed))));
        }
        index = known.next.load(Ordering::Acquire);
    }
    None
}

/// Writes the row of a file.
fn add(name: &[u8], id: u64, kind: u32) -> Option<u32> {
    const ROW: u64 = size_of::<table::File>() as u64;
    let text = ARENA.text(name);
    if text == 0 {
        return None;
    }
    let at = ARENA.take(Region::Files, ROW)?;
    let index = u32::try_from(at / ROW).ok()?;
    // SAFETY: just taken, atomics only.
    let file = unsafe { ARENA.at::<table::File>(Region::Files, at) }?;
    let known = memory::files().get(index as usize)?;
    let (mount, alignment) = if kind == PATH { mount::of(name) } else { (0, 0) };
    if alignment.is_power_of_two() {
        known.mask.store(alignment.wrapping_sub(1), Ordering::Relaxed);
    }
    if mount::is_lustre(mount) {
        known.lustre.store(lustre::TO_ASK, Ordering::Relaxed);
    }
    known.id.store(id, Ordering::Relaxed);
    file.id.store(id, Ordering::Relaxed);
    file.name.store(text, Ordering::Relaxed);
    file.mount.store(mount, Ordering::Relaxed);
    file.alignment.store(alignment, Ordering::Relaxed);
    file.kind.store(kind, Ordering::Relaxed);
    file.seen.store(time::now(), Ordering::Relaxed);
    file.ready.store(1, Ordering::Release);
    Some(index)
}

/// Fills the first two rows: none, and the other files.
pub fn set_up() {
    let row = size_of::<table::File>() as u64;
    if ARENA.take(Region::Files, row).is_some() {
        // Index 1, by order. Without room for it there is room for nothing.
        let _other = add(OTHER_NAME, RecordId::of(OTHER_NAME).0, OTHER);
    }
}

fn row(file: u32) -> Option<&'static table::File> {
    let row = u64::from(file).wrapping_mul(size_of::<table::File>() as u64);
    // SAFETY: files that have a number have a row; atomics only.
    unsafe { ARENA.at::<table::File>(Region::Files, row) }
}

/// The mount a file lies on, as its number plus one; 0 if none is known.
#[must_use]
pub fn mount(file: u32) -> u32 {
    row(file).map_or(0, |file| file.mount.load(Ordering::Relaxed))
}

/// The number of an object inside a file: its name is the file's, a colon, and its own.
pub fn object(file: u32, name: &[u8]) -> u32 {
    let mut whole = Text::<2048>::new();
    whole.push(text(file)).push(b":").push(name);
    if file == OTHER_FILE || whole.is_cut() {
        return OTHER_FILE;
    }
    let (object, _) = of(whole.bytes(), OBJECT);
    if let Some(row) = row(object).filter(|_| object != OTHER_FILE) {
        row.parent.store(file, Ordering::Relaxed);
        row.mount.store(mount(file), Ordering::Relaxed);
    }
    object
}

/// The file that an object lies in; itself, if it is one.
#[must_use]
pub fn file_of(object: u32) -> u32 {
    match row(object).map_or(0, |row| row.parent.load(Ordering::Relaxed)) {
        0 => object,
        file => file,
    }
}

/// The path of an object inside its file; empty for a file.
#[must_use]
pub fn within(object: u32) -> &'static [u8] {
    let file = file_of(object);
    if file == object {
        return &[];
    }
    text(object).get(text(file).len().saturating_add(1)..).unwrap_or_default()
}

/// The name of a file, to put other names together.
#[must_use]
pub fn text(file: u32) -> &'static [u8] {
    let Some(file) = row(file) else { return &[] };
    let text = file.name.load(Ordering::Relaxed);
    let from = (text & 0xffff_ffff) as usize;
    let names = ARENA.bytes(Region::Names);
    names.get(from..from.saturating_add((text >> 32) as usize)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{excluded, is_clean, squeeze};

    #[track_caller]
    fn squeezes(path: &str, want: &str) {
        let mut bytes = path.as_bytes().to_vec();
        let length = squeeze(&mut bytes);
        assert_eq!(std::str::from_utf8(&bytes[..length]).unwrap(), want);
    }

    #[test]
    fn paths_lose_doubled_slashes_and_dots() {
        squeezes("/a//b", "/a/b");
        squeezes("/a/./b", "/a/b");
        squeezes("///a/.//./b/", "/a/b/");
        squeezes("/a/../b/.c", "/a/../b/.c");
        squeezes("/a/.", "/a/.");
        assert!(is_clean(b"/a/b.c/d") && !is_clean(b"/a//b") && !is_clean(b"/a/./b"));
    }

    #[test]
    fn system_directories_are_left_out_but_shared_memory_is_not() {
        assert!(excluded(b"/etc/passwd") && excluded(b"/proc/self/maps"));
        assert!(excluded(b"/dev/null") && !excluded(b"/dev/shm/x"));
        assert!(!excluded(b"/home/x") && !excluded(b"/libx") && !excluded(b"relative"));
    }
}
