//! `file-per-process`: nearly every rank has files of its own, a thousand and more in all.
//!
//! Fast to write, hard on the metadata server and on whoever reads them with another number of ranks. Shared memory, which MPI
//! libraries open by ranks, is no file in this sense.

use std::collections::BTreeSet;

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, query};
use crate::metric::{FileFacts, Sharing};
use crate::{Facts, Layer, Thresholds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "file-per-process",
    title: "a file per process",
    explains: &[],
    sources: &[query::POSIX, query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let own = |file: &&FileFacts| {
        matches!(file.sharing, Sharing::One(_))
            && !file.is_standard_stream()
            && !file.path.starts_with("/dev/shm/")
            && file
                .layers
                .iter()
                .any(|(layer, usage)| *layer != Layer::Stdio && usage.write.calls > 0)
    };
    let files: Vec<&FileFacts> = facts.files_of_ranks().iter().filter(own).collect();
    if facts.who.ranks < 2 || files.is_empty() {
        return Outcome::Silent;
    }
    let ranks: BTreeSet<_> = files
        .iter()
        .filter_map(|file| match file.sharing {
            Sharing::One(rank) => Some(rank),
            Sharing::Some(_) | Sharing::All => None,
        })
        .collect();
    let covered = ranks.len() as f64 >= limit.file_per_process_share.0 * facts.who.ranks as f64;
    if (files.len() as u64) < limit.file_per_process || !covered {
        return Outcome::Passed(format!(
            "{} files are written by one rank alone",
            count(files.len() as u64)
        ));
    }
    let ids: BTreeSet<_> = files.iter().map(|file| file.id).collect();
    let path =
        facts.cost(|spent| if ids.contains(&spent.file) { spent.part(spent.meta) } else { 0.0 });
    let says = format!(
        "{} files are written by one rank each, on {} of {} ranks",
        count(files.len() as u64),
        count(ranks.len() as u64),
        count(facts.who.ranks)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("files", files.len() as u64)
            .count("ranks", ranks.len() as u64)
            .seconds("metadata seconds of the slowest rank", path.seconds)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::new("write one file per node or per group of ranks (subfiling in HDF5, cb_nodes in MPI-IO) once there are thousands"))
            .gains(path.seconds, "a shared file needs one open"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(files: i64) -> Sample {
        let mut job = Sample::new(1000, 100.0);
        for rank in 0..files {
            let usage = job.posix(&format!("/lus/out.{rank}"), rank);
            usage.write.calls = 1;
        }
        job
    }

    #[test]
    fn fires_on_a_thousand() {
        job(1000).says(&RULE, "1,000 files are written by one rank each, on 1,000 of 1,000 ranks");
    }

    #[test]
    fn is_silent_just_below() {
        job(999).silent(&RULE);
    }

    #[test]
    fn is_silent_about_shared_memory() {
        let mut job = Sample::new(1000, 100.0);
        for rank in 0..1000 {
            job.posix(&format!("/dev/shm/ucx.{rank}"), rank).write.calls = 1;
        }
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }

    #[test]
    fn a_script_that_writes_many_files_is_no_parallel_program() {
        assert_eq!(job(1000).finds(&RULE).len(), 1);
        job(1000).unranked().silent(&RULE);
    }
}
