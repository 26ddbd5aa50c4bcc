//! Phases: bursts of I/O with quiet time between them.
//!
//! The intervals of all ranks are merged; a gap longer than the mean gap plus one standard
//! deviation separates two phases (the rule of the paper). Bare, that rule never separates two
//! bursts with one gap between them and tears a stream of equal tiny gaps apart, so the limit is
//! kept between two others: a gap below [`Thresholds::phase_gap_min`] never separates, one above
//! [`Thresholds::phase_gap_share`] of the traced time always does.

use netra_event::Rank;

use super::{median, parallel};
use crate::{Direction, Layer, Run, Thresholds, Trace};

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
    /// Ranks that took part.
    pub ranks: u64,
    /// The rank that was busy for the shortest time, and for how long.
    pub fastest: (Rank, f64),
    /// The rank that was busy for the longest time, and for how long.
    pub slowest: (Rank, f64),
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
}

/// Finds phases; `None` where nothing was traced.
#[must_use]
pub fn phases(trace: &Trace, limit: &Thresholds) -> Option<Phases> {
    if trace.is_empty() {
        return None;
    }
    let mut sets: Vec<(Option<Layer>, Vec<&Run>)> = Vec::new();
    for layer in [Layer::Posix, Layer::Stdio, Layer::Mpiio] {
        let runs: Vec<&Run> = trace.runs().iter().filter(|run| run.layer == layer).collect();
        if !runs.is_empty() {
            sets.push((Some(layer), runs));
        }
    }
    if sets.len() > 1 {
        sets.push((None, trace.runs().iter().collect()));
    }
    let mut lists = parallel::map(&sets, |(_, runs)| find(trace, runs, limit));
    // Where one layer was traced, its phases are the job's.
    let job = if sets.len() > 1 { lists.pop()? } else { lists.first()?.clone() };
    let layers = sets.iter().filter_map(|set| set.0).zip(lists).collect();
    Some(Phases { job, layers })
}

/// The phases of some runs.
fn find(trace: &Trace, runs: &[&Run], limit: &Thresholds) -> PhaseList {
    let Some((gap, borders)) = quiet(trace, runs, limit) else { return PhaseList::default() };
    let starts: Vec<f64> = borders.iter().map(|quiet| quiet.1).collect();
    let mut bursts: Vec<Burst> = (0..=borders.len()).map(|_| Burst::default()).collect();
    let mut ranks: Vec<&Run> = runs.to_vec();
    ranks.sort_by_key(|run| run.rank);
    let ranks: Vec<&[&Run]> = ranks.chunk_by(|a, b| a.rank == b.rank).collect();
    for parts in parallel::map(&ranks, |runs| one_rank(trace, runs, &starts)) {
        for (at, part) in parts {
            bursts[at].add(part);
        }
    }
    let found: Vec<Phase> = bursts.into_iter().filter_map(Burst::phase).collect();
    PhaseList { period: period(&found, limit), phases: found, gap }
}

/// The shortest gap that does not separate, and the quiet times that do; nothing without calls.
fn quiet(trace: &Trace, runs: &[&Run], limit: &Thresholds) -> Option<(f64, Vec<(f64, f64)>)> {
    let (mut first, mut end) = (None, f64::NEG_INFINITY);
    // Count, mean and squared distances, updated one gap at a time (Welford).
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut long: Vec<(f64, f64)> = Vec::new();
    for row in trace.in_order(runs.iter().copied()) {
        if first.is_some() && row.start > end {
            let gap = row.start - end;
            count += 1.0;
            let delta = gap - mean;
            mean += delta / count;
            squares += delta * (gap - mean);
            if gap > limit.phase_gap_min.0 {
                long.push((end, row.start));
            }
        }
        first.get_or_insert(row.start);
        end = f64::max(end, row.end);
    }
    let span = end - first?;
    let deviation: f64 = if count > 0.0 { (squares / count).sqrt() } else { 0.0 };
    let most = (limit.phase_gap_share.0 * span).max(limit.phase_gap_min.0);
    let gap = (mean + deviation).clamp(limit.phase_gap_min.0, most);
    long.retain(|quiet| quiet.1 - quiet.0 > gap);
    Some((gap, long))
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

/// One rank's parts in phases that begin, but for the first, at these times.
fn one_rank(trace: &Trace, runs: &[&Run], starts: &[f64]) -> Vec<(usize, Part)> {
    let mut parts: Vec<(usize, Part)> = Vec::new();
    for row in trace.in_order(runs.iter().copied()) {
        let known = parts.last().map_or(0, |part| part.0);
        // Calls come in order, so the phase is the last one's or one of the next.
        let at = known + starts[known..].iter().take_while(|start| **start <= row.start).count();
        if parts.last().is_none_or(|part| part.0 != at) {
            let (rank, start, end) = (row.rank, row.start, row.start);
            parts.push((at, Part { rank, start, end, calls: 0, bytes: [[0; 3]; 2], busy: 0.0 }));
        }
        let Some((_, part)) = parts.last_mut() else { continue };
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
    parts
}

/// A phase while it is being filled, rank after rank.
#[derive(Debug, Clone, Default)]
struct Burst {
    span: Option<(f64, f64)>,
    calls: u64,
    bytes: [[u64; 3]; 2],
    ranks: u64,
    /// Of equals the lowest rank, which comes first.
    fastest: Option<(Rank, f64)>,
    slowest: Option<(Rank, f64)>,
}

impl Burst {
    fn add(&mut self, part: Part) {
        let (start, end) = self.span.unwrap_or((part.start, part.end));
        self.span = Some((start.min(part.start), end.max(part.end)));
        self.calls += part.calls;
        let sums = self.bytes.iter_mut().flatten().zip(part.bytes.iter().flatten());
        sums.for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        self.ranks += 1;
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
        let phases = phases(&trace(intervals), &Thresholds::default());
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
        assert_eq!(phases(&trace(&calls), &Thresholds::default()).unwrap().job.phases.len(), 1);
    }

    #[test]
    fn bytes_that_pass_two_layers_count_once() {
        let mut both = trace(&[(0.0, 1.0)]);
        let posix = both.rows().next().unwrap();
        both.push(TraceRow { layer: Layer::Mpiio, length: 3, ..posix });
        let found = phases(&both, &Thresholds::default()).unwrap().job.phases;
        assert_eq!((found[0].bytes_read, found[0].bytes_written, found[0].calls), (0, 3, 2));
    }

    #[test]
    fn even_phases_have_a_period() {
        let calls: Vec<(f64, f64)> =
            (0..6).map(|at| f64::from(at) * 60.0).map(|at| (at, at + 5.0)).collect();
        assert_eq!(phases(&trace(&calls), &Thresholds::default()).unwrap().job.period, Some(60.0));
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
            let Some(found) = phases(&trace, &limit) else {
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
                let most = times.iter().map(|time| time.1).fold(0.0, f64::max);
                let least = times.iter().map(|time| time.1).fold(f64::INFINITY, f64::min);
                let first = |wanted: f64| times.iter().find(|time| time.1 == wanted).unwrap().0;
                prop_assert_eq!(phase.slowest, (first(most), most));
                prop_assert_eq!(phase.fastest, (first(least), least));
            }
        }
    }
}
