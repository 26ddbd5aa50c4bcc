//! POSIX asynchronous I/O: a transfer counts when its result is taken, with the time since it was
//! asked for. What is on its way is remembered here, for the kernel's own interface (`libaio.rs`) as well.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use libc::{aiocb, ssize_t};
use netra_event::segment::shard::posix;
use netra_event::{Function, NO_OFFSET};

use super::posix::{flushed, named};
use crate::arena;
use crate::call::{Call, Ended, Transfer};
use crate::files::{self, Behind};
use crate::memory;
use crate::module::POSIX;
use crate::nest;
use crate::real as libc_real;
use crate::sys;
use crate::tls;
use crate::transfer::Known;

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

/// Requests that are remembered at a time; beyond that a transfer of POSIX aio has no duration, and one of
/// libaio is not counted.
pub const REQUESTS: usize = 4096;
/// Places in which one may be.
const TRIED: usize = 16;

/// A request that is on its way.
#[derive(Default)]
#[repr(align(64))]
pub struct Request {
    /// Its address in the application; 0 in a place that is free.
    owner: AtomicUsize,
    /// The kernel's context that it is in; 0 for POSIX aio.
    context: AtomicUsize,
    start: AtomicU64,
    site: AtomicUsize,
    offset: AtomicU64,
    asked: AtomicU64,
    file: AtomicU32,
    /// What is asked for, and above it whether the buffers are aligned.
    what: AtomicU32,
}

const _: () = assert!(size_of::<Request>() == 64);

/// What a request asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum What {
    Read = 1,
    Write = 2,
    Sync = 3,
    DataSync = 4,
}

/// A request, as it was asked for. Its file is that of the descriptor at that time: it may be closed, or be
/// another one's, when the result is taken.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) what: What,
    pub(super) file: u32,
    pub(super) offset: i64,
    pub(super) bytes: u64,
    pub(super) aligned: bool,
    pub(super) start: u64,
    pub(super) site: usize,
}

/// The places where a request may be remembered.
fn places(owner: usize) -> impl Iterator<Item = &'static Request> {
    // Requests are as large as 64 bytes or larger: their lower bits say nothing.
    let all = memory::requests();
    let first = (owner >> 6).checked_rem(all.len()).unwrap_or(0);
    all.iter().cycle().skip(first).take(if all.is_empty() { 0 } else { TRIED })
}

/// The file behind a descriptor that something is asked of; none if it is not recorded.
pub(super) fn file_of(descriptor: c_int) -> Option<u32> {
    let open = match files::behind(descriptor) {
        Behind::File(open) => Some(open),
        Behind::Ignored => None,
        Behind::Unknown => nest::own(|_| files::adopt(descriptor)).flatten(),
    };
    open.map(|open| open.file.load(Ordering::Relaxed))
}

impl Request {
    /// Whether it is the one of an address, in a context.
    fn is(&self, owner: usize, context: usize) -> bool {
        self.owner.load(Ordering::Acquire) == owner
            && self.context.load(Ordering::Relaxed) == context
    }

    fn keep(&self, context: usize, asked: &Asked) {
        self.context.store(context, Ordering::Relaxed);
        self.start.store(asked.start, Ordering::Relaxed);
        self.site.store(asked.site, Ordering::Relaxed);
        self.offset.store(asked.offset.cast_unsigned(), Ordering::Relaxed);
        self.asked.store(asked.bytes, Ordering::Relaxed);
        self.file.store(asked.file, Ordering::Relaxed);
        let what = asked.what as u32 | u32::from(asked.aligned) << 8;
        self.what.store(what, Ordering::Release);
    }
}

