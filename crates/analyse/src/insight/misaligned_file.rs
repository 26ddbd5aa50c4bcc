//! `misaligned-file`: many calls begin inside a block of the file system.
//!
//! A block that a call covers only in part is read, locked and written for the part. It needs many calls that
//! are not much larger than a block: where calls are large their ends do not matter. Counters cannot tell what
//! it costs, so this is never more than good to know; `shared-stripes` measures the harm where calls were traced.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count, names, percent};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Module, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "misaligned-file",
    title: "calls that begin inside a block of the file system",
    explains: &[],
    sources: &[Source::Counters(
        Module::Posix,
        &[
            "POSIX_READS",
            "POSIX_WRITES",
            "POSIX_FILE_NOT_ALIGNED",
            "POSIX_FILE_ALIGNMENT",
            "POSIX_ACCESS1_ACCESS",
            "POSIX_ACCESS1_COUNT",
        ],
    )],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut calls = 0;
    let mut found: Vec<&FileFacts> = Vec::new();
    let mut misaligned = 0;
    for file in &facts.files {
        let Some(posix) = file.through(Layer::Posix) else { continue };
        let all = posix.read.calls + posix.write.calls;
        calls += all;
        if all > 0 && posix.file_misaligned > 0 && posix.bytes() / all < limit.misaligned_request.0
        {
            found.push(file);
            misaligned += posix.file_misaligned;
        }
    }
    if calls == 0 {
        return Outcome::Silent;
    }
    let share = misaligned as f64 / calls as f64;
    if misaligned < limit.misaligned_count || share <= limit.misaligned_share.0 {
        return Outcome::Passed(format!(
            "{} of {} calls begin inside a block where that matters",
            count(misaligned),
            count(calls)
        ));
    }
    let path = facts.cost_in(&found, |_, spent| spent.part(spent.read + spent.write));
    if facts.share(path.seconds) < limit.worth_share.0 {
        return Outcome::Passed(format!(
            "{} of {} calls begin inside a block, but take no more than {}",
            count(misaligned),
            count(calls),
            Seconds(path.seconds),
        ));
    }
    let by = |file: &FileFacts| file.through(Layer::Posix).map_or(0, |usage| usage.file_misaligned);
    found.sort_by_key(|file| std::cmp::Reverse(by(file)));
    let block = found[0].through(Layer::Posix).map_or(0, |usage| usage.file_alignment);
    let list: Vec<&str> = found.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} of {} calls begin inside a block of {}, most of them in {}",
        percent(share),
        count(calls),
        Bytes(block),
        names(&list)
    );
    let finding = Finding::note(RULE.slug, says)
        .sure(Confidence::Low)
        .to(&[Audience::Developer, Audience::User])
        .count("misaligned calls", misaligned)
        .bytes("block", block)
        .about(&found);
    Outcome::Found(vec![if found.first().is_some_and(|file| file.through(Layer::H5d).is_some()) {
        finding.advise(Advice::with(
            "let HDF5 put data sets at block borders",
            format!("H5Pset_alignment(fapl, {}, {block});", block / 2),
        ))
    } else {
        finding.advise(Advice::new(format!(
            "begin what each {} writes at a multiple of {}",
            facts.one(),
            Bytes(block)
        )))
    }])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(misaligned: u64, size: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/f", 0);
        (usage.write.calls, usage.write.bytes) = (10_000, 10_000 * size);
        usage.write.seconds = 5.0;
        (usage.file_misaligned, usage.file_alignment) = (misaligned, 1 << 20);
        job
    }

    #[test]
    fn fires_on_many_small_misaligned_calls() {
        job(9_000, 4096).says(
            &RULE,
            "90 % of 10,000 calls begin inside a block of 1.00 MiB, most of them in f",
        );
    }

    #[test]
    fn is_silent_just_below_and_for_large_calls() {
        job(1_000, 4096).silent(&RULE);
        job(9_000, 128 << 20).silent(&RULE);
    }

    #[test]
    fn is_silent_without_calls() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
