//! Adds up traced calls for the analysis, whatever they were read from: a log's own section, or the
//! tables of a store.
//!
//! Calls become rows of the trace where they moved bytes; everything else is added up, so that
//! memory follows the number of functions, files and call sites. Times are added as whole
//! nanoseconds, so that sums do not depend on the order in which processes come.

use std::collections::{BTreeMap, HashMap};

use netra_analyse::{
    Act, Commit, Direction, FunctionUse, Job, Layer, Ledger, Opening, Place, SiteUse, Threaded,
    TraceRow, is_of_mpi,
};
use netra_event::{Function, Kind, Loss, RecordId};

use super::symbol::Places;

/// A traced call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Code of the function.
    pub(super) code: u16,
    /// Nanoseconds since the job's start.
    pub(super) start: i64,
    /// Nanoseconds that it took.
    pub(super) took: u64,
    /// Where in the file, or −1.
    pub(super) offset: i64,
    /// Bytes moved, another result, or −errno.
    pub(super) result: i64,
    /// Whether it failed.
    pub(super) failed: bool,
    /// The file, if there was one.
    pub(super) file: Option<RecordId>,
    /// Where it was called from, as [`Places`] numbers it.
    pub(super) place: Option<u32>,
    /// Its number, if it encloses others; else 0.
    pub(super) number: u32,
    /// The number of the enclosing call of the same thread, or 0.
    pub(super) parent: u32,
    /// Whether another thread than the first of its process made it.
    pub(super) behind: bool,
}

/// What is added up over processes.
#[derive(Default)]
pub(super) struct Sums {
    functions: BTreeMap<u16, FunctionSum>,
    errors: BTreeMap<(u16, u32), u64>,
    sites: HashMap<(u32, u16, Option<u64>), SiteSum>,
    pub(super) places: Places,
    ledger: Ledger,
    dropped: BTreeMap<Loss, u64>,
    threads: u64,
    /// By which thread bytes were moved, for each file of the trace.
    threaded: Vec<Threaded>,
}

/// A function's use, with times that add up exactly.
struct FunctionSum {
    totals: FunctionUse,
    took: u64,
    own: u64,
    longest: u64,
}

/// The same for what one place does to one file.
struct SiteSum {
    totals: SiteUse,
    took: u64,
}

/// A read or write, and the place in the program that made it.
type Placed = (TraceRow, Option<u32>);

/// One process while its calls are added.
pub(super) struct Process {
    rank: Option<u32>,
    /// Reads and writes by what makes a run.
    moved: BTreeMap<(u32, Layer, Direction), Vec<Placed>>,
    threads: u64,
}

/// Time in calls below others, by the number of the call above, for one thread.
#[derive(Default)]
pub(super) struct Below(HashMap<u32, u64>);

impl Below {
    /// What the call took without those below it; calls come in the order of their ends.
    fn own(&mut self, seen: &Seen) -> u64 {
        let children = if seen.number == 0 { None } else { self.0.remove(&seen.number) };
        if seen.parent != 0 {
            *self.0.entry(seen.parent).or_default() += seen.took;
        }
        seen.took.saturating_sub(children.unwrap_or(0))
    }
}

impl Process {
    pub(super) fn new(rank: Option<u32>) -> Process {
        Process { rank, moved: BTreeMap::new(), threads: 0 }
    }

    /// Hands over reads and writes, each kind in the order of its starts.
    fn end(self, job: &mut Job) {
        for mut rows in self.moved.into_values() {
            rows.sort_by(|a, b| a.0.start.total_cmp(&b.0.start));
            for (row, place) in rows {
                let trace = if row.layer.is_io() { &mut job.trace } else { &mut job.above };
                trace.push_from(row, place);
            }
        }
    }
}

impl Sums {
    /// A thread's own account: calls made, events written, those dropped; and calls by function, as far as they are told.
    pub(super) fn account(
        &mut self,
        process: &mut Process,
        made: u64,
        produced: u64,
        dropped: impl Iterator<Item = (Loss, u64)>,
        calls: impl Iterator<Item = (u16, u64)>,
    ) {
        process.threads += u64::from(produced > 0);
        self.ledger.calls = self.ledger.calls.saturating_add(made);
        self.ledger.produced = self.ledger.produced.saturating_add(produced);
        for (loss, count) in dropped {
            let sum = self.dropped.entry(loss).or_default();
            *sum = sum.saturating_add(count);
        }
        for (code, count) in calls {
            if let Some(function) = self.function(code) {
                function.totals.calls = function.totals.calls.saturating_add(count);
            }
        }
    }

