//! The roll call: a process says that it is there the moment it begins, and its parent says whom it starts without
//! us. Each is one append of some bytes to a file of this host in the job's folder; no descriptor is kept, and without
//! the setting nothing is done.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use netra_event::roll::{Absence, BYTES, Entry, FILE, Kind};

use crate::hold::ROLL;
use crate::jail;
use crate::object;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys::{self, Descriptor, Refused};
use crate::text::{Text, decimal};
use crate::time::{self, ORIGIN};
use crate::tls;

/// What no two processes of a host have in common.
#[derive(Clone, Copy)]
pub struct Identity {
    /// Its number, in its namespace.
    pub pid: u32,
    /// The inode of that namespace, 0 if it is not known.
    pub namespace: u64,
    /// When it was started: field 22 of its `stat`, 0 if it is not known.
    pub start: u64,
}

/// This process's, asked for once; a child of fork asks again.
static PID: AtomicU32 = AtomicU32::new(0);
static NAMESPACE: AtomicU64 = AtomicU64::new(0);
static START: AtomicU64 = AtomicU64::new(0);

impl Identity {
    /// This process's.
    #[must_use]
    pub fn own() -> Identity {
        let pid = sys::ask(libc::SYS_getpid);
        if PID.load(Ordering::Acquire) == pid {
            return Identity {
                pid,
                namespace: NAMESPACE.load(Ordering::Relaxed),
                start: START.load(Ordering::Relaxed),
            };
        }
        let own = Identity { pid, namespace: namespace(), start: started(c"/proc/self/stat") };
        // A child of vfork has its parent's memory.
        if tls::slot().borrowed.get() == 0 {
            PID.store(0, Ordering::Release);
            NAMESPACE.store(own.namespace, Ordering::Relaxed);
            START.store(own.start, Ordering::Relaxed);
            PID.store(pid, Ordering::Release);
        }
        own
    }

    /// A child's, of whom its parent knows the number.
    fn of_child(pid: u32) -> Identity {
        let mut path = Text::<32>::new();
        path.push(b"/proc/").number(u64::from(pid)).push(b"/stat");
        Identity { pid, start: path.path().map_or(0, started), ..Identity::own() }
    }
}

/// The inode of our PID namespace: `pid:[4026531836]`.
fn namespace() -> u64 {
    let mut link = [0_u8; 40];
    let link = sys::read_link(c"/proc/self/ns/pid", &mut link).unwrap_or_default();
    let number = link.strip_prefix(b"pid:[").and_then(|rest| rest.strip_suffix(b"]"));
    number.and_then(decimal).unwrap_or(0)
}

/// When a process began, in clock ticks since boot: the 22nd field of its `stat`.
#[must_use]
pub fn started(path: &CStr) -> u64 {
    let mut buffer = [0_u8; 512];
    let Ok(file) = sys::open(path, libc::O_RDONLY, 0) else { return 0 };
    let length = file.read(&mut buffer).unwrap_or(0);
    let stat = buffer.get(..length).unwrap_or_default();
    // The second field is a name in parentheses that may itself hold anything.
    let name = stat.iter().rposition(|&byte| byte == b')').unwrap_or(0);
    let mut fields = stat.get(name..).unwrap_or_default().split(|&byte| byte == b' ');
    fields.nth(20).and_then(decimal).unwrap_or(0)
}

/// The image begins.
pub fn began() {
    if is_called() {
        let mut buffer = [0; LONGEST_PATH];
        say(Kind::Began, None, Identity::own(), object::executable(&mut buffer));
    }
}

/// The image stays out.
pub fn out(why: Absence) {
    if is_called() {
        let mut buffer = [0; LONGEST_PATH];
        say(Kind::Out, Some(why), Identity::own(), object::executable(&mut buffer));
    }
}

/// The process has a segment, at this path or in its memory only.
pub fn set_up(segment: &[u8]) {
    if is_called() {
        say(Kind::SetUp, None, Identity::own(), segment);
    }
}

/// This process is about to become a program that is not recorded.
pub fn passing(why: Absence, program: &[u8]) {
    if is_called() {
        say(Kind::Passed, Some(why), Identity::own(), program);
    }
}

/// It did not.
pub fn undone() {
    if is_called() {
        say(Kind::Undone, None, Identity::own(), b"");
    }
}

/// It has started one.
pub fn started_child(why: Absence, pid: u32, program: &[u8]) {
    if is_called() {
        say(Kind::Passed, Some(why), Identity::of_child(pid), program);
    }
}

/// It goes on as another user.
pub fn user(user: u32) {
    if is_called() {
        append(&Entry { uid: user, ..entry(Kind::User, None, Identity::own(), b"") });
    }
}

/// Whether a roll is called at all.
#[must_use]
pub fn is_called() -> bool {
    !SETTINGS.roll().is_empty()
}

/// Holds the roll: its path is about to lead nowhere.
pub fn hold() {
    if is_called()
        && let Ok(file) = open()
    {
        ROLL.keep(&file);
    }
}

fn say(kind: Kind, why: Option<Absence>, who: Identity, name: &[u8]) {
    append(&entry(kind, why, who, name));
}

fn entry<'a>(kind: Kind, why: Option<Absence>, who: Identity, name: &'a [u8]) -> Entry<'a> {
    let launch = SETTINGS.launch();
    Entry {
        kind,
        why: why.map_or(0, |why| why as u32),
        pid: who.pid,
        parent: sys::ask(libc::SYS_getppid),
        uid: sys::ask(libc::SYS_geteuid),
        rank_plus_one: launch.rank.map_or(0, |rank| rank.wrapping_add(1)),
        nprocs: launch.nprocs.unwrap_or(0),
        namespace: who.namespace,
        start: who.start,
        time: if kind == Kind::SetUp { ORIGIN.time() } else { time::realtime() },
        name,
    }
}

fn open() -> Result<Descriptor, Refused> {
    let mut path = Text::<LONGEST_PATH>::new();
    let mut host = [0; 65];
    path.push(SETTINGS.roll()).push(b"/").push(FILE.as_bytes()).push(sys::host_name(&mut host));
    let name = path.path().ok_or(Refused(libc::ENAMETOOLONG))?;
    sys::open(name, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_NOFOLLOW, 0o600)
}

/// One call appends all of it, so that entries of several processes do not mix.
fn append(entry: &Entry<'_>) {
    let bytes = entry.encode();
    if ROLL.is_known()
        && let Some(number) = jail::roll()
    {
        if sys::identity_of(number).is_ok_and(|file| has_room(file.size)) {
            let _left = sys::append(number, &bytes);
        }
        return;
    }
    if ROLL.is_known() && jail::entered() {
        return;
    }
    if let Ok(file) = open()
        && file.identity().is_ok_and(|file| has_room(file.size))
    {
        let _left = file.append(&bytes);
    }
}

/// Beyond the limit of files the kernel would send a signal.
fn has_room(size: i64) -> bool {
    sys::file_size_allowed(size.max(0).cast_unsigned().saturating_add(BYTES as u64))
}
