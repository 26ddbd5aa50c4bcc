//! A trace: a row a segment.

use netra_darshan::read::{Direction, Record};
use netra_event::Module;

use super::{Page, REST, Scan, Source, place_heads};
use crate::sheet::{Head, Kind};

const HOST: usize = REST;
const OPERATION: usize = REST + 1;
const SEGMENT: usize = REST + 2;
const OFFSET: usize = REST + 3;
const LENGTH: usize = REST + 4;
const START: usize = REST + 5;
const END: usize = REST + 6;
const THREAD: usize = REST + 7;

pub(super) fn heads(heads: &mut Vec<Head>) {
    place_heads(heads);
    heads.push(Head::new("host", Kind::Label));
    heads.push(Head::new("operation", Kind::Label));
    heads.push(Head::new("segment", Kind::Int));
    heads.push(Head::new("offset", Kind::Int));
    heads.push(Head::new("length", Kind::Int));
    heads.push(Head::new("start", Kind::Float));
    heads.push(Head::new("end", Kind::Float));
    heads.push(Head::new("thread", Kind::Unsigned));
}

pub(super) fn scan(scan: &Scan, source: &Source, module: Module, page: &mut Page<'_>) -> bool {
    let first = page.first;
    let mut records = source.log.records(module);
    while let Some(record) = records.next_record() {
        let Record::Dxt(mut trace) = record else { continue };
        let head = trace.head;
        if !scan.wants(head.rank) {
            continue;
        }
        let mut number = 0;
        let mut last = Direction::Write;
        while let Some((direction, piece)) = trace.segments.next_piece() {
            // Segments are numbered from 0 in either direction, as the text lines do.
            if direction != last {
                (last, number) = (direction, 0);
            }
            let count = piece.len();
            page.place(&source.log, head.id, head.rank, count);
            let sheet = &mut page.sheet;
            sheet.label(first + HOST, Some(&head.host), count);
            let word: &[u8] = if direction == Direction::Write { b"write" } else { b"read" };
            sheet.label(first + OPERATION, Some(word), count);
            let next = number + count as i64;
            sheet.ints(first + SEGMENT, number..next);
            number = next;
            sheet.ints(first + OFFSET, piece.iter().map(|segment| segment.offset));
            sheet.ints(first + LENGTH, piece.iter().map(|segment| segment.length));
            sheet.floats(first + START, piece.iter().map(|segment| segment.start));
            sheet.floats(first + END, piece.iter().map(|segment| segment.end));
            if piece.first().is_some_and(|segment| segment.thread.is_some()) {
                sheet.some_unsigned(first + THREAD, piece.iter().map(|segment| segment.thread));
            }
            if !page.end(count) {
                return false;
            }
            page.reach(trace.segments.place());
        }
    }
    true
}
