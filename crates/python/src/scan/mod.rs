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
use crate::sheet::{Head, Kind, Shape, Sheet};

/// Rows of a batch, about: enough to make the work for each negligible, and to fit into a cache.
pub(crate) const ROWS: usize = 1 << 16;

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
}

impl Scan {
    pub(crate) fn schema(&self) -> SchemaRef {
        self.shape.schema.clone()
    }

    /// Goes through the logs, in batches of about so many rows. Ends early when nobody listens.
    pub(crate) fn run(&self, outlet: &Outlet, rows: usize) {
        let mut page = Page {
            sheet: Sheet::new(&self.shape),
            outlet,
            rows,
            first: usize::from(self.sources.len() > 1),
            path: String::new(),
        };
        for source in &*self.sources {
            page.path.clone_from(&source.path);
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
        }
        if page.sheet.rows() > 0 {
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
    /// Rows of a batch.
    rows: usize,
    /// The number of the table's first column behind that of the log.
    first: usize,
    path: String,
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

    /// Ends rows that were filled in; false when nobody listens any more.
    fn end(&mut self, count: usize) -> bool {
        if self.first > 0 {
            self.sheet.label(0, Some(self.path.as_bytes()), count);
        }
        self.sheet.end_rows(count);
        if self.sheet.rows() < self.rows { self.outlet.is_wanted() } else { self.turn() }
    }

    fn turn(&mut self) -> bool {
        let batch = self.sheet.take();
        self.outlet.give(batch)
    }
}
