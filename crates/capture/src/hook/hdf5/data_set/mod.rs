//! HDF5 data sets: made, opened, extended, flushed and closed. Their data: [`transfer`], [`chunk`].

pub(super) mod chunk;
pub(super) mod transfer;

use core::ffi::{c_char, c_int, c_uint};
use core::ptr;

use netra_event::segment::shard::h5d;
use netra_event::{Loss, NO_FILE, NO_OFFSET};

use super::library::Id;
use super::space::{self, Extent};
use super::{Recorded, hooks, place};
use crate::handle::{self, Described, Kind};
use crate::module::H5D;
use crate::settings::SETTINGS;

/// What a data set was made from.
struct Made {
    place: Id,
    name: *const c_char,
    kind: Id,
    space: Id,
    plan: Id,
    deprecated: bool,
}

/// Ends a create.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn created(recorded: &Recorded, done: Id, made: &Made) {
    // SAFETY: the caller vouches.
    let set = unsafe { place::object(recorded, made.place, made.name) };
    let Some(set) = set.filter(|_| SETTINGS.records(&H5D)) else {
        return recorded.skip(Loss::Excluded);
    };
    if recorded.library.id(done) < 0 {
        return recorded.say_failed(set, 0);
    }
    // SAFETY: the real call took these ids.
    let extent = unsafe { Extent::of(recorded.library, made.kind, made.space, made.plan) };
    keep(recorded, done, set, &extent, made.deprecated);
}

/// Ends an open. `whole` says that the data set may be asked about itself: an asynchronous open may
/// still be on its way.
///
/// # Safety
/// As for [`created`].
pub(super) unsafe fn opened(
    recorded: &Recorded,
    done: Id,
    (place, name): (Id, *const c_char),
    (deprecated, whole): (bool, bool),
) {
    // SAFETY: the caller vouches.
    let set = unsafe { place::object(recorded, place, name) };
    let Some(set) = set.filter(|_| SETTINGS.records(&H5D)) else {
        return recorded.skip(Loss::Excluded);
    };
    let library = recorded.library;
    if library.id(done) < 0 {
        return recorded.say_failed(set, 0);
    }
    // SAFETY: the data set was just opened.
    let extent = if whole { unsafe { Extent::opened(library, library.id(done)) } } else { None };
    keep(recorded, done, set, &extent.unwrap_or_default(), deprecated);
}

/// Counts an open and remembers the data set.
fn keep(recorded: &Recorded, id: Id, set: u32, extent: &Extent, deprecated: bool) {
    recorded.with(&H5D, set, |shard, ended| {
        shard.add::<{ h5d::OPENS }>(1);
        shard.set::<{ h5d::DEPRECATED }>(u64::from(deprecated));
        shard.span::<{ h5d::OPEN_START }, { h5d::OPEN_END }, { h5d::META_TIME }>(
            ended.start(),
            ended.end,
        );
        // What could not be asked is as it was.
        if extent.element_bytes == 0 {
            return;
        }
        shard.set::<{ h5d::DIMENSIONS }>(u64::from(extent.dimensions));
        shard.set::<{ h5d::POINTS }>(extent.points);
        shard.set::<{ h5d::TYPE_SIZE }>(u64::from(extent.element_bytes));
        for (to, from) in shard.from::<{ h5d::CHUNK }>().iter().zip(extent.chunk) {
            to.store(from, core::sync::atomic::Ordering::Relaxed);
        }
    });
    handle::insert(recorded.library.key(id), &described(set, extent));
    recorded.say(set, 0, 0);
}

fn described(set: u32, extent: &Extent) -> Described {
    Described {
        kind: Kind::DataSet,
        file: set,
        element_bytes: extent.element_bytes,
        points: extent.points,
        dimensions: extent.dimensions,
        grows: extent.is_chunked,
    }
}

/// The data set behind an id. One that was opened out of our sight is asked about, if it may be; it has
/// no path then.
///
/// # Safety
/// The id was given to a real call that succeeded.
unsafe fn known(recorded: &Recorded, id: Id, whole: bool) -> Option<Described> {
    let library = recorded.library;
    let key = library.key(id);
    if let Some(known) = handle::find(key) {
        return Some(known).filter(|known| known.kind == Kind::DataSet);
    }
    let file = place::holding(recorded, id)?;
    // SAFETY: the caller vouches.
    let extent = if whole { unsafe { Extent::opened(library, library.id(id)) } } else { None };
    let set = crate::name::object(file, place::UNNAMED);
    let found = described(set, &extent.unwrap_or_default());
    handle::insert(key, &found);
    Some(found)
}

