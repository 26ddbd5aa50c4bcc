//! Reading and writing stored chunks as they are, past filters and types. Bytes are those of the chunk as
//! it is stored.

use core::ffi::{c_int, c_void};

use netra_event::Loss;
use netra_event::segment::extension::{SELECTIONS, Writer};

use super::super::library::Id;
use super::super::space::{Extent, Selection};
use super::super::{Recorded, hooks};
use super::known;
use super::transfer::{count, is_collective, say};
use crate::extension;
use crate::module::H5D;
use crate::settings::SETTINGS;

/// A chunk that was moved.
struct Chunk {
    id: Id,
    plan: Id,
    /// Its first coordinate, one number a dimension.
    first: *const u64,
    /// Its stored bytes, where the call says them.
    bytes: Option<u64>,
}

/// Ends a call on a chunk.
///
/// # Safety
/// The chunk is as the real function took it; `done` is what it returned.
unsafe fn moved<const WRITE: bool>(recorded: &Recorded, done: c_int, chunk: &Chunk) {
    // SAFETY: the caller vouches; a failed call is asked nothing about.
    let set = unsafe { known(recorded, chunk.id, done >= 0) }.filter(|_| SETTINGS.records(&H5D));
    let Some(set) = set else { return recorded.skip(Loss::Excluded) };
    if done < 0 {
        return recorded.say_failed(set.file, chunk.bytes.unwrap_or(0));
    }
    // SAFETY: the real call took the data set, and read so many coordinates.
    let (points, first) = unsafe {
        let extent = Extent::opened(recorded.library, recorded.library.id(chunk.id));
        let sizes = extent.unwrap_or_default().chunk;
        let points = sizes.iter().filter(|&&size| size != 0).product::<u64>();
        (points, core::slice::from_raw_parts(chunk.first, usize::from(set.dimensions)))
    };
    let stored = chunk.bytes.or_else(|| stored(recorded, chunk));
    let bytes = stored.unwrap_or(points.wrapping_mul(u64::from(set.element_bytes)));
    let selection = Selection::chunk(&set, points, first);
    let collective = is_collective(recorded, chunk.plan);
    count::<WRITE>(recorded, &set, &selection, (bytes, recorded.took(), collective));
    let mut writer = Writer::default();
    let head = selection.head(set.file, set.element_bytes, collective);
    writer.selection(&head, |dimension, which| selection.number(dimension, which));
    let said = say(set.file, bytes, extension::put(recorded.thread, SELECTIONS, &writer));
    recorded.within.say(&said);
}

/// The stored bytes of a chunk, by the data set's index: asked of serial copies only, since the index of
/// a parallel file may want all ranks.
fn stored(recorded: &Recorded, chunk: &Chunk) -> Option<u64> {
    let library = recorded.library;
    if library.access_mpio().is_some() {
        return None;
    }
    let mut bytes = 0;
    // SAFETY: the real call took the data set and the coordinates; a number of ours.
    let done = unsafe { library.chunk_bytes()?(library.id(chunk.id), chunk.first, &raw mut bytes) };
    (done >= 0).then_some(bytes)
}

hooks! {
    fn read[H5DreadChunk](
        id: Id, plan: Id, first: *const u64, filters: *mut u32, into: *mut c_void,
    ) -> c_int, |ended, done| moved::<false>(&ended, done, &Chunk { id, plan, first, bytes: None });
    fn read2[H5DreadChunk](
        id: Id, plan: Id, first: *const u64, filters: *mut u32, into: *mut c_void, bytes: *mut usize,
    ) -> c_int, |ended, done| moved::<false>(&ended, done, &Chunk { id, plan, first, bytes: None });
    fn write[H5DwriteChunk](
        id: Id, plan: Id, filters: u32, first: *const u64, bytes: usize, from: *const c_void,
    ) -> c_int, |ended, done| {
        moved::<true>(&ended, done, &Chunk { id, plan, first, bytes: Some(bytes as u64) })
    };
}
