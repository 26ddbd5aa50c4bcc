//! Phases: bursts of I/O with quiet time between them.
//!
//! The intervals of all ranks are merged; a gap longer than the mean gap plus one standard
//! deviation separates two phases (the rule of the paper). Bare, that rule never separates two
//! bursts with one gap between them and tears a stream of equal tiny gaps apart, so the limit is
//! kept between two others: a gap below [`Thresholds::phase_gap_min`] never separates, one above
//! [`Thresholds::phase_gap_share`] of the traced time always does.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use netra_event::Rank;

use super::calls::Calls;
use super::lone::{Finder, Longest, Share};
use super::{median, parallel};
use crate::{Direction, Layer, Thresholds, Trace, TraceRow};

/// One burst.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Seconds since the job's start.
    pub start: f64,
    /// When its last call ended.
    pub end: f64,
    /// Calls.
    pub calls: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Ranks that took part, or processes where there are no ranks.
    pub ranks: u64,
    /// How many of them are ranks.
    pub compared: u64,
    /// Seconds that ranks were in calls, added up.
    pub busy: f64,
    /// The rank that was busy for the shortest time, and for how long; a process where no rank took part.
    pub fastest: (Rank, f64),
    /// The rank that was busy for the longest time, and for how long.
    pub slowest: (Rank, f64),
}

impl Phase {
    /// How many ranks were in calls at a time, on the average; none where it took no time.
    #[must_use]
    pub fn concurrency(&self) -> f64 {
        let span = self.end - self.start;
        if span > 0.0 { (self.busy / span).min(self.ranks as f64) } else { 0.0 }
    }
}

/// The phases of a set of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhaseList {
    /// In order of time.
    pub phases: Vec<Phase>,
    /// The gap that separates.
    pub gap: f64,
    /// Seconds between the starts of phases, where they repeat evenly.
    pub period: Option<f64>,
}

/// The phases of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Of all calls.
    pub job: PhaseList,
    /// Of each traced layer.
    pub layers: Vec<(Layer, PhaseList)>,
    /// The rank that was longest at work while all others had finished.
    pub lone: Option<Longest>,
}

/// Layers whose phases are looked at by themselves.
const LAYERS: [Layer; 3] = [Layer::Posix, Layer::Stdio, Layer::Mpiio];

/// Calls whose phases are looked for: of one layer, or all.
#[derive(Debug, Default)]
struct Set {
    layer: Option<Layer>,
    quiet: Quiet,
    /// Where its phases begin, but for the first.
    starts: Vec<f64>,
    gap: f64,
}

impl Set {
    fn of(layer: Option<Layer>) -> Set {
        Set { layer, ..Set::default() }
    }

    fn holds(&self, row: &TraceRow) -> bool {
        self.layer.is_none_or(|layer| layer == row.layer)
    }
}

/// Finds phases; `None` where nothing was traced. Numbers below `ranks` are those of ranks, which are compared with each
/// other.
#[must_use]
pub fn phases(trace: &Trace, ranks: u64, limit: &Thresholds) -> Option<Phases> {
    let layers: Vec<Layer> = LAYERS.into_iter().filter(|layer| trace.has(*layer)).collect();
    if layers.is_empty() {
        return None;
    }
    let mut sets = vec![Set::of(None)];
    // Where one layer was traced, its phases are the job's.
    if layers.len() > 1 {
        sets.extend(layers.iter().map(|layer| Set::of(Some(*layer))));
    }
    let calls = Calls::of(trace, trace.runs().iter().collect());
    let alone = separate(&calls, &mut sets, ranks, limit);
    let (mut lists, shares) = gather(&calls, &sets, ranks, limit);
    let job = lists.remove(0);
    let lists = if layers.len() > 1 { lists } else { vec![job.clone()] };
    Some(Phases {
        job,
        layers: layers.into_iter().zip(lists).collect(),
        lone: alone.longest(&shares),
    })
}

/// Finds where the phases of every set begin, and who is alone: one look at all calls in order.
fn separate(calls: &Calls<'_>, sets: &mut [Set], ranks: u64, limit: &Thresholds) -> Finder {
    let mut alone = Finder::new(limit.floor_seconds.0);
    calls.each_in_order(|row| {
        for set in sets.iter_mut().filter(|set| set.holds(row)) {
            set.quiet.see(row, limit);
        }
        if u64::from(row.rank) < ranks {
            alone.see(row);
        }
        ControlFlow::Continue(())
    });
    for set in sets {
        (set.gap, set.starts) = std::mem::take(&mut set.quiet).borders(limit);
    }
    alone
}

