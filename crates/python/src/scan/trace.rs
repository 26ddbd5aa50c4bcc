//! netra's own trace: a row a call, of every function of every layer, those that failed included. Of a log that
//! Darshan wrote, its extended trace stands in for it.

use std::io::{self, Write};
use std::iter::once;
use std::path::Path;

use netra_darshan::Missing;
use netra_event::{Kind as Act, NO_OFFSET, Rank};
use netra_stream::job::Job;
use netra_stream::render::{self, Call, Render};
use netra_stream::source::Piece;

use super::{Page, Scan, Source};
use crate::sheet::{Head, Kind};

/// The columns, in their order.
const HEADS: [(&str, Kind); 23] = [
    ("rank", Kind::Int),
    ("host", Kind::Label),
    ("pid", Kind::Int),
    ("thread", Kind::Int),
    ("lane", Kind::Int),
    ("index", Kind::Int),
    ("layer", Kind::Label),
    ("function", Kind::Label),
    ("kind", Kind::Label),
    ("file", Kind::Label),
    ("id", Kind::Unsigned),
    ("within", Kind::Label),
    ("start", Kind::Float),
    ("end", Kind::Float),
    ("start_ns", Kind::Int),
    ("took_ns", Kind::Int),
    ("offset", Kind::Int),
    ("length", Kind::Int),
    ("moved", Kind::Int),
    ("errno", Kind::Int),
    ("number", Kind::Int),
    ("parent", Kind::Int),
    ("site", Kind::Label),
];

pub(super) fn heads(heads: &mut Vec<Head>) {
    heads.extend(HEADS.iter().map(|(name, kind)| Head::new(name, *kind)));
}

pub(super) fn scan(scan: &Scan, source: &Source, page: &mut Page<'_>) -> bool {
    let start = render::start(&source.log);
    let mut rows = Rows { page, scan, start };
    let done = match Piece::of_log(Path::new(&source.path)) {
        Ok(pieces) if !pieces.is_empty() => processes(pieces, &mut rows),
        // What can not be read of a log is in its list of what is missing.
        _ => render::traced(&source.log, &mut Missing::of(&source.log), &mut rows, &mut io::sink())
            .map(drop),
    };
    done.is_ok()
}

/// What processes recorded; those of ranks that nobody wants are not even unpacked.
fn processes(pieces: Vec<Piece>, rows: &mut Rows<'_, '_>) -> io::Result<()> {
    for (piece, rank) in Job::new(pieces).numbered() {
        if !rows.scan.wants(rank.unwrap_or(Rank(-1))) {
            continue;
        }
        if let Ok(segment) = piece.load() {
            render::segment(segment.view(), rank, rows, &mut io::sink())?;
        }
    }
    Ok(())
}

/// Calls on their way into columns.
struct Rows<'a, 'p> {
    page: &'a mut Page<'p>,
    scan: &'a Scan,
    /// When the job began: nanoseconds since 1970.
    start: u64,
}

impl Render for Rows<'_, '_> {
    fn call(&mut self, _: &mut dyn Write, call: &Call<'_>) -> io::Result<bool> {
        let rank = call.about.rank.unwrap_or(Rank(-1));
        if !self.scan.wants(rank) {
            return Ok(false);
        }
        self.who(call, rank);
        self.what(call);
        self.when(call);
        self.how(call);
        // Nobody listens any more: the only way to end a rendering early.
        if self.page.end(1) { Ok(true) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}

impl Rows<'_, '_> {
    fn who(&mut self, call: &Call<'_>, rank: Rank) {
        let (first, sheet) = (self.page.first, &mut self.page.sheet);
        sheet.ints(first, once(rank.0));
        sheet.label(first + 1, Some(call.about.host.as_bytes()), 1);
        sheet.ints(first + 2, once(i64::from(call.about.pid)));
        sheet.ints(first + 3, once(i64::from(call.thread)));
        sheet.ints(first + 4, once(i64::from(call.lane)));
        sheet.ints(first + 5, once(call.index.cast_signed()));
    }

    fn what(&mut self, call: &Call<'_>) {
        let (first, sheet) = (self.page.first, &mut self.page.sheet);
        if let Some(function) = call.function() {
            sheet.label(first + 6, Some(function.layer().name().as_bytes()), 1);
            sheet.label(first + 7, Some(function.name().as_bytes()), 1);
            sheet.label(first + 8, Some(function.kind().name().as_bytes()), 1);
        }
        if let Some(file) = call.file {
            sheet.label(first + 9, Some(file.name), 1);
            sheet.unsigned(first + 10, once(file.id));
            sheet.label(first + 11, file.within.map(|(_, name)| name), 1);
        }
    }

    fn when(&mut self, call: &Call<'_>) {
        let since = |time: u64| {
            let nanos = time.cast_signed().saturating_sub(self.start.cast_signed());
            nanos as f64 / 1e9
        };
        let (begin, end) = (since(call.start.0), since(call.end().0));
        let (first, sheet) = (self.page.first, &mut self.page.sheet);
        sheet.floats(first + 12, once(begin));
        sheet.floats(first + 13, once(end));
        sheet.ints(first + 14, once(call.start.0.cast_signed()));
        sheet.ints(first + 15, once(call.duration.0.cast_signed()));
    }

    fn how(&mut self, call: &Call<'_>) {
        let event = &call.event;
        let moves = call.function().is_some_and(|one| matches!(one.kind(), Act::Read | Act::Write));
        let some = |is: bool, value: i64| is.then_some(value);
        let (first, sheet) = (self.page.first, &mut self.page.sheet);
        sheet.some_ints(first + 16, once(some(event.offset != NO_OFFSET, event.offset)));
        sheet.ints(first + 17, once(i64::try_from(event.length).unwrap_or(i64::MAX)));
        let moved = i64::try_from(call.moved()).unwrap_or(i64::MAX);
        sheet.some_ints(first + 18, once(some(moves && !event.failed, moved)));
        sheet.some_ints(first + 19, once(some(event.failed, event.result.saturating_neg())));
        sheet.some_ints(first + 20, once(some(event.number != 0, i64::from(event.number))));
        sheet.some_ints(first + 21, once(some(event.parent != 0, i64::from(event.parent))));
        sheet.label(first + 22, call.site.map(str::as_bytes), 1);
    }
}
