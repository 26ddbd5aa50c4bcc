//! PnetCDF files: made, opened, defined, synchronised, waited for and closed.

use core::ffi::{c_char, c_int, c_void};

use netra_event::segment::shard::pnetcdf_file as words;
use netra_event::{Function, Loss};

use super::library::Library;
use super::{Recorded, hooks};
use crate::got::Taken;
use crate::handle::{self, Described, Kind};
use crate::hook::hdf5::named_file;
use crate::module::PNETCDF_FILE;
use crate::nest;
use crate::settings::SETTINGS;

/// Ends a create or an open; `COUNT` is the word that counts it.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn opened<const COUNT: usize>(
    recorded: &Recorded,
    done: c_int,
    path: *const c_char,
    handle: *const c_int,
) {
    // SAFETY: the caller vouches.
    let file = unsafe { named_file(recorded.thread, path) };
    let Some(file) = file.filter(|_| SETTINGS.records(&PNETCDF_FILE)) else {
        return recorded.skip(Loss::Excluded);
    };
    if done == 0 {
        // SAFETY: the real function wrote it.
        let key = recorded.library.file_key(unsafe { handle.read() });
        handle::insert(key, &Described::plain(Kind::File, file));
        recorded.with(&PNETCDF_FILE, file, |shard, ended| {
            shard.add::<COUNT>(1);
            shard.span::<{ words::OPEN_START }, { words::OPEN_END }, { words::META_TIME }>(
                ended.start(),
                ended.end,
            );
        });
    }
    recorded.say(file, 0, done, 0);
}

/// The file behind a handle.
pub(super) fn known(recorded: &Recorded, file: c_int) -> Option<u32> {
    handle::find(recorded.library.file_key(file)).map(|known| known.file)
}

/// Ends a call on a file that moves no data; `COUNT` is the word that counts it.
///
/// # Safety
/// As for [`opened`].
unsafe fn counted<const COUNT: usize>(recorded: &Recorded, done: c_int, file: c_int) {
    let Some(file) = known(recorded, file) else { return recorded.skip(Loss::Excluded) };
    if done == 0 {
        recorded.with(&PNETCDF_FILE, file, |shard, ended| {
            shard.add::<COUNT>(1);
            shard.add::<{ words::META_TIME }>(ended.took());
        });
    }
    recorded.say(file, 0, done, 0);
}

/// Ends a call on a file that Darshan counts the time of, and no more.
///
/// # Safety
/// As for [`opened`].
unsafe fn timed(recorded: &Recorded, done: c_int, file: c_int) {
    let Some(file) = known(recorded, file) else { return recorded.skip(Loss::Excluded) };
    if done == 0 {
        recorded.with(&PNETCDF_FILE, file, |shard, ended| {
            shard.add::<{ words::META_TIME }>(ended.took());
        });
    }
    recorded.say(file, 0, done, 0);
}

