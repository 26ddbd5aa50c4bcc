//! What few events need beside their two slots: the selections of a call on data sets, and hints.
//! `docs/format/extension.md` is the page of grammar.
//!
//! An extension is a head ([`super::table::Extension`]) and bytes whose meaning its kind gives. They
//! are written once and never changed, and several events may refer to one. [`Writer`] puts the bytes
//! together without an allocator, [`Extension::read`] takes them apart and trusts none of them.

/// Bytes that an extension has at most; what does not fit is left out, and said so.
pub const LONGEST: usize = 2048;
/// Dimensions that a selection can have: HDF5's limit.
pub const DIMENSIONS: usize = 32;

/// The kind of [`Selection`]s, one behind the other.
pub const SELECTIONS: u32 = 1;
/// The kind of [`Hint`]s, one behind the other.
pub const HINTS: u32 = 2;

/// Bytes of a selection before its numbers.
const SELECTION_HEAD: usize = 24;
/// Bytes of a hint before its texts.
const HINT_HEAD: usize = 4;
const COLLECTIVE: u8 = 1;
const CUT: u8 = 2;

/// What kind of elements a selection takes from a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Shape {
    /// Nothing.
    None = 0,
    /// Everything.
    All = 1,
    /// Single elements; the numbers are the lowest and the highest coordinate of each dimension.
    Points = 2,
    /// A regular hyperslab; the numbers are start, stride, count and block of each dimension.
    Regular = 3,
    /// Any other hyperslab, or several requests; numbers as for points.
    Irregular = 4,
    /// A stored chunk as it is; the numbers are the first coordinate of each dimension.
    Chunk = 5,
}

impl Shape {
    /// The one with this code, if it is known.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Shape> {
        Some(match code {
            0 => Shape::None,
            1 => Shape::All,
            2 => Shape::Points,
            3 => Shape::Regular,
            4 => Shape::Irregular,
            5 => Shape::Chunk,
            _ => return None,
        })
    }

    /// Numbers kept for each dimension.
    #[must_use]
    pub const fn numbers(self) -> usize {
        match self {
            Shape::None | Shape::All => 0,
            Shape::Chunk => 1,
            Shape::Points | Shape::Irregular => 2,
            Shape::Regular => 4,
        }
    }

    /// A stable word for JSON and columns.
    #[must_use]
    pub const fn slug(self) -> &'static str {
        match self {
            Shape::None => "none",
            Shape::All => "all",
            Shape::Points => "points",
            Shape::Regular => "regular",
            Shape::Irregular => "irregular",
            Shape::Chunk => "chunk",
        }
    }
}

/// What a call asked of one data set or variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection<'a> {
    /// The data set: index into the segment's files; its row leads to the file it lies in.
    pub data_set: u32,
    /// What is selected.
    pub shape: Shape,
    /// Whether collective transfer was asked for.
    pub collective: bool,
    /// Dimensions of the data set.
    pub dimensions: u8,
    /// Elements selected.
    pub points: u64,
    /// Bytes of an element in the file.
    pub element_bytes: u32,
    numbers: &'a [[u8; 8]],
}

impl Selection<'_> {
    /// A number of a dimension: `which` counts as [`Shape`] lists them; none where there is no such.
    #[must_use]
    pub fn number(&self, dimension: usize, which: usize) -> Option<u64> {
        let each = self.shape.numbers();
        if which >= each {
            return None;
        }
        let at = dimension.checked_mul(each)?.checked_add(which)?;
        self.numbers.get(at).map(|bytes| u64::from_le_bytes(*bytes))
    }
}

/// Who says that a hint has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Origin {
    /// The application gave it.
    Given = 1,
    /// The library uses it.
    Used = 2,
}

/// A key and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint<'a> {
    /// Who says so.
    pub origin: Origin,
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// What an extension holds.
#[derive(Debug, Clone)]
pub enum Extension<'a> {
    /// What was asked of data sets.
    Selections(Selections<'a>),
    /// Keys and values.
    Hints(Hints<'a>),
}

impl<'a> Extension<'a> {
    /// Takes an extension apart; none for a kind this build does not know.
    #[must_use]
    pub const fn read(kind: u32, bytes: &'a [u8]) -> Option<Extension<'a>> {
        match kind {
            SELECTIONS => Some(Extension::Selections(Selections { rest: bytes, cut: false })),
            HINTS => Some(Extension::Hints(Hints { rest: bytes })),
            _ => None,
        }
    }
}

/// The selections of an extension. It ends where bytes are not one.
#[derive(Debug, Clone)]
pub struct Selections<'a> {
    rest: &'a [u8],
    cut: bool,
}

impl Selections<'_> {
    /// Whether there were more data sets than had room; known once the last was read.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.cut
    }
}

