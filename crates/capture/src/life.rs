//! How a process begins, forks, replaces itself and ends, as netra sees it.
//!
//! **Start.** The constructor reads the settings and the clock and registers what runs at exit. The
//! memory and the segment are made at the first hooked call, so a process that does no I/O pays
//! nothing. A call made by another library's constructor before ours does the same work. Where a library
//! that we hook by its callers' slots is loaded (`got`), those are changed here and after `dlopen`.
//!
//! **fork, raw clone.** The child finds its private memory zeroed, notices at its first call that it
//! is not set up, and sets up a segment of its own over its parent's mapping. There is no atfork
//! handler; a child that does no I/O leaves no trace.
//!
//! **vfork.** The child borrows its parent's memory; `arch::vfork` marks the thread, and hooks pass.
//!
//! **exec.** Descriptors that the new image inherits are adopted when it first uses them. The old
//! image's segment stays and says that it was replaced, for `netra run`; with the bare library it writes its log before.
//!
//! **Exit.** Our handler is registered before the loader's own, hence runs last, after every
//! handler and destructor of the application: calls made there still count. `quick_exit` and
//! `_exit` write the log too. After abort or a deadly signal the segment is what is left. A rank of MPI has
//! written its part of the job's log when it ended MPI (`job`), and writes none here.
//!
//! **chroot.** The segment goes on (`jail.rs`); no log is written, and no directory made, in the jail.
//!
//! **Sandbox.** What has to be done first, and what is done without, is in `sandbox.rs`.
//!
//! **clone with the parent's memory.** The child is no process of its own for us: what it does counts as
//! its parent's, and neither its end nor a failed exec is its parent's.
//!
//! **Thread end.** A key's destructor gives the thread's place to the next thread.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use netra_darshan::encode;
use netra_event::roll::Absence;
use netra_event::segment::{
    CALIBRATIONS, Header, LOGGED, MAGIC, SANDBOXED, State, UNTRACED, VERSION, View,
};

use crate::arena::{ARENA, note};
use crate::got;
use crate::hook::aio;
use crate::jail;
use crate::job;
use crate::launcher;
use crate::log;
use crate::memory::{self, Private};
use crate::name;
use crate::object;
use crate::platform;
use crate::real;
use crate::roll::{self, Identity};
use crate::sandbox;
use crate::settings::{LONGEST_PATH, SETTINGS};
use crate::sys::{self, Refused};
use crate::target;
use crate::text::Text;
use crate::time::{self, ORIGIN};
use crate::tls;
use crate::weak;
use crate::who;

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// The end of the first thread's stack, as glibc's loader keeps it; null with another C library.
fn libc_stack_end() -> *const usize {
    let place = weak!("__libc_stack_end").cast::<*const usize>();
    // SAFETY: the loader's variable, set before any code of the program runs.
    unsafe { place.as_ref() }.map_or(ptr::null(), |end| *end)
}

/// Bytes of the command line that are kept.
const LONGEST_COMMAND: usize = 3072;

/// What the library is, as `netra doctor` finds it in the library's file; said when a process begins, where that
/// is wanted.
const ABOUT: &[u8] =
    concat!("netra: library ", env!("CARGO_PKG_VERSION"), ", segments 1: recording process ")
        .as_bytes();
const _: () = assert!(VERSION == 1);

/// 0 before the start, 1 while it goes on, 2 after it.
static STARTED: AtomicU32 = AtomicU32::new(0);
/// The process that was set up last: another one than now means a fork.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The key whose destructor tells that a thread ends, plus one.
static KEY: AtomicU32 = AtomicU32::new(0);

/// The library is loaded.
pub fn start() {
    if STARTED.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    if libc_stack_end().is_null() {
        // Another C library than the one that netra knows: calls pass, and nothing is recorded.
        SETTINGS.disable();
        STARTED.store(2, Ordering::Release);
        return;
    }
    // SAFETY: the environment is the loader's list, and nobody reads settings before `STARTED`.
    unsafe { SETTINGS.read(environment()) };
    keep_first_to_itself();
    if !sandbox::start() {
        SETTINGS.disable();
        STARTED.store(2, Ordering::Release);
        return;
    }
    time::choose();
    ORIGIN.set(time::pair());
    jail::start();
    object::start();
    remember_arguments();
    answer_the_roll();
    if !SETTINGS.disabled() && memory::map().is_none() {
        stay_out(Absence::NoRoom);
    }
    if !SETTINGS.disabled() {
        make_key();
        watch_exit();
    }
    STARTED.store(2, Ordering::Release);
    if !SETTINGS.disabled() {
        got::patch::scan(got::FAMILIES);
    }
}

