//! Reading and writing data sets, one or several in a call. Bytes are elements selected in the file times
//! their size there, as Darshan has it. What an asynchronous call still has to do is not waited for: its
//! time is that of the call, and where the data set may not be asked, the type in memory gives the size.

use core::ffi::{c_char, c_int, c_uint, c_void};

use netra_event::segment::extension::{SELECTIONS, Shape, Writer};
use netra_event::segment::shard::h5d;
use netra_event::{Loss, NO_OFFSET};

use super::super::library::Id;
use super::super::space::{self, Selection};
use super::super::{Recorded, hooks};
use super::known;
use crate::extension;
use crate::flow::Flow;
use crate::handle::Described;
use crate::module::H5D;
use crate::nest::Said;
use crate::settings::SETTINGS;

/// `H5FD_MPIO_COLLECTIVE`.
const COLLECTIVE: c_int = 1;

/// One data set of a call.
struct Part {
    id: Id,
    kind: Id,
    memory: Id,
    file: Id,
}

/// A call: how the transfer is planned, and whether it is over when the call returns.
#[derive(Clone, Copy)]
struct Call {
    plan: Id,
    whole: bool,
    done: c_int,
}

/// What the parts of a call come to.
struct Sum {
    bytes: u64,
    /// The data set, of the first part.
    set: Option<u32>,
    extension: Writer,
}

/// Ends a call on several data sets; each has its share of the time.
///
/// # Safety
/// Parts and plan are those that the real function took.
unsafe fn moved<const WRITE: bool>(
    recorded: &Recorded,
    call: Call,
    parts: impl ExactSizeIterator<Item = Part>,
) {
    if !SETTINGS.records(&H5D) {
        return recorded.skip(Loss::Excluded);
    }
    let took = recorded.took().checked_div(parts.len() as u64).unwrap_or(0);
    let collective = is_collective(recorded, call.plan);
    let mut sum = Sum { bytes: 0, set: None, extension: Writer::default() };
    for part in parts {
        // SAFETY: the caller vouches.
        unsafe { one::<WRITE>(recorded, call, &part, (took, collective), &mut sum) };
    }
    let Some(file) = sum.set else { return recorded.skip(Loss::Excluded) };
    if call.done < 0 {
        return recorded.say_failed(file, sum.bytes);
    }
    let said = say(file, sum.bytes, extension::put(recorded.thread, SELECTIONS, &sum.extension));
    recorded.within.say(&said);
}

/// The event of a transfer that succeeded.
pub(super) fn say(file: u32, bytes: u64, extension: u32) -> Said {
    let result = bytes.cast_signed();
    Said { file, offset: NO_OFFSET, length: bytes, result, failed: false, extension }
}

/// Counts one data set of a call.
///
/// # Safety
/// As for [`moved`].
unsafe fn one<const WRITE: bool>(
    recorded: &Recorded,
    call: Call,
    part: &Part,
    (took, collective): (u64, bool),
    sum: &mut Sum,
) {
    let library = recorded.library;
    // SAFETY: the caller vouches; a failed call is asked nothing about.
    let Some(mut set) = (unsafe { known(recorded, part.id, call.whole && call.done >= 0) }) else {
        return;
    };
    sum.set = sum.set.or(Some(set.file));
    if call.done < 0 {
        return;
    }
    if set.grows && call.whole && library.id(part.file) == 0 {
        // SAFETY: the real call took the data set.
        let now = unsafe { space::points(library, library.id(part.id), library.data_set_space()) };
        set.points = now.unwrap_or(set.points);
    }
    if set.element_bytes == 0
        && let Some(ask) = library.type_bytes()
    {
        // SAFETY: the real call took the type.
        set.element_bytes = u32::try_from(unsafe { ask(part.kind) }).unwrap_or(0);
    }
    let mut selection = Selection::of(library, &set, part.memory, part.file);
    if set.dimensions == 0 && set.points == 0 && selection.shape == Shape::All {
        // A data set that may not be asked: what the memory holds.
        selection = Selection::of(library, &set, 0, part.memory);
    }
    let bytes = selection.points.wrapping_mul(u64::from(set.element_bytes));
    sum.bytes = sum.bytes.wrapping_add(bytes);
    count::<WRITE>(recorded, &set, &selection, (bytes, took, collective));
    let head = selection.head(set.file, set.element_bytes, collective);
    sum.extension.selection(&head, |dimension, which| selection.number(dimension, which));
}

