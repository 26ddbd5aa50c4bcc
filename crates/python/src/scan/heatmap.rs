//! Bytes over time: a row for each layer, process and bin.

use netra_darshan::read::Record;
use netra_event::Module;

use super::{Page, Scan, Source};
use crate::sheet::{Head, Kind};

pub(super) fn heads(heads: &mut Vec<Head>) {
    heads.push(Head::new("layer", Kind::Label));
    heads.push(Head::new("rank", Kind::Int));
    heads.push(Head::new("bin", Kind::Int));
    heads.push(Head::new("start", Kind::Float));
    heads.push(Head::new("end", Kind::Float));
    heads.push(Head::new("read", Kind::Int));
    heads.push(Head::new("written", Kind::Int));
}

pub(super) fn scan(scan: &Scan, source: &Source, page: &mut Page<'_>) -> bool {
    let first = page.first;
    let mut records = source.log.records(Module::Heatmap);
    while let Some(record) = records.next_record() {
        let Record::Heatmap(record) = record else { continue };
        if !scan.wants(record.rank) {
            continue;
        }
        let name = source.log.names().place(record.id).name.unwrap_or_default();
        // The record is called `heatmap:POSIX`.
        let layer = name.strip_prefix(b"heatmap:").unwrap_or(name);
        let count = record.reads.len().min(record.writes.len());
        let sheet = &mut page.sheet;
        sheet.label(first, Some(layer), count);
        sheet.ints(first + 1, std::iter::repeat_n(record.rank.0, count));
        sheet.ints(first + 2, 0..count as i64);
        let width = record.width.0;
        sheet.floats(first + 3, (0..count).map(|bin| bin as f64 * width));
        sheet.floats(first + 4, (0..count).map(|bin| (bin + 1) as f64 * width));
        sheet.ints(first + 5, record.reads.iter().copied().take(count));
        sheet.ints(first + 6, record.writes.iter().copied().take(count));
        if !page.end(count) {
            return false;
        }
    }
    true
}
