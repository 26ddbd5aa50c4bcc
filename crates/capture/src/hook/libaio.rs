//! The kernel's asynchronous I/O, through libaio or `syscall()`: a transfer counts when its result is taken, with
//! the bytes that were really moved and the time since it was submitted, as for POSIX aio (`aio.rs`). A result
//! that is never taken is counted as submitted alone, and that is said.
//!
//! libaio enters the kernel by instructions of its own, and takes results from the ring without entering it at
//! all where they are already there; both lie behind its functions, which are reached through their callers'
//! slots ([`crate::got`]) and not exported: a program that looks for `io_submit` finds it where libaio
//! is, and nowhere else. Programs that reach the functions by `dlsym`, or read the ring themselves, pass by; the
//! results of the latter are among those that were never taken.

use core::ffi::{c_int, c_long, c_void};

use libc::iovec;
use netra_event::{Function, NO_FILE, NO_OFFSET};

use super::aio::{self, Asked, What};
use super::data::parts;
use crate::arch;
use crate::got::{Family, Taken};
use crate::nest;
use crate::real as libc_real;

/// The functions that applications name.
pub static FAMILY: Family = Family {
    mark: c"io_queue_init",
    prefix: b"io_",
    rows: crate::slot_rows! {
        io_destroy = destroy;
        io_getevents = get_events;
        io_pgetevents = get_events_unblocked;
        io_queue_release = destroy;
        io_submit = submit;
    },
};

/// A request as the kernel takes it (`<linux/aio_abi.h>`).
#[repr(C)]
struct Iocb {
    data: u64,
    key: u32,
    flags: c_int,
    operation: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    more_flags: u32,
    event: u32,
}

/// A result as the kernel gives it.
#[repr(C)]
pub(crate) struct Completed {
    data: u64,
    /// The address of the request.
    request: u64,
    /// Bytes moved, or an error as a negative number.
    result: i64,
    second: i64,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<Completed>() == 32);

/// How a call says that it failed.
#[derive(Clone, Copy)]
pub(super) enum Failure {
    /// By its result.
    Result,
    /// By errno.
    Errno,
}

impl Failure {
    fn number(self, done: c_long) -> c_int {
        match self {
            Failure::Result => done.wrapping_neg() as c_int,
            Failure::Errno => libc_real::errno(),
        }
    }
}

/// A call through `syscall()`, where nobody's slot was on the way.
pub(super) fn by_number() -> Taken {
    Taken { real: core::ptr::null(), site: 0, stack: arch::stack_pointer() }
}

/// The most requests of one call that are looked at: the kernel takes no more at a time than a context has room for.
const MOST: usize = 1 << 16;

/// What lies at an address of the application's, if something can lie there: a call that the kernel would refuse
/// with EFAULT must not fail here.
fn at<T>(address: usize) -> Option<&'static T> {
    let possible =
        (4096..arch::HIGHEST).contains(&address) && address.is_multiple_of(align_of::<T>());
    if !possible {
        return None;
    }
    // SAFETY: an address that the application hands to the kernel to read; it stays until the call returns.
    unsafe { core::ptr::with_exposed_provenance::<T>(address).as_ref() }
}

/// The addresses of a list of requests.
fn addresses(list: *const usize, count: c_long) -> impl Iterator<Item = usize> {
    let count = usize::try_from(count).unwrap_or(0).min(MOST);
    let entries = (0..count).map(move |index| list.wrapping_add(index).addr());
    entries.map_while(|entry| at::<usize>(entry).copied())
}

/// What a request asks for; none if it is nothing that is counted.
fn asked(request: &Iocb, start: u64, site: usize) -> Option<Asked> {
    let (what, vectored) = match request.operation {
        0 => (What::Read, false),
        1 => (What::Write, false),
        2 => (What::Sync, false),
        3 => (What::DataSync, false),
        7 => (What::Read, true),
        8 => (What::Write, true),
        _ => return None,
    };
    let file = aio::file_of(request.descriptor.cast_signed())?;
    let (bytes, aligned) = if vectored {
        let list =
            at::<iovec>(request.buffer as usize).map_or(core::ptr::null(), core::ptr::from_ref);
        let (bytes, aligned) = parts(list, request.bytes as c_int, 0);
        (bytes as u64, aligned)
    } else {
        (request.bytes, request.buffer.is_multiple_of(8))
    };
    Some(Asked { what, file, offset: request.offset, bytes, aligned, start, site })
}