/// Counts a transfer in the data set's record.
pub(super) fn count<const WRITE: bool>(
    recorded: &Recorded,
    set: &Described,
    selection: &Selection,
    (bytes, took, collective): (u64, u64, bool),
) {
    recorded.with(&H5D, set.file, |shard, ended| {
        let flow = Flow { bytes, start: ended.start(), end: ended.end, took };
        if WRITE {
            shard.flow::<{ h5d::WRITE }>(&flow);
        } else {
            shard.flow::<{ h5d::READ }>(&flow);
        }
        shard.switch::<{ h5d::LAST_KIND }, { h5d::RW_SWITCHES }>(if WRITE { 2 } else { 1 });
        match selection.shape {
            Shape::Regular => shard.add::<{ h5d::REGULAR_SELECTS }>(1),
            Shape::Irregular => shard.add::<{ h5d::IRREGULAR_SELECTS }>(1),
            Shape::Points => shard.add::<{ h5d::POINT_SELECTS }>(1),
            Shape::None | Shape::All | Shape::Chunk => {}
        }
        if collective {
            shard.set::<{ h5d::COLLECTIVE }>(1);
        }
        shard.access::<{ h5d::ACCESSES }>(&selection.access(bytes));
    });
}

/// Whether a transfer plan asks for collective transfer; copies without MPI know nothing of it.
pub(super) fn is_collective(recorded: &Recorded, plan: Id) -> bool {
    let library = recorded.library;
    let mut mode = 0;
    match library.transfer_mode() {
        // SAFETY: the real call took the plan; a number of ours.
        Some(ask) if library.id(plan) != 0 && recorded.succeeded => unsafe {
            ask(plan, &raw mut mode) >= 0 && mode == COLLECTIVE
        },
        _ => false,
    }
}

/// The arrays of a call on several data sets.
struct Several {
    count: usize,
    ids: *const Id,
    kinds: *const Id,
    memories: *const Id,
    files: *const Id,
}

impl Several {
    /// The parts.
    ///
    /// # Safety
    /// The arrays are as long as `count` says.
    unsafe fn parts(self) -> impl ExactSizeIterator<Item = Part> {
        (0..self.count).map(move |index| {
            // SAFETY: the caller vouches.
            let at = |array: *const Id| unsafe { array.wrapping_add(index).read() };
            Part {
                id: at(self.ids),
                kind: at(self.kinds),
                memory: at(self.memories),
                file: at(self.files),
            }
        })
    }
}

hooks! {
    fn read[H5Dread](id: Id, kind: Id, memory: Id, file: Id, plan: Id, into: *mut c_void) -> c_int,
        |ended, done| moved::<false>(
            &ended,
            Call { plan, whole: true, done },
            [Part { id, kind, memory, file }].into_iter(),
        );
    fn write[H5Dwrite](id: Id, kind: Id, memory: Id, file: Id, plan: Id, from: *const c_void) -> c_int,
        |ended, done| moved::<true>(
            &ended,
            Call { plan, whole: true, done },
            [Part { id, kind, memory, file }].into_iter(),
        );
    fn read_async[H5DreadAsync](
        source: *const c_char, by: *const c_char, line: c_uint,
        id: Id, kind: Id, memory: Id, file: Id, plan: Id, into: *mut c_void, set: Id,
    ) -> c_int, |ended, done| moved::<false>(
        &ended,
        Call { plan, whole: false, done },
        [Part { id, kind, memory, file }].into_iter(),
    );
    fn write_async[H5DwriteAsync](
        source: *const c_char, by: *const c_char, line: c_uint,
        id: Id, kind: Id, memory: Id, file: Id, plan: Id, from: *const c_void, set: Id,
    ) -> c_int, |ended, done| moved::<true>(
        &ended,
        Call { plan, whole: false, done },
        [Part { id, kind, memory, file }].into_iter(),
    );
    fn read_multi[H5DreadMulti](
        count: usize, ids: *const Id, kinds: *const Id, memories: *const Id, files: *const Id,
        plan: Id, into: *mut c_void,
    ) -> c_int, |ended, done| moved::<false>(
        &ended,
        Call { plan, whole: true, done },
        Several { count, ids, kinds, memories, files }.parts(),
    );
    fn write_multi[H5DwriteMulti](
        count: usize, ids: *const Id, kinds: *const Id, memories: *const Id, files: *const Id,
        plan: Id, from: *mut c_void,
    ) -> c_int, |ended, done| moved::<true>(
        &ended,
        Call { plan, whole: true, done },
        Several { count, ids, kinds, memories, files }.parts(),
    );
    fn read_multi_async[H5DreadMultiAsync](
        source: *const c_char, by: *const c_char, line: c_uint,
        count: usize, ids: *const Id, kinds: *const Id, memories: *const Id, files: *const Id,
        plan: Id, into: *mut c_void, set: Id,
    ) -> c_int, |ended, done| moved::<false>(
        &ended,
        Call { plan, whole: false, done },
        Several { count, ids, kinds, memories, files }.parts(),
    );
    fn write_multi_async[H5DwriteMultiAsync](
        source: *const c_char, by: *const c_char, line: c_uint,
        count: usize, ids: *const Id, kinds: *const Id, memories: *const Id, files: *const Id,
        plan: Id, from: *mut c_void, set: Id,
    ) -> c_int, |ended, done| moved::<true>(
        &ended,
        Call { plan, whole: false, done },
        Several { count, ids, kinds, memories, files }.parts(),
    );
}