impl<'a> Iterator for Selections<'a> {
    type Item = Selection<'a>;

    fn next(&mut self) -> Option<Selection<'a>> {
        let head = self.rest.first_chunk::<SELECTION_HEAD>()?;
        let [shape, dimensions, flags] = [head[4], head[5], head[6]];
        let shape = Shape::from_code(shape)?;
        let count = usize::from(dimensions) * shape.numbers();
        let (numbers, rest) = self.rest.get(SELECTION_HEAD..)?.split_at_checked(count * 8)?;
        self.rest = rest;
        self.cut |= flags & CUT != 0;
        Some(Selection {
            data_set: u32::from_le_bytes([head[0], head[1], head[2], head[3]]),
            shape,
            collective: flags & COLLECTIVE != 0,
            dimensions,
            points: u64::from_le_bytes(*head[8..].first_chunk()?),
            element_bytes: u32::from_le_bytes([head[16], head[17], head[18], head[19]]),
            numbers: numbers.as_chunks().0,
        })
    }
}

/// The hints of an extension. It ends where bytes are none.
#[derive(Debug, Clone)]
pub struct Hints<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Hints<'a> {
    type Item = Hint<'a>;

    fn next(&mut self) -> Option<Hint<'a>> {
        let &[origin, key, low, high] = self.rest.first_chunk::<HINT_HEAD>()?;
        let origin = match origin {
            1 => Origin::Given,
            2 => Origin::Used,
            // Padding, or damage.
            _ => return None,
        };
        let (key, rest) = self.rest.get(HINT_HEAD..)?.split_at_checked(usize::from(key))?;
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))?;
        self.rest = rest;
        Some(Hint { origin, key, value })
    }
}

/// Puts the bytes of an extension together.
#[derive(Debug)]
pub struct Writer {
    bytes: [u8; LONGEST],
    used: usize,
    last: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Writer { bytes: [0; LONGEST], used: 0, last: 0 }
    }
}

impl Writer {
    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }

    /// Whether there is nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Adds a selection, whose numbers come dimension by dimension; those that are missing are 0.
    /// Without room for it the one before says that something is missing.
    pub fn selection(&mut self, selection: &Head, mut numbers: impl FnMut(usize, usize) -> u64) {
        let Head { data_set, shape, collective, dimensions, points, element_bytes } = *selection;
        let each = shape.numbers();
        let dimensions = dimensions.min(DIMENSIONS);
        let bytes =
            SELECTION_HEAD.saturating_add(dimensions.saturating_mul(each).saturating_mul(8));
        if self.used.saturating_add(bytes) > LONGEST {
            if let Some(flags) = self.bytes.get_mut(self.last.saturating_add(6))
                && self.used != 0
            {
                *flags |= CUT;
            }
            return;
        }
        self.last = self.used;
        // At most 32 dimensions.
        let small = [shape as u8, dimensions as u8, if collective { COLLECTIVE } else { 0 }, 0];
        self.push(&data_set.to_le_bytes());
        self.push(&small);
        self.push(&points.to_le_bytes());
        self.push(&element_bytes.to_le_bytes());
        self.push(&[0; 4]);
        for dimension in 0..dimensions {
            for which in 0..each {
                self.push(&numbers(dimension, which).to_le_bytes());
            }
        }
    }

    /// Adds a hint, its value cut to what a hint may have; false without room for it.
    pub fn hint(&mut self, hint: &Hint<'_>) -> bool {
        let key = hint.key.get(..hint.key.len().min(255)).unwrap_or_default();
        let value = hint.value.get(..hint.value.len().min(1024)).unwrap_or_default();
        let bytes = HINT_HEAD.saturating_add(key.len()).saturating_add(value.len());
        if self.used.saturating_add(bytes) > LONGEST {
            return false;
        }
        // Both lengths were just cut to fit.
        let [low, high] = (value.len() as u16).to_le_bytes();
        self.push(&[hint.origin as u8, key.len() as u8, low, high]);
        self.push(key);
        self.push(value);
        true
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.used..).unwrap_or_default();
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.used = self.used.saturating_add(bytes.len()).min(LONGEST);
    }
}

