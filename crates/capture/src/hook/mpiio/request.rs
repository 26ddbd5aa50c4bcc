//! Requests of reads and writes on their way, and the calls that find them done. While there are none,
//! waiting and testing cost one load.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use netra_event::Function;

use super::data::{Moved, ended_late};
use crate::call::Call;
use crate::got::Taken;
use crate::memory;
use crate::mpi::{self, Mpi};
use crate::nest::{self, Enclosing};
use crate::slot_hook;
use crate::tls;

/// Requests on their way at a time; further ones have no time and no event.
pub const REQUESTS: usize = 4096;

/// Taken, but not filled in.
const FILLING: usize = usize::MAX;

/// A request on its way. All zeroes is a free place.
#[derive(Default)]
pub struct Request {
    handle: AtomicUsize,
    /// Where the handle lies that a call is waiting for at the moment.
    watched: AtomicUsize,
    start: AtomicU64,
    site: AtomicUsize,
    function: AtomicU32,
    number: AtomicU32,
    place: AtomicU32,
    file: AtomicU32,
    at: AtomicU64,
    bytes: AtomicU64,
}

/// What is known of a request when it was made.
pub(super) struct Sent {
    pub(super) number: u32,
    /// The thread's place plus one.
    pub(super) place: u32,
    pub(super) moved: Moved,
}

/// How many there are.
static ON_THEIR_WAY: AtomicU32 = AtomicU32::new(0);

fn all() -> &'static [Request] {
    memory::mpi_requests()
}

/// Remembers a request; one that is done already is counted at once.
pub(super) fn remember(mpi: Mpi, handle: usize, call: Call, sent: Sent) {
    if handle == mpi.abi().request_null() {
        return ended_late(call, sent.number, sent.moved);
    }
    let free = |place: &&Request| {
        place.handle.compare_exchange(0, FILLING, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let Some(place) = all().iter().find(free) else { return };
    place.watched.store(0, Ordering::Relaxed);
    place.start.store(call.start, Ordering::Relaxed);
    place.site.store(call.site, Ordering::Relaxed);
    place.function.store(u32::from(call.function.code()), Ordering::Relaxed);
    place.number.store(sent.number, Ordering::Relaxed);
    place.place.store(sent.place, Ordering::Relaxed);
    place.file.store(sent.moved.file, Ordering::Relaxed);
    place.at.store(sent.moved.at.cast_unsigned(), Ordering::Relaxed);
    place.bytes.store(sent.moved.bytes, Ordering::Relaxed);
    place.handle.store(handle, Ordering::Release);
    ON_THEIR_WAY.fetch_add(1, Ordering::AcqRel);
}

impl Request {
    fn call(&self) -> Option<Call> {
        let code = u16::try_from(self.function.load(Ordering::Relaxed)).ok()?;
        Some(Call {
            function: Function::from_code(code)?,
            site: self.site.load(Ordering::Relaxed),
            start: self.start.load(Ordering::Relaxed),
        })
    }

    /// It is done: counts its time, writes its event, and frees the place.
    fn end(&self, handle: usize) {
        let (call, number) = (self.call(), self.number.load(Ordering::Relaxed));
        let moved = Moved {
            file: self.file.load(Ordering::Relaxed),
            at: self.at.load(Ordering::Relaxed).cast_signed(),
            bytes: self.bytes.load(Ordering::Relaxed),
        };
        // Of two threads that wait for one request, one ends it.
        let mine = self.handle.compare_exchange(handle, 0, Ordering::AcqRel, Ordering::Relaxed);
        if mine.is_ok() {
            ON_THEIR_WAY.fetch_sub(1, Ordering::AcqRel);
            if let Some(call) = call {
                ended_late(call, number, moved);
            }
        }
    }
}

/// A call that waits for requests in a row in memory.
struct Waiting {
    mpi: Mpi,
    first: usize,
    bytes: usize,
    inside: Option<Enclosing>,
}

impl Waiting {
    /// Begins to watch the requests among these that are ours; none if there are none.
    fn begin(taken: Taken, first: usize, count: c_int) -> Option<Waiting> {
        if ON_THEIR_WAY.load(Ordering::Acquire) == 0 || first == 0 {
            return None;
        }
        let (mpi, count) = (mpi::known(taken.real)?, usize::try_from(count).ok()?);
        let step = mpi.abi().handle_bytes();
        let own = tls::slot().attached().map_or(0, |thread| thread.place.get());
        let mut going_on = None;
        for number in 0..count {
            let at = first.wrapping_add(number.wrapping_mul(step));
            // SAFETY: the caller of the hook has so many handles there.
            let handle = unsafe { mpi.abi().load(at) };
            let ours = |one: &&Request| {
                one.handle.load(Ordering::Acquire) == handle
                    && one
                        .watched
                        .compare_exchange(0, at, Ordering::AcqRel, Ordering::Relaxed)
                        .is_ok()
            };
            let Some(one) = all().iter().find(ours) else { continue };
            // What the library does now, it does for the first of them.
            if going_on.is_none() && one.place.load(Ordering::Relaxed) == own {
                going_on = one.call().map(|call| (call, one.number.load(Ordering::Relaxed)));
            }
        }
        let inside = going_on.and_then(|(call, number)| nest::resume(call, number, taken));
        Some(Waiting { mpi, first, bytes: count.wrapping_mul(step), inside })
    }

    /// Ends those that the library has taken off the row.
    fn end(self) {
        if let Some(inside) = self.inside {
            inside.pass();
        }
        for one in all() {
            let (handle, at) =
                (one.handle.load(Ordering::Acquire), one.watched.load(Ordering::Relaxed));
            if handle == 0 || at < self.first || at >= self.first.wrapping_add(self.bytes) {
                continue;
            }
            one.watched.store(0, Ordering::Relaxed);
            // SAFETY: the row is still the caller's.
            if unsafe { self.mpi.abi().load(at) } != handle {
                one.end(handle);
            }
        }
    }
}

/// Ends all that are left: nobody waits for them any more.
pub(super) fn end_all() {
    if ON_THEIR_WAY.load(Ordering::Acquire) == 0 {
        return;
    }
    for one in all() {
        let handle = one.handle.load(Ordering::Acquire);
        if handle != 0 && handle != FILLING {
            one.end(handle);
        }
    }
}

/// Hooks that wait or test: where their requests lie, and how many there are.
macro_rules! waiting {
    ($($name:ident($($arg:ident: $kind:ty),*), $first:ident, $count:expr;)*) => { slot_hook! {$(
        #[doc = concat!("`MPI_", stringify!($name), "`, without regard to case.")]
        fn $name($($arg: $kind),*) -> c_int, real, taken => {
            let waiting = Waiting::begin(taken, $first, $count);
            // SAFETY: the caller's contract is the real function's.
            let done = unsafe { real($($arg),*) };
            if let Some(waiting) = waiting {
                waiting.end();
            }
            done
        }
    )*}};
}
waiting! {
    wait(request: usize, status: usize), request, 1;
    test(request: usize, flag: usize, status: usize), request, 1;
    waitall(count: c_int, requests: usize, statuses: usize), requests, count;
    testall(count: c_int, requests: usize, flag: usize, statuses: usize), requests, count;
    waitany(count: c_int, requests: usize, index: usize, status: usize), requests, count;
    testany(count: c_int, requests: usize, index: usize, flag: usize, status: usize), requests, count;
    waitsome(count: c_int, requests: usize, done: usize, indices: usize, statuses: usize), requests, count;
    testsome(count: c_int, requests: usize, done: usize, indices: usize, statuses: usize), requests, count;
    request_free(request: usize), request, 1;
}
