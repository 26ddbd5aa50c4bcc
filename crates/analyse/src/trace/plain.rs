//! Calls as they are. To pack them and to unpack them again for everyone who looks takes longer than to look.

use std::ops::Range;

use super::TraceRow;
use super::rows::Kept;

/// Calls one behind another, those of a run together.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    rows: Vec<TraceRow>,
    /// Where each was made, up to the last of which that is known.
    places: Vec<Option<u32>>,
}

impl Plain {
    pub(super) fn push(&mut self, row: TraceRow, place: Option<u32>) {
        if place.is_some() {
            self.places.resize(self.rows.len(), None);
            self.places.push(place);
        }
        self.rows.push(row);
    }

    pub(super) fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    pub(super) fn kept(&self, range: Range<usize>) -> Kept<'_> {
        let places = self.places.get(range.start..).unwrap_or(&[]);
        Kept::Plain(self.rows.get(range).unwrap_or(&[]).iter(), places.iter())
    }

    /// Some calls with the places that made them.
    pub(super) fn calls(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (TraceRow, Option<u32>)> + '_ {
        let mut kept = self.kept(range);
        std::iter::from_fn(move || Some((kept.next()?, kept.place())))
    }
}
