//! What netra's own part of a log adds to a [`Job`]: every function of every layer, failed calls, call
//! sites, nesting, threads and the account of what is missing.
//!
//! Events become rows of the trace where they moved bytes; everything else is added up, so that
//! memory follows the number of functions, files and call sites.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use netra_analyse::{
    Act, Commit, Direction, FunctionUse, Job, Layer, Ledger, Opening, SiteUse, TraceRow,
};
use netra_darshan::Damage;
use netra_darshan::read::Log;
use netra_darshan::section::layout::KIND_SEGMENT;
use netra_event::segment::View;
use netra_event::{Event, Function, Kind, Loss, RecordId};
use netra_stream::job;
use netra_stream::source::{self, Piece, Segment};

use super::symbol::Places;

/// Adds what the section holds; false where it holds no events, so that others may.
pub(super) fn add(job: &mut Job, log: &Log, missing: &mut Vec<Damage>) -> bool {
    let mut found = Vec::new();
    for (block, held) in log.section().blocks().iter().enumerate() {
        if held.head.kind != KIND_SEGMENT {
            continue;
        }
        match held.bytes() {
            Ok(bytes) => found.push((block, bytes)),
            Err(damage) => missing.push(damage),
        }
    }
    missing.extend(log.section().damage().iter().cloned());
    let path = Path::new(&job.source).to_owned();
    let mut segments: BTreeMap<usize, Segment> = BTreeMap::new();
    for (block, bytes) in found {
        if let Ok(segment) = Segment::from_bytes(&path, bytes) {
            segments.insert(block, segment);
        }
    }
    if segments.is_empty() {
        return false;
    }
    let pieces: Vec<Piece> = segments
        .iter()
        .map(|(&block, segment)| Piece::new(&path, source::Kind::Log { block }, &segment.view()))
        .collect();
    let whole = job::Job::new(pieces);
    let start = start_of(log);
    let mut sums = Sums { start, ..Sums::default() };
    for (piece, number) in whole.numbered() {
        let source::Kind::Log { block } = piece.kind else { continue };
        let Some(segment) = segments.remove(&block) else { continue };
        let rank = number.and_then(|rank| u32::try_from(rank.0).ok());
        sums.process(job, &segment.view(), rank);
        if let Some(rank) = rank {
            job.hosts.insert(rank, String::from_utf8_lossy(&piece.host).into_owned());
        }
        job.remarks.extend(piece.notes.iter().map(|note| format!("process {}: {note}", piece.pid)));
    }
    sums.finish(job)
}

/// When the log's clock begins, in nanoseconds since 1970.
fn start_of(log: &Log) -> i64 {
    let numbers = &log.job().numbers;
    numbers.start_sec.saturating_mul(1_000_000_000).saturating_add(numbers.start_nsec)
}

/// What is added up over processes.
#[derive(Default)]
struct Sums {
    start: i64,
    functions: BTreeMap<u16, FunctionUse>,
    errors: BTreeMap<(u16, u32), u64>,
    sites: HashMap<(u32, u16, Option<u64>), SiteUse>,
    places: Places,
    ledger: Ledger,
    dropped: BTreeMap<Loss, u64>,
    threads: u64,
}

/// Reads and writes of one process, by what makes a run.
type Calls = BTreeMap<(u32, Layer, Direction), Vec<TraceRow>>;