/// A selection to be written, without its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// See [`Selection::data_set`].
    pub data_set: u32,
    /// See [`Selection::shape`].
    pub shape: Shape,
    /// See [`Selection::collective`].
    pub collective: bool,
    /// See [`Selection::dimensions`].
    pub dimensions: usize,
    /// See [`Selection::points`].
    pub points: u64,
    /// See [`Selection::element_bytes`].
    pub element_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGULAR: Head = Head {
        data_set: 7,
        shape: Shape::Regular,
        collective: true,
        dimensions: 2,
        points: 12,
        element_bytes: 8,
    };

    fn selections(writer: &Writer) -> Selections<'_> {
        match Extension::read(SELECTIONS, writer.bytes()) {
            Some(Extension::Selections(selections)) => selections,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn selections_come_back_as_they_went() {
        let mut writer = Writer::default();
        writer.selection(&REGULAR, |dimension, which| (dimension * 10 + which) as u64);
        let all = Head { data_set: 9, shape: Shape::All, collective: false, points: 5, ..REGULAR };
        writer.selection(&all, |_, _| 1);
        // The layout, byte by byte: a change is a new kind.
        assert_eq!(&writer.bytes()[..8], [7, 0, 0, 0, 3, 2, 1, 0]);
        assert_eq!(writer.bytes().len(), 24 + 64 + 24);
        let mut read = selections(&writer);
        let first = read.next().unwrap();
        assert_eq!((first.data_set, first.shape, first.collective), (7, Shape::Regular, true));
        assert_eq!((first.dimensions, first.points, first.element_bytes), (2, 12, 8));
        assert_eq!([0, 1, 2, 3].map(|which| first.number(1, which)), [10, 11, 12, 13].map(Some));
        assert_eq!((first.number(1, 4), first.number(2, 0)), (None, None));
        let second = read.next().unwrap();
        assert_eq!((second.data_set, second.shape, second.points), (9, Shape::All, 5));
        assert_eq!((second.dimensions, second.number(0, 0)), (2, None));
        assert_eq!(read.next(), None);
        assert!(!read.is_cut());
    }

    #[test]
    fn what_has_no_room_is_said_to_be_missing() {
        let mut writer = Writer::default();
        let wide = Head { dimensions: 40, ..REGULAR };
        for _ in 0..3 {
            writer.selection(&wide, |_, _| 1);
        }
        let mut read = selections(&writer);
        // 32 dimensions of four numbers take 1,048 bytes: one fits.
        assert_eq!(read.by_ref().map(|found| found.dimensions).sum::<u8>(), 32);
        assert!(read.is_cut());
    }

    #[test]
    fn hints_come_back_as_they_went() {
        let mut writer = Writer::default();
        let given = Hint { origin: Origin::Given, key: b"cb_nodes", value: b"4" };
        let used = Hint { origin: Origin::Used, key: b"romio_cb_write", value: b"enable" };
        assert!(writer.hint(&given) && writer.hint(&used));
        let Some(Extension::Hints(mut hints)) = Extension::read(HINTS, writer.bytes()) else {
            panic!("no hints");
        };
        assert_eq!((hints.next(), hints.next(), hints.next()), (Some(given), Some(used), None));
        let long = Hint { origin: Origin::Given, key: b"k", value: &[b'v'; 1024] };
        assert!(writer.hint(&long) && !writer.hint(&long));
    }

    #[test]
    fn any_bytes_end_somewhere() {
        let mut bytes = [0_u8; 64];
        for seed in 0..=255_u8 {
            for (at, byte) in (0_u8..).zip(&mut bytes) {
                *byte = seed.wrapping_mul(at).wrapping_add(seed ^ at) % 7;
            }
            for length in 0..bytes.len() {
                if let Some(Extension::Selections(read)) = Extension::read(1, &bytes[..length]) {
                    assert!(read.count() <= 2);
                }
                if let Some(Extension::Hints(read)) = Extension::read(2, &bytes[..length]) {
                    assert!(read.count() <= 16);
                }
            }
        }
        assert!(Extension::read(3, &bytes).is_none());
    }
}
