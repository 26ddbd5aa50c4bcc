//! Reads the header of any log version into one shape: 64 slots, current module codes.

use super::order::{Order, until_nul};
use super::source::{Source, fill};
use crate::record::header::{
    BEHIND_AT, BEHIND_LENGTH_AT, COMPRESSION_AT, Compression, Extent, HEADS_AT, MAGIC, MAGIC_AT,
    MODULES_AT, NAMES_AT, OLD_SIZE, OLD_SLOTS, PARTIAL_AT, SEAL, SEAL_AT, SIZE, SLOTS, SUM_AT,
    VERSIONS_AT, sum,
};
use crate::{Error, Result};
use netra_event::Module;

/// The version of a log as a whole; each module has a version of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// Releases 3.0.x; names have a length instead of a NUL.
    V3_00,
    /// Releases 3.1.x.
    V3_10,
    /// Release 3.2.0, whose common access sizes are known to be wrong.
    V3_20,
    /// Releases 3.2.1 to 3.4.0.
    V3_21,
    /// Releases since 3.4.1.
    V3_41,
}

impl Version {
    const ALL: [(Version, &'static str, (u32, u32)); 5] = [
        (Version::V3_00, "3.00", (3, 0)),
        (Version::V3_10, "3.10", (3, 10)),
        (Version::V3_20, "3.20", (3, 20)),
        (Version::V3_21, "3.21", (3, 21)),
        (Version::V3_41, "3.41", (3, 41)),
    ];

    /// As it stands in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn parse(bytes: &[u8]) -> Option<Version> {
        let (major, minor) = std::str::from_utf8(until_nul(bytes)).ok()?.split_once('.')?;
        let number = (major.parse().ok()?, minor.parse().ok()?);
        Self::ALL.iter().find(|known| known.2 == number).map(|known| known.0)
    }
}

/// What a header says, in the shape of the current version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The log's version.
    pub version: Version,
    /// The log's byte order.
    pub order: Order,
    /// How regions are compressed.
    pub compression: Compression,
    /// Where the names are.
    pub names: Extent,
    /// Bytes of this header in the file.
    pub size: usize,
    /// The seal, where the log was written with one.
    pub seal: Option<Seal>,
    slots: [Slot; SLOTS],
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Slot {
    extent: Extent,
    version: u32,
    partial: bool,
}

/// What netra's logs say about themselves as a whole, where Darshan's tools do not look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The netra section, its trailer included; empty where the log was written without one.
    pub behind: Extent,
    /// The sum of the marks of its blocks.
    pub heads: u32,
    /// Whether the header is as it was written.
    pub fits: bool,
}

impl Seal {
    fn read(bytes: &[u8]) -> Option<Seal> {
        let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
        let order = Order::Little;
        (order.u64(bytes, SEAL_AT) == SEAL).then(|| Seal {
            behind: Extent {
                offset: order.u64(bytes, BEHIND_AT),
                length: order.u64(bytes, BEHIND_LENGTH_AT),
            },
            heads: order.u32(bytes, HEADS_AT),
            fits: order.u32(bytes, SUM_AT) == sum(bytes),
        })
    }
}

/// A module's place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The module's code in the current log version.
    pub code: u8,
    /// The module, where it is known.
    pub module: Option<Module>,
    /// The version of its records.
    pub version: u32,
    /// Where its records are.
    pub extent: Extent,
    /// Whether the application ran out of memory for it.
    pub partial: bool,
}

