//! `narrow-stripe`: a large file that many ranks share lies on one storage target.
//!
//! All of its bytes go through one server, and MPI-IO's Lustre driver takes one aggregator a
//! stripe, so one rank does all the work and the others wait. The cost assumes that eight targets
//! are eight times as fast, and as many as there are GiB in the file for smaller ones.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, names, percent, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "narrow-stripe",
    title: "a large shared file on one storage target",
    explains: &[
        "one-rank-heavy",
        "byte-imbalance",
        "time-imbalance",
        "straggler",
        "time-between-layers",
        "small-shared-reads",
        "small-shared-writes",
        "misaligned-file",
        "misaligned-memory",
        "stalled-call",
        "independent-reads",
        "independent-writes",
        "redundant-reads",
        "aggregators",
        "shared-stripes",
        "no-mpiio",
        "ost-imbalance",
        "phase-stragglers",
    ],
    sources: &[query::LAYOUT, query::POSIX, query::MPIIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let large: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| file.layout.is_some() && file.bytes() >= limit.narrow_bytes.0)
        .filter(|file| file.ranks(facts.nprocs) >= limit.narrow_ranks)
        .collect();
    if large.is_empty() {
        return Outcome::Silent;
    }
    let narrow: Vec<&FileFacts> = large
        .iter()
        .copied()
        .filter(|file| file.layout.as_ref().is_some_and(|layout| layout.stripe_count == 1))
        .collect();
    if narrow.is_empty() {
        return Outcome::Passed(format!(
            "{} large shared files have more than one stripe",
            large.len()
        ));
    }
    Outcome::Found(vec![finding(facts, limit, &narrow)])
}

/// Targets that a file of this size should have.
fn wanted(file: &FileFacts) -> u64 {
    (file.bytes() >> 30).clamp(2, 8)
}

fn finding(facts: &Facts, limit: &Thresholds, narrow: &[&FileFacts]) -> Finding {
    let saved = |file: &FileFacts| 1.0 - 1.0 / wanted(file) as f64;
    let lost = facts.cost_in(narrow, |file, _| saved(file)).seconds;
    let largest = narrow.iter().max_by_key(|file| file.bytes()).copied().unwrap_or(narrow[0]);
    let list: Vec<&str> = narrow.iter().map(|file| file.name()).collect();
    let heavy = largest.heaviest.get(&Layer::Posix).zip(largest.through(Layer::Posix));
    let alone = heavy
        .filter(|(heavy, sum)| heavy.bytes as f64 >= limit.heavy_share.0 * sum.bytes() as f64)
        .map(|(heavy, sum)| {
            format!(
                ", and {} moves {} of the {} of {}",
                facts.who.called(heavy.rank),
                percent(heavy.bytes as f64 / sum.bytes().max(1) as f64),
                Bytes(sum.bytes()),
                largest.name()
            )
        });
    let says = format!(
        "{} {} share {} with stripe count 1: one storage target serves them all{}",
        count(facts.nprocs),
        facts.noun(),
        names(&list),
        alone.unwrap_or_default(),
    );
    let directory = largest
        .path
        .rsplit_once('/')
        .map_or("DIRECTORY", |(directory, _)| if directory.is_empty() { "/" } else { directory });
    let finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::High)
        .to(&[Audience::User])
        .count("files", narrow.len() as u64)
        .bytes("bytes moved of the largest", largest.bytes())
        .count("stripe count", 1)
        .about(narrow)
        .by(&heavy.map(|(heavy, _)| heavy.rank).into_iter().collect::<Vec<_>>())
        .advise(Advice::with(
            "stripe the directory before the files are created (existing files keep their layout)",
            format!(
                "lfs setstripe --stripe-count {} --stripe-size 4M {directory}",
                wanted(largest)
            ),
        ))
        .gains(
            lost,
            format!("{} targets are {} times as fast as one", wanted(largest), wanted(largest)),
        );
    if facts.layers.contains_key(&Layer::Mpiio) {
        return finding.advise(Advice::with(
            "or ask MPI-IO for it",
            format!("MPI_Info_set(info, \"striping_factor\", \"{}\");", wanted(largest)),
        ));
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(gib: u64, osts: &[u64]) -> Sample {
        let mut job = Sample::new(64, 1000.0);
        let usage = job.summed("/lus/run/out.h5", (5, 390.0), (0, 400.0));
        usage.write.bytes = gib << 30;
        usage.write.seconds = 25_000.0;
        if let Some((_, slowest)) = &mut usage.extremes {
            slowest.bytes = gib << 30;
        }
        job.layout("/lus/run/out.h5", 1 << 20, osts);
        job
    }

    #[test]
    fn fires_on_one_stripe() {
        job(40, &[7]).says(
            &RULE,
            "64 ranks share out.h5 with stripe count 1: one storage target serves them all, and rank 0 moves 100 % of the 40.0 GiB of out.h5",
        );
        let found = job(40, &[7]).finds(&RULE);
        assert_eq!(found[0].lost, 350.0);
        assert_eq!(
            found[0].advice[0].code.as_deref(),
            Some("lfs setstripe --stripe-count 8 --stripe-size 4M /lus/run")
        );
    }

    #[test]
    fn is_silent_with_two_stripes_or_below_a_gibibyte() {
        job(40, &[7, 8]).silent(&RULE);
        job(0, &[7]).silent(&RULE);
    }

    #[test]
    fn is_silent_without_layouts() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