/// Remembers a request. One of POSIX aio takes the place of another of the same address, whose result was never
/// taken; the kernel's may be several at one address, because it has copied them.
pub(super) fn remember(owner: usize, context: usize, asked: &Asked) {
    let Some(private) = memory::private() else { return };
    if context == 0
        && let Some(again) = places(owner).find(|place| place.is(owner, context))
    {
        return again.keep(context, asked);
    }
    private.requests_open.fetch_add(1, Ordering::Relaxed);
    let take = |place: &&Request| {
        place.owner.compare_exchange(0, owner, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let place = places(owner).find(take).or_else(|| {
        // Full of requests whose results nobody took: the oldest of this address is the least likely to come.
        let own = places(owner).filter(|place| place.is(owner, context));
        own.min_by_key(|place| place.start.load(Ordering::Relaxed))
    });
    if let Some(place) = place {
        place.keep(context, asked);
    }
}

/// What was asked for; it is forgotten.
pub(super) fn recall(owner: usize, context: usize) -> Option<Asked> {
    // The newest: an older one of the same address was left where it was.
    let own = places(owner).filter(|place| place.is(owner, context));
    let place = own.max_by_key(|place| place.start.load(Ordering::Relaxed))?;
    let what = place.what.load(Ordering::Acquire);
    let asked = Asked {
        what: match what & 0xff {
            1 => What::Read,
            2 => What::Write,
            3 => What::Sync,
            _ => What::DataSync,
        },
        file: place.file.load(Ordering::Relaxed),
        offset: place.offset.load(Ordering::Relaxed).cast_signed(),
        bytes: place.asked.load(Ordering::Relaxed),
        aligned: what >> 8 != 0,
        start: place.start.load(Ordering::Relaxed),
        site: place.site.load(Ordering::Relaxed),
    };
    place.owner.store(0, Ordering::Release);
    closed();
    Some(asked)
}

fn closed() {
    if let Some(private) = memory::private() {
        private.requests_open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Forgets what is on its way in a context of the kernel; whether there was anything.
pub(super) fn forget_context(context: usize) -> bool {
    let Some(private) = memory::private() else { return false };
    if private.requests_open.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let of_it = |place: &&Request| {
        place.owner.load(Ordering::Acquire) != 0 && place.context.load(Ordering::Relaxed) == context
    };
    let gone = memory::requests().iter().filter(of_it).map(|place| {
        place.owner.store(0, Ordering::Release);
        closed();
    });
    gone.count() != 0
}

/// The process in which it was said.
static SAID: AtomicU32 = AtomicU32::new(0);

/// Says, once in a process, that results were never taken.
pub(super) fn say() {
    let process = sys::ask(libc::SYS_getpid);
    if SAID.swap(process, Ordering::Relaxed) != process {
        arena::note(
            b"asynchronous transfers were asked for whose results were never taken: they are not in the counters of files",
        );
    }
}

/// The process ends: what is still on its way is not counted, and that is said.
pub fn end() {
    let open = memory::private().map_or(0, |private| private.requests_open.load(Ordering::Relaxed));
    if open != 0 {
        say();
    }
}

impl Asked {
    /// The call that the transfer counts as: from when it was asked for.
    pub(super) fn call(&self) -> Call {
        let function = match self.what {
            What::Read => Function::AsyncRead,
            What::Write => Function::AsyncWrite,
            What::Sync | What::DataSync => Function::AsyncSync,
        };
        Call { function, site: self.site, start: self.start }
    }

    /// Records what came of it: bytes, or an error as a negative number.
    pub(super) fn record(&self, ended: &Ended, result: i64) {
        let Asked { file, offset, bytes: asked, aligned, .. } = *self;
        let Ok(bytes) = u64::try_from(result) else {
            return ended.failed(file, offset, asked, result.wrapping_neg() as c_int);
        };
        let offset = offset.cast_unsigned();
        let known = Known { file, offset, bytes, asked, aligned };
        match self.what {
            What::Read => ended.transferred::<false>(&known),
            What::Write => ended.transferred::<true>(&known),
            What::Sync => {
                ended.with(&POSIX, file, flushed::<{ posix::FSYNCS }>);
                ended.event(file, NO_OFFSET, 0);
            }
            What::DataSync => {
                ended.with(&POSIX, file, flushed::<{ posix::FDSYNCS }>);
                ended.event(file, NO_OFFSET, 0);
            }
        }
    }
}

/// Remembers a request of POSIX aio.
fn asking(request: *const aiocb, what: What, (start, site): (u64, usize)) {
    if request.is_null() || tls::slot().borrowed.get() != 0 {
        return;
    }
    // SAFETY: the request is the application's, which leaves it alone until its result is taken.
    let wanted = unsafe { &*request };
    let Some(file) = file_of(wanted.aio_fildes) else { return };
    let (offset, bytes) = (wanted.aio_offset, wanted.aio_nbytes as u64);
    let aligned = wanted.aio_buf.addr().is_multiple_of(8);
    remember(request.addr(), 0, &Asked { what, file, offset, bytes, aligned, start, site });
}

/// Hooks that ask for a transfer.
macro_rules! asking {
    ($($name:ident = $function:ident, $what:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "(3)`.")]
        ///
        /// # Safety
        /// The caller keeps the contract of the C function; every argument goes on untouched.
        pub unsafe extern "C" fn $name(request: *mut aiocb, site: usize) -> c_int {
            let call = Call::begin(Function::$function, site);
            asking(request, What::$what, (call.start, site));
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real::$name(request) };
            asked_only(call);
            done
        }
    )*};
}
asking! {
    aio_read = AioRead, Read;
    aio_write = AioWrite, Write;
}

/// Ends a call that moved nothing yet.
fn asked_only(call: Call) {
    if let Some(ended) = call.end() {
        ended.alone(NO_OFFSET, 0);
    }
}

named! {
    /// `aio_return(3)`: here the transfer counts.
    fn [aio_return](request: *mut aiocb, site: usize) -> ssize_t, real => {
        let began = Call::begin(Function::AioReturn, site);
        let known = recall(request.addr(), 0);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(request) };
        let errno = libc_real::errno();
        match known {
            Some(known) => {
                if let Some(ended) = known.call().end() {
                    let failed = i64::from(errno).wrapping_neg();
                    known.record(&ended, if done < 0 { failed } else { done as i64 });
                }
            }
            // SAFETY: the request is the caller's own, and it has ended.
            None => unsafe { returned(began, request, done) },
        }
        done
    }
}

