//! The records of one module by file: lists through the scratch memory, since the records of a
//! file's threads lie wherever they began.

use super::Step;
use super::scratch::{self, Table};
use netra_event::segment::{Record, Region, View, table};

/// The lists.
pub(super) struct Groups<'v, 's> {
    view: View<'v>,
    /// For each file the number of its newest record plus one.
    first: &'s [u64],
    /// For each record where it lies, and the number plus one of the one before.
    links: &'s [[u64; 2]],
}

impl<'v, 's> Groups<'v, 's> {
    /// Groups the records of a module.
    pub(super) fn new(view: View<'v>, module: u32, table: &mut Table<'s>) -> Step<Groups<'v, 's>> {
        let first = table.take(scratch::rows::<table::File>(&view, Region::Files))?;
        let mine = || view.records().filter(move |record| record.module == module);
        let links = table.take(mine().count().saturating_mul(2))?.as_chunks_mut::<2>().0;
        for ((record, link), number) in mine().zip(links.iter_mut()).zip(1_u64..) {
            let file = usize::try_from(record.file).unwrap_or(usize::MAX);
            // A record of a file that is not there is damage, and is left out.
            if let Some(newest) = first.get_mut(file) {
                *link = [record.reference, *newest];
                *newest = number;
            }
        }
        Ok(Groups { view, first, links })
    }

    /// Whether the module has no records.
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The records of a file, the newest first.
    pub(super) fn of(&self, file: u32) -> Shards<'_, 'v> {
        let at = usize::try_from(file).unwrap_or(usize::MAX);
        Shards {
            view: self.view,
            links: self.links,
            next: self.first.get(at).copied().unwrap_or(0),
        }
    }
}

/// The records that threads made of one file.
#[derive(Clone)]
pub(super) struct Shards<'s, 'v> {
    pub(super) view: View<'v>,
    links: &'s [[u64; 2]],
    next: u64,
}

impl<'v> Iterator for Shards<'_, 'v> {
    type Item = Record<'v>;

    fn next(&mut self) -> Option<Record<'v>> {
        let at = usize::try_from(self.next.checked_sub(1)?).ok()?;
        // A link only leads to an earlier one, so this ends.
        let &[reference, next] = self.links.get(at)?;
        self.next = next;
        self.view.record_at(reference)
    }
}