impl Header {
    pub(super) fn read(source: &dyn Source) -> Result<Header> {
        let mut bytes = [0; SIZE];
        let have = fill(source, 0, &mut bytes).map_err(|source| Error::Read { at: 0, source })?;
        let bytes = &bytes[..have];
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        let cut = |needed| Error::HeaderCut { length: have as u64, needed };
        if have < MAGIC_AT + 8 {
            return Err(cut(OLD_SIZE));
        }
        let order = [Order::Little, Order::Big]
            .into_iter()
            .find(|order| order.i64(bytes, MAGIC_AT) == MAGIC)
            .ok_or_else(|| Error::NotALog { found: Order::Little.u64(bytes, MAGIC_AT) })?;
        let version = Version::parse(&bytes[..MAGIC_AT]).ok_or_else(|| Error::LogVersion {
            found: String::from_utf8_lossy(until_nul(&bytes[..MAGIC_AT])).into_owned(),
        })?;
        let size = if version < Version::V3_41 { OLD_SIZE } else { SIZE };
        let bytes = bytes.get(..size).ok_or_else(|| cut(size))?;
        let code = bytes[COMPRESSION_AT];
        let compression = Compression::from_code(code).ok_or(Error::Compression { code })?;
        Ok(Header::decode(bytes, version, order, compression))
    }

    fn decode(bytes: &[u8], version: Version, order: Order, compression: Compression) -> Header {
        // Before 3.41 the partial bits are half as wide and stand in what is padding today.
        let (partial, names_at, modules_at, versions_at, count) = if version < Version::V3_41 {
            let partial = u64::from(order.u32(bytes, COMPRESSION_AT + 4));
            (partial, NAMES_AT - 8, MODULES_AT - 8, MODULES_AT - 8 + 16 * OLD_SLOTS, OLD_SLOTS)
        } else {
            (order.u64(bytes, PARTIAL_AT), NAMES_AT, MODULES_AT, VERSIONS_AT, SLOTS)
        };
        let extent = |at| Extent { offset: order.u64(bytes, at), length: order.u64(bytes, at + 8) };
        let mut slots = [Slot::default(); SLOTS];
        for (index, slot) in slots.iter_mut().enumerate().take(count) {
            slot.extent = extent(modules_at + 16 * index);
            slot.version = order.u32(bytes, versions_at + 4 * index);
            slot.partial = partial >> index & 1 == 1;
        }
        // Modules that came later pushed the others up: H5D with 3.20, PNETCDF_VAR with 3.41.
        if version < Version::V3_20 {
            make_room(&mut slots, Module::H5d);
        }
        if version < Version::V3_41 {
            make_room(&mut slots, Module::PnetcdfVar);
        }
        let seal = Seal::read(bytes);
        let names = extent(names_at);
        Header { version, order, compression, names, size: bytes.len(), seal, slots }
    }

    /// The region of every module that has data, or should have.
    pub fn regions(&self) -> impl Iterator<Item = Region> + '_ {
        (0..).zip(&self.slots).filter_map(|(code, slot)| {
            let there = slot.extent.length > 0 || slot.partial;
            there.then(|| Region {
                code,
                module: Module::from_code(code),
                version: slot.version,
                extent: slot.extent,
                partial: slot.partial,
            })
        })
    }

    /// The region of a module, empty if it has none.
    #[must_use]
    pub fn region(&self, module: Module) -> Region {
        let slot = self.slots[usize::from(module.code())];
        Region {
            code: module.code(),
            module: Some(module),
            version: slot.version,
            extent: slot.extent,
            partial: slot.partial,
        }
    }

    /// Where the last region ends: netra's section may follow.
    pub(crate) fn end(&self) -> u64 {
        let there = self.slots.iter().map(|slot| slot.extent).filter(|extent| extent.length > 0);
        let ends = there.chain([self.names]);
        ends.map(|extent| extent.offset.saturating_add(extent.length)).max().unwrap_or(0)
    }

    /// The job has no place in the header: it ends where the next region begins.
    pub(super) fn job(&self, file_length: u64) -> Extent {
        let offset = self.size as u64;
        let next = std::iter::once(self.names.offset)
            .chain(self.slots.iter().map(|slot| slot.extent.offset))
            .find(|&next| next != 0)
            .unwrap_or(file_length);
        Extent { offset, length: next.saturating_sub(offset) }
    }
}

fn make_room(slots: &mut [Slot; SLOTS], module: Module) {
    let tail = &mut slots[usize::from(module.code())..];
    tail.rotate_right(1);
    tail[0] = Slot::default();
}