impl Sums {
    fn process(&mut self, job: &mut Job, view: &View<'_>, rank: Option<u32>) {
        let mut calls = Calls::new();
        let ids: Vec<Option<RecordId>> = {
            let last = view.files().map(|file| file.index).max().unwrap_or(0) as usize;
            let mut ids = vec![None; last + 1];
            for file in view.files() {
                ids[file.index as usize] = Some(RecordId(file.id));
            }
            ids
        };
        self.places.enter(view);
        let mut threads = 0;
        for lane in view.lanes() {
            threads += u64::from(lane.produced() > 0);
            self.ledger.produced = self.ledger.produced.saturating_add(lane.produced());
            for &loss in Loss::ALL {
                let count = self.dropped.entry(loss).or_default();
                *count = count.saturating_add(lane.dropped(loss).0);
            }
            for (code, count) in lane.calls() {
                self.ledger.calls = self.ledger.calls.saturating_add(count);
                if let Some(function) = self.function(code) {
                    function.calls = function.calls.saturating_add(count);
                }
            }
            self.lane(view, lane.events(), &ids, |id, step, failed| {
                let Some(rank) = rank else { return };
                let file = job.trace.file(id);
                match step {
                    Step::Moved(row) => {
                        let row = TraceRow { file, rank, ..row };
                        calls.entry((row.file, row.layer, row.direction)).or_default().push(row);
                    }
                    Step::Opened(open) => {
                        // An open sees what was there when it began; a close has flushed at its end.
                        let (act, time) = if open.close {
                            (Act::Close, open.end)
                        } else {
                            (Act::Open, open.start)
                        };
                        if !failed {
                            commit(job, Commit { file: id, rank, act, time });
                        }
                        if job.opens.len() < OPENS {
                            job.opens.push(Opening { file, rank, ..open });
                        }
                    }
                    Step::Flushed(time) => {
                        commit(job, Commit { file: id, rank, act: Act::Sync, time });
                    }
                }
            });
        }
        self.threads = self.threads.max(threads);
        for rows in calls.into_values() {
            push(job, rows);
        }
    }

    fn lane(
        &mut self,
        view: &View<'_>,
        events: impl Iterator<Item = (u64, Event)>,
        ids: &[Option<RecordId>],
        mut take: impl FnMut(RecordId, Step, bool),
    ) {
        let tick = view.tick() / 1e9;
        let mut below: HashMap<u32, u64> = HashMap::new();
        for (_, event) in events {
            self.ledger.delivered += 1;
            let children = if event.number == 0 { None } else { below.remove(&event.number) };
            if event.parent != 0 {
                *below.entry(event.parent).or_default() += event.duration;
            }
            let own = event.duration.saturating_sub(children.unwrap_or(0)) as f64 * tick;
            let file = ids.get(event.file as usize).copied().flatten();
            let took = event.duration as f64 * tick;
            self.event(&event, file, took, own);
            let (Some(step), Some(id)) = (step(&event), file) else { continue };
            let start = view.time(event.start).cast_signed().saturating_sub(self.start);
            let start = start as f64 / 1e9;
            let end = start + took;
            take(
                id,
                match step {
                    Step::Moved(row) => Step::Moved(TraceRow { start, end, ..row }),
                    Step::Opened(open) => Step::Opened(Opening { start, end, ..open }),
                    Step::Flushed(_) => Step::Flushed(end),
                },
                event.failed,
            );
        }
    }

    fn function(&mut self, code: u16) -> Option<&mut FunctionUse> {
        let function = Function::from_code(code)?;
        Some(self.functions.entry(code).or_insert_with(|| FunctionUse::new(function)))
    }

    fn event(&mut self, event: &Event, file: Option<RecordId>, took: f64, own: f64) {
        if event.function().is_none_or(|function| function.kind() == Kind::Process) {
            return;
        }
        let bytes = if event.failed || !moves(event) { 0 } else { positive(event.result) };
        if event.failed {
            let error = u32::try_from(event.result.unsigned_abs()).unwrap_or(0);
            *self.errors.entry((event.code, error)).or_default() += 1;
        }
        let Some(function) = self.function(event.code) else { return };
        function.traced += 1;
        function.failed += u64::from(event.failed);
        function.bytes = function.bytes.saturating_add(bytes);
        function.seconds += took;
        function.own_seconds += own;
        function.longest = function.longest.max(took);
        let which = function.function;
        let Some(place) = self.places.of(event.site) else { return };
        let key = (place, event.code, file.map(|file| file.0));
        let site = self.sites.entry(key).or_insert_with(|| SiteUse {
            place,
            function: which,
            file,
            calls: 0,
            failed: 0,
            bytes: 0,
            seconds: 0.0,
        });
        site.calls += 1;
        site.failed += u64::from(event.failed);
        site.bytes = site.bytes.saturating_add(bytes);
        site.seconds += took;
    }

