//! The names of a log's records.

use super::{Page, Source};
use crate::sheet::{Head, Kind};

pub(super) fn heads(heads: &mut Vec<Head>) {
    heads.push(Head::new("id", Kind::Unsigned));
    heads.push(Head::new("file", Kind::Label));
    heads.push(Head::new("mount", Kind::Label));
    heads.push(Head::new("fs", Kind::Label));
}

pub(super) fn scan(source: &Source, page: &mut Page<'_>) -> bool {
    let first = page.first;
    let names = source.log.names();
    for (id, name) in names.iter() {
        let place = names.place(id);
        page.sheet.unsigned(first, std::iter::once(id.0));
        page.sheet.label(first + 1, Some(name), 1);
        page.sheet.label(first + 2, Some(place.mount), 1);
        page.sheet.label(first + 3, Some(place.kind), 1);
        if !page.end(1) {
            return false;
        }
    }
    true
}
