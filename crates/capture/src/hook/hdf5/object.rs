//! HDF5 objects of any kind: functions that open and close whatever it is, and `H5Idec_ref`, by which
//! h5py closes everything.

use core::ffi::{c_char, c_int, c_uint};
use core::ptr;

use netra_event::{Function, Loss};

use super::library::{Id, Library};
use super::{Recorded, attribute, data_set, file, group, hooks};
use crate::handle::{self, Kind};
use crate::nest;

/// `H5I_type_t`.
const GROUP: c_int = 2;
const DATA_SET: c_int = 5;

/// Ends an open of whatever a name leads to; null where there is none.
///
/// # Safety
/// The arguments are those that the real function took; `done` is what it returned.
unsafe fn opened(recorded: &Recorded, done: Id, place: Id, name: *const c_char, whole: bool) {
    let library = recorded.library;
    // SAFETY: asks what kind of id it is, if it is one.
    let kind = library.kind().filter(|_| library.id(done) >= 0).map(|ask| unsafe { ask(done) });
    match kind {
        // SAFETY: the caller vouches.
        Some(DATA_SET) => unsafe {
            data_set::opened(recorded, done, (place, name), (false, whole));
        },
        // SAFETY: the caller vouches.
        Some(GROUP) | None => unsafe {
            group::opened::<{ group::OPENS }>(recorded, done, place, name);
        },
        Some(_) => recorded.skip(Loss::Excluded),
    }
}

/// Ends a close of whatever an id stands for.
///
/// # Safety
/// As for [`opened`].
unsafe fn closed(recorded: &Recorded, done: c_int, id: Id) {
    // SAFETY: the caller vouches.
    unsafe {
        match handle::find(recorded.library.key(id)).map(|known| known.kind) {
            Some(Kind::File) => file::closed(recorded, done, id),
            Some(Kind::DataSet) => data_set::closed(recorded, done, id),
            Some(Kind::Group) => group::closed(recorded, done, id),
            Some(Kind::Attribute) => attribute::closed(recorded, done, id),
            Some(Kind::Variable) | None => recorded.skip(Loss::Excluded),
        }
    }
}

hooks! {
    fn open[H5Oopen](place: Id, name: *const c_char, access: Id) -> Id,
        |ended, done| opened(&ended, done, place, name, true);
    fn open_by_addr[H5OopenByAddr](place: Id, address: u64) -> Id,
        |ended, done| opened(&ended, done, place, ptr::null(), true);
    fn open_by_token[H5OopenByToken](place: Id, low: u64, high: u64) -> Id,
        |ended, done| opened(&ended, done, place, ptr::null(), true);
    fn open_by_idx[H5OopenByIdx](
        place: Id, name: *const c_char, by: c_int, order: c_int, number: u64, access: Id,
    ) -> Id, |ended, done| opened(&ended, done, place, ptr::null(), true);
    fn open_async[H5OopenAsync](
        from: *const c_char, by: *const c_char, line: c_uint,
        place: Id, name: *const c_char, access: Id, set: Id,
    ) -> Id, |ended, done| opened(&ended, done, place, name, false);
    fn close[H5Oclose](id: Id) -> c_int, |ended, done| closed(&ended, done, id);
    fn close_async[H5OcloseAsync](
        from: *const c_char, by: *const c_char, line: c_uint, id: Id, set: Id,
    ) -> c_int, |ended, done| closed(&ended, done, id);
}

crate::slot_hook! {
    /// `H5Idec_ref`: closes what an id stands for when nobody refers to it any more. It is called for ids
    /// of all kinds; only the end of something that is followed is recorded.
    fn dec_ref(id: Id) -> c_int, real, taken => {
        let library = Library::of(taken.real);
        let outer = match handle::find(library.key(id)) {
            Some(_) => nest::enter(Function::H5IdecRef, taken),
            None => None,
        };
        // SAFETY: the caller's contract is the real function's.
        let left = unsafe { real(id) };
        match outer {
            Some(outer) if left == 0 => {
                if let Some(recorded) = Recorded::after(outer, taken.real, i64::from(left)) {
                    // SAFETY: the real function took the id.
                    unsafe { closed(&recorded, 0, id) };
                }
            }
            Some(outer) => outer.pass(),
            None => {}
        }
        left
    }
}