/// The phases of every set, and what each rank did: a second look, rank by rank.
fn gather(
    calls: &Calls<'_>,
    sets: &[Set],
    ranked: u64,
    limit: &Thresholds,
) -> (Vec<PhaseList>, BTreeMap<u32, Share>) {
    let mut bursts: Vec<Vec<Burst>> =
        sets.iter().map(|set| vec![Burst::default(); set.starts.len() + 1]).collect();
    let ranks = calls.by_rank();
    let mut shares: BTreeMap<u32, Share> = BTreeMap::new();
    for parts in parallel::map(&ranks, calls.len(), |runs| one_rank(calls, runs, sets)) {
        let is_rank = |part: &&(usize, Part)| u64::from(part.1.rank) < ranked;
        for (_, part) in parts.first().into_iter().flatten().filter(is_rank) {
            let share = shares.entry(part.rank).or_default();
            share.calls += part.calls;
            let bytes = part.bytes.iter().flatten();
            share.bytes = bytes.fold(share.bytes, |sum, bytes| sum.saturating_add(*bytes));
        }
        for (bursts, parts) in bursts.iter_mut().zip(parts) {
            parts.into_iter().for_each(|(at, part)| bursts[at].add(part, ranked));
        }
    }
    let lists = sets.iter().zip(bursts).map(|(set, bursts)| {
        let phases: Vec<Phase> = bursts.into_iter().filter_map(Burst::phase).collect();
        PhaseList { period: period(&phases, limit), phases, gap: set.gap }
    });
    (lists.collect(), shares)
}

/// Quiet times, call by call in the order of their starts.
#[derive(Debug, Default)]
struct Quiet {
    first: Option<f64>,
    end: f64,
    /// Gaps, their mean and squared distances, updated one gap at a time (Welford).
    count: f64,
    mean: f64,
    squares: f64,
    /// Those that may separate.
    long: Vec<(f64, f64)>,
}

impl Quiet {
    fn see(&mut self, row: &TraceRow, limit: &Thresholds) {
        if self.first.is_none() {
            (self.first, self.end) = (Some(row.start), row.end);
            return;
        }
        if row.start > self.end {
            let gap = row.start - self.end;
            self.count += 1.0;
            let delta = gap - self.mean;
            self.mean += delta / self.count;
            self.squares += delta * (gap - self.mean);
            if gap > limit.phase_gap_min.0 {
                self.long.push((self.end, row.start));
            }
        }
        self.end = self.end.max(row.end);
    }

    /// The shortest gap that does not separate, and the ends of the quiet times that do.
    fn borders(self, limit: &Thresholds) -> (f64, Vec<f64>) {
        let span = self.end - self.first.unwrap_or(self.end);
        let deviation = if self.count > 0.0 { (self.squares / self.count).sqrt() } else { 0.0 };
        let most = (limit.phase_gap_share.0 * span).max(limit.phase_gap_min.0);
        let gap = (self.mean + deviation).clamp(limit.phase_gap_min.0, most);
        let long = self.long.into_iter().filter(|quiet| quiet.1 - quiet.0 > gap);
        (gap, long.map(|quiet| quiet.1).collect())
    }
}

/// What one rank did in one phase.
#[derive(Debug, Clone, Copy)]
struct Part {
    rank: u32,
    start: f64,
    end: f64,
    calls: u64,
    /// Read and written, through POSIX, C streams and MPI-IO.
    bytes: [[u64; 3]; 2],
    busy: f64,
}

/// One rank's parts in the phases of every set.
fn one_rank(calls: &Calls<'_>, runs: &[usize], sets: &[Set]) -> Vec<Vec<(usize, Part)>> {
    let mut parts: Vec<Vec<(usize, Part)>> = vec![Vec::new(); sets.len()];
    calls.each_in_order_of(runs, |row| {
        for (set, parts) in sets.iter().zip(&mut parts).filter(|(set, _)| set.holds(row)) {
            add(parts, &set.starts, row);
        }
    });
    parts
}

