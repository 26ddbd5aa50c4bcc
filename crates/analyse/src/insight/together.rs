//! What the two rules about independent MPI-IO calls share.
//!
//! Collective calls let a few ranks move large blocks for all. One collective call among thousands of independent ones
//! does not count as using them: the share decides. The cost is the time in these calls beyond what their bytes
//! take in large calls, so that large independent calls, which need no help, cost nothing.

use super::{Advice, Audience, Confidence, Finding, Outcome, count, names, percent};
use crate::metric::{FileFacts, Path, Rate};
use crate::{Direction, Facts, Flow, Layer, Thresholds};
use netra_event::Seconds;

pub(super) fn check(
    slug: &'static str,
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Outcome {
    let flow = |file: &FileFacts| {
        file.through(Layer::Mpiio).map(|usage| *usage.flow(direction)).unwrap_or_default()
    };
    let files: Vec<&FileFacts> =
        facts.files.iter().filter(|file| file.is_shared() && flow(file).calls > 0).collect();
    if files.is_empty() {
        return Outcome::Silent;
    }
    let alone = |flow: Flow| {
        flow.independent > limit.collective_count
            && (flow.collective as f64) < limit.collective_share.0 * flow.calls as f64
    };
    let found: Vec<&FileFacts> = files.iter().copied().filter(|file| alone(flow(file))).collect();
    let verb = direction.verb();
    if found.is_empty() {
        let (all, together) = files
            .iter()
            .map(|file| flow(file))
            .fold((0, 0), |sum, one| (sum.0 + one.calls, sum.1 + one.collective));
        return Outcome::Passed(format!(
            "{} of {} MPI-IO {verb}s of shared files are collective, and the others cost no more than {}",
            count(together),
            count(all),
            Seconds(cost(direction, &files, facts).seconds)
        ));
    }
    Outcome::Found(vec![finding(slug, direction, &found, facts, limit)])
}

fn finding(
    slug: &'static str,
    direction: Direction,
    found: &[&FileFacts],
    facts: &Facts,
    limit: &Thresholds,
) -> Finding {
    let flow = |file: &FileFacts| {
        file.through(Layer::Mpiio).map(|usage| *usage.flow(direction)).unwrap_or_default()
    };
    let (independent, collective) = found
        .iter()
        .map(|file| flow(file))
        .fold((0, 0), |sum, one| (sum.0 + one.independent, sum.1 + one.collective));
    let path = cost(direction, found, facts);
    let verb = direction.verb();
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} MPI-IO {verb}s of {} are independent, {} collective ({})",
        count(independent),
        names(&list),
        count(collective),
        percent(collective as f64 / (independent + collective).max(1) as f64),
    );
    let finding = Finding::costing(slug, path.seconds, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer])
        .count("independent", independent)
        .count("collective", collective)
        .about(found)
        .by(&[path.rank])
        .gains(path.seconds, format!("collective calls {}", facts.rates.of(direction)));
    finding.advise(if found.first().is_some_and(|file| file.through(Layer::H5d).is_some()) {
        Advice::with("ask HDF5 for collective transfers", "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);")
    } else {
        let code = format!("MPI_File_{verb}_at_all(fh, offset, buffer, count, type, &status);\nMPI_Info_set(info, \"cb_nodes\", \"<nodes>\");");
        Advice::with("use the collective call, with one aggregator a node", code)
    })
}

/// What independent calls cost.
fn cost(direction: Direction, files: &[&FileFacts], facts: &Facts) -> Path {
    facts.cost_in(files, |file, spent| {
        let flow = file.through(Layer::Mpiio).map(|usage| *usage.flow(direction));
        let seconds = if direction == Direction::Read { spent.read } else { spent.write };
        weight(&flow.unwrap_or_default(), facts.rates.of(direction)) * spent.part(seconds)
    })
}

/// The share of a file's time that goes beyond what its bytes need.
fn weight(flow: &Flow, rate: Rate) -> f64 {
    let alone = flow.independent as f64 / flow.calls.max(1) as f64;
    rate.lost(flow.calls, flow.bytes, flow.seconds) * alone
}
