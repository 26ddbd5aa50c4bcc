//! Byte layouts of a log: the header, the job and the records of each module, as offsets and as
//! encoders that need no memory of their own.
//!
//! Everything is written little-endian: the readers find out by the magic number.

use netra_event::{Module, Rank, RecordId};

pub mod apmpi;
pub mod apxc;
pub mod dxt;
pub mod header;
pub mod heatmap;
pub mod job;
pub mod lustre;

/// Bytes of what every record begins with: its id and its rank.
pub const BASE: usize = 16;

/// Encodes what every record begins with.
#[must_use]
pub fn base(id: RecordId, rank: Rank) -> [u8; BASE] {
    let mut bytes = [0; BASE];
    put(&mut bytes, 0, id.0);
    put(&mut bytes, 8, rank.0.cast_unsigned());
    bytes
}

/// How a record of counters is laid out: base, head, whole numbers, floats, tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bytes between the base and the counters.
    pub head: usize,
    /// Whole numbers, eight bytes each.
    pub ints: usize,
    /// Floats, eight bytes each.
    pub floats: usize,
    /// Bytes behind the counters.
    pub tail: usize,
}

impl Layout {
    /// Bytes of a record.
    #[must_use]
    pub const fn size(&self) -> usize {
        BASE + self.head + 8 * self.ints + 8 * self.floats + self.tail
    }
}

/// The layout of a module whose records are counters and nothing else of variable length.
#[must_use]
pub const fn layout(module: Module, version: u32) -> Option<Layout> {
    let (head, tail) = match (module, version) {
        // The record id of the file that a data set or variable belongs to.
        (Module::H5d, 2) | (Module::PnetcdfVar, 1) => (8, 0),
        // Padding that version 2 got rid of.
        (Module::Bgq, 1) => (8, 0),
        // The ids of pool and container, and of the object.
        (Module::Dfs, _) => (0, 32),
        (Module::Daos, _) => (0, 48),
        (
            Module::Null
            | Module::Posix
            | Module::Mpiio
            | Module::H5f
            | Module::H5d
            | Module::PnetcdfFile
            | Module::Bgq
            | Module::Stdio,
            _,
        ) => (0, 0),
        _ => return None,
    };
    match crate::counter::counts(module, version) {
        Some((ints, floats)) => Some(Layout { head, ints, floats, tail }),
        None => None,
    }
}

/// Writes a little-endian word into a record that is being made. What would lie outside is left
/// out: inside an application nothing may panic.
pub fn put(bytes: &mut [u8], at: usize, value: u64) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = value.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::layout;
    use netra_event::Module;

    #[test]
    fn records_have_the_sizes_that_darshan_gives_them() {
        let sizes: [(Module, &[usize]); 11] = [
            (Module::Null, &[48]),
            (Module::Posix, &[680, 648, 664, 704]),
            (Module::Mpiio, &[544, 544, 560]),
            (Module::Stdio, &[240, 248]),
            (Module::H5f, &[40, 56, 80]),
            (Module::H5d, &[904, 912]),
            (Module::PnetcdfFile, &[48, 64, 152]),
            (Module::PnetcdfVar, &[1120]),
            (Module::Bgq, &[120, 112]),
            (Module::Dfs, &[584]),
            (Module::Daos, &[696]),
        ];
        for (module, sizes) in sizes {
            for (version, &size) in (1..).zip(sizes) {
                let layout = layout(module, version).expect("a known version");
                assert_eq!(layout.size(), size, "{module} {version}");
            }
            let beyond = u32::try_from(sizes.len()).expect("few versions") + 1;
            assert_eq!(layout(module, beyond), None, "{module}");
        }
        assert_eq!(layout(Module::Posix, 0), None);
        assert_eq!(layout(Module::DxtPosix, 2), None);
    }
}
