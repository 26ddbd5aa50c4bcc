//! What the two rules about redundant access share.
//!
//! Bytes moved are compared with the different bytes there are: those of the trace where it covers the file, else
//! up to the highest offset. Both per rank, so that ranks that each move a file once do not count.

use super::{Advice, Audience, Confidence, Finding, Outcome, names};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::Bytes;

pub(super) fn check(
    slug: &'static str,
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Outcome {
    let used = |file: &&FileFacts| {
        file.through(Layer::Posix).is_some_and(|usage| usage.flow(direction).bytes > 0)
    };
    if !facts.files.iter().any(|file| used(&file)) {
        return Outcome::Silent;
    }
    let mut found: Vec<(&FileFacts, u64, u64)> = facts
        .files
        .iter()
        .filter(used)
        .filter_map(|file| {
            amounts(file, direction, facts).map(|(moved, different)| (file, moved, different))
        })
        .filter(|(_, moved, different)| {
            *moved as f64 >= limit.redundant_factor.0 * *different as f64
        })
        .collect();
    let moved: u64 = found.iter().map(|one| one.1).sum();
    let different: u64 = found.iter().map(|one| one.2).sum();
    if moved.saturating_sub(different) < limit.redundant_bytes.0 {
        return Outcome::Passed(format!(
            "hardly any byte is {} twice by the same {}",
            past(direction),
            facts.one()
        ));
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.1 - one.2));
    Outcome::Found(vec![finding(slug, direction, &found, (moved, different), (facts, limit))])
}

fn past(direction: Direction) -> &'static str {
    if direction == Direction::Read { "read" } else { "written" }
}

fn finding(
    slug: &'static str,
    direction: Direction,
    found: &[(&FileFacts, u64, u64)],
    (moved, different): (u64, u64),
    (facts, limit): (&Facts, &Thresholds),
) -> Finding {
    let files: Vec<&FileFacts> = found.iter().map(|one| one.0).collect();
    let path = facts.cost_in(&files, |file, spent| {
        let seconds = if direction == Direction::Read { spent.read } else { spent.write };
        let amounts = amounts(file, direction, facts).filter(|_| spent.layer != Layer::Stdio);
        amounts.map_or(0.0, |(moved, different)| {
            spent.part(seconds) * (1.0 - different as f64 / moved as f64)
        })
    });
    let list: Vec<&str> = found.iter().map(|one| one.0.name()).collect();
    let factor = moved as f64 / different.max(1) as f64;
    let side = if direction == Direction::Read { "read from" } else { "written to" };
    let hold = if found.len() == 1 { "holds" } else { "hold" };
    let says = format!(
        "{} are {side} {}, which {hold} {}: every byte {factor:.1} times",
        Bytes(moved),
        names(&list),
        Bytes(different)
    );
    Finding::costing(slug, path.seconds, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer, Audience::User])
        .bytes("bytes moved", moved)
        .bytes("different bytes", different)
        .ratio("factor", factor)
        .about(&files)
        .by(&[path.rank])
        .advise(match direction {
            Direction::Read => Advice::with(
                "keep what was read in memory, or stage it on the node once",
                "cp INPUT /tmp/  # then read /tmp/INPUT",
            ),
            Direction::Write => Advice::new("write each part once, when it is final"),
        })
        .gains(path.seconds, "the first time costs what it does now, the others nothing")
}

/// Bytes moved and different bytes, both of one rank where ranks share the file.
fn amounts(file: &FileFacts, direction: Direction, facts: &Facts) -> Option<(u64, u64)> {
    let flow = file.through(Layer::Posix)?.flow(direction);
    let side = usize::from(direction == Direction::Write);
    let traced = facts.traced.as_ref().and_then(|traced| traced.file(file.id));
    let whole = traced.filter(|traced| traced.bytes[side] == flow.bytes && !file.is_shared());
    let different =
        whole.map(|traced| traced.unique[side]).or(flow.last_byte.map(|last| last + 1))?;
    Some((flow.bytes / file.ranks(facts.nprocs), different))
}
