//! Mounted file systems: which one a file lies on, and how that aligns its data.
//!
//! A process of a job, one that names more than a few files and one that lives for a while read what
//! `/proc/self/mounts` lists, once. For the first files of any other the kernel is asked about each alone, where
//! it can say: the list would be a tenth of what netra costs a small program.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use netra_event::segment::{Region, table};

use crate::arena::ARENA;
use crate::memory;
use crate::settings::LONGEST_PATH;
use crate::sys::{self, Mounted};
use crate::text::Text;

/// Types that hold no files anyone measures; the list is Darshan's, but for tmpfs.
const SKIPPED: [&[u8]; 18] = [
    b"proc",
    b"sysfs",
    b"devpts",
    b"binfmt_misc",
    b"fusectl",
    b"debugfs",
    b"securityfs",
    b"nfsd",
    b"none",
    b"rpc_pipefs",
    b"hugetlbfs",
    b"cgroup",
    b"cgroup2",
    b"mqueue",
    b"tracefs",
    b"bpf",
    b"pstore",
    b"devtmpfs",
];
const LUSTRE: u64 = 0x0bd0_0bd0;

/// Files about which the kernel is asked alone.
const ALONE: u32 = 4;

/// Reads the list into the segment, once.
pub fn list() {
    if let Some(private) = memory::private() {
        // Without it files have no mount: only where others have read for ever.
        let _read = private.desk.use_for(|room| list_through(room, &private.mounts_listed));
    }
}

fn list_through(room: &mut [u8; 4096], listed: &AtomicU32) {
    if listed.load(Ordering::Relaxed) == 0 {
        sys::each_line_through(room, c"/proc/self/mounts", add);
        listed.store(1, Ordering::Release);
    }
}

/// A line: `device point type options …`.
fn add(line: &[u8]) {
    let mut fields = line.split(|&byte| byte == b' ');
    let (Some(_), Some(point), Some(kind)) = (fields.next(), fields.next(), fields.next()) else {
        return;
    };
    if !SKIPPED.contains(&kind) && !is_known(point, kind) {
        write(point, kind);
    }
}

fn write(point: &[u8], kind: &[u8]) {
    let (point, kind) = (ARENA.text(point), ARENA.text(kind));
    let row = size_of::<table::Mount>() as u64;
    let Some(at) = ARENA.take(Region::Mounts, row) else { return };
    // SAFETY: just taken, atomics only.
    let Some(mount) = (unsafe { ARENA.at::<table::Mount>(Region::Mounts, at) }) else { return };
    mount.point.store(point, Ordering::Relaxed);
    mount.kind.store(kind, Ordering::Relaxed);
    mount.ready.store(1, Ordering::Release);
}

/// The rows that are complete, with their numbers plus one.
fn rows() -> impl Iterator<Item = (u32, &'static table::Mount)> {
    const ROW: usize = size_of::<table::Mount>();
    let count = ARENA.bytes(Region::Mounts).len() / ROW;
    let numbers = (1..).take(count);
    let rows = numbers.filter_map(|number| row(number).map(|row| (number, row)));
    rows.filter(|(_, mount)| mount.ready.load(Ordering::Acquire) != 0)
}

fn is_known(point: &[u8], kind: &[u8]) -> bool {
    rows().any(|(_, mount)| {
        text(mount.point.load(Ordering::Relaxed)) == point
            && text(mount.kind.load(Ordering::Relaxed)) == kind
    })
}

/// Makes sure that the mount of a path has its row.
fn look_up(path: &[u8]) {
    let Some(private) = memory::private() else { return };
    if private.mounts_listed.load(Ordering::Acquire) != 0 {
        return;
    }
    let asked = private.mounts_asked.fetch_add(1, Ordering::Relaxed);
    let _done = private.desk.use_for(|room| {
        if asked >= ALONE || ask(path, room).is_none() {
            list_through(room, &private.mounts_listed);
        }
    });
}

