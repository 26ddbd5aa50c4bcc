//! `hdf5-collective-lost`: HDF5 was asked for collective transfers, but MPI-IO saw independent calls.
//!
//! HDF5 falls back silently: for filters without parallel support, for type conversion, for selections it
//! cannot combine, and in some versions by mistake. `H5Pget_mpio_no_collective_cause` tells which.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names, query};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "hdf5-collective-lost",
    title: "HDF5 asked for collective transfers and got none",
    explains: &[
        "independent-reads",
        "independent-writes",
        "small-shared-reads",
        "small-shared-writes",
    ],
    sources: &[
        Source::Counters(
            Module::H5d,
            &[
                "H5D_USE_MPIIO_COLLECTIVE",
                "H5D_READS",
                "H5D_WRITES",
                "H5D_BYTES_READ",
                "H5D_BYTES_WRITTEN",
            ],
        ),
        query::MPIIO,
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let asked: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| file.through(Layer::H5d).is_some_and(|usage| usage.asks_collective))
        .filter(|file| file.layers.contains_key(&Layer::Mpiio))
        .collect();
    if asked.is_empty() {
        return Outcome::Silent;
    }
    let lost = |file: &FileFacts, direction: Direction| {
        let above = file.through(Layer::H5d).is_some_and(|usage| usage.flow(direction).calls > 0);
        let below =
            file.through(Layer::Mpiio).map(|usage| *usage.flow(direction)).unwrap_or_default();
        if above && below.collective == 0 { below.independent } else { 0 }
    };
    let calls = |file: &FileFacts| lost(file, Direction::Read) + lost(file, Direction::Write);
    let mut found: Vec<&FileFacts> = asked.iter().copied().filter(|file| calls(file) > 0).collect();
    if found.is_empty() {
        return Outcome::Passed("HDF5's collective transfers reach MPI-IO".into());
    }
    found.sort_by_key(|file| std::cmp::Reverse(calls(file)));
    let path = facts.cost_in(&found, |file, spent| {
        let read = if lost(file, Direction::Read) > 0 { spent.read } else { 0.0 };
        let write = if lost(file, Direction::Write) > 0 { spent.write } else { 0.0 };
        let Some(usage) = file.through(Layer::Mpiio) else { return 0.0 };
        let calls = usage.read.calls + usage.write.calls;
        let rate = facts.rates.of(Direction::Write);
        spent.part(read + write) * rate.lost(calls, usage.bytes(), usage.seconds())
    });
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let total: u64 = found.iter().map(|file| calls(file)).sum();
    let says = format!(
        "HDF5 was asked for collective transfers of {}, MPI-IO made {} independent calls and no collective one",
        names(&list),
        count(total)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::High)
            .to(&[Audience::Developer, Audience::Administrator])
            .count("independent calls", total)
            .about(&found)
            .by(&[path.rank])
            .advise(Advice::with(
                "ask HDF5 why, right after the transfer",
                "uint32_t local, global;\nH5Pget_mpio_no_collective_cause(dxpl, &local, &global);",
            ))
            .gains(path.seconds, format!("collective calls {}", facts.rates.of(Direction::Write))),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Layer, Usage};
    use netra_event::Rank;

    fn job(collective: u64) -> Sample {
        let mut job = Sample::new(8, 100.0);
        let file = job.id("/lus/out.h5");
        let mut data = Usage::new(Layer::H5d, file, Rank::SHARED);
        (data.asks_collective, data.write.calls) = (true, 80);
        job.job.usages.push(data);
        let usage = job.summed_as(Layer::Mpiio, "/lus/out.h5", (0, 19.0), (1, 20.0));
        usage.write.seconds = 156.0;
        (usage.write.calls, usage.write.independent, usage.write.collective) =
            (5000, 5000 - collective, collective);
        job
    }

    #[test]
    fn fires_when_no_call_is_collective() {
        job(0).says(&RULE, "HDF5 was asked for collective transfers of out.h5, MPI-IO made 5,000 independent calls and no collective one");
        assert_eq!(job(0).finds(&RULE)[0].lost, 20.0);
    }

    #[test]
    fn is_silent_when_some_are() {
        job(1).silent(&RULE);
    }

    #[test]
    fn is_silent_without_hdf5() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
