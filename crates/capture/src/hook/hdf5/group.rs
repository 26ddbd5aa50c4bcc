//! HDF5 groups: counted by file, as metadata. A group has a row of its own, so that
//! what is opened in it gets its whole path.

use core::ffi::{c_char, c_int, c_uint};
use core::ptr;

use netra_event::{Loss, NO_OFFSET};

use super::library::Id;
use super::metadata::{self, H5META};
use super::{Recorded, hooks, place};
use crate::handle::{self, Described, Kind};
use crate::name;
use crate::settings::SETTINGS;

/// Ends a create or an open; `COUNT` is the word that counts it.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
pub(super) unsafe fn opened<const COUNT: usize>(
    recorded: &Recorded,
    done: Id,
    place: Id,
    name: *const c_char,
) {
    // SAFETY: the caller vouches.
    let group = unsafe { place::object(recorded, place, name) };
    let Some(group) = group.filter(|_| SETTINGS.records(&H5META)) else {
        return recorded.skip(Loss::Excluded);
    };
    if recorded.library.id(done) < 0 {
        return recorded.say_failed(group, 0);
    }
    handle::insert(recorded.library.key(done), &Described::plain(Kind::Group, group));
    count::<COUNT>(recorded, group);
    recorded.say(group, 0, 0);
}

fn count<const COUNT: usize>(recorded: &Recorded, group: u32) {
    metadata::count::<COUNT, { metadata::GROUP_TIME }>(recorded, name::file_of(group));
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
    count::<{ metadata::GROUP_CLOSES }>(recorded, file);
    recorded.say(file, NO_OFFSET, 0);
}

const CREATES: usize = metadata::GROUP_CREATES;
/// The word that counts opens.
pub(super) const OPENS: usize = metadata::GROUP_OPENS;

hooks! {
    fn create1[H5Gcreate1](place: Id, name: *const c_char, hint: usize) -> Id,
        |ended, done| opened::<CREATES>(&ended, done, place, name);
    fn create2[H5Gcreate2](place: Id, name: *const c_char, link: Id, plan: Id, access: Id) -> Id,
        |ended, done| opened::<CREATES>(&ended, done, place, name);
    fn create_anon[H5GcreateAnon](place: Id, plan: Id, access: Id) -> Id,
        |ended, done| opened::<CREATES>(&ended, done, place, ptr::null());
    fn create_async[H5GcreateAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, link: Id, plan: Id, access: Id, set: Id,
    ) -> Id, |ended, done| opened::<CREATES>(&ended, done, place, name);
    fn open1[H5Gopen1](place: Id, name: *const c_char) -> Id,
        |ended, done| opened::<OPENS>(&ended, done, place, name);
    fn open2[H5Gopen2](place: Id, name: *const c_char, access: Id) -> Id,
        |ended, done| opened::<OPENS>(&ended, done, place, name);
    fn open_async[H5GopenAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, access: Id, set: Id,
    ) -> Id, |ended, done| opened::<OPENS>(&ended, done, place, name);
    fn close[H5Gclose](id: Id) -> c_int, |ended, done| closed(&ended, done, id);
    fn close_async[H5GcloseAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, set: Id,
    ) -> c_int, |ended, done| closed(&ended, done, id);
}