/// Asks about one path; none if the list is needed after all.
fn ask(path: &[u8], room: &mut [u8; 4096]) -> Option<()> {
    let (name, answer) = room.split_at_mut_checked(LONGEST_PATH)?;
    let name = name.get_mut(..path.len().checked_add(1)?)?;
    let (last, front) = name.split_last_mut()?;
    *last = 0;
    for (to, from) in front.iter_mut().zip(path) {
        *to = *from;
    }
    let mounted = Mounted::at(CStr::from_bytes_with_nul(name).ok()?, answer).ok()?;
    let (point, kind) = (mounted.point(), mounted.kind());
    // The list has another name for a type with a subtype. And behind a symbolic link lies another mount than
    // the path says; the path is what files are told apart by.
    if SKIPPED.contains(&kind) || kind.starts_with(b"fuse") || !holds(point, path) {
        return None;
    }
    if !is_known(point, kind) {
        write(point, kind);
    }
    Some(())
}

/// The mount a path lies on, as its number plus one, and the alignment of its files.
pub fn of(path: &[u8]) -> (u32, u32) {
    look_up(path);
    let mut best: Option<(&table::Mount, u32, usize)> = None;
    for (number, mount) in rows() {
        let point = text(mount.point.load(Ordering::Relaxed));
        if !point.is_empty() && holds(point, path) && best.is_none_or(|best| point.len() >= best.2)
        {
            best = Some((mount, number, point.len()));
        }
    }
    let Some((mount, number, length)) = best else { return (0, 0) };
    let mut block = mount.block_bytes.load(Ordering::Relaxed);
    if block == 0 {
        block = block_bytes(path.get(..length).unwrap_or_default());
        mount.block_bytes.store(block, Ordering::Relaxed);
    }
    (number, block)
}

fn row(number: u32) -> Option<&'static table::Mount> {
    let at = u64::from(number.checked_sub(1)?).checked_mul(size_of::<table::Mount>() as u64)?;
    // SAFETY: mounts that have a number have a row; atomics only.
    unsafe { ARENA.at::<table::Mount>(Region::Mounts, at) }
}

fn text(reference: u64) -> &'static [u8] {
    let from = (reference & 0xffff_ffff) as usize;
    let names = ARENA.bytes(Region::Names);
    names.get(from..from.saturating_add((reference >> 32) as usize)).unwrap_or_default()
}

/// Whether a mount, by its number plus one, is Lustre.
#[must_use]
pub fn is_lustre(number: u32) -> bool {
    row(number).is_some_and(|mount| text(mount.kind.load(Ordering::Relaxed)) == b"lustre")
}

/// Asks once how many storage and metadata targets the file system of a file has.
pub fn count_targets(file: u32) {
    let Some(mount) = row(crate::name::mount(file)) else { return };
    // At least one metadata target exists wherever the question was answered.
    if mount.metadata_targets.load(Ordering::Relaxed) != 0 {
        return;
    }
    let mut point = Text::<LONGEST_PATH>::new();
    point.push(text(mount.point.load(Ordering::Relaxed)));
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    let Some(Ok(root)) = point.path().map(|path| sys::open(path, flags, 0)) else { return };
    if let (Ok(targets), Ok(metadata)) = (root.lustre_targets(false), root.lustre_targets(true)) {
        mount.targets.store(targets, Ordering::Relaxed);
        mount.metadata_targets.store(metadata, Ordering::Relaxed);
    }
}

/// Whether a path lies below a mount point.
fn holds(point: &[u8], path: &[u8]) -> bool {
    match path.strip_prefix(point) {
        Some(rest) => point == b"/" || rest.is_empty() || rest.first() == Some(&b'/'),
        None => false,
    }
}

/// The block size of a file system; a stripe on Lustre.
fn block_bytes(point: &[u8]) -> u32 {
    const UNKNOWN: u32 = 4096;
    let mut text = Text::<LONGEST_PATH>::new();
    text.push(point);
    let Some(Ok((kind, bytes))) = text.path().map(sys::file_system) else { return UNKNOWN };
    if kind == LUSTRE { 1 << 20 } else { u32::try_from(bytes).unwrap_or(UNKNOWN) }
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_mount_holds_what_lies_below_it() {
        assert!(holds(b"/", b"/x") && holds(b"/home", b"/home/x") && holds(b"/home", b"/home"));
        assert!(!holds(b"/home", b"/homestead/x"));
    }
}
