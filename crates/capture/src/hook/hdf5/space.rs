//! What a call on a data set selects, and how large a data set is.

use netra_event::segment::extension::{DIMENSIONS, Head, Shape};
use netra_event::segment::shard::accesses::NUMBERS;

use super::library::{Id, Library};
use crate::handle::Described;

/// Ids of no object: everything.
const ALL: Id = 0;
/// `H5S_sel_type`.
const NOTHING: i32 = 0;
const POINTS: i32 = 1;
const HYPERSLABS: i32 = 2;
/// `H5D_CHUNKED`.
const CHUNKED: i32 = 2;

/// A selection of a data set's elements.
pub(super) struct Selection {
    pub(super) shape: Shape,
    pub(super) points: u64,
    pub(super) dimensions: usize,
    /// For each dimension: start, stride, count, block; or the lowest and the highest coordinate.
    numbers: [[u64; DIMENSIONS]; 4],
}

/// The size of a data set.
#[derive(Default)]
pub(super) struct Extent {
    pub(super) dimensions: u8,
    pub(super) points: u64,
    pub(super) element_bytes: u32,
    /// Sizes of a chunk, the fastest dimension first; 0 where it is not chunked.
    pub(super) chunk: [u64; 5],
    pub(super) is_chunked: bool,
}

impl Selection {
    fn new(shape: Shape, points: u64, dimensions: u8) -> Selection {
        let dimensions = usize::from(dimensions).min(DIMENSIONS);
        Selection { shape, points, dimensions, numbers: [[0; DIMENSIONS]; 4] }
    }

    /// A stored chunk that begins at a coordinate.
    pub(super) fn chunk(set: &Described, points: u64, first: &[u64]) -> Selection {
        let mut chunk = Selection::new(Shape::Chunk, points, set.dimensions);
        let [starts, ..] = &mut chunk.numbers;
        for (to, from) in starts.iter_mut().zip(first).take(chunk.dimensions) {
            *to = *from;
        }
        chunk
    }

    /// What a call takes of a data set: the selection in the file, or everything. Where the file's is
    /// kept in a transfer plan, that of the memory tells at least how much.
    pub(super) fn of(library: &Library, set: &Described, memory: Id, file: Id) -> Selection {
        let file = library.id(file);
        if file == ALL {
            return Selection::new(Shape::All, set.points, set.dimensions);
        }
        // SAFETY: the call that was given this space succeeded.
        unsafe { Selection::ask(library, set, file) }
            // SAFETY: as above.
            .or_else(|| unsafe { Selection::ask(library, set, library.id(memory)) })
            .unwrap_or_else(|| Selection::new(Shape::None, 0, set.dimensions))
    }

    /// Asks a space; none if it is no space.
    ///
    /// # Safety
    /// The id is one of the copy's, of whatever kind.
    unsafe fn ask(library: &Library, set: &Described, space: Id) -> Option<Selection> {
        /// Ids below this are special values: `H5S_BLOCK`, `H5S_PLIST`.
        const SPECIAL: Id = 16;
        if space < SPECIAL {
            return None;
        }
        // SAFETY: the caller vouches.
        let points = unsafe { library.selected_points()?(space) };
        // SAFETY: the caller vouches.
        let kind = unsafe { library.selected_kind()?(space) };
        let points = u64::try_from(points).ok()?;
        // A space has the dimensions of its data set; rows have room for as many as HDF5 allows.
        let rank = match set.dimensions {
            // SAFETY: the caller vouches.
            0 => u8::try_from(unsafe { library.extent_dimensions()?(space) }).ok()?,
            known => known,
        };
        let shape = match kind {
            NOTHING => Shape::None,
            POINTS => Shape::Points,
            HYPERSLABS => Shape::Irregular,
            _ => Shape::All,
        };
        let mut selection = Selection::new(shape, points, rank);
        if usize::from(rank) > DIMENSIONS || points == 0 {
            return Some(selection);
        }
        let [start, stride, count, block] = &mut selection.numbers;
        let [start, stride, count, block] =
            [start, stride, count, block].map(|row| row.as_mut_ptr());
        if shape == Shape::Irregular
            && let (Some(is), Some(ask)) = (library.is_regular(), library.regular())
        {
            // SAFETY: the space has at most as many dimensions as the rows have room for.
            if unsafe { is(space) > 0 && ask(space, start, stride, count, block) >= 0 } {
                selection.shape = Shape::Regular;
                return Some(selection);
            }
        }
        if shape != Shape::All
            && let Some(bounds) = library.selected_bounds()
        {
            // SAFETY: as above.
            unsafe { bounds(space, start, stride) };
        }
        Some(selection)
    }

    /// What an extension says of it.
    pub(super) fn head(&self, data_set: u32, element_bytes: u32, collective: bool) -> Head {
        let (shape, dimensions, points) = (self.shape, self.dimensions, self.points);
        Head { data_set, shape, collective, dimensions, points, element_bytes }
    }

    /// A number of a dimension, as extensions count them.
    pub(super) fn number(&self, dimension: usize, which: usize) -> u64 {
        self.numbers.get(which).and_then(|row| row.get(dimension)).copied().unwrap_or(0)
    }

