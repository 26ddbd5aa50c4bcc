//! Records become columns. One file per table; what is not wanted is not decoded.

mod counters;
mod heatmap;
mod names;
mod segments;
mod trace;

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use netra_darshan::read::Log;
use netra_event::{Module, Rank, RecordId};

use crate::feed::Outlet;
use crate::progress::{Progress, size};
use crate::sheet::{Head, Kind, Shape, Sheet};

/// Rows of a batch, about: enough to make the work for each negligible, and to fit into a cache.
pub(crate) const ROWS: usize = 1 << 16;

/// How a table is cut into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Into batches of about [`ROWS`] rows, for who takes them one by one.
    Often,
    /// Not at all: one batch, for who wants to have it whole.
    Never,
    /// The same with labels as short as they can be.
    Narrow,
}

/// A log and what it is called.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) log: Log,
}

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The counters of a module: a row a record.
    Counters(Module),
    /// The trace of a module: a row a segment.
    Segments(Module),
    /// netra's own trace: a row a call.
    Calls,
    /// Bytes over time: a row a process, layer and bin.
    Heatmap,
    /// Names of records, with their file systems.
    Names,
}

/// Everything that a scan needs to know.
#[derive(Clone)]
pub(crate) struct Scan {
    pub(crate) sources: Arc<[Arc<Source>]>,
    pub(crate) subject: Subject,
    pub(crate) shape: Shape,
    /// Ranks that are wanted; all without it.
    pub(crate) ranks: Option<Arc<HashSet<i64>>>,
}

impl Subject {
    /// All columns of the table. The first says which log, where there are several.
    pub(crate) fn heads(self, sources: &[Arc<Source>]) -> Vec<Head> {
        let mut heads = Vec::new();
        if sources.len() > 1 {
            heads.push(Head::new("log", Kind::Label));
        }
        match self {
            Subject::Counters(module) => counters::heads(module, sources, &mut heads),
            Subject::Segments(_) => segments::heads(&mut heads),
            Subject::Calls => trace::heads(&mut heads),
            Subject::Heatmap => heatmap::heads(&mut heads),
            Subject::Names => names::heads(&mut heads),
        }
        heads
    }

    /// The module that is read, where it is one.
    fn module(self) -> Option<Module> {
        match self {
            Subject::Counters(module) | Subject::Segments(module) => Some(module),
            Subject::Heatmap => Some(Module::Heatmap),
            Subject::Calls | Subject::Names => None,
        }
    }
}

impl Scan {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.shape.schema.clone()
    }

    /// Goes through the logs. Ends early when nobody listens.
    pub(crate) fn run(&self, outlet: &Outlet, cut: Cut, progress: &Progress) {
        let module = self.subject.module();
        let sizes: Vec<u64> = self.sources.iter().map(|one| size(&one.log, module)).collect();
        progress.expect(sizes.iter().sum());
        let mut page = Page {
            sheet: Sheet::new(&self.shape),
            outlet,
            cut,
            first: usize::from(self.sources.len() > 1),
            path: String::new(),
            progress,
            begin: 0,
        };
        for (source, size) in self.sources.iter().zip(sizes) {
            page.path.clone_from(&source.path);
            page.begin = module.map_or(0, |one| source.log.header().region(one).extent.offset);
            let goes_on = match self.subject {
                Subject::Counters(module) => counters::scan(self, source, module, &mut page),
                Subject::Segments(module) => segments::scan(self, source, module, &mut page),
                Subject::Calls => trace::scan(self, source, &mut page),
                Subject::Heatmap => heatmap::scan(self, source, &mut page),
                Subject::Names => names::scan(source, &mut page),
            };
            if !goes_on {
                return;
            }
            progress.pass(size);
        }
        // A whole table has one batch, though it may have no row.
        if page.sheet.rows() > 0 || cut != Cut::Often {
            page.turn();
        }
    }

    fn wants(&self, rank: Rank) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.contains(&rank.0))
    }
}

/// The sheet that is being filled, and where it goes.
struct Page<'a> {
    sheet: Sheet,
    outlet: &'a Outlet,
    cut: Cut,
    /// The number of the table's first column behind that of the log.
    first: usize,
    path: String,
    progress: &'a Progress,
    /// Where in the file it begins what is read.
    begin: u64,
}

/// Columns that most tables begin with.
const RANK: usize = 0;
const ID: usize = 1;
const FILE: usize = 2;
const MOUNT: usize = 3;
const KIND: usize = 4;
/// The first column behind them.
const REST: usize = 5;

fn place_heads(heads: &mut Vec<Head>) {
    heads.push(Head::new("rank", Kind::Int));
    heads.push(Head::new("id", Kind::Unsigned));
    heads.push(Head::new("file", Kind::Label));
    heads.push(Head::new("mount", Kind::Label));
    heads.push(Head::new("fs", Kind::Label));
}

impl Page<'_> {
    /// Whose the next `count` rows are.
    fn place(&mut self, log: &Log, id: RecordId, rank: Rank, count: usize) {
        let first = self.first;
        let place = log.names().place(id);
        self.sheet.ints(first + RANK, std::iter::repeat_n(rank.0, count));
        self.sheet.unsigned(first + ID, std::iter::repeat_n(id.0, count));
        self.sheet.label(first + FILE, place.name, count);
        self.sheet.label(first + MOUNT, Some(place.mount), count);
        self.sheet.label(first + KIND, Some(place.kind), count);
    }

    /// Reading has come to this place in the file.
    fn reach(&self, place: u64) {
        self.progress.reach(place.saturating_sub(self.begin));
    }

    /// Ends rows that were filled in; false when nobody listens any more.
    fn end(&mut self, count: usize) -> bool {
        if self.first > 0 {
            self.sheet.label(0, Some(self.path.as_bytes()), count);
        }
        self.sheet.end_rows(count);
        let full = self.cut == Cut::Often && self.sheet.rows() >= ROWS;
        if full { self.turn() } else { self.outlet.is_wanted() }
    }

    fn turn(&mut self) -> bool {
        let batch = self.sheet.take(self.cut == Cut::Narrow);
        self.outlet.give(batch)
    }
}
