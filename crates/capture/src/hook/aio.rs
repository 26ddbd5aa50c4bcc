//! POSIX asynchronous I/O: a transfer counts when its result is taken, with the time since it was
//! asked for.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use libc::{aiocb, ssize_t};
use netra_event::{Function, NO_OFFSET};

use super::posix::named;
use crate::call::{Call, Transfer};
use crate::memory;
use crate::time;
use crate::tls;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn aio_read(request: *mut aiocb) -> c_int, else -1;
        fn aio_write(request: *mut aiocb) -> c_int, else -1;
        fn aio_return(request: *mut aiocb) -> ssize_t, else -1;
        fn aio_fsync(kind: c_int, request: *mut aiocb) -> c_int, else -1;
        fn aio_suspend(list: *const *const aiocb, count: c_int, until: *const c_void) -> c_int, else -1;
        fn lio_listio(mode: c_int, list: *const *mut aiocb, count: c_int, signal: *mut c_void) -> c_int, else -1;
    }
}

/// Requests whose start is remembered at a time; beyond that a transfer has no duration.
pub const REQUESTS: usize = 4096;

/// A request that is on its way: its address, and when it was asked for.
#[derive(Default)]
pub struct Request {
    owner: AtomicUsize,
    start: AtomicU64,
}

/// The places where a request may be remembered.
fn places(request: *const aiocb) -> impl Iterator<Item = &'static Request> {
    // Requests are larger than 64 bytes: their lower bits say little.
    let all = memory::requests();
    let first = (request.addr() >> 6).checked_rem(all.len()).unwrap_or(0);
    all.iter().cycle().skip(first).take(if all.is_empty() { 0 } else { 16 })
}

fn remember(request: *const aiocb) {
    if tls::slot().borrowed.get() != 0 {
        return;
    }
    let now = time::now();
    for place in places(request) {
        let free =
            place.owner.compare_exchange(0, request.addr(), Ordering::AcqRel, Ordering::Relaxed);
        if free.is_ok() || free == Err(request.addr()) {
            place.start.store(now, Ordering::Release);
            return;
        }
    }
}

/// When a request was asked for; it is forgotten.
fn recall(request: *const aiocb) -> Option<u64> {
    let place =
        places(request).find(|place| place.owner.load(Ordering::Acquire) == request.addr())?;
    let start = place.start.load(Ordering::Relaxed);
    place.owner.store(0, Ordering::Release);
    Some(start)
}

/// Hooks that ask for a transfer.
macro_rules! asking {
    ($($name:ident = $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name(request: *mut aiocb, site: usize) -> c_int {
            let call = Call::begin(Function::$function, site);
            remember(request);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$name(request) };
            asked(call);
            done
        }
    )*};
}
asking! {
    aio_read = AioRead;
    aio_write = AioWrite;
}

/// Ends a call that moved nothing yet.
fn asked(call: Call) {
    if let Some(ended) = call.end() {
        ended.alone(NO_OFFSET, 0);
    }
}

named! {
    /// `aio_return(3)`: here the transfer counts.
    fn [aio_return](request: *mut aiocb, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::AioReturn, site);
        let start = recall(request);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(request) };
        // SAFETY: the request is the caller's own, and it has ended.
        let (write, descriptor, at, bytes, buffer) = unsafe {
            let request = &*request;
            let write = request.aio_lio_opcode == libc::LIO_WRITE;
            (write, request.aio_fildes, request.aio_offset, request.aio_nbytes, request.aio_buf)
        };
        let aligned = buffer.addr().is_multiple_of(8);
        let transfer = Transfer { descriptor, at: Some(at), asked: bytes, aligned };
        let call = call.since(start);
        if write {
            call.moved::<true>(transfer, done);
        } else {
            call.moved::<false>(transfer, done);
        }
        done
    }
}
named! {
    /// `lio_listio(3)`: each of its transfers counts when its result is taken.
    fn [lio_listio](mode: c_int, list: *const *mut aiocb, count: c_int, signal: *mut c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::LioListio, site);
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the list has `count` entries, by the caller's contract.
            let request = unsafe { list.add(index).read() };
            if !request.is_null() {
                remember(request);
            }
        }
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(mode, list, count, signal) };
        asked(call);
        done
    }
}
named! {
    /// `aio_fsync(3)`: counted as a call.
    fn [aio_fsync](kind: c_int, request: *mut aiocb, site: usize) -> c_int, real => {
        let call = Call::begin(Function::AioFsync, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(kind, request) };
        asked(call);
        done
    }
}
named! {
    /// `aio_suspend(3)`: counted as a call, with the time it waited.
    fn [aio_suspend](list: *const *const aiocb, count: c_int, until: *const c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::AioSuspend, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(list, count, until) };
        asked(call);
        done
    }
}