    /// Hands everything over; says whether there was an event.
    fn finish(mut self, job: &mut Job) -> bool {
        for ((code, error), count) in self.errors {
            if let Some(function) = self.functions.get_mut(&code) {
                function.errors.push((error, count));
            }
        }
        for function in self.functions.values_mut() {
            function.errors.sort_by_key(|&(error, count)| (std::cmp::Reverse(count), error));
        }
        job.functions = self.functions.into_values().collect();
        job.sites = self.sites.into_values().collect();
        // A hash map has no order of its own, and reports are the same every time.
        job.sites.sort_by(|a, b| {
            let key = |site: &SiteUse| (site.place, site.function.code(), site.file);
            key(a).cmp(&key(b))
        });
        job.places = self.places.resolve();
        job.threads = Some(self.threads).filter(|threads| *threads > 0);
        let dropped: Vec<(Loss, u64)> =
            self.dropped.into_iter().filter(|(_, count)| *count > 0).collect();
        // What a setting keeps out is not missed.
        job.dropped = dropped.iter().copied().filter(|(loss, _)| *loss != Loss::Excluded).collect();
        self.ledger.dropped = dropped;
        let any = self.ledger.delivered > 0;
        job.ledger = Some(self.ledger);
        any
    }
}

/// Adds the calls of one kind in the order of their starts.
fn push(job: &mut Job, mut rows: Vec<TraceRow>) {
    rows.sort_by(|a, b| a.start.total_cmp(&b.start));
    for row in rows {
        if row.layer.is_io() {
            job.trace.push(row);
        } else {
            job.above.push(row);
        }
    }
}

/// What an event adds besides sums; file, rank and times are still to be filled in.
enum Step {
    Moved(TraceRow),
    Opened(Opening),
    /// When it had been flushed.
    Flushed(f64),
}

/// Opens and closes that are kept.
const OPENS: usize = 1_000_000;
/// Opens, flushes and closes of which it is kept when they were.
const COMMITS: usize = 4_000_000;

fn commit(job: &mut Job, commit: Commit) {
    if job.commits.len() < COMMITS {
        job.commits.push(commit);
    }
}

fn layer(function: Function) -> Option<Layer> {
    match function.layer() {
        netra_event::Layer::Posix => Some(Layer::Posix),
        netra_event::Layer::Stdio => Some(Layer::Stdio),
        netra_event::Layer::Mpiio => Some(Layer::Mpiio),
        netra_event::Layer::Hdf5 => Some(Layer::H5d),
        netra_event::Layer::Pnetcdf => Some(Layer::Pnetcdf),
        _ => None,
    }
}

fn step(event: &Event) -> Option<Step> {
    let function = event.function()?;
    let close = match function.kind() {
        Kind::Read | Kind::Write => return moved(event).map(Step::Moved),
        // A stream's flush hands bytes to the system, which is not the device yet.
        Kind::Sync if function != Function::Fflush && !event.failed => {
            return Some(Step::Flushed(0.0));
        }
        Kind::Open => false,
        Kind::Close => true,
        _ => return None,
    };
    let layer = layer(function)?;
    let (file, rank, start, end) = (0, 0, 0.0, 0.0);
    Some(Step::Opened(Opening { file, rank, layer, close, start, end }))
}

fn positive(result: i64) -> u64 {
    u64::try_from(result).unwrap_or(0)
}

fn moves(event: &Event) -> bool {
    event.function().is_some_and(|function| matches!(function.kind(), Kind::Read | Kind::Write))
}

/// An event that read or wrote, as a row whose file, rank and times are still to be filled in.
fn moved(event: &Event) -> Option<TraceRow> {
    let function = event.function()?;
    let direction = match function.kind() {
        Kind::Read => Direction::Read,
        Kind::Write => Direction::Write,
        _ => return None,
    };
    let layer = layer(function)?;
    // Where a pipe or a socket is meant there is no offset, and no bytes that another could use.
    let offset = match (u64::try_from(event.offset), layer) {
        (Ok(offset), _) => offset,
        (Err(_), Layer::Posix) => return None,
        (Err(_), _) => 0,
    };
    let length = positive(event.result);
    (!event.failed).then_some(TraceRow {
        file: 0,
        rank: 0,
        layer,
        direction,
        start: 0.0,
        end: 0.0,
        offset,
        length,
    })
}
