//! A trace: a row a segment.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use netra_darshan::read::{Direction, Record};
use netra_darshan::record::dxt::Segment;
use netra_event::{Module, Rank, RecordId};

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

/// Compressed bytes from which decoding gets a thread of its own.
const LARGE: u64 = 128 << 10;
/// Pieces that go to the other thread at a time: to wake it up costs as much as to fill in one.
const TOGETHER: usize = 8;
/// Such lots that may wait: neither side waits for the other's hiccups, and they fit into a cache.
const AHEAD: usize = 2;

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

/// Segments in a row of one record and one direction.
struct Piece {
    id: RecordId,
    rank: Rank,
    host: Vec<u8>,
    is_write: bool,
    /// The number of the first one: from 0 in either direction, as the text lines do.
    number: i64,
    segments: Vec<Segment>,
    /// How far in the file they are.
    place: u64,
}

impl Piece {
    fn empty() -> Piece {
        Piece {
            id: RecordId(0),
            rank: Rank(0),
            host: Vec::new(),
            is_write: true,
            number: 0,
            segments: Vec::new(),
            place: 0,
        }
    }
}

pub(super) fn scan(scan: &Scan, source: &Source, module: Module, page: &mut Page<'_>) -> bool {
    if source.log.header().region(module).extent.length < LARGE {
        return read(scan, source, module, &mut |piece| fill(page, source, piece));
    }
    // One thread decompresses while this one makes columns. Pieces go back to be filled again: memory
    // that is new each time costs more than what is in it.
    thread::scope(|scope| {
        let (give, take) = sync_channel(AHEAD);
        let (give_back, again) = channel();
        let mut lots = Lots { full: Vec::new(), empty: Vec::new(), give, again };
        scope
            .spawn(move || read(scan, source, module, &mut |piece| lots.add(piece)) && lots.pass());
        drain(&take, &give_back, |piece| fill(page, source, piece))
    })
}

/// Pieces on their way to the other thread.
struct Lots {
    full: Vec<Piece>,
    empty: Vec<Piece>,
    give: SyncSender<Vec<Piece>>,
    again: Receiver<Vec<Piece>>,
}

impl Lots {
    /// Takes a piece, and gives an empty one for it; false when nobody wants more.
    fn add(&mut self, piece: &mut Piece) -> bool {
        if self.empty.is_empty() {
            self.empty.extend(self.again.try_recv().into_iter().flatten());
        }
        let full = std::mem::replace(piece, self.empty.pop().unwrap_or_else(Piece::empty));
        piece.host.clone_from(&full.host);
        (piece.id, piece.rank) = (full.id, full.rank);
        self.full.push(full);
        self.full.len() < TOGETHER || self.pass()
    }

    fn pass(&mut self) -> bool {
        self.give.send(std::mem::take(&mut self.full)).is_ok()
    }
}

/// Fills in all that come; false when nobody listens any more.
fn drain(
    take: &Receiver<Vec<Piece>>,
    give_back: &Sender<Vec<Piece>>,
    mut fill: impl FnMut(&mut Piece) -> bool,
) -> bool {
    for mut lot in take {
        if !lot.iter_mut().all(&mut fill) {
            return false;
        }
        // Whoever reads may have come to the end.
        give_back.send(lot).ok();
    }
    true
}

/// Reads the segments that are wanted, piece by piece, until `each` says that it is enough.
fn read(
    scan: &Scan,
    source: &Source,
    module: Module,
    each: &mut dyn FnMut(&mut Piece) -> bool,
) -> bool {
    let mut records = source.log.records(module);
    let mut piece = Piece::empty();
    while let Some(record) = records.next_record() {
        let Record::Dxt(mut trace) = record else { continue };
        if !scan.wants(trace.head.rank) {
            continue;
        }
        (piece.id, piece.rank) = (trace.head.id, trace.head.rank);
        piece.host.clone_from(&trace.head.host);
        let mut number = 0;
        let mut last = Direction::Write;
        while let Some(direction) = trace.segments.next_into(&mut piece.segments) {
            if direction != last {
                (last, number) = (direction, 0);
            }
            (piece.is_write, piece.number) = (direction == Direction::Write, number);
            number += piece.segments.len() as i64;
            piece.place = trace.segments.place();
            if !each(&mut piece) {
                return false;
            }
        }
    }
    true
}

/// Rows for a piece; false when nobody listens any more.
fn fill(page: &mut Page<'_>, source: &Source, piece: &mut Piece) -> bool {
    let (first, segments) = (page.first, &piece.segments);
    let count = segments.len();
    page.place(&source.log, piece.id, piece.rank, count);
    let sheet = &mut page.sheet;
    sheet.label(first + HOST, Some(&piece.host), count);
    let word: &[u8] = if piece.is_write { b"write" } else { b"read" };
    sheet.label(first + OPERATION, Some(word), count);
    sheet.ints(first + SEGMENT, piece.number..piece.number + count as i64);
    sheet.ints(first + OFFSET, segments.iter().map(|segment| segment.offset));
    sheet.ints(first + LENGTH, segments.iter().map(|segment| segment.length));
    sheet.floats(first + START, segments.iter().map(|segment| segment.start));
    sheet.floats(first + END, segments.iter().map(|segment| segment.end));
    if segments.first().is_some_and(|segment| segment.thread.is_some()) {
        sheet.some_unsigned(first + THREAD, segments.iter().map(|segment| segment.thread));
    }
    if !page.end(count) {
        return false;
    }
    page.reach(piece.place);
    true
}