/// Says that this image is there, or that and why it is not recorded.
fn answer_the_roll() {
    let (mut path, mut line) = ([0_u8; LONGEST_COMMAND], [0_u8; LONGEST_COMMAND]);
    if SETTINGS.disabled() {
        roll::out(Absence::Disabled);
    } else if let Some(why) = who::left_out(object::executable(&mut path), command_line(&mut line))
    {
        stay_out(why);
    } else {
        roll::began();
    }
}

/// Keeps netra out of this process from now on, and says why where a roll is called.
fn stay_out(why: Absence) {
    SETTINGS.disable();
    roll::out(why);
    if SETTINGS.debugs() {
        let mut line = Text::<128>::new();
        line.push(b"netra: process ").number(u64::from(sys::ask(libc::SYS_getpid)));
        line.push(b" is not recorded: ").push(why.slug().as_bytes()).push(b"\n");
        sys::say(2, line.bytes());
    }
}

/// The environment. Before libc has set its own variable, in an executable's `.preinit_array`, it is
/// read from where the kernel put it: behind the arguments, at the end of the stack.
///
/// # Safety
/// As for reading `environ`: nobody changes it at the same time.
pub(crate) unsafe fn environment() -> *const *const c_char {
    // SAFETY: the caller vouches.
    let known = unsafe { (&raw const environ).read() };
    if !known.is_null() {
        return known;
    }
    // SAFETY: the loader sets it before any code of the program runs; the words there are the
    // number of arguments, the arguments, a null, and the environment.
    unsafe {
        let start = libc_stack_end();
        let arguments = start.read();
        start.add(arguments.wrapping_add(2)).cast()
    }
}

/// Where the first thread's stack ends, as far as the program uses it.
#[must_use]
pub fn stack_end() -> u64 {
    libc_stack_end().addr() as u64
}

/// Asks to be told of the end, by `exit` and by `quick_exit`.
fn watch_exit() {
    type Exit = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
    type QuickExit = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void) -> c_int;
    let (exit, quick_exit) = (weak!("__cxa_atexit"), weak!("__cxa_at_quick_exit"));
    if exit.is_null() || quick_exit.is_null() {
        return;
    }
    // SAFETY: the C library's functions have these signatures; the handler stays as long as the process; we
    // are never unloaded.
    unsafe {
        core::mem::transmute::<*mut c_void, Exit>(exit)(at_exit, ptr::null_mut(), ptr::null_mut());
        core::mem::transmute::<*mut c_void, QuickExit>(quick_exit)(at_exit, ptr::null_mut());
    }
}

/// Writes a number of two digits over the value of a setting.
pub fn change_setting(name: &[u8], value: u64) {
    let Some(digits) = u8::try_from(value).ok().filter(|&value| value < 100) else { return };
    in_environment(name, |at, value| {
        if value.len() == 2 {
            let two = [digits / 10, digits % 10].map(|digit| digit.wrapping_add(b'0'));
            // SAFETY: two bytes of the environment on the stack, which is writable.
            unsafe { at.cast::<[u8; 2]>().write_volatile(two) };
        }
    });
}

/// The library that `netra run` or a parent's hook has put first for this program is not for its children: each that
/// needs it gets it anew (`target`).
fn keep_first_to_itself() {
    in_environment(target::PRELOAD, |at, list| {
        let Some(first) = target::put_first(list) else { return };
        let from = at.wrapping_add(first.len().wrapping_add(2));
        let rest = list.len().wrapping_sub(first.len()).wrapping_sub(2);
        // SAFETY: both lie in the same text on the stack, which is writable; its NUL comes along.
        unsafe { ptr::copy(from, at, rest.wrapping_add(1)) };
    });
}

