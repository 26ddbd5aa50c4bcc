//! What the application's handles stand for: HDF5 ids and PnetCDF variables. A table without a lock: a
//! handle lies near the place that its hash gives, or is not known.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::memory;

/// Handles that can be open at a time.
pub const HANDLES: usize = 1 << 16;
/// Places that a handle may lie at.
const NEAR: usize = 16;
/// Nobody's, and being written.
const FREE: u64 = 0;
const WRITING: u64 = u64::MAX;

/// What a handle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File = 1,
    /// A data set of HDF5.
    DataSet = 2,
    /// A group of HDF5.
    Group = 3,
    /// An attribute of HDF5.
    Attribute = 4,
    /// A variable of PnetCDF.
    Variable = 5,
}

/// A handle's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// What it is.
    pub kind: Kind,
    /// Its row among the files; that of its file, for an attribute.
    pub file: u32,
    /// Bytes of an element, 0 if not known.
    pub element_bytes: u32,
    /// Elements, of one record for a variable that has records.
    pub points: u64,
    /// Dimensions.
    pub dimensions: u8,
    /// Whether the number of elements may change.
    pub grows: bool,
}

/// A place of the table. All zeroes is a free one.
#[derive(Default)]
pub struct Place {
    key: AtomicU64,
    file_and_element: AtomicU64,
    points: AtomicU64,
    rest: AtomicU64,
}

impl Described {
    /// Something of which no more is known than where it lies.
    #[must_use]
    pub const fn plain(kind: Kind, file: u32) -> Described {
        Described { kind, file, element_bytes: 0, points: 0, dimensions: 0, grows: false }
    }

    fn write(&self, place: &Place) {
        let file = u64::from(self.file) | u64::from(self.element_bytes) << 32;
        place.file_and_element.store(file, Ordering::Relaxed);
        place.points.store(self.points, Ordering::Relaxed);
        let rest = self.kind as u64 | u64::from(self.dimensions) << 8;
        place.rest.store(rest | u64::from(self.grows) << 16, Ordering::Relaxed);
    }

    fn read(place: &Place) -> Option<Described> {
        let file = place.file_and_element.load(Ordering::Relaxed);
        let rest = place.rest.load(Ordering::Relaxed);
        // The fields, as `write` packs them.
        Some(Described {
            kind: match rest as u8 {
                1 => Kind::File,
                2 => Kind::DataSet,
                3 => Kind::Group,
                4 => Kind::Attribute,
                5 => Kind::Variable,
                _ => return None,
            },
            file: file as u32,
            element_bytes: (file >> 32) as u32,
            points: place.points.load(Ordering::Relaxed),
            dimensions: (rest >> 8) as u8,
            grows: rest >> 16 & 1 == 1,
        })
    }
}

fn near(key: u64) -> impl Iterator<Item = &'static Place> {
    let hash = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    let places = memory::handles();
    (0..NEAR).filter_map(move |step| {
        places.get(hash.wrapping_add(step).checked_rem(places.len()).unwrap_or(0))
    })
}

fn place(key: u64) -> Option<&'static Place> {
    near(key).find(|place| place.key.load(Ordering::Acquire) == key)
}

/// Notes what a handle stands for. Without room it stays unknown.
pub fn insert(key: u64, described: &Described) {
    let claim = |place: &&Place| {
        let free = place.key.compare_exchange(FREE, WRITING, Ordering::Acquire, Ordering::Relaxed);
        free.is_ok()
    };
    // A handle that comes again without having been closed: its number was used anew.
    if let Some(place) = place(key).or_else(|| near(key).find(claim)) {
        described.write(place);
        place.key.store(key, Ordering::Release);
    }
}

/// What a handle stands for.
#[must_use]
pub fn find(key: u64) -> Option<Described> {
    place(key).and_then(Described::read)
}

/// Forgets a handle; what it stood for.
pub fn remove(key: u64) -> Option<Described> {
    let place = place(key)?;
    let described = Described::read(place);
    place.key.store(FREE, Ordering::Release);
    described
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_until_they_are_closed() {
        memory::map().unwrap();
        let set = |file| Described {
            kind: Kind::DataSet,
            file,
            element_bytes: 8,
            points: 1 << 40,
            dimensions: 3,
            grows: true,
        };
        for key in 1..2000_u64 {
            insert(key << 20 | 5, &set(key as u32));
        }
        for key in 1..2000_u64 {
            assert_eq!(find(key << 20 | 5), Some(set(key as u32)));
        }
        assert_eq!(find(7), None);
        let group = Described::plain(Kind::Group, 9);
        insert(1 << 20 | 5, &group);
        assert_eq!((remove(1 << 20 | 5), find(1 << 20 | 5)), (Some(group), None));
        assert_eq!(remove(1 << 20 | 5), None);
        insert(7, &set(1));
        assert_eq!(find(7), Some(set(1)));
    }
}
