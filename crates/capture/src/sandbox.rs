//! A process may forbid calls of the kernel to itself (seccomp), mostly on pain of death, or the processor's
//! counter (`PR_SET_TSC`). Netra then does without, and no program dies of being watched.
//!
//! **Before** it happens, in the hooks of `prctl` and `syscall`, the process is set up, what is open is
//! looked at, and room is reserved; then the door to the kernel is closed (`sys::door`), and opened again as
//! far as the filter allows once the kernel has taken it. Counting and tracing go on in what is mapped.
//! Where the log cannot be written, the segment is the record, and says that this was so.
//!
//! **A child of fork** inherits the filter and what is known of it. One that may not make a segment of its own
//! goes unrecorded.
//!
//! **Another image** does not know which filters its process has, only how many: the loader has opened and read
//! files itself, so one file can be read. Where there are more than the surroundings account for (a container's
//! own filter, or those under which `netra run` works itself), netra stays out.

use core::ffi::CStr;
use core::sync::atomic::{Ordering, compiler_fence};

use netra_event::segment::SANDBOXED;

use crate::arch;
use crate::arena::ARENA;
use crate::files;
use crate::lane;
use crate::life;
use crate::settings::SETTINGS;
use crate::sys::{self, door};
use crate::text::{decimal, trim};
use crate::time;
use crate::tls;

/// Calls without which a process cannot be set up.
const SET_UP: [i64; 10] = [
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_mmap,
    libc::SYS_madvise,
    libc::SYS_getpid,
    libc::SYS_geteuid,
    libc::SYS_gettid,
];
/// Calls without which a log would be left half way.
const LOG: [i64; 10] = [
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_newfstatat,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_pwrite64,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_geteuid,
    libc::SYS_clock_gettime,
];

/// All calls that netra makes.
const ALL: [i64; 41] = [
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_lseek,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
    libc::SYS_fchmod,
    libc::SYS_ftruncate,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fgetxattr,
    libc::SYS_getdents64,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_prlimit64,
    libc::SYS_sigaltstack,
    libc::SYS_process_vm_readv,
    libc::SYS_nanosleep,
    libc::SYS_clock_gettime,
];
/// `statmount`, for which libc has no number yet.
const STATMOUNT: i64 = 457;

/// What a process is about to forbid itself.
#[derive(Clone, Copy)]
pub enum Request {
    /// Every call but four, and the counter.
    Strict,
    /// What a filter says.
    Filter {
        /// Where its description lies.
        described: usize,
        /// For all threads, not for the caller and those that it makes alone.
        all: bool,
    },
    /// The counter.
    Counter,
    /// Nothing any more: the counter comes back.
    CounterBack,
}

/// The library is loaded into an image: whether it may do its work here.
pub fn start() -> bool {
    match filters(c"/proc/self/status") {
        Some(0) => return true,
        Some(own) if own == SETTINGS.filters() || is_container_of(own) => return true,
        _ => door::close(),
    }
    // Nor is it known whether there is a counter. (Without filters there is: the loader has read it.)
    time::choose_without_counter();
    false
}

/// How many filters a process has; none where the kernel does not say.
fn filters(status: &CStr) -> Option<u64> {
    let mut said = Said::default();
    // Line by line: that of the groups may be of any length.
    sys::each_line(status, |line| said.take(line));
    said.filters()
}

/// What the kernel says of a process.
#[derive(Default)]
struct Said {
    lines: u32,
    mode: u64,
    filters: Option<u64>,
}

impl Said {
    fn take(&mut self, line: &[u8]) {
        let value = |key: &[u8]| line.strip_prefix(key).and_then(|rest| decimal(trim(rest)));
        self.lines = self.lines.saturating_add(1);
        self.mode = value(b"Seccomp:").unwrap_or(self.mode);
        self.filters = self.filters.or(value(b"Seccomp_filters:"));
    }

    /// Before Linux 5.9 it says only that there are filters.
    fn filters(&self) -> Option<u64> {
        match self.mode {
            _ if self.lines == 0 => None,
            0 => Some(0),
            _ => Some(self.filters.unwrap_or(1)),
        }
    }
}

/// Whether this is a container whose runtime is known to make calls fail, not to kill for them, and the
/// process's filters are those of the container's first process.
fn is_container_of(filters_here: u64) -> bool {
    let marks = [c"/.dockerenv", c"/run/.containerenv"];
    filters_here == 1
        && marks.iter().any(|mark| sys::open(mark, libc::O_RDONLY, 0).is_ok())
        && filters(c"/proc/1/status") == Some(1)
}

/// Whether the process has forbidden itself anything.
#[must_use]
pub fn is_inside() -> bool {
    door::is_hindered()
}