/// Adds a rank's next call to its parts in phases that begin, but for the first, at these times.
fn add(parts: &mut Vec<(usize, Part)>, starts: &[f64], row: &TraceRow) {
    let known = parts.last().map_or(0, |part| part.0);
    // Calls come in order, so the phase is the last one's or one of the next.
    let at = known + starts[known..].iter().take_while(|start| **start <= row.start).count();
    if parts.last().is_none_or(|part| part.0 != at) {
        let (rank, start, end) = (row.rank, row.start, row.start);
        parts.push((at, Part { rank, start, end, calls: 0, bytes: [[0; 3]; 2], busy: 0.0 }));
    }
    let Some((_, part)) = parts.last_mut() else { return };
    part.calls += 1;
    let layer = match row.layer {
        Layer::Mpiio => 2,
        Layer::Stdio => 1,
        _ => 0,
    };
    let way = usize::from(row.direction == Direction::Write);
    part.bytes[way][layer] = part.bytes[way][layer].saturating_add(row.length);
    part.busy += (row.end - part.end.max(row.start)).max(0.0);
    part.end = part.end.max(row.end);
}

/// A phase while it is being filled, rank after rank.
#[derive(Debug, Clone, Default)]
struct Burst {
    span: Option<(f64, f64)>,
    calls: u64,
    bytes: [[u64; 3]; 2],
    ranks: u64,
    compared: u64,
    busy: f64,
    /// Of equals the lowest rank, which comes first.
    fastest: Option<(Rank, f64)>,
    slowest: Option<(Rank, f64)>,
}

impl Burst {
    fn add(&mut self, part: Part, ranked: u64) {
        let (start, end) = self.span.unwrap_or((part.start, part.end));
        self.span = Some((start.min(part.start), end.max(part.end)));
        self.calls += part.calls;
        let sums = self.bytes.iter_mut().flatten().zip(part.bytes.iter().flatten());
        sums.for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        self.ranks += 1;
        self.busy += part.busy;
        let is_rank = u64::from(part.rank) < ranked;
        self.compared += u64::from(is_rank);
        // Ranks come first, having the lowest numbers.
        if self.compared > 0 && !is_rank {
            return;
        }
        let mine = (Rank(i64::from(part.rank)), part.busy);
        if self.fastest.is_none_or(|fastest| part.busy < fastest.1) {
            self.fastest = Some(mine);
        }
        if self.slowest.is_none_or(|slowest| part.busy > slowest.1) {
            self.slowest = Some(mine);
        }
    }

    fn phase(self) -> Option<Phase> {
        let (start, end) = self.span?;
        // MPI-IO counts what POSIX counts again below; streams have nothing below.
        let moved = |[posix, streams, mpiio]: [u64; 3]| posix.max(mpiio).saturating_add(streams);
        Some(Phase {
            start,
            end,
            calls: self.calls,
            bytes_read: moved(self.bytes[0]),
            bytes_written: moved(self.bytes[1]),
            ranks: self.ranks,
            compared: self.compared,
            busy: self.busy,
            fastest: self.fastest?,
            slowest: self.slowest?,
        })
    }
}

