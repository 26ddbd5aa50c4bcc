//! `open-storm`: the same file is opened again and again.
//!
//! Every open asks the metadata server; a program that opens a file for each step or line asks it thousands of times.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "open-storm",
    title: "files opened again and again",
    explains: &[],
    sources: &[
        Source::Counters(
            Module::Posix,
            &["POSIX_OPENS", "POSIX_READS", "POSIX_WRITES", "POSIX_F_META_TIME"],
        ),
        Source::Counters(
            Module::Stdio,
            &["STDIO_OPENS", "STDIO_READS", "STDIO_WRITES", "STDIO_F_META_TIME"],
        ),
        Source::Counters(
            Module::Mpiio,
            &["MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS", "MPIIO_F_META_TIME"],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let opens = |file: &FileFacts| {
        let layers = [Layer::Posix, Layer::Stdio];
        layers.iter().filter_map(|layer| file.through(*layer)).map(|usage| usage.opens).sum::<u64>()
    };
    let per_rank = |file: &FileFacts| opens(file) / file.ranks(facts.nprocs).max(1);
    if facts.files.iter().all(|file| opens(file) == 0) {
        return Outcome::Silent;
    }
    let mut found: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| !file.is_standard_stream() && per_rank(file) >= limit.opens_per_rank)
        .collect();
    if found.is_empty() {
        return Outcome::Passed(format!(
            "no file is opened {} times by each {}",
            limit.opens_per_rank,
            facts.one()
        ));
    }
    found.sort_by_key(|file| std::cmp::Reverse(opens(file)));
    let path = facts.cost_in(&found, |_, spent| spent.part(spent.meta));
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} is opened {} times{}",
        list[0],
        count(opens(found[0])),
        if list.len() > 1 { format!(", and so are {}", names(&list[1..])) } else { String::new() }
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("opens of the first", opens(found[0]))
            .about(&found)
            .by(&[path.rank])
            .advise(Advice::new("open the file once and keep it open"))
            .gains(path.seconds, format!("one open a {} is left", facts.one())),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(opens: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/log", 0);
        (usage.opens, usage.meta) = (opens, 4.0);
        job
    }

    #[test]
    fn fires_on_many_opens() {
        job(3_000).says(&RULE, "log is opened 3,000 times");
        assert_eq!(job(3_000).finds(&RULE)[0].lost, 4.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(99).silent(&RULE);
    }

    #[test]
    fn is_silent_without_opens() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
