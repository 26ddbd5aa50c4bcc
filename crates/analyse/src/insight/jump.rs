//! What the two rules about random access share.
//!
//! A call counts as random when it begins before the end of the last one of the same rank and direction. The first
//! after each open never counts, and files whose bytes are moved again and again are left to the rules about
//! redundancy: going through a file twice is not random.

use super::{Advice, Audience, Confidence, Finding, Outcome, count, names, percent};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::Seconds;

pub(super) fn check(
    slug: &'static str,
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Outcome {
    let calls = |file: &FileFacts| {
        file.through(Layer::Posix).map_or(0, |usage| usage.flow(direction).calls)
    };
    let all: u64 = facts.files.iter().map(calls).sum();
    if all == 0 {
        return Outcome::Silent;
    }
    let jumps = |file: &FileFacts| jumps(file, direction, limit);
    let random: u64 = facts.files.iter().map(jumps).sum();
    let share = random as f64 / all as f64;
    let verb = direction.verb();
    if random <= limit.random_count || share <= limit.random_share.0 {
        return Outcome::Passed(format!(
            "{} of {} {verb}s go forward in their file",
            percent(1.0 - share),
            count(all)
        ));
    }
    let mut found: Vec<&FileFacts> = facts.files.iter().filter(|file| jumps(file) > 0).collect();
    found.sort_by_key(|file| std::cmp::Reverse(jumps(file)));
    let path = facts.cost_in(&found, |file, spent| {
        let seconds = if direction == Direction::Read { spent.read } else { spent.write };
        let own = if spent.layer == Layer::Stdio { 0.0 } else { spent.part(seconds) };
        weight(file, direction, facts, limit) * own
    });
    if facts.share(path.seconds) < limit.worth_share.0 {
        return Outcome::Passed(format!(
            "{} of {} {verb}s jump backwards, but cost no more than {}",
            percent(share),
            count(all),
            Seconds(path.seconds),
        ));
    }
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} of {} {verb}s jump backwards, most of them in {}",
        percent(share),
        count(all),
        names(&list)
    );
    Outcome::Found(vec![
        Finding::costing(slug, path.seconds, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::Developer])
            .count("backward jumps", random)
            .count("calls", all)
            .about(&found)
            .by(&[path.rank])
            .advise(Advice::new(format!("sort the {verb}s by offset, or make them so large that the position does not matter")))
            .gains(path.seconds, format!("sequential {verb}s {}", facts.rates.of(direction))),
    ])
}

/// Calls of a file that jump backwards.
fn jumps(file: &FileFacts, direction: Direction, limit: &Thresholds) -> u64 {
    let Some(posix) = file.through(Layer::Posix) else { return 0 };
    let flow = posix.flow(direction);
    let size = flow.last_byte.map(|last| last + 1);
    if size.is_some_and(|size| flow.bytes as f64 > limit.redundant_factor.0 * size as f64) {
        return 0;
    }
    flow.calls.saturating_sub(flow.sequential).saturating_sub(posix.opens.max(1))
}

/// The share of a file's time that its jumps cost.
fn weight(file: &FileFacts, direction: Direction, facts: &Facts, limit: &Thresholds) -> f64 {
    let Some(flow) = file.through(Layer::Posix).map(|usage| usage.flow(direction)) else {
        return 0.0;
    };
    let share = jumps(file, direction, limit) as f64 / flow.calls.max(1) as f64;
    facts.rates.of(direction).lost(flow.calls, flow.bytes, flow.seconds) * share
}