/// Ends a change of a data set's extent.
///
/// # Safety
/// As for [`created`].
unsafe fn extended(recorded: &Recorded, done: c_int, id: Id, whole: bool) {
    let key = recorded.library.key(id);
    let Some(mut set) = handle::find(key) else { return recorded.skip(Loss::Excluded) };
    if done < 0 {
        return recorded.say_failed(set.file, 0);
    }
    let library = recorded.library;
    if whole {
        // SAFETY: the data set is open: the real call took it.
        let now = unsafe { space::points(library, library.id(id), library.data_set_space()) };
        set.points = now.unwrap_or(set.points);
        handle::insert(key, &set);
    }
    recorded.with(&H5D, set.file, |shard, ended| {
        shard.add::<{ h5d::EXTENDS }>(1);
        shard.add::<{ h5d::META_TIME }>(ended.took());
    });
    recorded.say(set.file, NO_OFFSET, 0);
}

/// Ends a flush.
///
/// # Safety
/// As for [`created`].
unsafe fn flushed(recorded: &Recorded, done: c_int, id: Id) {
    let Some(set) = handle::find(recorded.library.key(id)) else {
        return recorded.skip(Loss::Excluded);
    };
    if done < 0 {
        return recorded.say_failed(set.file, 0);
    }
    recorded.with(&H5D, set.file, |shard, ended| {
        shard.add::<{ h5d::FLUSHES }>(1);
        shard.add::<{ h5d::META_TIME }>(ended.took());
    });
    recorded.say(set.file, NO_OFFSET, 0);
}

/// Ends a close, by whatever function.
///
/// # Safety
/// As for [`created`].
pub(super) unsafe fn closed(recorded: &Recorded, done: c_int, id: Id) {
    let Some(set) = recorded.let_go(done, id) else {
        return match done {
            ..0 => recorded.say_failed(NO_FILE, 0),
            _ => recorded.skip(Loss::Excluded),
        };
    };
    if done < 0 {
        return recorded.say_failed(set.file, 0);
    }
    recorded.with(&H5D, set.file, |shard, ended| {
        shard.span::<{ h5d::CLOSE_START }, { h5d::CLOSE_END }, { h5d::META_TIME }>(
            ended.start(),
            ended.end,
        );
    });
    recorded.say(set.file, NO_OFFSET, 0);
}

hooks! {
    fn create1[H5Dcreate1](place: Id, name: *const c_char, kind: Id, space: Id, plan: Id) -> Id,
        |ended, done| created(&ended, done, &Made { place, name, kind, space, plan, deprecated: true });
    fn create2[H5Dcreate2](
        place: Id, name: *const c_char, kind: Id, space: Id, link: Id, plan: Id, access: Id,
    ) -> Id, |ended, done| created(&ended, done, &Made { place, name, kind, space, plan, deprecated: false });
    fn create_anon[H5DcreateAnon](place: Id, kind: Id, space: Id, plan: Id, access: Id) -> Id,
        |ended, done| created(
            &ended,
            done,
            &Made { place, name: ptr::null(), kind, space, plan, deprecated: false },
        );
    fn create_async[H5DcreateAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, kind: Id, space: Id, link: Id, plan: Id, access: Id, set: Id,
    ) -> Id, |ended, done| created(&ended, done, &Made { place, name, kind, space, plan, deprecated: false });
    fn open1[H5Dopen1](place: Id, name: *const c_char) -> Id,
        |ended, done| opened(&ended, done, (place, name), (true, true));
    fn open2[H5Dopen2](place: Id, name: *const c_char, access: Id) -> Id,
        |ended, done| opened(&ended, done, (place, name), (false, true));
    fn open_async[H5DopenAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, access: Id, set: Id,
    ) -> Id, |ended, done| opened(&ended, done, (place, name), (false, false));
    fn set_extent[H5DsetExtent](id: Id, sizes: *const u64) -> c_int,
        |ended, done| extended(&ended, done, id, true);
    fn set_extent_async[H5DsetExtentAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, sizes: *const u64, set: Id,
    ) -> c_int, |ended, done| extended(&ended, done, id, false);
    fn flush[H5Dflush](id: Id) -> c_int, |ended, done| flushed(&ended, done, id);
    fn close[H5Dclose](id: Id) -> c_int, |ended, done| closed(&ended, done, id);
    fn close_async[H5DcloseAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, set: Id,
    ) -> c_int, |ended, done| closed(&ended, done, id);
}