/// Does something with the value of a variable where it still lies in the environment that the kernel made, at the
/// end of the first thread's stack: anything else may be memory that cannot be written.
fn in_environment(name: &[u8], change: impl Fn(*mut u8, &[u8])) {
    const MOST: usize = 8 << 20;
    // SAFETY: the application's list, at the start or in a call of its own that has nothing to do with it.
    let mut list = unsafe { environment() };
    // SAFETY: it ends with null.
    while let Some(text) = unsafe { list.as_ref() }.copied().filter(|text| !text.is_null()) {
        list = list.wrapping_add(1);
        // SAFETY: each is a C string.
        let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
        let there = text.addr().wrapping_sub(libc_stack_end().addr()) < MOST;
        if there && let Some(value) = bytes.strip_prefix(name) {
            change(text.wrapping_add(name.len()).cast_mut().cast(), value);
        }
    }
}

extern "C" fn at_exit(_: *mut c_void) {
    finish();
}

/// Whether this process is set up.
#[must_use]
pub fn is_ready() -> bool {
    memory::private().is_some_and(|private| private.alive.load(Ordering::Acquire) != 0)
}

/// Whether a process before this one was set up in this image: this is then its child.
#[must_use]
pub fn is_child() -> bool {
    PROCESS.load(Ordering::Relaxed) != 0 && !is_ready()
}

/// Makes sure that this process is set up; none if netra is off in it.
#[cold]
pub fn ready() -> Option<()> {
    ready_since(None)
}

/// The same at the end of a call, of which it is known when it began.
pub fn ready_since(began: Option<u64>) -> Option<()> {
    if STARTED.load(Ordering::Acquire) != 2 {
        start();
    }
    if SETTINGS.disabled() || STARTED.load(Ordering::Acquire) != 2 {
        return None;
    }
    let Some(private) = memory::map() else {
        stay_out(Absence::NoRoom);
        return None;
    };
    // A page that is read before it is written costs two faults.
    private.early_any.fetch_or(0, Ordering::Relaxed);
    // Nobody waits for long: a set-up takes a tenth of a millisecond, once.
    for _ in 0..10_000 {
        if private.alive.load(Ordering::Acquire) != 0 {
            return Some(());
        }
        if SETTINGS.disabled() {
            return None;
        }
        if private.starting.swap(1, Ordering::AcqRel) == 0 {
            if !sandbox::may_set_up() {
                stay_out(Absence::Sandbox);
            } else if set_up(private, began).is_none() {
                // Nobody asks again.
                stay_out(Absence::NoRoom);
            }
        } else {
            sys::give_way();
        }
    }
    None
}

/// Makes the segment and fills its head; none if there is no memory for it.
fn set_up(private: &Private, began: Option<u64>) -> Option<()> {
    let process = sys::ask(libc::SYS_getpid);
    let before = PROCESS.swap(process, Ordering::Relaxed);
    if before != 0 {
        // A child: its recording begins with its first call.
        ORIGIN.set(began.map_or_else(time::pair, time::pair_at));
    }
    let (path, why) = match segment_path(process) {
        Ok(path) => (Some(path), None),
        Err(why) => (None, Some(why)),
    };
    let wanted = path.is_some();
    let budget = if SETTINGS.traces() { SETTINGS.most() } else { 0 };
    let header = ARENA.create(path, budget as usize)?;
    name::set_up();
    crate::site::set_up();
    fill(header, process, before);
    platform::set_up();
    for line in SETTINGS.notes().split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        note(line);
    }
    if let Some(why) = why {
        note(why);
    } else if wanted && ARENA.path().is_none() {
        note(b"no file could be made for the segment: it is in memory only");
    }
    header.magic.store(u64::from_le_bytes(MAGIC), Ordering::Release);
    roll::set_up(ARENA.path().as_ref().map_or(&[], Text::bytes));
    private.alive.store(1, Ordering::Release);
    if SETTINGS.debugs() {
        let mut line = Text::<LONGEST_PATH>::new();
        line.push(ABOUT).number(u64::from(process));
        if let Some(path) = ARENA.path() {
            line.push(b" in ").push(path.bytes());
        }
        line.push(b"\n");
        sys::say(2, line.bytes());
    }
    Some(())
}