/// Whether a process that was not set up yet may be.
#[must_use]
pub fn may_set_up() -> bool {
    door::allows(&SET_UP)
}

/// Whether the position of an open file may be asked for.
#[must_use]
pub fn may_seek() -> bool {
    door::allows(&[libc::SYS_lseek])
}

/// Whether a log can be written.
#[must_use]
pub fn may_write_log() -> bool {
    door::allows(&LOG)
}

/// Makes the call by which a process forbids itself something; whether it succeeded is what `succeeds` says
/// of its result.
pub fn enter(
    request: Request,
    call: impl FnOnce() -> i64,
    succeeds: impl FnOnce(i64) -> bool,
) -> i64 {
    // What a child of vfork forbids itself is not its parent's, whose memory this is.
    if tls::slot().borrowed.get() != 0 {
        return call();
    }
    if let Request::CounterBack = request {
        let done = call();
        if succeeds(done) && is_alone() {
            time::regain_counter();
        }
        return done;
    }
    prepare();
    if let Request::Counter = request {
        let lost = time::lose_counter();
        let done = call();
        if lost && !succeeds(done) {
            time::regain_counter();
        }
        return done;
    }
    let room = door::room();
    door::close();
    let lost = match request {
        Request::Strict => time::lose_counter(),
        _ => {
            time::ask_kernel();
            false
        }
    };
    if let Request::Filter { all: true, .. } = request {
        door::wait_until_empty();
    }
    let before = mark(true);
    let done = call();
    if succeeds(done) {
        let known = match (request, room) {
            // SAFETY: the kernel has read the filter at this address; the caller of the hook keeps it.
            (Request::Filter { described, .. }, Some(room)) => unsafe {
                door::add(room, described)
            },
            _ => false,
        };
        if known {
            door::reopen();
            tell_images();
        }
        return done;
    }
    if !before {
        mark(false);
    }
    door::reopen();
    if lost {
        time::regain_counter();
    }
    if let Some(room) = room {
        // SAFETY: it was not used.
        unsafe { door::give_back(room) };
    }
    done
}

/// Tells the images that will replace this one that its filters are harmless, where there is something to tell
/// it by: the setting in the environment, of which a new image gets a copy.
fn tell_images() {
    let harmless = door::harmless_for(&ALL).filter(|_| door::harmless_for(&[STATMOUNT]).is_some());
    if let Some(own) = harmless {
        life::change_setting(b"NETRA_FILTERS=", SETTINGS.filters().saturating_add(own));
    }
}

/// Does what may not be possible any more in a moment.
fn prepare() {
    let slot = tls::slot();
    if slot.busy.get() != 0 {
        return;
    }
    // A signal handler's calls pass meanwhile, as during any other work of ours.
    arch::mark(&slot.busy);
    compiler_fence(Ordering::SeqCst);
    if life::ready().is_some() {
        if slot.attached().is_none() {
            // Without one the thread's calls go uncounted, as ever.
            let _attached = lane::attach(slot);
        }
        sys::each_descriptor(files::meet);
        ARENA.reserve_ahead();
        if let Some(header) = ARENA.header() {
            life::calibrate(header);
        }
    }
    compiler_fence(Ordering::SeqCst);
    slot.busy.set(0);
}

/// Says in the segment that the process is in a sandbox, or is not; whether it was.
fn mark(sandboxed: bool) -> bool {
    let Some(header) = ARENA.header().filter(|_| life::is_ready()) else { return false };
    let before = if sandboxed {
        header.flags.fetch_or(SANDBOXED, Ordering::Relaxed)
    } else {
        header.flags.fetch_and(!SANDBOXED, Ordering::Relaxed)
    };
    before & SANDBOXED != 0
}

/// Whether the process has one thread: the counter belongs to threads, and each may have lost its own.
fn is_alone() -> bool {
    let mut threads = 0_u32;
    sys::each_entry(c"/proc/self/task", |_| threads = threads.saturating_add(1));
    threads == 1
}

#[cfg(test)]
mod tests {
    use super::Said;

    #[track_caller]
    fn says(status: &[u8], want: Option<u64>) {
        let mut said = Said::default();
        let lines = status.split(|&byte| byte == b'\n');
        lines.filter(|line| !line.is_empty()).for_each(|line| said.take(line));
        assert_eq!(said.filters(), want);
    }

    #[test]
    fn filters_are_counted_as_the_kernel_says() {
        says(b"Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n", Some(0));
        says(b"Seccomp:\t2\nSeccomp_filters:\t3\n", Some(3));
        says(b"Seccomp:\t2\nSpeculation_Store_Bypass:\tvulnerable\n", Some(1));
        says(b"Name:\tno seccomp in this kernel\n", Some(0));
        says(b"", None);
    }
}
