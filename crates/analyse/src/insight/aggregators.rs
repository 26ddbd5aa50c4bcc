//! `aggregators`: fewer ranks write for the others than there are nodes, or many more.
//!
//! In collective MPI-IO a few ranks, the aggregators, write for all. Counted are those that really moved bytes,
//! not those that a hint asks for. One a node is the usual choice. Needs the number of nodes and a record per rank.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "aggregators",
    title: "fewer aggregators than nodes",
    explains: &[],
    sources: &[query::MPIIO, query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(nodes) = facts.nodes.filter(|nodes| *nodes > 1) else { return Outcome::Silent };
    let gathered: Vec<(&FileFacts, u64)> = facts
        .files_of_ranks()
        .iter()
        .filter(|file| file.bytes() >= limit.narrow_bytes.0)
        .filter(|file| {
            file.through(Layer::Mpiio)
                .is_some_and(|usage| usage.read.collective + usage.write.collective > 0)
        })
        .filter_map(|file| Some((file, *file.movers.get(&Layer::Posix)?)))
        .filter(|(_, movers)| *movers < facts.who.ranks)
        .collect();
    if gathered.is_empty() {
        return Outcome::Silent;
    }
    let few: Vec<(&FileFacts, u64)> =
        gathered.iter().copied().filter(|(_, movers)| *movers < nodes).collect();
    let Some(&(worst, movers)) = few.iter().min_by_key(|one| one.1) else {
        return Outcome::Passed(format!(
            "at least one rank a node ({nodes} nodes) writes for the others"
        ));
    };
    let files: Vec<&FileFacts> = few.iter().map(|one| one.0).collect();
    Outcome::Found(vec![
        Finding::note(
            RULE.slug,
            format!(
                "{} of {} ranks write {} for the others, on {} nodes",
                count(movers),
                count(facts.who.ranks),
                worst.name(),
                count(nodes)
            ),
        )
        .sure(Confidence::Medium)
        .to(&[Audience::User, Audience::Developer])
        .count("aggregators", movers)
        .count("nodes", nodes)
        .about(&files)
        .advise(Advice::with(
            "use one aggregator a node",
            format!("MPI_Info_set(info, \"cb_nodes\", \"{nodes}\");"),
        )),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Layer;
    use crate::sample::Sample;

    /// 64 ranks on 8 nodes; so many of them move a GiB each.
    fn job(movers: i64) -> Sample {
        let mut job = Sample::new(64, 100.0);
        job.job.nodes = Some(8);
        let usage = job.summed_as(Layer::Mpiio, "/lus/out", (0, 1.0), (1, 2.0));
        (usage.write.calls, usage.write.collective) = (64, 64);
        for rank in 0..movers {
            job.posix("/lus/out", rank).write.bytes = 1 << 30;
        }
        job
    }

    #[test]
    fn fires_on_fewer_than_nodes() {
        job(4).says(&RULE, "4 of 64 ranks write out for the others, on 8 nodes");
    }

    #[test]
    fn is_silent_with_one_a_node() {
        job(7).finds(&RULE);
        job(8).silent(&RULE);
    }

    #[test]
    fn is_silent_without_nodes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
