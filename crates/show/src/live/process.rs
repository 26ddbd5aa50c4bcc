//! A process of a job, as it is seen from the events and accounts that came of it.

use std::cell::OnceCell;
use std::sync::Arc;

use netra_event::Function;
use netra_event::Module;
use netra_event::segment::shard::{direction, posix, stdio};
use netra_event::segment::{Record, View};
use netra_stream::batch::{Account, Image, Phase, Process as About};
use netra_stream::source::is_launcher;

use super::file::Files;
use super::latency::Latency;
use super::series::Series;
use super::step::{Cell, Cells, Step, Way, is_lowest, layer_number};

/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Seconds over which one call is spread at most; a longer one stands where it ended.
const LONGEST: u64 = 3600;

/// A process.
#[derive(Debug, Clone)]
pub struct Process {
    /// Who it is.
    pub about: About,
    /// By layer and way, from events.
    pub cells: Cells,
    /// Nanoseconds of its longest call.
    pub longest: u64,
    /// Events that came.
    pub events: u64,
    /// Its newest account.
    pub account: Option<Account>,
    /// When its newest event ended.
    pub newest: u64,
    /// What its events refer to.
    pub image: Option<Arc<Image>>,
    /// Whether it only starts others.
    pub is_launcher: bool,
    /// What its counters say, once somebody has asked.
    counted: OnceCell<[Cell; 2]>,
    /// The row of each of its files, by index; nothing where it was not used yet.
    rows: Vec<Option<Place>>,
}

/// Where calls on a file count.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the job's row of this number.
    Row(u32),
    /// Nowhere: MPI made it for itself, and no report counts it either.
    Aside,
}

/// Where the calls of a batch are added up.
pub struct Sums<'a> {
    /// The job's steps.
    pub series: &'a mut Series<Step>,
    /// The job's files.
    pub files: &'a mut Files,
    /// By layer, of reads and writes.
    pub latency: &'a mut [[Latency; 2]; 5],
    /// Which version this is.
    pub version: u64,
}

impl Process {
    /// A process that was told of.
    #[must_use]
    pub fn new(about: About) -> Process {
        Process {
            about,
            cells: Cells::default(),
            longest: 0,
            events: 0,
            account: None,
            newest: 0,
            image: None,
            is_launcher: false,
            counted: OnceCell::new(),
            rows: Vec::new(),
        }
    }

