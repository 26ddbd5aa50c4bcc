//! HDF5 files.

use core::ffi::{c_char, c_int, c_uint};
use core::ptr;
use core::sync::atomic::Ordering;

use netra_event::segment::shard::h5f;
use netra_event::{Loss, NO_OFFSET};

use super::library::Id;
use super::{Recorded, hooks, place};
use crate::handle::{self, Described, Kind};
use crate::module::H5F;
use crate::settings::SETTINGS;

/// Ends an open or a create.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn opened(recorded: &Recorded, done: Id, path: *const c_char, flags: c_uint, access: Id) {
    // SAFETY: the caller vouches.
    let file = unsafe { place::file(recorded.thread, path) }.filter(|_| SETTINGS.records(&H5F));
    let Some(file) = file else { return recorded.skip(Loss::Excluded) };
    let library = recorded.library;
    if library.id(done) < 0 {
        return recorded.say_failed(file, 0);
    }
    let parallel = library.access_mpio().filter(|_| library.id(access) != 0).is_some_and(|ask| {
        // SAFETY: the plan is the application's; nothing but an answer is wanted.
        library.ask_quietly(|| unsafe { ask(access, ptr::null_mut(), ptr::null_mut()) } >= 0)
    });
    // C's bool, or an unsigned int where the library was built without it.
    let mut together = [0_u8; 8];
    if let (true, Some(ask)) = (parallel, library.collective_metadata()) {
        // SAFETY: the plan is the application's; bytes of ours.
        unsafe { ask(access, together.as_mut_ptr()) };
        place::COLLECTIVE_METADATA.fetch_or(together != [0; 8], Ordering::Relaxed);
    }
    count_open(recorded, file, parallel);
    handle::insert(library.key(done), &Described::plain(Kind::File, file));
    recorded.say(file, i64::from(flags), 0);
}

fn count_open(recorded: &Recorded, file: u32, parallel: bool) {
    recorded.with(&H5F, file, |shard, ended| {
        shard.add::<{ h5f::OPENS }>(1);
        shard.set::<{ h5f::USE_MPIIO }>(u64::from(parallel) | shard.get::<{ h5f::USE_MPIIO }>());
        shard.span::<{ h5f::OPEN_START }, { h5f::OPEN_END }, { h5f::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
}

/// Ends a second open of an open file.
///
/// # Safety
/// As for [`opened`].
unsafe fn reopened(recorded: &Recorded, done: Id, old: Id) {
    let Some(file) = place::holding(recorded, old) else { return recorded.skip(Loss::Excluded) };
    if recorded.library.id(done) < 0 {
        return recorded.say_failed(file, 0);
    }
    count_open(recorded, file, false);
    handle::insert(recorded.library.key(done), &Described::plain(Kind::File, file));
    recorded.say(file, 0, 0);
}

/// Ends a flush of a file, by any object in it.
///
/// # Safety
/// As for [`opened`].
unsafe fn flushed(recorded: &Recorded, done: c_int, object: Id) {
    let Some(file) = place::holding(recorded, object) else { return recorded.skip(Loss::Excluded) };
    if done < 0 {
        return recorded.say_failed(file, 0);
    }
    recorded.with(&H5F, file, |shard, ended| {
        shard.add::<{ h5f::FLUSHES }>(1);
        shard.add::<{ h5f::META_TIME }>(ended.took());
    });
    recorded.say(file, NO_OFFSET, 0);
}

/// Ends a close, by whatever function.
///
/// # Safety
/// As for [`opened`].
pub(super) unsafe fn closed(recorded: &Recorded, done: c_int, id: Id) {
    let Some(Described { file, .. }) = recorded.let_go(done, id) else {
        return recorded.skip(Loss::Excluded);
    };
    if done < 0 {
        return recorded.say_failed(file, 0);
    }
    recorded.with(&H5F, file, |shard, ended| {
        shard.span::<{ h5f::CLOSE_START }, { h5f::CLOSE_END }, { h5f::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    recorded.say(file, NO_OFFSET, 0);
}

hooks! {
    fn create[H5Fcreate](path: *const c_char, flags: c_uint, make: Id, access: Id) -> Id,
        |ended, done| opened(&ended, done, path, flags, access);
    fn open[H5Fopen](path: *const c_char, flags: c_uint, access: Id) -> Id,
        |ended, done| opened(&ended, done, path, flags, access);
    fn create_async[H5FcreateAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        path: *const c_char, flags: c_uint, make: Id, access: Id, set: Id,
    ) -> Id, |ended, done| opened(&ended, done, path, flags, access);
    fn open_async[H5FopenAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        path: *const c_char, flags: c_uint, access: Id, set: Id,
    ) -> Id, |ended, done| opened(&ended, done, path, flags, access);
    fn reopen[H5Freopen](old: Id) -> Id, |ended, done| reopened(&ended, done, old);
    fn flush[H5Fflush](object: Id, scope: c_int) -> c_int, |ended, done| flushed(&ended, done, object);
    fn flush_async[H5FflushAsync](
        from: *const c_char, by: *const c_char, line: c_uint, object: Id, scope: c_int, set: Id,
    ) -> c_int, |ended, done| flushed(&ended, done, object);
    fn close[H5Fclose](id: Id) -> c_int, |ended, done| closed(&ended, done, id);
    fn close_async[H5FcloseAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, set: Id,
    ) -> c_int, |ended, done| closed(&ended, done, id);
}