/// Ends a wait; `COUNT` is the word that counts it.
///
/// # Safety
/// As for [`opened`].
unsafe fn waited<const COUNT: usize>(recorded: &Recorded, done: c_int, file: c_int) {
    let Some(file) = known(recorded, file) else { return recorded.skip(Loss::Excluded) };
    recorded.with(&PNETCDF_FILE, file, |shard, ended| {
        if done == 0 {
            shard.add::<COUNT>(1);
        } else {
            shard.add::<{ words::WAIT_FAILURES }>(1);
        }
        shard.span::<{ words::WAIT_START }, { words::WAIT_END }, { words::WAIT_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    recorded.say(file, 0, done, 0);
}

/// Closes a file. The library's own account of its bytes is asked for before, and the handle is given up
/// before another thread may get its number.
///
/// # Safety
/// `real` is the real function of `function`.
unsafe fn closing(
    function: Function,
    file: c_int,
    real: unsafe extern "C" fn(c_int) -> c_int,
    taken: Taken,
) -> c_int {
    let library = Library::of(taken.real);
    let key = library.file_key(file);
    let (Some(known), Some(outer)) = (handle::find(key), nest::enter(function, taken)) else {
        // SAFETY: the caller's contract is the real function's.
        return unsafe { real(file) };
    };
    let moved = [library.bytes_got(), library.bytes_put()].map(|ask| {
        let mut bytes = -1_i64;
        // SAFETY: a number of ours; the handle is the application's.
        let done = ask.map_or(-1, |ask| unsafe { ask(file, &raw mut bytes) });
        u64::try_from(bytes).ok().filter(|_| done == 0)
    });
    handle::remove(key);
    // SAFETY: the caller's contract is the real function's.
    let done = unsafe { real(file) };
    let Some(recorded) = Recorded::after(outer, taken.real, i64::from(done)) else { return done };
    if done == 0 {
        recorded.with(&PNETCDF_FILE, known.file, |shard, ended| {
            shard.add::<{ words::BYTES_READ }>(moved[0].unwrap_or(0));
            shard.add::<{ words::BYTES_WRITTEN }>(moved[1].unwrap_or(0));
            shard.span::<{ words::CLOSE_START }, { words::CLOSE_END }, { words::META_TIME }>(
                ended.start(),
                ended.end,
            );
        });
    } else {
        handle::insert(key, &known);
    }
    recorded.say(known.file, 0, done, 0);
    done
}

crate::slot_hook! {
    /// `ncmpi_close`.
    fn close(file: c_int) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        unsafe { closing(Function::NcClose, file, real, taken) }
    }
    /// `ncmpi_abort`.
    fn abort(file: c_int) -> c_int, real, taken => {
        // SAFETY: the caller's contract is the real function's.
        unsafe { closing(Function::NcAbort, file, real, taken) }
    }
}

hooks! {
    fn create[NcCreate](
        group: usize, path: *const c_char, mode: c_int, info: usize, file: *mut c_int,
    ) -> c_int, |ended, done| opened::<{ words::CREATES }>(&ended, done, path, file);
    fn open[NcOpen](
        group: usize, path: *const c_char, mode: c_int, info: usize, file: *mut c_int,
    ) -> c_int, |ended, done| opened::<{ words::OPENS }>(&ended, done, path, file);
    fn enddef[NcEnddef](file: c_int) -> c_int, |ended, done| timed(&ended, done, file);
    fn enddef_with[NcEnddef](
        file: c_int, head: i64, align: i64, free: i64, record: i64,
    ) -> c_int, |ended, done| timed(&ended, done, file);
    fn redef[NcRedef](file: c_int) -> c_int,
        |ended, done| counted::<{ words::REDEFS }>(&ended, done, file);
    fn begin_indep_data[NcBeginIndepData](file: c_int) -> c_int,
        |ended, done| timed(&ended, done, file);
    fn end_indep_data[NcEndIndepData](file: c_int) -> c_int, |ended, done| timed(&ended, done, file);
    fn def_dim[NcDefDim](file: c_int, name: *const c_char, length: i64, dimension: *mut c_int) -> c_int,
        |ended, done| timed(&ended, done, file);
    fn sync[NcSync](file: c_int) -> c_int,
        |ended, done| counted::<{ words::SYNCS }>(&ended, done, file);
    fn flush[NcFlush](file: c_int) -> c_int, |ended, done| timed(&ended, done, file);
    fn sync_numrecs[NcSyncNumrecs](file: c_int) -> c_int, |ended, done| timed(&ended, done, file);
    fn wait[NcWait](file: c_int, count: c_int, requests: *mut c_int, states: *mut c_int) -> c_int,
        |ended, done| waited::<{ words::INDEP_WAITS }>(&ended, done, file);
    fn wait_all[NcWaitAll](
        file: c_int, count: c_int, requests: *mut c_int, states: *mut c_int,
    ) -> c_int, |ended, done| waited::<{ words::COLL_WAITS }>(&ended, done, file);
    fn put_att[NcPutAtt](
        file: c_int, variable: c_int, name: *const c_char, kind: usize, length: usize, data: usize,
    ) -> c_int, |ended, done| counted::<{ words::ATTRIBUTE_WRITES }>(&ended, done, file);
    fn get_att[NcGetAtt](
        file: c_int, variable: c_int, name: *const c_char, into: *mut c_void,
    ) -> c_int, |ended, done| counted::<{ words::ATTRIBUTE_READS }>(&ended, done, file);
}