    /// The next call of a thread.
    pub(super) fn call(
        &mut self,
        job: &mut Job,
        process: &mut Process,
        below: &mut Below,
        seen: &Seen,
    ) {
        self.ledger.delivered += 1;
        let own = below.own(seen);
        self.add(seen, own);
        if let (Some(bytes), Some(file)) = (mapped(seen), seen.file) {
            let sum = job.mapped.entry(file).or_default();
            *sum = sum.saturating_add(bytes);
        }
        let (Some(step), Some(id), Some(rank)) = (step(seen), seen.file, process.rank) else {
            return;
        };
        let file = job.trace.file(id);
        match step {
            Step::Moved(row) => {
                let row = TraceRow { file, rank, ..row };
                if matches!(row.layer, Layer::Posix | Layer::Stdio) {
                    self.add_threaded(&row, seen.behind);
                }
                let kind = (row.file, row.layer, row.direction);
                process.moved.entry(kind).or_default().push((row, seen.place));
            }
            Step::Opened(open) => {
                // An open sees what was there when it began; a close has flushed at its end.
                let (act, time) =
                    if open.close { (Act::Close, open.end) } else { (Act::Open, open.start) };
                if !seen.failed {
                    commit(job, Commit { file: id, rank, act, time });
                }
                if job.opens.len() < OPENS {
                    job.opens.push(Opening { file, rank, ..open });
                }
            }
            Step::Flushed(time) => commit(job, Commit { file: id, rank, act: Act::Sync, time }),
        }
    }

    fn add_threaded(&mut self, row: &TraceRow, behind: bool) {
        let file = row.file as usize;
        if self.threaded.len() <= file {
            self.threaded.resize(file + 1, Threaded::default());
        }
        if let Some(sum) = self.threaded.get_mut(file) {
            sum.add(row, behind);
        }
    }

    /// A process has no more calls.
    pub(super) fn end(&mut self, job: &mut Job, process: Process) {
        self.threads = self.threads.max(process.threads);
        process.end(job);
    }

    fn function(&mut self, code: u16) -> Option<&mut FunctionSum> {
        let function = Function::from_code(code)?;
        Some(self.functions.entry(code).or_insert_with(|| FunctionSum {
            totals: FunctionUse::new(function),
            took: 0,
            own: 0,
            longest: 0,
        }))
    }

    fn add(&mut self, seen: &Seen, own: u64) {
        let Some(which) = Function::from_code(seen.code) else { return };
        if which.kind() == Kind::Process {
            return;
        }
        let moves = matches!(which.kind(), Kind::Read | Kind::Write);
        let bytes = if seen.failed || !moves { 0 } else { positive(seen.result) };
        if seen.failed {
            let error = u32::try_from(seen.result.unsigned_abs()).unwrap_or(0);
            *self.errors.entry((seen.code, error)).or_default() += 1;
        }
        let Some(function) = self.function(seen.code) else { return };
        function.totals.traced += 1;
        function.totals.failed += u64::from(seen.failed);
        function.totals.bytes = function.totals.bytes.saturating_add(bytes);
        function.took = function.took.saturating_add(seen.took);
        function.own = function.own.saturating_add(own);
        function.longest = function.longest.max(seen.took);
        let Some(place) = seen.place else { return };
        let key = (place, seen.code, seen.file.map(|file| file.0));
        let site = self.sites.entry(key).or_insert_with(|| SiteSum {
            totals: SiteUse {
                place,
                function: which,
                file: seen.file,
                calls: 0,
                failed: 0,
                bytes: 0,
                seconds: 0.0,
            },
            took: 0,
        });
        site.totals.calls += 1;
        site.totals.failed += u64::from(seen.failed);
        site.totals.bytes = site.totals.bytes.saturating_add(bytes);
        site.took = site.took.saturating_add(seen.took);
    }

    /// Hands everything over; says whether there was an event.
    pub(super) fn finish(mut self, job: &mut Job) -> bool {
        for ((code, error), count) in self.errors {
            if let Some(function) = self.functions.get_mut(&code) {
                function.totals.errors.push((error, count));
            }
        }
        job.functions = self.functions.into_values().map(FunctionSum::total).collect();
        job.sites = self.sites.into_values().map(SiteSum::total).collect();
        let places;
        (job.places, places) = in_order(self.places.resolve());
        let number = |old: u32| places.get(old as usize).copied();
        for site in &mut job.sites {
            site.place = number(site.place).unwrap_or(site.place);
        }
        for open in &mut job.opens {
            open.place = open.place.and_then(number);
        }
        job.trace.renumber_places(&places);
        job.above.renumber_places(&places);
        // A hash map has no order of its own, and reports are the same every time.
        job.sites.sort_by(|a, b| {
            let key = |site: &SiteUse| (site.place, site.function.code(), site.file);
            key(a).cmp(&key(b))
        });
        job.threads = Some(self.threads).filter(|threads| *threads > 0);
        job.threaded = threaded(&self.threaded, job);
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

/// The sum over files that are not MPI's own, where there are any.
fn threaded(sums: &[Threaded], job: &Job) -> Option<Threaded> {
    let name = |file: &RecordId| job.names.get(file).map_or("", String::as_str);
    let files = job.trace.files().iter().zip(sums).filter(|(file, _)| !is_of_mpi(name(file)));
    let mut whole = None;
    files.for_each(|(_, sum)| whole.get_or_insert_with(Threaded::default).absorb(sum));
    whole
}

/// Places by their frames, whatever order processes came in, and the new number of each.
fn in_order(places: Vec<Place>) -> (Vec<Place>, Vec<u32>) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].cmp(&places[b]));
    let mut numbers = vec![0; places.len()];
    for (new, &old) in (0..).zip(&order) {
        numbers[old] = new;
    }
    (order.into_iter().map(|old| places[old].clone()).collect(), numbers)
}

