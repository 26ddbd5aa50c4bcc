//! `one-rank-heavy`: one rank moves nearly all bytes of a file that many ranks share.
//!
//! Often rank 0: the program gathers data to it, or MPI-IO takes it as the only aggregator. The
//! others wait. Looked at below MPI-IO, where the file system sees it. The cost assumes that eight
//! ranks, or all where there are fewer, would share the work evenly.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, percent, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "one-rank-heavy",
    title: "one rank does the work of all",
    explains: &[
        "byte-imbalance",
        "time-imbalance",
        "straggler",
        "small-shared-reads",
        "small-shared-writes",
        "aggregators",
    ],
    sources: query::EXTREMES,
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let files: Vec<&FileFacts> = facts
        .files_of_ranks()
        .iter()
        .filter(|file| file.is_shared())
        .filter(|file| {
            file.through(Layer::Posix).is_some_and(|usage| usage.bytes() >= limit.heavy_bytes.0)
        })
        .collect();
    if files.is_empty() {
        return Outcome::Silent;
    }
    let found: Vec<Finding> = files.iter().filter_map(|file| one(file, facts, limit)).collect();
    Outcome::from(found, || {
        format!("no rank moves nearly all of one of {} shared files", files.len())
    })
}

fn one(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let (heavy, sum) = file.heaviest.get(&Layer::Posix).zip(file.through(Layer::Posix))?;
    let share = heavy.bytes as f64 / sum.bytes() as f64;
    if share < limit.heavy_share.0 || heavy.bytes < limit.heavy_bytes.0 {
        return None;
    }
    let sharers = file.ranks(facts.who.ranks).min(8) as f64;
    let seconds = file.slowest.get(&Layer::Posix).map_or(0.0, |slowest| slowest.seconds);
    let lost = seconds * (1.0 - 1.0 / sharers);
    let says = format!(
        "rank {} moves {} of the {} of {}, which {} ranks share",
        heavy.rank,
        percent(share),
        Bytes(sum.bytes()),
        file.name(),
        count(file.ranks(facts.who.ranks)),
    );
    let finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::High)
        .to(&[Audience::Developer, Audience::User])
        .bytes("bytes by that rank", heavy.bytes)
        .bytes("bytes by all", sum.bytes())
        .seconds("its seconds", seconds)
        .about(&[file])
        .by(&[heavy.rank])
        .gains(lost, format!("{sharers:.0} ranks share the work evenly"));
    let collective = file
        .through(Layer::Mpiio)
        .is_some_and(|usage| usage.read.collective + usage.write.collective > 0);
    Some(finding.advise(if collective {
        Advice::with("use more aggregators", "MPI_Info_set(info, \"cb_nodes\", \"<nodes>\");")
    } else {
        Advice::with(
            "let every rank write its own part instead of sending it to one",
            "MPI_File_write_at_all(fh, offset_of_rank, buffer, count, type, &status);",
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// Rank 0 moves so many of 1,000 MiB.
    fn job(mib: u64) -> Sample {
        let mut job = Sample::new(16, 100.0);
        let usage = job.summed("/lus/out", (3, 0.1), (0, 80.0));
        usage.write.bytes = 1000 << 20;
        usage.write.seconds = 81.0;
        if let Some((_, slowest)) = &mut usage.extremes {
            slowest.bytes = mib << 20;
        }
        job
    }

    #[test]
    fn fires_on_rank_0() {
        job(990).says(&RULE, "rank 0 moves 99 % of the 0.98 GiB of out, which 16 ranks share");
        assert_eq!(job(990).finds(&RULE)[0].lost, 70.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(899).silent(&RULE);
        assert_eq!(job(900).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_shared_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }

    #[test]
    fn only_ranks_are_compared() {
        assert_eq!(job(1000).finds(&RULE).len(), 1);
        job(1000).unranked().silent(&RULE);
    }
}
