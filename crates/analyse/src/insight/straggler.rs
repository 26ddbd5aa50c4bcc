//! `straggler`: a few ranks spend far more time in I/O of their own than the others.
//!
//! Far is measured in median absolute deviations with floors, see `pattern::stragglers`. Where a
//! tenth of the ranks stand out they are not stragglers: the program gives them another job.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::FileFacts;
use crate::pattern::{median, stragglers};
use crate::{Facts, Thresholds};
use netra_event::{Rank, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "straggler",
    title: "a few ranks are much slower",
    explains: &[],
    sources: &[query::POSIX, query::STDIO, query::MPIIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut times: Vec<(Rank, f64)> =
        facts.ranks.by_rank.iter().map(|(rank, facts)| (*rank, facts.seconds)).collect();
    times.retain(|time| facts.who.is_rank(time.0));
    // Ranks without a record of their own have spent nothing of their own.
    if facts.who.ranks < 8 || times.is_empty() {
        return Outcome::Silent;
    }
    let known: std::collections::BTreeSet<i64> = times.iter().map(|time| time.0.0).collect();
    times.extend(
        (0..facts.who.ranks.cast_signed())
            .filter(|rank| !known.contains(rank))
            .map(|rank| (Rank(rank), 0.0)),
    );
    let found = stragglers(&times, limit);
    if found.is_empty() || found.len() as f64 > limit.straggler_part.0 * facts.who.ranks as f64 {
        return Outcome::Passed(format!(
            "no rank of {} stands out in I/O of its own",
            count(facts.who.ranks)
        ));
    }
    let slowest = found[0];
    let middle = median(&mut times.iter().map(|time| time.1).collect::<Vec<_>>()).unwrap_or(0.0);
    let says = format!(
        "{} of {} ranks take far longer than the rest: rank {} {}, the median {}",
        count(found.len() as u64),
        count(facts.who.ranks),
        slowest.rank,
        Seconds(slowest.seconds),
        Seconds(middle),
    );
    let ranks: Vec<Rank> = found.iter().map(|one| one.rank).collect();
    let files = slow_files(facts, &ranks);
    let list: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    Outcome::Found(vec![
        Finding::costing(RULE.slug, slowest.beyond, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::User, Audience::Administrator])
            .count("stragglers", found.len() as u64)
            .seconds("slowest", slowest.seconds)
            .seconds("median", middle)
            .about(&files)
            .by(&ranks)
            .advise(Advice::new(format!(
                "look at what these ranks do alone: {}",
                super::names(&list)
            )))
            .gains(slowest.beyond, "the stragglers take the median time"),
    ])
}

/// Where each of these ranks spent most, at most a hundred.
fn slow_files<'a>(facts: &'a Facts, ranks: &[Rank]) -> Vec<&'a FileFacts> {
    let mut files: Vec<&FileFacts> = Vec::new();
    for rank in ranks.iter().take(100) {
        let own = facts.critical.spent.iter().filter(|spent| spent.rank == *rank);
        let most = own.max_by(|a, b| a.total().total_cmp(&b.total()));
        files.extend(
            most.and_then(|most| facts.file(most.file))
                .filter(|file| files.iter().all(|known| known.id != file.id)),
        );
    }
    files
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(slow: f64) -> Sample {
        let mut job = Sample::new(32, 100.0);
        for rank in 0..32 {
            job.posix(&format!("/lus/{rank}"), rank).write.seconds =
                if rank == 9 { slow } else { 10.0 };
        }
        job
    }

    #[test]
    fn fires_on_one_slow_rank() {
        job(40.0).says(
            &RULE,
            "1 of 32 ranks take far longer than the rest: rank 9 40.0 s, the median 10.0 s",
        );
        assert_eq!(job(40.0).finds(&RULE)[0].lost, 30.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(15.0).silent(&RULE);
        assert_eq!(job(15.1).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_ranks() {
        Sample::new(16, 10.0).silent(&RULE);
    }

    #[test]
    fn processes_that_nobody_called_ranks_are_not_compared() {
        job(40.0).unranked().silent(&RULE);
    }

    #[test]
    fn what_a_script_starts_beside_ranks_is_not_compared_with_them() {
        let mut job = job(10.0).beside(1);
        job.posix("/lus/after", 32).write.seconds = 90.0;
        job.silent(&RULE);
        job.posix("/lus/more", 9).write.seconds = 30.0;
        job.says(
            &RULE,
            "1 of 32 ranks take far longer than the rest: rank 9 40.0 s, the median 10.0 s",
        );
    }
}