    /// Whether nothing more comes of it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.about.phase.is_over() || self.is_final()
    }

    /// Whether it has ended and everything of it was sent.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.is_final)
    }

    /// Newer words about it.
    pub fn learn(&mut self, image: &Arc<Image>) {
        if let Some(view) = image.view() {
            let (phase, end) = (self.about.phase, self.about.end);
            self.about = About { end: view.end().or(end), ..About::of(&view, phase) };
            // Each time: the first image may be older than the words in it.
            self.is_launcher = is_launcher(view.command(), view.rank_is_from_mpi());
        }
        self.image = Some(Arc::clone(image));
        self.counted.take();
    }

    /// It ended.
    pub fn told(&mut self, about: About) {
        let rank = about.rank.or(self.about.rank);
        let over = about.phase.is_over() || self.about.phase == Phase::Began;
        let phase = if over { about.phase } else { self.about.phase };
        self.about = About { rank, phase, ..about };
    }

    /// Adds the calls of a batch up. A call counts where it ended; its time is spread over the
    /// seconds that it took. `made` is when the batch was: nothing in it can be later.
    pub fn events<'e>(
        &mut self,
        view: &View<'_>,
        events: impl Iterator<Item = (u64, netra_event::Event)> + 'e,
        made: u64,
        sums: &mut Sums<'_>,
    ) {
        let (first, begun, tick) = (view.start().0, view.start().1, view.tick());
        for (_, event) in events {
            self.events += 1;
            let Some(function) = event.function() else { continue };
            let (Some(way), Some(layer)) =
                (Way::of(function.kind()), layer_number(function.layer()))
            else {
                continue;
            };
            let Some(row) = self.row(view, event.file, sums.files) else { continue };
            let since = event.start.wrapping_sub(first).cast_signed() as f64 * tick;
            let start = begun.saturating_add_signed(since as i64).clamp(begun, made.max(begun));
            let nanos = (event.duration as f64 * tick) as u64;
            let end = start.saturating_add(nanos).min(made.max(start));
            let moved = !event.failed && matches!(way, Way::Read | Way::Write);
            let bytes = if moved { u64::try_from(event.result).unwrap_or(0) } else { 0 };
            let call = Cell { calls: 1, bytes, nanos };
            self.cells.0[layer][way as usize].fold(&call);
            self.newest = self.newest.max(end);
            if function != Function::Close {
                self.longest = self.longest.max(nanos);
            }
            let lowest = is_lowest(layer);
            if lowest {
                sums.files.call(row, way, call);
            }
            let step = sums.series.at(end / SECOND, sums.version);
            step.cells.0[layer][way as usize].fold(&Cell { nanos: 0, ..call });
            if matches!(way, Way::Read | Way::Write) {
                sums.latency[layer][way as usize].add(nanos);
                if lowest {
                    step.latency[way as usize].add(nanos);
                }
            }
            spread(sums, layer, way, start, end);
        }
    }

    /// The job's row of one of the process's files; nothing for what is no file, or none of the job's.
    fn row(&mut self, view: &View<'_>, index: u32, files: &mut Files) -> Option<u32> {
        let at = index as usize;
        match self.rows.get(at) {
            Some(Some(Place::Row(row))) => return Some(*row),
            Some(Some(Place::Aside)) => return None,
            _ => {}
        }
        let mut file = view.file(index)?;
        // An object inside a file is the file's.
        if file.kind == 4
            && let Some(within) = view.file(file.parent)
        {
            file = within;
        }
        if self.rows.len() <= at {
            // Indices come from the segment, which has no more files than it has bytes.
            self.rows.resize(at + 1, None);
        }
        if is_aside(file.name) {
            self.rows[at] = Some(Place::Aside);
            return None;
        }
        let row = files.enter(file.id, file.name, || mount(view, file.mount));
        self.rows[at] = Some(Place::Row(row));
        Some(row)
    }

    /// Reads and writes of the lowest layers as its counters say, which miss nothing; empty before
    /// they came.
    #[must_use]
    pub fn counted(&self) -> [Cell; 2] {
        *self.counted.get_or_init(|| self.count())
    }

    fn count(&self) -> [Cell; 2] {
        let mut sums = [Cell::default(); 2];
        if let Some(view) = self.image.as_deref().and_then(Image::view) {
            let is_own = |index: u32| view.file(index).is_none_or(|file| !is_aside(file.name));
            for record in view.records().filter(|record| is_own(record.file)) {
                let way = counts(&record);
                sums.iter_mut().zip(way).for_each(|(sum, more)| sum.fold(&more));
            }
        }
        sums
    }
}

/// Whether a file is one that MPI makes for itself.
fn is_aside(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(netra_analyse::is_of_mpi)
}

/// A mounted file system in words.
fn mount(view: &View<'_>, index: Option<u32>) -> String {
    let found = index.and_then(|index| view.mounts().find(|mount| mount.index == index));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    found.map_or_else(String::new, |found| format!("{} ({})", text(found.point), text(found.kind)))
}

/// Spreads the time of a call over the seconds that it took.
fn spread(sums: &mut Sums<'_>, layer: usize, way: Way, start: u64, end: u64) {
    let last = end / SECOND;
    let first = (start / SECOND).max(last.saturating_sub(LONGEST));
    for second in first..=last {
        let from = start.max(second * SECOND);
        let until = end.min((second + 1) * SECOND);
        let part = until.saturating_sub(from);
        if part > 0 {
            sums.series.at(second, sums.version).cells.0[layer][way as usize].nanos += part;
        }
    }
}

/// Reads and writes of one record.
fn counts(record: &Record<'_>) -> [Cell; 2] {
    let is = |module: Module| record.module == u32::from(module.code());
    let cell = |calls: usize, bytes: usize| Cell {
        calls: record.word(calls),
        bytes: record.word(bytes),
        nanos: 0,
    };
    if is(Module::Posix) {
        [posix::READ, posix::WRITE].map(|way| cell(way + direction::CALLS, way + direction::BYTES))
    } else if is(Module::Stdio) {
        [stdio::READ, stdio::WRITE].map(|way| cell(way + stdio::CALLS, way + stdio::BYTES))
    } else {
        [Cell::default(); 2]
    }
}
