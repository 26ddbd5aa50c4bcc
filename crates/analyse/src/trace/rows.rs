//! The calls of a run, however they are kept.

use std::slice::Iter;

use super::TraceRow;
use super::pack::Unpack;

/// The calls of a run, from the first on.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    kept: Kept<'a>,
    /// What places are called now.
    numbers: &'a [u32],
}

#[derive(Debug, Clone)]
pub(super) enum Kept<'a> {
    /// As they are, with their places as far as those are known.
    Plain(Iter<'a, TraceRow>, Iter<'a, Option<u32>>),
    Packed(Unpack<'a>),
}

impl Kept<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> Option<TraceRow> {
        match self {
            Kept::Plain(rows, _) => rows.next().copied(),
            Kept::Packed(unpack) => unpack.next(),
        }
    }

    /// The place of the call that was given last; to be asked for each.
    pub(super) fn place(&mut self) -> Option<u32> {
        match self {
            Kept::Plain(_, places) => places.next().copied().flatten(),
            Kept::Packed(unpack) => unpack.place(),
        }
    }

    fn left(&self) -> usize {
        match self {
            Kept::Plain(rows, _) => rows.len(),
            Kept::Packed(unpack) => unpack.left(),
        }
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(kept: Kept<'a>, numbers: &'a [u32]) -> Rows<'a> {
        Rows { kept, numbers }
    }

    /// Each call with the place in the program that made it.
    pub fn placed(self) -> impl Iterator<Item = (TraceRow, Option<u32>)> + 'a {
        let Rows { mut kept, numbers } = self;
        let known = move |place: u32| match numbers {
            [] => Some(place),
            numbers => numbers.get(place as usize).copied(),
        };
        std::iter::from_fn(move || Some((kept.next()?, kept.place().and_then(known))))
    }
}

impl Iterator for Rows<'_> {
    type Item = TraceRow;

    #[inline]
    fn next(&mut self) -> Option<TraceRow> {
        self.kept.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.kept.left(), Some(self.kept.left()))
    }
}
