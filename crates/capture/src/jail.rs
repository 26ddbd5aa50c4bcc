//! A process that changes its root no longer sees where segments and logs lie, and what it would make
//! at the same path lies in its jail, where it is nobody's.
//!
//! So the directory of segments is held open over `chroot` (`hold`). Segments of such a process and of its children go on
//! through it; the log is left to `netra run` and `netra recover`, which find the segments. A root
//! that was changed past our hook leaves memory of our own, and a note.
//!
//! A process that becomes another user may no longer write there either. Its own segment is made before, and the
//! directory of that user's segments, which belongs to the user, is held for its children; the roll says who that is,
//! so that `netra run` looks there too. In a jail nothing is held over that: a directory outside would be a way out
//! for whoever is no longer root.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use crate::arch;
use crate::arena::ARENA;
use crate::hold::{Mark, ROLL, SEGMENTS};
use crate::life;
use crate::roll;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys::{self, Descriptor, Refused};
use crate::text::Text;
use crate::tls;

/// Users for whom a process prepares: one that changes all the time does it for others.
const MOST_USERS: u32 = 16;

/// The root of the start, which children inherit the knowledge of.
static ROOT: Mark = Mark::new();
/// For how many users this process has prepared.
static USERS: AtomicU32 = AtomicU32::new(0);

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
    if !SEGMENTS.is_known() {
        prepare(|| {
            if !entered() {
                hold();
                roll::hold();
            }
        });
    }
}

/// The process may be about to become this user.
pub fn before_user(user: u32) {
    let enough = USERS.load(Ordering::Relaxed) >= MOST_USERS;
    if enough || user == u32::MAX || user == sys::ask(libc::SYS_geteuid) {
        return;
    }
    prepare(|| {
        if user != 0 && entered() {
            // Whoever gives up root in a jail is not to find a way out of it: children go without a segment.
            SEGMENTS.release();
            ROLL.release();
            return;
        }
        if SEGMENTS.number_of(user).is_some() {
            return;
        }
        if let Some(directory) = directory_of(user) {
            USERS.fetch_add(1, Ordering::Relaxed);
            roll::hold();
            roll::user(user);
            SEGMENTS.keep(&directory);
        }
    });
}

/// Does something outside of the application's calls, in a process that has its segment.
fn prepare(act: impl FnOnce()) {
    let slot = tls::slot();
    if slot.busy.get() | slot.borrowed.get() != 0 {
        return;
    }
    // A signal handler's calls pass meanwhile, as during any other work of ours.
    arch::mark(&slot.busy);
    compiler_fence(Ordering::SeqCst);
    if life::ready().is_some() {
        act();
    }
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
}

const DIRECTORY: c_int = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;

fn hold() {
    let Some(mut path) = ARENA.path() else { return };
    let end = path.bytes().iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    path.truncate(end);
    let Some(name) = path.path() else { return };
    if let Ok(directory) = sys::open(name, DIRECTORY, 0) {
        SEGMENTS.keep(&directory);
    }
}

/// The directory of another user's segments, made where it is not there; none if it is not that user's alone.
fn directory_of(user: u32) -> Option<Descriptor> {
    let mut path = Text::<LONGEST_PATH>::new();
    // From a jail it is reached through the one that is held, beside which it lies.
    let within = if entered() {
        path.push(b"../netra-").number(u64::from(user));
        SEGMENTS.number()?
    } else {
        path.push(SETTINGS.segment_dir()).push(b"/netra-").number(u64::from(user));
        libc::AT_FDCWD
    };
    let name = path.path()?;
    let made = sys::make_directory_in(within, name, 0o700).is_ok();
    let directory = sys::open_in(within, name, libc::O_DIRECTORY | libc::O_NOFOLLOW, 0).ok()?;
    // Given away by its descriptor: nobody can have put another one in its place.
    if made && directory.identity().ok()?.uid == sys::ask(libc::SYS_geteuid) {
        directory.set_owner(user).ok()?;
    }
    let found = directory.identity().ok()?;
    (found.uid == user && found.mode & 0o077 == 0).then_some(directory)
}

/// Opens a segment by its path; out of reach, through the directory that is held.
///
/// # Errors
/// The kernel refuses, or there is no such directory any more.
pub fn open(path: &CStr, flags: c_int, mode: u32) -> Result<Descriptor, Refused> {
    if !(SEGMENTS.is_known() && entered()) {
        match sys::open(path, flags, mode) {
            Err(Refused(libc::EACCES | libc::ENOENT)) if SEGMENTS.is_known() => {}
            opened => return opened,
        }
    }
    let held = SEGMENTS.number_of(sys::ask(libc::SYS_geteuid)).ok_or(Refused(libc::EACCES))?;
    sys::open_in(held, last(path), flags, mode)
}

/// The name of a file without its directories.
fn last(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let from = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at.wrapping_add(1));
    bytes.get(from..).and_then(|name| CStr::from_bytes_with_nul(name).ok()).unwrap_or(path)
}

/// Whether a segment of this user can be made although its path leads nowhere.
#[must_use]
pub fn holds(user: u32) -> bool {
    SEGMENTS.number_of(user).is_some()
}

/// The roll, if it is held.
#[must_use]
pub fn roll() -> Option<c_int> {
    ROLL.number()
}