fn fill(header: &Header, process: u32, before: u32) {
    let launch = SETTINGS.launch();
    header.version.store(VERSION, Ordering::Relaxed);
    header.state.store(State::Running as u32, Ordering::Relaxed);
    header.pid.store(process, Ordering::Relaxed);
    header.ppid.store(sys::ask(libc::SYS_getppid), Ordering::Relaxed);
    header.uid.store(sys::ask(libc::SYS_getuid), Ordering::Relaxed);
    header.fork_parent.store(before, Ordering::Relaxed);
    header.process_start.store(time::since_boot(), Ordering::Relaxed);
    let own = Identity::own();
    header.namespace.store(own.namespace, Ordering::Relaxed);
    header.started.store(own.start, Ordering::Relaxed);
    header
        .rank_plus_one
        .store(launch.rank.map_or(0, |rank| rank.wrapping_add(1)), Ordering::Relaxed);
    header.rank_source.store(if launch.rank.is_some() { 2 } else { 0 }, Ordering::Relaxed);
    header.nprocs.store(launch.nprocs.unwrap_or(0), Ordering::Relaxed);
    header.job_id.store(launch.job_id.unwrap_or(u64::from(process)), Ordering::Relaxed);
    header.clock.store(time::unit(), Ordering::Relaxed);
    header.budget.store(SETTINGS.budget(), Ordering::Relaxed);
    if sandbox::is_inside() {
        header.flags.fetch_or(SANDBOXED, Ordering::Relaxed);
    }
    if !SETTINGS.traces() {
        header.flags.fetch_or(UNTRACED, Ordering::Relaxed);
    }
    if let Some(first) = header.calibration.first() {
        first.ticks.store(ORIGIN.ticks(), Ordering::Relaxed);
        first.realtime.store(ORIGIN.time(), Ordering::Relaxed);
    }
    header.calibrations.store(1, Ordering::Relaxed);
    let mut host = [0; 65];
    let host = sys::host_name(&mut host);
    header.host.store(ARENA.text(host), Ordering::Relaxed);
    header.job.store(ARENA.text(job_key(host).bytes()), Ordering::Relaxed);
    let mut buffer = [0_u8; LONGEST_COMMAND];
    let exe = object::executable(&mut buffer);
    header.exe.store(ARENA.text(exe), Ordering::Relaxed);
    let command = command_line(&mut buffer);
    header.command.store(ARENA.text(command), Ordering::Relaxed);
    if let Some(path) = ARENA.path() {
        header.path.store(ARENA.text(path.bytes()), Ordering::Relaxed);
    }
    calibrate(header);
}

/// Adds a pair of ticks and time to the header.
pub fn calibrate(header: &Header) {
    let (ticks, realtime) = time::pair();
    if realtime == 0 {
        return;
    }
    let count = header.calibrations.load(Ordering::Relaxed);
    // The first place is the start's; the others take turns (`segment::View::newest`).
    let turns = (CALIBRATIONS as u64).wrapping_sub(1);
    let place = count.wrapping_sub(1).checked_rem(turns).unwrap_or(0).wrapping_add(1);
    if let Some(place) = header.calibration.get(place as usize) {
        place.ticks.store(ticks, Ordering::Relaxed);
        place.realtime.store(realtime, Ordering::Relaxed);
        header.calibrations.store(count.wrapping_add(1), Ordering::Release);
    }
}

/// Arguments joined by spaces.
fn command_line(buffer: &mut [u8; LONGEST_COMMAND]) -> &[u8] {
    let (from, bytes) = (ARGUMENTS.0.load(Ordering::Relaxed), ARGUMENTS.1.load(Ordering::Relaxed));
    let from = ptr::with_exposed_provenance::<u8>(from);
    let Some(line) = buffer.get_mut(..bytes) else { return &[] };
    for (at, to) in line.iter_mut().enumerate() {
        // SAFETY: the texts lie at the end of the first thread's stack, which is never unmapped. A program
        // may write there to give itself another name; a byte is then an old or a new one.
        *to = match unsafe { from.wrapping_add(at).read_volatile() } {
            0 => b' ',
            byte => byte,
        };
    }
    line
}

/// Where the arguments' texts lie, one behind the other, and their bytes: remembered at the start, because a
/// program may change the list that leads to them.
static ARGUMENTS: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

fn remember_arguments() {
    // SAFETY: the words there are the number of arguments and their addresses; the program has not run yet.
    let texts = unsafe {
        let start = libc_stack_end();
        core::slice::from_raw_parts(start.add(1).cast::<*const c_char>(), start.read())
    };
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return };
    // SAFETY: the kernel ends each with NUL.
    let end = unsafe { CStr::from_ptr(*last) }.count_bytes().wrapping_add(last.addr());
    ARGUMENTS.0.store(first.expose_provenance(), Ordering::Relaxed);
    ARGUMENTS.1.store(end.wrapping_sub(first.addr()).min(LONGEST_COMMAND), Ordering::Relaxed);
}

