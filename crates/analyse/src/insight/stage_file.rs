//! `stage-file`: every rank reads all of the same small file.
//!
//! One rank can read it and tell the others, or it can be copied to the nodes before the job starts.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, names, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stage-file",
    title: "a small file that every rank reads",
    explains: &["small-shared-reads", "common-blocks"],
    sources: &[query::POSIX, query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let ranks = |file: &FileFacts| file.ranks(facts.who.ranks);
    let read = |file: &FileFacts| {
        let layers = [Layer::Posix, Layer::Stdio];
        layers
            .iter()
            .filter_map(|layer| file.through(*layer))
            .find(|usage| usage.read.bytes > 0)
            .map(|usage| usage.read)
    };
    let shared: Vec<&FileFacts> = facts
        .files_of_ranks()
        .iter()
        .filter(|file| ranks(file) >= limit.shared_posix_ranks && read(file).is_some())
        .collect();
    if shared.is_empty() {
        return Outcome::Silent;
    }
    let whole = |file: &&FileFacts| {
        read(file).is_some_and(|flow| {
            let size = flow.last_byte.map_or(0, |last| last + 1);
            size > 0
                && size <= limit.reread_bytes.0
                && flow.bytes as f64 >= 0.5 * (size * ranks(file)) as f64
        })
    };
    let mut found: Vec<&FileFacts> = shared.iter().copied().filter(whole).collect();
    let path = facts.cost_in(&found, |_, spent| spent.part(spent.read + spent.meta));
    if found.is_empty() || path.seconds < limit.shared_posix_seconds.0 {
        return Outcome::Passed(format!(
            "{} shared inputs cost no second together, or are read in parts",
            shared.len()
        ));
    }
    found.sort_by_key(|file| std::cmp::Reverse(read(file).map_or(0, |flow| flow.bytes)));
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let size = read(found[0]).and_then(|flow| flow.last_byte).map_or(0, |last| last + 1);
    let says = format!(
        "{} ranks each read all of {} ({})",
        count(ranks(found[0])),
        names(&list),
        Bytes(size)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::User, Audience::Developer])
            .count("files", found.len() as u64)
            .bytes("size of the first", size)
            .about(&found)
            .by(&[path.rank])
            .advise(Advice::with(
                "copy it to every node before the program starts",
                "srun --ntasks-per-node=1 cp INPUT /tmp/",
            ))
            .advise(Advice::with(
                "or read it on one rank and tell the others",
                "MPI_Bcast(buffer, count, type, 0, MPI_COMM_WORLD);",
            ))
            .gains(path.seconds, "reading on the node costs next to nothing"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(slowest: f64) -> Sample {
        let mut job = Sample::new(64, 100.0);
        let usage = job.summed("/lus/input", (1, slowest / 2.0), (0, slowest));
        usage.read.bytes = 64 << 20;
        usage.read.last_byte = Some((1 << 20) - 1);
        usage.read.seconds = 60.0 * slowest;
        job
    }

    #[test]
    fn fires_on_a_small_file_that_all_read() {
        job(5.0).says(&RULE, "64 ranks each read all of input (1.00 MiB)");
        assert_eq!(job(5.0).finds(&RULE)[0].lost, 5.0);
    }

    #[test]
    fn is_silent_just_below() {
        job(0.99).silent(&RULE);
    }

    #[test]
    fn is_silent_without_reads() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
