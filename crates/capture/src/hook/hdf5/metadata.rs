//! What HDF5 programs do to attributes and groups, counted by file. Darshan has no module for it, so this is
//! one of our own: its row names its words, and the segment carries the names along.

use netra_event::segment::shard::OWN_MODULES;

use super::Recorded;
use crate::module::Module;

/// The module.
pub static H5META: Module = Module {
    name: "H5META",
    code: OWN_MODULES + 1,
    index: 9,
    words: 14,
    counters: "ATTRIBUTE_CREATES ATTRIBUTE_OPENS ATTRIBUTE_READS ATTRIBUTE_WRITES ATTRIBUTE_CLOSES \
        ATTRIBUTE_DELETES ATTRIBUTE_BYTES_READ ATTRIBUTE_BYTES_WRITTEN F_ATTRIBUTE_TIME \
        GROUP_CREATES GROUP_OPENS GROUP_CLOSES F_GROUP_TIME",
};

/// Attributes created.
pub(super) const ATTRIBUTE_CREATES: usize = 0;
/// Attributes opened.
pub(super) const ATTRIBUTE_OPENS: usize = 1;
/// Attributes read.
pub(super) const ATTRIBUTE_READS: usize = 2;
/// Attributes written.
pub(super) const ATTRIBUTE_WRITES: usize = 3;
/// Attributes closed.
pub(super) const ATTRIBUTE_CLOSES: usize = 4;
/// Attributes deleted.
pub(super) const ATTRIBUTE_DELETES: usize = 5;
/// Bytes of attributes read.
pub(super) const ATTRIBUTE_BYTES_READ: usize = 6;
/// Bytes of attributes written.
pub(super) const ATTRIBUTE_BYTES_WRITTEN: usize = 7;
/// Time in calls on attributes.
pub(super) const ATTRIBUTE_TIME: usize = 8;
/// Groups created.
pub(super) const GROUP_CREATES: usize = 9;
/// Groups opened.
pub(super) const GROUP_OPENS: usize = 10;
/// Groups closed.
pub(super) const GROUP_CLOSES: usize = 11;
/// Time in calls on groups.
pub(super) const GROUP_TIME: usize = 12;

/// Counts a call in the record of its file: `COUNT` is the word that counts it, `TIME` that of its time.
pub(super) fn count<const COUNT: usize, const TIME: usize>(recorded: &Recorded, file: u32) {
    recorded.with(&H5META, file, |shard, ended| {
        shard.add::<COUNT>(1);
        shard.add::<TIME>(ended.took());
    });
}