/// Ends an `aio_return` of a request that was not remembered.
///
/// # Safety
/// The request is the application's own, and it has ended.
unsafe fn returned(call: Call, request: *const aiocb, done: ssize_t) {
    // SAFETY: the caller vouches.
    let (kind, descriptor, at, asked, buffer) = unsafe {
        let request = &*request;
        let kind = request.aio_lio_opcode;
        (kind, request.aio_fildes, request.aio_offset, request.aio_nbytes, request.aio_buf)
    };
    let aligned = buffer.addr().is_multiple_of(8);
    let transfer = Transfer { descriptor, at: Some(at), asked, aligned };
    match kind {
        libc::LIO_READ => {
            Call { function: Function::AsyncRead, ..call }.moved::<false>(transfer, done);
        }
        libc::LIO_WRITE => {
            Call { function: Function::AsyncWrite, ..call }.moved::<true>(transfer, done);
        }
        _ => asked_only(call),
    }
}

named! {
    /// `lio_listio(3)`: each of its transfers counts when its result is taken.
    fn [lio_listio](mode: c_int, list: *const *mut aiocb, count: c_int, signal: *mut c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::LioListio, site);
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the list has `count` entries, by the caller's contract.
            let request = unsafe { list.add(index).read() };
            // SAFETY: an entry is null or a request of the caller's.
            let what = match unsafe { request.as_ref() }.map(|request| request.aio_lio_opcode) {
                Some(libc::LIO_READ) => What::Read,
                Some(libc::LIO_WRITE) => What::Write,
                _ => continue,
            };
            asking(request, what, (call.start, site));
        }
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(mode, list, count, signal) };
        asked_only(call);
        done
    }
}
named! {
    /// `aio_fsync(3)`: the sync counts when its result is taken.
    fn [aio_fsync](kind: c_int, request: *mut aiocb, site: usize) -> c_int, real => {
        let call = Call::begin(Function::AioFsync, site);
        let what = if kind == libc::O_DSYNC { What::DataSync } else { What::Sync };
        asking(request, what, (call.start, site));
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(kind, request) };
        asked_only(call);
        done
    }
}
named! {
    /// `aio_suspend(3)`: counted as a call, with the time it waited.
    fn [aio_suspend](list: *const *const aiocb, count: c_int, until: *const c_void, site: usize) -> c_int, real => {
        let call = Call::begin(Function::AioSuspend, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(list, count, until) };
        asked_only(call);
        done
    }
}