    /// What Darshan tells accesses apart by: bytes, then lengths and strides of the last five dimensions
    /// in a place of five, the fastest first; only regular hyperslabs have them.
    pub(super) fn access(&self, bytes: u64) -> [u64; NUMBERS] {
        let mut access = [0; NUMBERS];
        access[0] = bytes;
        if self.shape != Shape::Regular {
            return access;
        }
        // A data set of fewer than five dimensions has zeroes in front: its first stands in the last place.
        let dimensions = self.dimensions.max(5);
        for place in 0..5_usize {
            let dimension = dimensions.wrapping_sub(place).wrapping_sub(1);
            let length = self.number(dimension, 2).wrapping_mul(self.number(dimension, 3));
            if let Some(to) = access.get_mut(place.wrapping_add(1)) {
                *to = length;
            }
            if let Some(to) = access.get_mut(place.wrapping_add(6)) {
                *to = self.number(dimension, 1);
            }
        }
        access
    }
}

impl Extent {
    /// Of a data set that is being made of a type, a space and a plan.
    ///
    /// # Safety
    /// The ids are of the copy, and the call that was given them succeeded.
    pub(super) unsafe fn of(library: &Library, kind: Id, space: Id, plan: Id) -> Extent {
        let mut extent = Extent::default();
        if let Some(ask) = library.type_bytes() {
            // SAFETY: the caller vouches.
            extent.element_bytes = u32::try_from(unsafe { ask(kind) }).unwrap_or(u32::MAX);
        }
        if let (Some(dimensions), Some(points)) =
            (library.extent_dimensions(), library.extent_points())
        {
            // SAFETY: the caller vouches.
            extent.dimensions = u8::try_from(unsafe { dimensions(space) }).unwrap_or(0);
            // SAFETY: the caller vouches.
            extent.points = u64::try_from(unsafe { points(space) }).unwrap_or(0);
        }
        if library.id(plan) != 0
            && let (Some(layout), Some(chunk)) = (library.layout(), library.chunk())
        {
            let mut sizes = [0_u64; DIMENSIONS];
            // SAFETY: the caller vouches; there is room for so many sizes.
            let rank = unsafe {
                if layout(plan) == CHUNKED {
                    chunk(plan, DIMENSIONS as i32, sizes.as_mut_ptr())
                } else {
                    0
                }
            };
            let rank = usize::try_from(rank).unwrap_or(0);
            extent.is_chunked = rank != 0;
            let sizes = sizes.get(..rank.min(DIMENSIONS)).unwrap_or_default();
            for (to, from) in extent.chunk.iter_mut().zip(sizes.iter().rev()) {
                *to = *from;
            }
        }
        extent
    }

    /// Of a data set that was opened.
    ///
    /// # Safety
    /// The id is a data set of the copy.
    pub(super) unsafe fn opened(library: &Library, set: Id) -> Option<Extent> {
        let (kind, space, plan) =
            (library.data_set_type()?, library.data_set_space()?, library.data_set_plan()?);
        let closers = (library.close_type()?, library.close_space()?, library.close_plan()?);
        // SAFETY: the caller vouches; what is opened here is closed here.
        unsafe {
            let (kind, space, plan) =
                (library.id(kind(set)), library.id(space(set)), library.id(plan(set)));
            let extent = Extent::of(library, kind, space, plan);
            if kind >= 0 {
                closers.0(kind);
            }
            if space >= 0 {
                closers.1(space);
            }
            if plan >= 0 {
                closers.2(plan);
            }
            Some(extent)
        }
    }
}

/// The number of elements that a data set or an attribute has now.
///
/// # Safety
/// The id is a data set, or an attribute, of the copy; `space` gives its space.
pub(super) unsafe fn points(
    library: &Library,
    object: Id,
    space: Option<unsafe extern "C" fn(Id) -> Id>,
) -> Option<u64> {
    let (close, points) = (library.close_space()?, library.extent_points()?);
    // SAFETY: the caller vouches; what is opened here is closed here.
    unsafe {
        let space = library.id(space?(object));
        if space < 0 {
            return None;
        }
        let found = points(space);
        close(space);
        u64::try_from(found).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::Kind;

    fn regular(rows: &[[u64; 4]]) -> Selection {
        let mut selection = Selection::new(Shape::Regular, 0, rows.len() as u8);
        for (dimension, row) in rows.iter().enumerate() {
            for (which, value) in row.iter().enumerate() {
                selection.numbers[which][dimension] = *value;
            }
        }
        selection
    }

    #[test]
    fn accesses_stand_as_darshan_has_them() {
        // Start, stride, count, block of a 2 × 3 selection.
        let two = regular(&[[0, 1, 2, 1], [4, 5, 3, 1]]);
        assert_eq!(two.access(48), [48, 0, 0, 0, 3, 2, 0, 0, 0, 5, 1]);
        let six: Vec<[u64; 4]> = (1..=6).map(|size| [0, size * 10, size, 2]).collect();
        assert_eq!(regular(&six).access(1), [1, 12, 10, 8, 6, 4, 60, 50, 40, 30, 20]);
        let all = Selection::new(Shape::All, 9, 2);
        assert_eq!(all.access(72), [72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_chunk_is_where_it_begins() {
        let set = Described { dimensions: 2, ..Described::plain(Kind::DataSet, 3) };
        let chunk = Selection::chunk(&set, 100, &[10, 20]);
        assert_eq!([0, 1, 2].map(|dimension| chunk.number(dimension, 0)), [10, 20, 0]);
        let head = chunk.head(3, 8, true);
        assert_eq!((head.shape, head.points, head.collective), (Shape::Chunk, 100, true));
    }
}