/// The job's text key.
fn job_key(host: &[u8]) -> Text<192> {
    let mut key = Text::new();
    let launch = SETTINGS.launch();
    match (SETTINGS.job(), launch.job_id) {
        ([], Some(id)) => {
            key.push(launch.scheduler.as_bytes())
                .push(b".")
                .number(id)
                .push(b".")
                .number(launch.step);
        }
        ([], None) => launcher::key(host, &mut key),
        (given, _) => {
            key.push(given);
        }
    }
    key
}

/// Where this process's segment goes: a directory that is ours alone, and a name nobody has used.
fn segment_path(process: u32) -> Result<Text<LONGEST_PATH>, &'static [u8]> {
    let user = sys::ask(libc::SYS_geteuid);
    for base in SETTINGS.segment_dirs() {
        let mut path = Text::new();
        path.push(base).push(b"/netra-").number(u64::from(user));
        let name = path.path().ok_or(&b"the directory of segments has too long a name"[..])?;
        let found = if jail::entered() {
            // The directory is reached through the descriptor alone.
            Err(Refused(libc::EACCES))
        } else {
            directory_of_segments(name)
        };
        match found {
            // What is given for one host need not be there on another.
            Err(Refused(libc::ENOENT)) => continue,
            Ok(found) if is_private(&found, user) => {}
            Ok(_) => {
                return Err(
                    b"the directory of segments is not ours alone: the segment is in memory only",
                );
            }
            Err(Refused(libc::EACCES)) if jail::holds(user) => {}
            Err(_) if jail::entered() => {
                return Err(b"the root directory was changed: the segment is in memory only");
            }
            Err(_) => break,
        }
        name_segment(process, &mut path);
        return Ok(path);
    }
    Err(b"the directory of segments cannot be made: the segment is in memory only")
}

/// The directory, made where it is not there.
fn directory_of_segments(name: &CStr) -> Result<sys::Identity, Refused> {
    match sys::metadata(name) {
        Err(Refused(libc::ENOENT)) => match sys::make_directory(name, 0o700) {
            // Another process may have been first.
            Ok(()) | Err(Refused(libc::EEXIST)) => sys::metadata(name),
            Err(refused) => Err(refused),
        },
        found => found,
    }
}

fn is_private(found: &sys::Identity, user: u32) -> bool {
    found.mode & libc::S_IFMT == libc::S_IFDIR && found.uid == user && found.mode & 0o077 == 0
}

fn name_segment(process: u32, path: &mut Text<LONGEST_PATH>) {
    path.push(b"/").number(u64::from(process)).push(b"-").number(ORIGIN.time()).push(b".segment");
}

/// Writes the log, once, and lets the segment go if that worked. Late calls still count in memory.
pub fn finish() {
    let Some(private) = memory::private() else { return };
    let slot = tls::slot();
    // A child that did no I/O has nothing to say; a child of vfork speaks for its parent.
    if slot.borrowed.get() != 0 || private.alive.load(Ordering::Acquire) == 0 {
        return;
    }
    let Some(header) = ARENA.header() else { return };
    if !is_own(header) || private.finished.swap(1, Ordering::AcqRel) != 0 {
        return;
    }
    aio::end();
    calibrate(header);
    header.end.store(time::realtime(), Ordering::Relaxed);
    header.state.store(State::Clean as u32, Ordering::Release);
    let written = match job::ending(private) {
        _ if jail::entered() => {
            note(b"the root directory was changed: the segment is left instead of a log");
            Err(Refused(libc::EXDEV))
        }
        _ if !sandbox::may_write_log() => Err(Refused(libc::EPERM)),
        job::Ending::Alone => log::write().map(drop),
        job::Ending::Told => Ok(()),
        job::Ending::More => Err(Refused(libc::EEXIST)),
    };
    if written.is_ok() && SETTINGS.streams() {
        // A daemon may still have to read; it removes the segment when it has.
        header.flags.fetch_or(LOGGED, Ordering::Release);
    } else if let (Ok(()), Some(mut path)) = (written, ARENA.path())
        && let Some(path) = path.path()
    {
        // If it stays, `netra recover` finds it and sees that a log was written.
        let _left = sys::remove(path);
    }
    if SETTINGS.debugs() {
        let what: &[u8] = if written.is_ok() {
            b"netra: log written\n"
        } else {
            b"netra: no log could be written\n"
        };
        sys::say(2, what);
    }
}

