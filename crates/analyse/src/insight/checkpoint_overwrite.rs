//! `checkpoint-overwrite`: the same file is written from its beginning again and again.
//!
//! A job that dies while it overwrites its only checkpoint has none. Not a matter of time, so it has no cost.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Module};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "checkpoint-overwrite",
    title: "a file written over and over",
    explains: &["redundant-writes"],
    sources: &[
        Source::Counters(
            Module::Posix,
            &["POSIX_OPENS", "POSIX_WRITES", "POSIX_BYTES_WRITTEN", "POSIX_MAX_BYTE_WRITTEN"],
        ),
        Source::Counters(
            Module::Stdio,
            &["STDIO_OPENS", "STDIO_BYTES_WRITTEN", "STDIO_MAX_BYTE_WRITTEN"],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let mut found: Vec<(u64, u64, &FileFacts)> = Vec::new();
    let mut written = false;
    for file in &facts.files {
        let Some(posix) = file.through(Layer::Posix).filter(|usage| usage.write.bytes > 0) else {
            continue;
        };
        written = true;
        let ranks = file.ranks(facts.nprocs);
        let size = posix.write.last_byte.map_or(0, |last| last + 1);
        let times = posix.write.bytes / size.max(1);
        let again = posix.opens / ranks.max(1) >= 2
            && times >= 2
            && posix.write.bytes - size >= limit.redundant_bytes.0;
        // Under MPI-IO more bytes than asked for are data sieving, not a second version.
        let asked =
            file.through(Layer::Mpiio).is_none_or(|usage| usage.write.bytes / size.max(1) >= 2);
        if again && asked {
            found.push((times, size, file));
        }
    }
    if !written {
        return Outcome::Silent;
    }
    found.sort_by_key(|one| std::cmp::Reverse((one.0, one.1)));
    let Some(&(times, size, worst)) = found.first() else {
        return Outcome::Passed("no file is written over and over".into());
    };
    let files: Vec<&FileFacts> = found.iter().map(|one| one.2).collect();
    Outcome::Found(vec![
        Finding::note(RULE.slug, format!("{} ({}) is opened and written over {} times: while that happens there is no good copy", worst.name(), Bytes(size), count(times)))
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .count("times", times)
            .bytes("size", size)
            .about(&files)
            .advise(Advice::with("write to a new name and rename it, or take turns between two files", "rename(\"checkpoint.new\", \"checkpoint\");")),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(times: u64, opens: u64) -> Sample {
        let mut job = Sample::new(1, 100.0);
        let usage = job.posix("/lus/restart", 0);
        usage.write.bytes = times << 30;
        usage.write.last_byte = Some((1 << 30) - 1);
        usage.opens = opens;
        job
    }

    #[test]
    fn fires_on_a_file_written_again() {
        job(5, 5).says(&RULE, "restart (1.00 GiB) is opened and written over 5 times: while that happens there is no good copy");
    }

    #[test]
    fn is_silent_just_below() {
        job(1, 5).silent(&RULE);
        job(5, 1).silent(&RULE);
    }

    #[test]
    fn is_silent_without_writes() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
