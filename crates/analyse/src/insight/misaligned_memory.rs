//! `misaligned-memory`: many calls use a buffer that is not aligned in memory.
//!
//! It matters for direct I/O and for some network paths and costs little otherwise, so it is never
//! more than good to know. Files under MPI-IO are left out: their buffers are the library's.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names, percent};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::Module;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "misaligned-memory",
    title: "buffers not aligned in memory",
    explains: &[],
    sources: &[Source::Counters(
        Module::Posix,
        &["POSIX_READS", "POSIX_WRITES", "POSIX_MEM_NOT_ALIGNED", "POSIX_MEM_ALIGNMENT"],
    )],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let own = |file: &&FileFacts| !file.layers.contains_key(&Layer::Mpiio);
    let by =
        |file: &FileFacts| file.through(Layer::Posix).map_or(0, |usage| usage.memory_misaligned);
    let all = |file: &FileFacts| {
        file.through(Layer::Posix).map_or(0, |usage| usage.read.calls + usage.write.calls)
    };
    let calls: u64 = facts.files.iter().filter(own).map(all).sum();
    if calls == 0 {
        return Outcome::Silent;
    }
    let misaligned: u64 = facts.files.iter().filter(own).map(by).sum();
    let share = misaligned as f64 / calls as f64;
    if misaligned < limit.misaligned_count || share <= limit.misaligned_share.0 {
        return Outcome::Passed(format!(
            "{} of {} calls use an unaligned buffer",
            count(misaligned),
            count(calls)
        ));
    }
    let mut files: Vec<&FileFacts> =
        facts.files.iter().filter(own).filter(|file| by(file) > 0).collect();
    files.sort_by_key(|file| std::cmp::Reverse(by(file)));
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    Outcome::Found(vec![
        Finding::note(
            RULE.slug,
            format!(
                "{} of {} calls use a buffer that is not aligned, most of them for {}",
                percent(share),
                count(calls),
                names(&list)
            ),
        )
        .sure(Confidence::Low)
        .to(&[Audience::Developer])
        .count("calls", misaligned)
        .about(&files)
        .advise(Advice::with("align buffers to pages", "posix_memalign(&buffer, 4096, size);")),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(misaligned: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/f", 0);
        (usage.read.calls, usage.memory_misaligned) = (10_000, misaligned);
        job
    }

    #[test]
    fn fires_on_many() {
        job(9_000).says(
            &RULE,
            "90 % of 10,000 calls use a buffer that is not aligned, most of them for f",
        );
    }

    #[test]
    fn is_silent_just_below() {
        job(1_000).silent(&RULE);
    }

    #[test]
    fn buffers_of_mpi_io_are_its_own() {
        let mut job = job(9_000);
        job.mpiio("/lus/f", 0);
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_calls() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
