//! The rows of a segment's tables, and its records.

use core::mem::offset_of;

use super::View;
use crate::segment::{BINS, Region, table};

impl<'a> View<'a> {
    /// Files by index; rows that are not complete are left out.
    pub fn files(&self) -> impl Iterator<Item = File<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::File>() }>(Region::Files)
            .filter_map(move |(index, row)| view.file_row(index, &row))
    }

    /// The file with this index.
    #[must_use]
    pub fn file(&self, index: u32) -> Option<File<'a>> {
        let row = self.row::<{ size_of::<table::File>() }>(Region::Files, index)?;
        self.file_row(index, &row)
    }

    fn file_row(&self, index: u32, row: &View<'a>) -> Option<File<'a>> {
        (row.u32(offset_of!(table::File, ready)) != 0).then(|| File {
            index,
            id: row.u64(offset_of!(table::File, id)),
            name: self.text(row.u64(offset_of!(table::File, name))),
            mount: row.u32(offset_of!(table::File, mount)).checked_sub(1),
            alignment: row.u32(offset_of!(table::File, alignment)),
            parent: row.u32(offset_of!(table::File, parent)),
            kind: row.u32(offset_of!(table::File, kind)),
            seen: row.u64(offset_of!(table::File, seen)),
        })
    }

    /// Mounted file systems.
    pub fn mounts(&self) -> impl Iterator<Item = Mount<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::Mount>() }>(Region::Mounts)
            .filter(|(_, row)| row.u32(offset_of!(table::Mount, ready)) != 0)
            .map(move |(index, row)| Mount {
                index,
                point: view.text(row.u64(offset_of!(table::Mount, point))),
                kind: view.text(row.u64(offset_of!(table::Mount, kind))),
                block_bytes: row.u32(offset_of!(table::Mount, block_bytes)),
                targets: (
                    row.u32(offset_of!(table::Mount, targets)),
                    row.u32(offset_of!(table::Mount, metadata_targets)),
                ),
            })
    }

    /// The executable and the libraries.
    pub fn objects(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::Object>() }>(Region::Objects).filter_map(
            move |(index, row)| {
                let ready = row.u32(offset_of!(table::Object, ready));
                let at = offset_of!(table::Object, build_id);
                let bytes = row.u32(offset_of!(table::Object, build_id_bytes)).min(20);
                (ready != 0).then(|| Object {
                    index,
                    base: row.u64(offset_of!(table::Object, base)),
                    start: row.u64(offset_of!(table::Object, start)),
                    end: row.u64(offset_of!(table::Object, end)),
                    name: view.text(row.u64(offset_of!(table::Object, name))),
                    build_id: row.slice(at as u64, u64::from(bytes)).unwrap_or(&[]),
                    loaded: ready == 1,
                })
            },
        )
    }

    /// Modules that describe themselves.
    pub fn modules(&self) -> impl Iterator<Item = Module<'a>> + use<'a> {
        let view = *self;
        view.rows::<{ size_of::<table::Module>() }>(Region::Modules)
            .filter(|(_, row)| row.u32(offset_of!(table::Module, ready)) != 0)
            .map(move |(_, row)| Module {
                code: row.u32(offset_of!(table::Module, code)),
                name: view.text(row.u64(offset_of!(table::Module, name))),
                counters: view.text(row.u64(offset_of!(table::Module, counters))),
            })
    }

    /// The call site with this index.
    #[must_use]
    pub fn site(&self, index: u16) -> Option<Site<'a>> {
        let row = self.row::<{ size_of::<table::Site>() }>(Region::Sites, u32::from(index))?;
        if index == 0 || row.u32(offset_of!(table::Site, ready)) == 0 {
            return None;
        }
        let (stack, frames) =
            (row.u32(offset_of!(table::Site, stack)), row.u32(offset_of!(table::Site, frames)));
        let stacks = View { bytes: self.region(Region::Stacks).1 };
        Some(Site {
            address: row.u64(offset_of!(table::Site, address)),
            object: row.u32(offset_of!(table::Site, object)).checked_sub(1),
            stack: stacks.slice(u64::from(stack) * 8, u64::from(frames) * 8).unwrap_or(&[]),
        })
    }

    /// Records of all threads, files and modules, in the order they began.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records { all: View { bytes: self.region(Region::Records).1 }, at: 0 }
    }

    /// The record that lies at this byte of the records plus one, as `…_MORE` words refer to it.
    #[must_use]
    pub fn record_at(&self, reference: u64) -> Option<Record<'a>> {
        let at = usize::try_from(reference.checked_sub(1)?).ok()?;
        let mut from = Records { all: View { bytes: self.region(Region::Records).1 }, at };
        from.next().filter(|record| record.reference == reference)
    }

    /// Heatmaps of all threads and modules.
    pub fn heatmaps(&self) -> impl Iterator<Item = Heatmap<'a>> + use<'a> {
        self.rows::<{ size_of::<table::Heatmap>() }>(Region::Heatmaps)
            .filter(|(_, row)| row.u32(offset_of!(table::Heatmap, ready)) != 0)
            .map(|(_, row)| Heatmap {
                width: row.u64(offset_of!(table::Heatmap, width)),
                module: row.u32(offset_of!(table::Heatmap, module)),
                thread: row.u32(offset_of!(table::Heatmap, thread)),
                row,
            })
    }

    /// Kind and bytes of an extension, by the reference in an event.
    #[must_use]
    pub fn extension(&self, reference: u32) -> Option<(u32, &'a [u8])> {
        let all = View { bytes: self.region(Region::Extensions).1 };
        let at = u64::from(reference.checked_sub(1)?);
        let head = View { bytes: all.slice(at, 8)? };
        let bytes = u64::from(head.u32(offset_of!(table::Extension, bytes)));
        let kind = head.u32(offset_of!(table::Extension, kind));
        Some((kind, all.slice(at + 8, bytes.checked_sub(8)?)?))
    }
}