/// Records a submission around the real call. What is asked for is looked at before: another thread may have
/// taken a result, and used a request for something else, before the call returns.
pub(super) fn submitted(
    taken: Taken,
    (context, count, list): (usize, c_long, *const usize),
    failure: Failure,
    made: impl FnOnce() -> c_long,
) -> c_long {
    let Some(outer) = nest::enter(Function::LibaioSubmit, taken) else { return made() };
    let (start, site) = (outer.call().start, outer.call().site);
    for address in addresses(list, count) {
        if let Some(asked) = at::<Iocb>(address).and_then(|request| asked(request, start, site)) {
            aio::remember(address, context, &asked);
        }
    }
    let done = made();
    // The kernel takes requests in their order, up to one that it refuses.
    let accepted = usize::try_from(done).unwrap_or(0);
    for address in addresses(list, count).skip(accepted) {
        aio::recall(address, context);
    }
    if let Some(within) = outer.leave() {
        match u64::try_from(done) {
            Ok(count) => within.alone(NO_OFFSET, count),
            Err(_) => within.failed(NO_FILE, NO_OFFSET, count as u64, failure.number(done)),
        }
    }
    done
}

/// Records results around the real call that takes them.
pub(super) fn completed(
    taken: Taken,
    (context, events): (usize, *const Completed),
    failure: Failure,
    made: impl FnOnce() -> c_long,
) -> c_long {
    let Some(outer) = nest::enter(Function::LibaioGetevents, taken) else { return made() };
    let done = made();
    let errno = failure.number(done);
    if let Some(within) = outer.leave() {
        for index in 0..usize::try_from(done).unwrap_or(0) {
            // SAFETY: the call has just put so many results there.
            let event = unsafe { events.wrapping_add(index).read() };
            if let Some(asked) = aio::recall(event.request as usize, context) {
                asked.record(&within.part(asked.call(), within.end), event.result);
            }
        }
        match u64::try_from(done) {
            Ok(count) => within.alone(NO_OFFSET, count),
            Err(_) => within.failed(NO_FILE, NO_OFFSET, 0, errno),
        }
    }
    done
}

/// Records the end of a context around the real call, which waits for what is on its way in it.
pub(super) fn destroyed(
    taken: Taken,
    context: usize,
    failure: Failure,
    made: impl FnOnce() -> c_long,
) -> c_long {
    let Some(outer) = nest::enter(Function::LibaioDestroy, taken) else { return made() };
    let done = made();
    let errno = failure.number(done);
    if let Some(within) = outer.leave() {
        if done < 0 {
            within.failed(NO_FILE, NO_OFFSET, 0, errno);
        } else {
            within.alone(NO_OFFSET, 0);
            if aio::forget_context(context) {
                aio::say();
            }
        }
    }
    done
}

crate::slot_hook! {
    /// `io_submit`.
    fn submit(context: usize, count: c_long, list: *const usize) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let made = || c_long::from(unsafe { real(context, count, list) });
        submitted(taken, (context, count, list), Failure::Result, made) as c_int
    }
    /// `io_getevents`.
    fn get_events(context: usize, least: c_long, most: c_long, events: *const Completed, time: *mut c_void) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let made = || c_long::from(unsafe { real(context, least, most, events, time) });
        completed(taken, (context, events), Failure::Result, made) as c_int
    }
    /// `io_pgetevents`.
    fn get_events_unblocked(context: usize, least: c_long, most: c_long, events: *const Completed, time: *mut c_void, signals: *mut c_void) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let made = || c_long::from(unsafe { real(context, least, most, events, time, signals) });
        completed(taken, (context, events), Failure::Result, made) as c_int
    }
    /// `io_destroy` and `io_queue_release`.
    fn destroy(context: usize) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        let made = || c_long::from(unsafe { real(context) });
        destroyed(taken, context, Failure::Result, made) as c_int
    }
}