/// The time from phase to phase, if at least four phases keep it within a tenth.
fn period(phases: &[Phase], limit: &Thresholds) -> Option<f64> {
    if phases.len() < 4 {
        return None;
    }
    let mut steps: Vec<f64> = phases.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
    let middle = median(&mut steps)?;
    steps.iter_mut().for_each(|step| *step = (*step - middle).abs());
    (median(&mut steps)? <= limit.period_jitter.0 * middle).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::{Phase, phases};
    use crate::pattern::random;
    use crate::{Direction, Layer, Thresholds, Trace, TraceRow};
    use netra_event::{Rank, RecordId};
    use proptest::prelude::*;

    fn trace(intervals: &[(f64, f64)]) -> Trace {
        let mut trace = Trace::default();
        let file = trace.file(RecordId(1));
        for &(start, end) in intervals {
            let direction = Direction::Write;
            trace.push(TraceRow {
                file,
                rank: 0,
                layer: Layer::Posix,
                direction,
                start,
                end,
                offset: 0,
                length: 1,
            });
        }
        trace
    }

    #[track_caller]
    fn finds(intervals: &[(f64, f64)], want: &[(f64, f64)]) {
        let phases = phases(&trace(intervals), 8, &Thresholds::default());
        let got: Vec<(f64, f64)> = phases
            .iter()
            .flat_map(|all| &all.job.phases)
            .map(|phase| (phase.start, phase.end))
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn nothing_traced_has_no_phase() {
        finds(&[], &[]);
    }

    #[test]
    fn one_interval_is_one_phase() {
        finds(&[(3.0, 4.0)], &[(3.0, 4.0)]);
    }

    #[test]
    fn an_isolated_last_phase_is_kept() {
        finds(&[(0.0, 1.4), (10.0, 10.5)], &[(0.0, 1.4), (10.0, 10.5)]);
    }

    #[test]
    fn thousands_of_tiny_gaps_are_one_phase() {
        let calls: Vec<(f64, f64)> =
            (0..5000).map(|at| f64::from(at) * 2e-3).map(|at| (at, at + 1e-3)).collect();
        assert_eq!(phases(&trace(&calls), 8, &Thresholds::default()).unwrap().job.phases.len(), 1);
    }

    #[test]
    fn bytes_that_pass_two_layers_count_once() {
        let mut both = trace(&[(0.0, 1.0)]);
        let posix = both.rows().next().unwrap();
        both.push(TraceRow { layer: Layer::Mpiio, length: 3, ..posix });
        let found = phases(&both, 8, &Thresholds::default()).unwrap().job.phases;
        assert_eq!((found[0].bytes_read, found[0].bytes_written, found[0].calls), (0, 3, 2));
    }

    #[test]
    fn even_phases_have_a_period() {
        let calls: Vec<(f64, f64)> =
            (0..6).map(|at| f64::from(at) * 60.0).map(|at| (at, at + 5.0)).collect();
        assert_eq!(
            phases(&trace(&calls), 8, &Thresholds::default()).unwrap().job.period,
            Some(60.0)
        );
    }

    /// Joins any two intervals that touch or lie within the gap until nothing changes.
    fn joined(mut all: Vec<(f64, f64)>, gap: f64) -> Vec<(f64, f64)> {
        'again: loop {
            for a in 0..all.len() {
                for b in 0..all.len() {
                    if a != b && all[a].0 <= all[b].0 && all[b].0 - all[a].1 <= gap {
                        let other = all[b];
                        all[a].1 = all[a].1.max(other.1);
                        all.remove(b);
                        continue 'again;
                    }
                }
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            return all;
        }
    }

    /// How long one rank is busy within a phase.
    fn busy(trace: &Trace, phase: &Phase, rank: u32) -> Option<f64> {
        let mine: Vec<(f64, f64)> = trace
            .rows()
            .filter(|row| row.rank == rank && row.start >= phase.start && row.end <= phase.end)
            .map(|row| (row.start, row.end))
            .collect();
        (!mine.is_empty()).then(|| joined(mine, 0.0).iter().map(|(start, end)| end - start).sum())
    }

    proptest! {
        #[test]
        fn agrees_with_joining_by_hand(trace in random::trace()) {
            let limit = Thresholds::default();
            let Some(found) = phases(&trace, 8, &limit) else {
                prop_assert!(trace.is_empty());
                return Ok(());
            };
            let all: Vec<(f64, f64)> = trace.rows().map(|row| (row.start, row.end)).collect();
            let merged = joined(all.clone(), 0.0);
            let gaps: Vec<f64> = merged.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
            let count = gaps.len().max(1) as f64;
            let mean = gaps.iter().sum::<f64>() / count;
            let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
            let span = merged.last().unwrap().1 - merged[0].0;
            let most = (limit.phase_gap_share.0 * span).max(limit.phase_gap_min.0);
            let gap = (mean + deviation).clamp(limit.phase_gap_min.0, most);
            prop_assert!((found.job.gap - gap).abs() < 1e-9);
            // A gap equal to the limit may fall on either side of it after rounding.
            prop_assume!(gaps.iter().all(|one| (one - gap).abs() > 1e-9));
            let want = joined(all, gap);
            let got: Vec<(f64, f64)> = found.job.phases.iter().map(|phase| (phase.start, phase.end)).collect();
            prop_assert_eq!(got, want);
            for phase in &found.job.phases {
                let times: Vec<(Rank, f64)> = (0..4)
                    .filter_map(|rank| Some((Rank(i64::from(rank)), busy(&trace, phase, rank)?)))
                    .collect();
                prop_assert_eq!(phase.ranks, times.len() as u64);
                let busy = times.iter().fold(0.0, |sum, time| sum + time.1);
                prop_assert_eq!(phase.busy, busy);
                let span = phase.end - phase.start;
                let at_a_time = if span > 0.0 { busy / span } else { 0.0 };
                prop_assert!((phase.concurrency() - at_a_time).abs() < 1e-9);
                let most = times.iter().map(|time| time.1).fold(0.0, f64::max);
                let least = times.iter().map(|time| time.1).fold(f64::INFINITY, f64::min);
                let first = |wanted: f64| times.iter().find(|time| time.1 == wanted).unwrap().0;
                prop_assert_eq!(phase.slowest, (first(most), most));
                prop_assert_eq!(phase.fastest, (first(least), least));
            }
        }
    }
}