impl FunctionSum {
    fn total(mut self) -> FunctionUse {
        self.totals.errors.sort_by_key(|&(error, count)| (std::cmp::Reverse(count), error));
        self.totals.seconds = seconds(self.took);
        self.totals.own_seconds = seconds(self.own);
        self.totals.longest = seconds(self.longest);
        self.totals
    }
}

impl SiteSum {
    fn total(mut self) -> SiteUse {
        self.totals.seconds = seconds(self.took);
        self.totals
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// What a call adds besides sums; file and rank are still to be filled in.
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

fn step(seen: &Seen) -> Option<Step> {
    let function = Function::from_code(seen.code)?;
    let start = seen.start as f64 / 1e9;
    let end = seen.start.saturating_add_unsigned(seen.took) as f64 / 1e9;
    let close = match function.kind() {
        Kind::Read => return moved(seen, function, Direction::Read, start, end),
        Kind::Write => return moved(seen, function, Direction::Write, start, end),
        // A stream's flush hands bytes to the system, which is not the device yet.
        Kind::Sync if function != Function::Fflush && !seen.failed => {
            return Some(Step::Flushed(end));
        }
        Kind::Open => false,
        Kind::Close => true,
        _ => return None,
    };
    let layer = layer(function)?;
    let (file, rank) = (0, 0);
    Some(Step::Opened(Opening { file, rank, layer, close, start, end, place: seen.place }))
}

/// Bytes of a file that a call mapped into memory.
fn mapped(seen: &Seen) -> Option<u64> {
    (seen.code == Function::Mmap.code() && !seen.failed).then(|| positive(seen.result))
}

fn positive(result: i64) -> u64 {
    u64::try_from(result).unwrap_or(0)
}

/// A call that read or wrote, as a row of the trace.
fn moved(
    seen: &Seen,
    function: Function,
    direction: Direction,
    start: f64,
    end: f64,
) -> Option<Step> {
    let layer = layer(function)?;
    // Where a pipe or a socket is meant there is no offset, and no bytes that another could use.
    let offset = match (u64::try_from(seen.offset), layer) {
        (Ok(offset), _) => offset,
        (Err(_), Layer::Posix) => return None,
        (Err(_), _) => 0,
    };
    let length = positive(seen.result);
    let (file, rank) = (0, 0);
    (!seen.failed).then_some(Step::Moved(TraceRow {
        file,
        rank,
        layer,
        direction,
        start,
        end,
        offset,
        length,
    }))
}

#[cfg(test)]
mod tests {
    use super::{Below, Process, Seen, Sums};
    use netra_analyse::{Job, Threaded};
    use netra_event::{Function, RecordId};

    /// Places get their last numbers when all are known; calls and opens that were added before go along.
    #[test]
    fn calls_keep_their_places_when_places_are_put_in_order() {
        let (mut job, mut sums) = (Job::default(), Sums::default());
        let object = |name: &str| vec![(Some((name.to_owned(), Vec::new())), 1)];
        let late = sums.places.place(object("/z"));
        let early = sums.places.place(object("/a"));
        let mut process = Process::new(Some(0));
        for (function, start, place) in [
            (Function::Open, 0, Some(early)),
            (Function::Pwrite, 1, Some(late)),
            (Function::Pwrite, 2, Some(early)),
            (Function::Pwrite, 3, None),
        ] {
            let seen = Seen {
                code: function.code(),
                start,
                took: 1,
                offset: 0,
                result: 8,
                failed: false,
                file: Some(RecordId(1)),
                place,
                number: 0,
                parent: 0,
                behind: start == 3,
            };
            sums.call(&mut job, &mut process, &mut Below::default(), &seen);
        }
        sums.end(&mut job, process);
        sums.finish(&mut job);
        assert_eq!(job.threaded, Some(Threaded { first: [0, 16], others: [0, 8] }));
        let name = |place: Option<u32>| {
            place.map(|place| job.places[place as usize].frames[0].object.as_str())
        };
        let calls: Vec<_> = job.trace.placed().map(|(_, place)| name(place)).collect();
        assert_eq!(calls, [Some("/z"), Some("/a"), None]);
        assert_eq!(name(job.opens[0].place), Some("/a"));
        assert!(job.sites.iter().any(|site| name(Some(site.place)) == Some("/z")));
    }
}