/// Whether the segment is this process's own. A child that borrows its parent's memory (`clone` with
/// `CLONE_VM`) finds its parent's.
fn is_own(header: &Header) -> bool {
    header.pid.load(Ordering::Relaxed) == sys::ask(libc::SYS_getpid)
}

/// The log that an image wrote because it was about to be replaced.
pub struct Farewell(Option<Text<LONGEST_PATH>>);

/// The image is about to be replaced, by a program that can be read (`sure`) or perhaps not. Where nobody collects parts
/// of a job, it leaves its log, or nothing if it has counted nothing.
pub fn before_exec(sure: bool) -> Farewell {
    set_state(State::Exec);
    let collected = roll::is_called() || SETTINGS.streams() || jail::entered();
    if !sure || collected || tls::slot().borrowed.get() != 0 {
        return Farewell(None);
    }
    if !ARENA.header().is_some_and(is_own) || !sandbox::may_write_log() {
        return Farewell(None);
    }
    let alone = |private: &Private| {
        private.alive.load(Ordering::Acquire) != 0
            && private.finished.load(Ordering::Acquire) == 0
            && matches!(job::ending(private), job::Ending::Alone)
    };
    if !memory::private().is_some_and(alone) {
        return Farewell(None);
    }
    let counts = |bytes| View::new(bytes).is_ok_and(|view| encode::counts(&view));
    let counted = ARENA.whole().is_some_and(counts);
    let written = if counted { log::write().map(Some) } else { Ok(None) };
    if let (Ok(_), Some(mut path)) = (&written, ARENA.path())
        && let Some(path) = path.path()
    {
        let _left = sys::remove(path);
    }
    Farewell(written.ok().flatten())
}

/// It was not: its log is still to come.
pub fn after_exec(farewell: Farewell) {
    set_state(State::Running);
    if let Farewell(Some(mut log)) = farewell
        && let Some(log) = log.path()
    {
        let _left = sys::remove(log);
    }
}

fn set_state(state: State) {
    let Some(private) = memory::private() else { return };
    if tls::slot().borrowed.get() == 0
        && private.alive.load(Ordering::Acquire) != 0
        && let Some(header) = ARENA.header().filter(|header| is_own(header))
    {
        calibrate(header);
        header.state.store(state as u32, Ordering::Release);
    }
}

type Destructor = extern "C" fn(*mut c_void);
type MakeKey = unsafe extern "C" fn(*mut u32, Destructor) -> c_int;
type SetKey = unsafe extern "C" fn(u32, *const c_void) -> c_int;

/// Makes the key early: keys with low numbers need no allocation later.
fn make_key() {
    // Found at run time: before glibc 2.34 a program without threads has no such function, and
    // needs none.
    let found = real::next(c"pthread_key_create");
    if found.is_null() {
        return;
    }
    // SAFETY: the C library's function has this signature.
    let make: MakeKey = unsafe { core::mem::transmute(found) };
    let mut key = 0;
    // SAFETY: `key` outlives the call, the destructor outlives the process.
    if unsafe { make(&raw mut key, thread_end) } == 0 {
        KEY.store(key.wrapping_add(1), Ordering::Release);
    }
}

/// Asks to be told when the calling thread ends.
pub fn watch_thread_end() {
    let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) else { return };
    let found = real::next(c"pthread_setspecific");
    if found.is_null() {
        return;
    }
    // SAFETY: the C library's function has this signature.
    let set: SetKey = unsafe { core::mem::transmute(found) };
    // SAFETY: the key exists; any value but null makes the destructor run.
    unsafe { set(key, ptr::without_provenance(1)) };
}

extern "C" fn thread_end(_: *mut c_void) {
    let slot = tls::slot();
    let Some(thread) = slot.attached() else { return };
    slot.thread.set(None);
    thread.owner.set(0);
    let Some(place) = thread.place.take().checked_sub(1) else { return };
    if let Some(private) = memory::private() {
        private.threads_free.give(place, &thread.next_free);
    }
}
