//! Lustre targets over time: which bytes of which call went where follows from a file's layout.
//!
//! A call's bytes are counted on the targets that hold them, each byte once. How long ranks took
//! is told beside it: of every rank that used a target, the seconds of its calls there.

use std::collections::{BTreeMap, HashMap};

use netra_event::RecordId;

use super::Budget;
use super::span::Steps;
use crate::{Direction, Job, Layer, Layout, TraceRow};

/// One target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Target {
    /// Its number.
    pub ost: u64,
    /// Calls that touched it.
    pub calls: u64,
    /// Bytes read from and written to it.
    pub bytes: [u64; 2],
    /// Ranks that used it.
    pub ranks: u64,
    /// Seconds of those ranks in their calls there: least, quartiles, most.
    pub seconds: [f64; 5],
}

/// All targets, as one layer used them.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// Through what.
    pub layer: Layer,
    /// By number.
    pub list: Vec<Target>,
    /// Neighbouring targets that share a row of the picture.
    pub per_row: usize,
    /// Steps of time.
    pub bins: usize,
    /// Bytes read, then written: row by row, step by step.
    pub bytes: [Vec<f32>; 2],
    /// The servers of these targets, where the site has told.
    pub servers: Option<Servers>,
}

/// The servers that targets belong to, over the same steps of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Servers {
    /// Their names; last the targets whose server was not told, if there are any.
    pub names: Vec<String>,
    /// Neighbouring servers that share a row of the picture.
    pub per_row: usize,
    /// Bytes read, then written: row by row, step by step.
    pub bytes: [Vec<f32>; 2],
}

/// What targets of no known server are called together.
const OTHERS: &str = "others";

impl Targets {
    /// From traced calls to files whose layout is known; `None` where there are none.
    pub(super) fn of(job: &Job, layer: Layer, end: f64, budget: Budget) -> Option<Targets> {
        let layouts: BTreeMap<RecordId, &Layout> = job
            .layouts
            .iter()
            .filter(|layout| !layout.osts.is_empty() && layout.stripe_size > 0)
            .map(|layout| (layout.file, layout))
            .collect();
        if layouts.is_empty() || end <= 0.0 || budget.rows == 0 || budget.bins == 0 {
            return None;
        }
        let mut numbers: Vec<u64> =
            layouts.values().flat_map(|layout| &layout.osts).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let place: HashMap<u64, usize> = numbers.iter().copied().zip(0..).collect();
        let mut filling = Filling::new(job, layer, &numbers, end, budget);
        let files: Vec<Option<(&Layout, Vec<usize>)>> = job
            .trace
            .files()
            .iter()
            .map(|id| layouts.get(id).map(|&layout| (layout, places(layout, &place))))
            .collect();
        for row in job.trace.rows().filter(|row| row.layer == layer) {
            if let Some(Some((layout, places))) = files.get(row.file as usize) {
                filling.call(&row, layout.stripe_size, places);
            }
        }
        filling.finish()
    }
}

fn places(layout: &Layout, place: &HashMap<u64, usize>) -> Vec<usize> {
    layout.osts.iter().filter_map(|ost| place.get(ost).copied()).collect()
}

/// Targets while calls are added.
struct Filling {
    targets: Targets,
    steps: Steps,
    /// Seconds of a rank on a target.
    spent: HashMap<(usize, u32), f64>,
    /// The server of each target.
    server_of: Vec<usize>,
}

impl Filling {
    fn new(job: &Job, layer: Layer, numbers: &[u64], end: f64, budget: Budget) -> Filling {
        let per_row = numbers.len().div_ceil(budget.rows).max(1);
        let bins = (budget.bins / 4).max(1);
        let cells = numbers.len().div_ceil(per_row) * bins;
        let list = numbers.iter().map(|&ost| Target { ost, ..Target::default() }).collect();
        let bytes = [vec![0.0; cells], vec![0.0; cells]];
        let (names, server_of) = servers(&job.servers, numbers);
        let servers = (!job.servers.is_empty()).then(|| {
            let per_row = names.len().div_ceil(budget.rows).max(1);
            let cells = names.len().div_ceil(per_row) * bins;
            Servers { names, per_row, bytes: [vec![0.0; cells], vec![0.0; cells]] }
        });
        Filling {
            targets: Targets { layer, list, per_row, bins, bytes, servers },
            steps: Steps::new(end, bins),
            spent: HashMap::new(),
            server_of,
        }
    }

    fn call(&mut self, row: &TraceRow, stripe: u64, places: &[usize]) {
        if row.length == 0 || places.is_empty() {
            return;
        }
        let way = usize::from(row.direction == Direction::Write);
        let count = places.len() as u64;
        let (first, last) = (row.offset / stripe, (row.stop() - 1) / stripe);
        // Behind one whole round every target has had a stripe; what each got is counted, not walked.
        for stripe_number in first..=last.min(first.saturating_add(count - 1)) {
            let bytes = bytes_of(row, stripe, stripe_number, count);
            let at = places[(stripe_number % count) as usize];
            let part = bytes as f64 / row.length as f64;
            let target = &mut self.targets.list[at];
            target.calls += 1;
            target.bytes[way] = target.bytes[way].saturating_add(bytes);
            *self.spent.entry((at, row.rank)).or_default() += (row.end - row.start) * part;
            let (cells, bins) = (&mut self.targets.bytes[way], self.targets.bins);
            let from = at / self.targets.per_row * bins;
            let share = self.steps.share(row.start, row.end);
            share.add(&mut cells[from..], bytes as f64);
            if let Some(servers) = &mut self.targets.servers {
                let from = self.server_of[at] / servers.per_row * bins;
                share.add(&mut servers.bytes[way][from..], bytes as f64);
            }
        }
    }

