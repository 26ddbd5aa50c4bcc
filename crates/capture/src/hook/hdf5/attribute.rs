//! HDF5 attributes: counted by file, as metadata, whatever they hold.

use core::ffi::{c_char, c_int, c_uint, c_void};

use netra_event::{Loss, NO_OFFSET};

use super::library::Id;
use super::metadata::{self, H5META};
use super::{Recorded, hooks, place, space};
use crate::handle::{self, Described, Kind};
use crate::settings::SETTINGS;

/// Ends a create or an open; `COUNT` is the word that counts it. An attribute whose open may still be on
/// its way is not asked.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn opened<const COUNT: usize>(recorded: &Recorded, done: Id, place: Id, whole: bool) {
    let file = place::holding(recorded, place).filter(|_| SETTINGS.records(&H5META));
    let Some(file) = file else { return recorded.skip(Loss::Excluded) };
    let library = recorded.library;
    let id = library.id(done);
    if id < 0 {
        return recorded.say_failed(file, 0);
    }
    let mut attribute = Described::plain(Kind::Attribute, file);
    if whole {
        // SAFETY: the attribute was just opened.
        let points = unsafe { space::points(library, id, library.attribute_space()) };
        attribute.points = points.unwrap_or(0);
    }
    handle::insert(library.key(done), &attribute);
    count::<COUNT>(recorded, file);
    recorded.say(file, 0, 0);
}

fn count<const COUNT: usize>(recorded: &Recorded, file: u32) {
    metadata::count::<COUNT, { metadata::ATTRIBUTE_TIME }>(recorded, file);
}

/// Ends a read or a write.
///
/// # Safety
/// As for [`opened`].
unsafe fn moved<const WRITE: bool>(recorded: &Recorded, done: c_int, id: Id, kind: Id) {
    let library = recorded.library;
    let known = handle::find(library.key(id));
    let file = known.map(|known| known.file).or_else(|| place::holding(recorded, id));
    let Some(file) = file.filter(|_| SETTINGS.records(&H5META)) else {
        return recorded.skip(Loss::Excluded);
    };
    let ask = library.type_bytes().filter(|_| recorded.succeeded);
    // SAFETY: the real call took the type.
    let element = ask.map_or(0, |ask| unsafe { ask(kind) as u64 });
    let bytes = element.wrapping_mul(known.map_or(0, |known| known.points));
    if done < 0 {
        return recorded.say_failed(file, bytes);
    }
    if WRITE {
        count::<{ metadata::ATTRIBUTE_WRITES }>(recorded, file);
    } else {
        count::<{ metadata::ATTRIBUTE_READS }>(recorded, file);
    }
    recorded.with(&H5META, file, |shard, _| {
        if WRITE {
            shard.add::<{ metadata::ATTRIBUTE_BYTES_WRITTEN }>(bytes);
        } else {
            shard.add::<{ metadata::ATTRIBUTE_BYTES_READ }>(bytes);
        }
    });
    recorded.say(file, NO_OFFSET, bytes);
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
    count::<{ metadata::ATTRIBUTE_CLOSES }>(recorded, file);
    recorded.say(file, NO_OFFSET, 0);
}

/// Ends a delete.
///
/// # Safety
/// As for [`opened`].
unsafe fn deleted(recorded: &Recorded, done: c_int, place: Id) {
    let file = place::holding(recorded, place).filter(|_| SETTINGS.records(&H5META));
    let Some(file) = file else { return recorded.skip(Loss::Excluded) };
    if done < 0 {
        return recorded.say_failed(file, 0);
    }
    count::<{ metadata::ATTRIBUTE_DELETES }>(recorded, file);
    recorded.say(file, NO_OFFSET, 0);
}

const CREATES: usize = metadata::ATTRIBUTE_CREATES;
const OPENS: usize = metadata::ATTRIBUTE_OPENS;

hooks! {
    fn create1[H5Acreate1](place: Id, name: *const c_char, kind: Id, space: Id, plan: Id) -> Id,
        |ended, done| opened::<CREATES>(&ended, done, place, true);
    fn create2[H5Acreate2](place: Id, name: *const c_char, kind: Id, space: Id, plan: Id, access: Id) -> Id,
        |ended, done| opened::<CREATES>(&ended, done, place, true);
    fn create_by_name[H5AcreateByName](
        place: Id, object: *const c_char, name: *const c_char, kind: Id, space: Id, plan: Id, access: Id,
        link: Id,
    ) -> Id, |ended, done| opened::<CREATES>(&ended, done, place, true);
    fn create_async[H5AcreateAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, kind: Id, space: Id, plan: Id, access: Id, set: Id,
    ) -> Id, |ended, done| opened::<CREATES>(&ended, done, place, false);
    fn create_by_name_async[H5AcreateByNameAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, object: *const c_char, name: *const c_char, kind: Id, space: Id, plan: Id, access: Id,
        link: Id, set: Id,
    ) -> Id, |ended, done| opened::<CREATES>(&ended, done, place, false);
    fn open[H5Aopen](place: Id, name: *const c_char, access: Id) -> Id,
        |ended, done| opened::<OPENS>(&ended, done, place, true);
    fn open_name[H5AopenName](place: Id, name: *const c_char) -> Id,
        |ended, done| opened::<OPENS>(&ended, done, place, true);
    fn open_idx[H5AopenIdx](place: Id, index: c_uint) -> Id,
        |ended, done| opened::<OPENS>(&ended, done, place, true);
    fn open_by_name[H5AopenByName](
        place: Id, object: *const c_char, name: *const c_char, access: Id, link: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, true);
    fn open_by_idx[H5AopenByIdx](
        place: Id, object: *const c_char, by: c_int, order: c_int, number: u64, access: Id, link: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, true);
    fn open_async[H5AopenAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, access: Id, set: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, false);
    fn open_by_name_async[H5AopenByNameAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, object: *const c_char, name: *const c_char, access: Id, link: Id, set: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, false);
    fn open_by_idx_async[H5AopenByIdxAsync](
        from: *const c_char, source: *const c_char, line: c_uint,
        place: Id, object: *const c_char, by: c_int, order: c_int, number: u64, access: Id, link: Id,
        set: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, false);
    fn read[H5Aread](id: Id, kind: Id, into: *mut c_void) -> c_int,
        |ended, done| moved::<false>(&ended, done, id, kind);
    fn read_async[H5AreadAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, kind: Id, into: *mut c_void, set: Id,
    ) -> c_int, |ended, done| moved::<false>(&ended, done, id, kind);
    fn write[H5Awrite](id: Id, kind: Id, data: *const c_void) -> c_int,
        |ended, done| moved::<true>(&ended, done, id, kind);
    fn write_async[H5AwriteAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, kind: Id, data: *const c_void,
        set: Id,
    ) -> c_int, |ended, done| moved::<true>(&ended, done, id, kind);
    fn close[H5Aclose](id: Id) -> c_int, |ended, done| closed(&ended, done, id);
    fn close_async[H5AcloseAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, set: Id,
    ) -> c_int, |ended, done| closed(&ended, done, id);
    fn delete[H5Adelete](place: Id, name: *const c_char) -> c_int,
        |ended, done| deleted(&ended, done, place);
    fn delete_by_name[H5Adelete](place: Id, object: *const c_char, name: *const c_char, link: Id) -> c_int,
        |ended, done| deleted(&ended, done, place);
    fn delete_by_idx[H5Adelete](
        place: Id, object: *const c_char, by: c_int, order: c_int, number: u64, link: Id,
    ) -> c_int, |ended, done| deleted(&ended, done, place);
}