/// A file's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its index, which events and records refer to.
    pub index: u32,
    /// The record id.
    pub id: u64,
    /// The name.
    pub name: &'a [u8],
    /// Index of its mount.
    pub mount: Option<u32>,
    /// Alignment of the file system, 0 if not known.
    pub alignment: u32,
    /// Index of the file it belongs to, else 0.
    pub parent: u32,
    /// 1 a path, 2 a stream without a path, 3 the other files, 4 an object inside a file.
    pub kind: u32,
    /// Ticks when it was first seen.
    pub seen: u64,
}

/// A mounted file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount<'a> {
    /// Its index.
    pub index: u32,
    /// Where it is mounted.
    pub point: &'a [u8],
    /// Its type.
    pub kind: &'a [u8],
    /// Its block size, 0 if nobody asked.
    pub block_bytes: u32,
    /// Storage targets and metadata targets, where it is Lustre and was asked; else 0.
    pub targets: (u32, u32),
}

/// The executable or a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object<'a> {
    /// Its index.
    pub index: u32,
    /// What to subtract from an address.
    pub base: u64,
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Path.
    pub name: &'a [u8],
    /// Build id, at most 20 bytes.
    pub build_id: &'a [u8],
    /// Whether it was still loaded.
    pub loaded: bool,
}

/// A module that describes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module<'a> {
    /// Its code in records.
    pub code: u32,
    /// What people call it.
    pub name: &'a [u8],
    counters: &'a [u8],
}

impl<'a> Module<'a> {
    /// The names of a record's words, from the first on; a time in ticks begins with `F_`.
    pub fn counters(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.counters.split(|&byte| byte == b' ').filter(|name| !name.is_empty())
    }
}

/// A place that calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site<'a> {
    /// Return address.
    pub address: u64,
    /// Index of its object.
    pub object: Option<u32>,
    stack: &'a [u8],
}

impl<'a> Site<'a> {
    /// Return addresses from the call outwards, if a stack was taken.
    pub fn stack(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.stack.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

/// What one thread counted of one file for one module.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Code of the module, or [`crate::segment::shard::COMMON_VALUES`].
    pub module: u32,
    /// Number of the lane.
    pub thread: u32,
    /// Index of the file.
    pub file: u32,
    /// Where it lies: what [`View::record_at`] finds it by.
    pub reference: u64,
    words: View<'a>,
}

impl Record<'_> {
    /// A word of the record (see [`crate::segment::shard`]); 0 behind its end.
    #[must_use]
    pub fn word(&self, index: usize) -> u64 {
        index.checked_mul(8).map_or(0, |at| self.words.u64(at))
    }
}

/// The records of a segment.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    all: View<'a>,
    at: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        const HEAD: usize = size_of::<table::Record>();
        loop {
            let row = View { bytes: self.all.bytes.get(self.at..)? };
            let (at, bytes) = (self.at, row.u32(offset_of!(table::Record, bytes)) as usize);
            if bytes == 0 {
                // Taken, and then its thread did not come to write even the length: all of it is
                // zeroes, and what follows is whole.
                self.at +=
                    row.bytes.as_chunks::<8>().0.iter().position(|word| *word != [0; 8])? * 8;
                if self.at == at {
                    return None;
                }
                continue;
            }
            let words = row.bytes.get(HEAD..)?.get(..bytes.checked_sub(HEAD)?)?;
            self.at += bytes;
            let module = row.u32(offset_of!(table::Record, module));
            if module != 0 {
                return Some(Record {
                    reference: at as u64 + 1,
                    module,
                    thread: row.u32(offset_of!(table::Record, thread)),
                    file: row.u32(offset_of!(table::Record, file)),
                    words: View { bytes: words },
                });
            }
        }
    }
}

/// Bytes over time of one thread and module.
#[derive(Debug, Clone, Copy)]
pub struct Heatmap<'a> {
    /// Width of a bin in nanoseconds.
    pub width: u64,
    /// Code of the module.
    pub module: u32,
    /// Number of the lane.
    pub thread: u32,
    row: View<'a>,
}

impl Heatmap<'_> {
    /// Bytes written in a bin.
    #[must_use]
    pub fn written(&self, bin: usize) -> u64 {
        self.bin(offset_of!(table::Heatmap, written), bin)
    }

    /// Bytes read in a bin.
    #[must_use]
    pub fn read(&self, bin: usize) -> u64 {
        self.bin(offset_of!(table::Heatmap, read), bin)
    }

    fn bin(&self, at: usize, bin: usize) -> u64 {
        if bin < BINS { self.row.u64(at + bin * 8) } else { 0 }
    }
}