    fn finish(mut self) -> Option<Targets> {
        let mut by_target: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for ((at, _), seconds) in self.spent {
            by_target.entry(at).or_default().push(seconds);
        }
        for (at, mut seconds) in by_target {
            seconds.sort_by(f64::total_cmp);
            let target = &mut self.targets.list[at];
            target.ranks = seconds.len() as u64;
            let last = seconds.len() - 1;
            target.seconds = [0, 1, 2, 3, 4].map(|quarter| seconds[last * quarter / 4]);
        }
        self.targets.list.iter().any(|target| target.calls > 0).then_some(self.targets)
    }
}

/// The servers of some targets by name, and which of them each target belongs to.
fn servers(known: &BTreeMap<u64, String>, numbers: &[u64]) -> (Vec<String>, Vec<usize>) {
    let of = |ost: &u64| known.get(ost).map(String::as_str);
    let mut names: Vec<&str> = numbers.iter().filter_map(of).collect();
    names.sort_unstable();
    names.dedup();
    let others = names.len();
    let place = |ost| of(ost).and_then(|name| names.binary_search(&name).ok()).unwrap_or(others);
    let places: Vec<usize> = numbers.iter().map(place).collect();
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    if places.contains(&others) {
        names.push(OTHERS.to_owned());
    }
    (names, places)
}

/// Bytes of a call on the target of one of its first stripes: that stripe, and every further one
/// that lies on the same target.
fn bytes_of(row: &TraceRow, stripe: u64, number: u64, count: u64) -> u64 {
    let last = (row.stop() - 1) / stripe;
    let rounds = (last - number) / count;
    let within = |number: u64| {
        let start = number * stripe;
        row.stop().min(start.saturating_add(stripe)) - row.offset.max(start)
    };
    match rounds {
        0 => within(number),
        _ => within(number) + (rounds - 1) * stripe + within(number + rounds * count),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, Detail};
    use crate::{Direction, Job, Layer, Layout, TraceRow};
    use netra_event::{RecordId, Seconds};

    fn job(calls: &[(u32, u64, u64)]) -> Job {
        let mut job = Job { run_time: Seconds(4.0), nprocs: 2, ..Job::default() };
        let file = job.trace.file(RecordId(1));
        let osts = vec![7, 3, 5];
        let (stripe_size, stripe_count) = (100, 3);
        job.layouts.push(Layout { file: RecordId(1), stripe_size, stripe_count, osts });
        for &(rank, offset, length) in calls {
            let (layer, direction, start, end) = (Layer::Posix, Direction::Write, 0.0, 2.0);
            job.trace.push(TraceRow { file, rank, layer, direction, start, end, offset, length });
        }
        job
    }

    const SMALL: Budget = Budget { bins: 16, rows: 4, marks: 9, conflicts: 0 };

    #[test]
    fn every_byte_is_counted_once_on_the_target_that_holds_it() {
        // Stripes 0 to 8 go round 7, 3, 5; the call begins in the middle of 0 and ends in 7.
        let detail = Detail::of(&job(&[(0, 50, 700)]), SMALL);
        let [targets] = &detail.targets[..] else { panic!("one layer was traced") };
        assert_eq!(targets.layer, Layer::Posix);
        let seen: Vec<_> = targets.list.iter().map(|one| (one.ost, one.bytes[1])).collect();
        // 7: stripes 0 (50 bytes), 3, 6. 3: 1, 4, 7 (50). 5: 2, 5.
        assert_eq!(seen, [(3, 250), (5, 200), (7, 250)]);
        assert_eq!(targets.bytes[1][..4], [125.0, 125.0, 0.0, 0.0]);
    }

    #[test]
    fn a_call_that_ends_on_a_border_does_not_touch_the_next_target() {
        let detail = Detail::of(&job(&[(0, 0, 100)]), SMALL);
        let calls: Vec<u64> = detail.targets[0].list.iter().map(|one| one.calls).collect();
        assert_eq!(calls, [0, 0, 1]);
    }

    #[test]
    fn servers_have_the_bytes_of_their_targets() {
        let mut job = job(&[(0, 50, 700)]);
        job.servers = [(7, "oss1".to_owned()), (5, "oss1".into())].into();
        let detail = Detail::of(&job, SMALL);
        let servers = detail.targets[0].servers.as_ref().unwrap();
        assert_eq!(
            (&servers.names[..], servers.per_row),
            (&["oss1".to_owned(), "others".into()][..], 1)
        );
        // Targets 7 and 5 have 450 bytes of the two seconds, target 3 the other 250.
        assert_eq!(servers.bytes[1], [225.0, 225.0, 0.0, 0.0, 125.0, 125.0, 0.0, 0.0]);
        job.servers.clear();
        assert_eq!(Detail::of(&job, SMALL).targets[0].servers, None);
    }

    #[test]
    fn ranks_of_a_target_are_known_by_their_seconds() {
        let detail = Detail::of(&job(&[(0, 0, 100), (1, 0, 50), (1, 300, 100)]), SMALL);
        let last = &detail.targets[0].list[2];
        assert_eq!((last.ost, last.ranks, last.calls), (7, 2, 3));
        assert_eq!(last.seconds, [2.0, 2.0, 2.0, 2.0, 4.0]);
    }
}
