//! The example module, and a real one: how often a process asks the kernel for random bytes.
//!
//! It is what a module needs at least, in one file. Its row gives it records, and their words names, which
//! the segment carries along: so `netra parse`, `info` and `report` show them without knowing the module. The
//! hooks count into the record of one name. Memory, threads, time, the trace, the stream and the log's
//! netra section come with [`Call`]; `docs/adding-a-hook.md` walks through it.

use core::ffi::{c_int, c_uint, c_void};

use libc::ssize_t;
use netra_event::segment::shard::OWN_MODULES;
use netra_event::{Function, Loss, NO_OFFSET};

use super::posix::named;
use crate::call::Call;
use crate::module::Module;
use crate::name;
use crate::real as libc_real;
use crate::settings::SETTINGS;

/// The module.
pub static RANDOM: Module = Module {
    name: "RANDOM",
    code: OWN_MODULES,
    index: 3,
    words: 4,
    counters: "CALLS BYTES F_TIME",
};

/// Calls that gave bytes.
const CALLS: usize = 0;
/// Bytes given.
const BYTES: usize = 1;
/// Time spent.
const TIME: usize = 2;

/// The functions behind the hooks.
mod real {
    use super::*;

    crate::real! {
        fn getrandom(into: *mut c_void, bytes: usize, flags: c_uint) -> ssize_t, else -1;
        fn getentropy(into: *mut c_void, bytes: usize) -> c_int, else -1;
    }
}

/// Ends a call that gave `done` bytes.
pub(super) fn given(call: Call, asked: usize, done: ssize_t) {
    let errno = libc_real::errno();
    let Some(ended) = call.end() else { return };
    if !SETTINGS.records(&RANDOM) {
        return ended.skip(Loss::Excluded);
    }
    let (file, _) = name::of(b"<RANDOM>", name::STREAM);
    let Ok(bytes) = u64::try_from(done) else {
        return ended.failed(file, NO_OFFSET, asked as u64, errno);
    };
    ended.with(&RANDOM, file, |shard, ended| {
        shard.add::<{ CALLS }>(1);
        shard.add::<{ BYTES }>(bytes);
        shard.add::<{ TIME }>(ended.took());
    });
    ended.event_with(file, NO_OFFSET, asked as u64, bytes.cast_signed());
}

named! {
    /// `getrandom(2)`.
    fn [getrandom](into: *mut c_void, bytes: usize, flags: c_uint, site: usize) -> ssize_t, real => {
        let call = Call::begin(Function::Getrandom, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, bytes, flags) };
        given(call, bytes, done);
        done
    }
}
named! {
    /// `getentropy(3)`: all of it, or an error.
    fn [getentropy](into: *mut c_void, bytes: usize, site: usize) -> c_int, real => {
        let call = Call::begin(Function::Getrandom, site);
        // SAFETY: the caller's contract is the real function's.
        let done = unsafe { real(into, bytes) };
        given(call, bytes, if done < 0 { -1 } else { bytes.cast_signed() });
        done
    }
}
