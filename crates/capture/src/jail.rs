//! A process that changes its root no longer sees where segments and logs lie, and what it would make
//! at the same path lies in its jail, where it is nobody's.
//!
//! So the directory of segments is held open over `chroot`, under a high number, and checked before
//! each use: an application may close everything. Segments of such a process and of its children go on
//! through it; the log is left to `netra run` and `netra recover`, which find the segments. A root
//! that was changed past our hook leaves memory of our own, and a note.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering, compiler_fence};

use crate::arch;
use crate::arena::ARENA;
use crate::life;
use crate::sys::{self, Descriptor, Identity, Refused};
use crate::tls;

/// Numbers an application hands out itself lie below, as a rule.
const LEAST: c_int = 200;

/// A file that is found again: device and inode, 0 before it is known.
struct Mark {
    device: AtomicU64,
    inode: AtomicU64,
}

impl Mark {
    const fn new() -> Mark {
        Mark { device: AtomicU64::new(0), inode: AtomicU64::new(0) }
    }

    fn set(&self, found: &Identity) {
        self.device.store(found.device, Ordering::Relaxed);
        self.inode.store(found.inode, Ordering::Relaxed);
    }

    fn is(&self, found: &Identity) -> bool {
        self.device.load(Ordering::Relaxed) == found.device
            && self.inode.load(Ordering::Relaxed) == found.inode
    }
}

/// The root of the start, which children inherit the knowledge of.
static ROOT: Mark = Mark::new();
/// The directory of segments that is held, and its number plus one.
static HELD: Mark = Mark::new();
static NUMBER: AtomicI32 = AtomicI32::new(0);

/// Remembers the root.
pub fn start() {
    if let Ok(root) = sys::metadata(c"/") {
        ROOT.set(&root);
    }
}

/// Whether the root is another one than at the start.
#[must_use]
pub fn entered() -> bool {
    sys::metadata(c"/").is_ok_and(|root| !ROOT.is(&root))
}

/// The root may be about to change: makes sure that this process has its segment, and holds the
/// directory of segments. A child of vfork leaves that to its parent.
pub fn before() {
    let slot = tls::slot();
    if slot.busy.get() | slot.borrowed.get() != 0 || NUMBER.load(Ordering::Relaxed) != 0 {
        return;
    }
    // A signal handler's calls pass meanwhile, as during any other work of ours.
    arch::mark(&slot.busy);
    compiler_fence(Ordering::SeqCst);
    if life::ready().is_some() && !entered() {
        hold();
    }
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
}

fn hold() {
    let Some(mut path) = ARENA.path() else { return };
    let end = path.bytes().iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    path.truncate(end);
    let Some(name) = path.path() else { return };
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    if let Ok(directory) = sys::open(name, flags, 0)
        && let Ok(found) = directory.identity()
        && let Ok(number) = directory.hold(LEAST)
    {
        HELD.set(&found);
        NUMBER.store(number.wrapping_add(1), Ordering::Release);
    }
}

/// Opens a segment by its path; in a jail, through the directory that is held.
///
/// # Errors
/// The kernel refuses, or there is no such directory any more.
pub fn open(path: &CStr, flags: c_int, mode: u32) -> Result<Descriptor, Refused> {
    let Some(directory) = held() else { return sys::open(path, flags, mode) };
    sys::open_in(directory, last(path), flags, mode)
}

/// The name of a file without its directories.
fn last(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let from = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at.wrapping_add(1));
    bytes.get(from..).and_then(|name| CStr::from_bytes_with_nul(name).ok()).unwrap_or(path)
}

/// The directory, if it is held and still what it was.
fn held() -> Option<c_int> {
    let number = NUMBER.load(Ordering::Acquire).checked_sub(1).filter(|&number| number >= 0)?;
    sys::identity_of(number).is_ok_and(|found| HELD.is(&found)).then_some(number)
}

/// Whether a segment can be made although the root is another one.
#[must_use]
pub fn holds() -> bool {
    held().is_some()
}
