//! io_uring through liburing: setting rings up, submitting, and waiting for completions. Transfers pass
//! between the application and the kernel in shared memory, so which files they are about is not known
//! here; that rings are used is counted, timed where a call waits, and said once.
//!
//! liburing calls the kernel by instructions of its own, past libc; its own functions are reached through
//! their callers' slots ([`crate::got`]). A program that carries liburing in itself, or enters the
//! kernel by its own instructions, is not seen beyond what passes through `syscall()` (`raw.rs`).

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use netra_event::{Function, NO_FILE, NO_OFFSET};

use crate::arena;
use crate::got::Family;
use crate::nest::{self, Enclosing, Within};
use crate::sys;

/// The functions that applications name.
pub static LIBURING: Family = Family {
    mark: c"io_uring_queue_init",
    prefix: b"io_uring_",
    rows: crate::slot_rows! {
        io_uring_enter = enter;
        io_uring_enter2 = enter2;
        io_uring_get_events = get_events;
        io_uring_peek_batch_cqe = peek_batch_cqe;
        io_uring_queue_init = queue_init;
        io_uring_queue_init_mem = queue_init_mem;
        io_uring_queue_init_params = queue_init_params;
        io_uring_setup = setup;
        io_uring_submit = submit;
        io_uring_submit_and_get_events = submit_and_get_events;
        io_uring_submit_and_wait = submit_and_wait;
        io_uring_submit_and_wait_timeout = submit_and_wait_timeout;
        io_uring_wait_cqe_timeout = wait_cqe_timeout;
        io_uring_wait_cqes = wait_cqes;
    },
};
/// What its inlined functions call.
pub static INLINED: Family = Family {
    mark: c"__io_uring_get_cqe",
    prefix: b"__io_uring_",
    rows: crate::slot_rows! {
        __io_uring_get_cqe = get_cqe;
    },
};

/// The process in which it was said.
static SAID: AtomicU32 = AtomicU32::new(0);

/// Says, once in a process, what is not seen of io_uring.
pub(super) fn say() {
    let process = sys::ask(libc::SYS_getpid);
    if SAID.swap(process, Ordering::Relaxed) != process {
        arena::note(b"io_uring is used: what it moves is not in the counters of files");
    }
}

/// Records a call that gave how many there were, or an error as a negative number.
fn ended(within: &Within, done: c_int) {
    if within.call.function == Function::UringSetup && done >= 0 {
        say();
    }
    match u64::try_from(done) {
        Ok(count) => within.alone(NO_OFFSET, count),
        Err(_) => within.failed(NO_FILE, NO_OFFSET, 0, done.wrapping_neg()),
    }
}

/// Hooks that differ in their arguments only.
macro_rules! rings {
    ($($name:ident = $function:ident($($arg:ident: $kind:ty),*);)*) => {
        crate::slot_hook! {$(
            #[doc = concat!("`", stringify!($name), "`.")]
            fn $name($($arg: $kind),*) -> c_int, real, site => {
                let outer = nest::enter(Function::$function, site);
                // SAFETY: the caller's contract is the real function's.
                let done = unsafe { real($($arg),*) };
                // liburing's functions call each other by the same slots: the outermost counts.
                if let Some(within) = outer.and_then(Enclosing::leave) {
                    ended(&within, done);
                }
                done
            }
        )*}
    };
}

rings! {
    queue_init = UringSetup(entries: c_uint, ring: *mut c_void, flags: c_uint);
    queue_init_params = UringSetup(entries: c_uint, ring: *mut c_void, parameters: *mut c_void);
    queue_init_mem = UringSetup(entries: c_uint, ring: *mut c_void, parameters: *mut c_void, buffer: *mut c_void, bytes: usize);
    setup = UringSetup(entries: c_uint, parameters: *mut c_void);
    submit = UringSubmit(ring: *mut c_void);
    submit_and_wait = UringSubmit(ring: *mut c_void, count: c_uint);
    submit_and_wait_timeout = UringSubmit(ring: *mut c_void, into: *mut c_void, count: c_uint, time: *mut c_void, signals: *mut c_void);
    submit_and_get_events = UringSubmit(ring: *mut c_void);
    enter = UringSubmit(ring: c_uint, count: c_uint, least: c_uint, flags: c_uint, signals: *mut c_void);
    enter2 = UringSubmit(ring: c_uint, count: c_uint, least: c_uint, flags: c_uint, signals: *mut c_void, bytes: usize);
    get_events = UringWait(ring: *mut c_void);
    get_cqe = UringWait(ring: *mut c_void, into: *mut c_void, count: c_uint, least: c_uint, signals: *mut c_void);
    wait_cqes = UringWait(ring: *mut c_void, into: *mut c_void, count: c_uint, time: *mut c_void, signals: *mut c_void);
    wait_cqe_timeout = UringWait(ring: *mut c_void, into: *mut c_void, time: *mut c_void);
    peek_batch_cqe = UringWait(ring: *mut c_void, into: *mut c_void, count: c_uint);
}
