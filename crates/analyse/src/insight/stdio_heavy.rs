//! `stdio-heavy`: much of the data goes through C streams.
//!
//! Streams copy through a small buffer and one rank at a time; fine for logs, slow for data. Standard output and error
//! are looked at by `stdout-bulk`.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, names, percent, query};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Bytes, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "stdio-heavy",
    title: "bulk data through C streams",
    explains: &[],
    sources: &[query::STDIO],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    // What goes to standard output is the business of `stdout-bulk`: no buffer of the program mends it.
    let bytes = |file: &FileFacts| file.through(Layer::Stdio).map_or(0, |usage| usage.bytes());
    let data = facts.files.iter().filter(|file| !file.is_standard_stream() && bytes(file) > 0);
    let mut files: Vec<&FileFacts> = data.collect();
    let streams = files.iter().map(|file| bytes(file)).fold(0, u64::saturating_add);
    // POSIX has MPI-IO's bytes below it, so the larger of the two stands for both.
    let others = facts.layer(Layer::Posix).bytes().max(facts.layer(Layer::Mpiio).bytes())
        + facts.layer(Layer::Dfs).bytes();
    if streams == 0 {
        return Outcome::Silent;
    }
    let share = streams as f64 / (streams + others) as f64;
    let path = facts.cost_in(&files, |_, spent| f64::from(u8::from(spent.layer == Layer::Stdio)));
    if share <= limit.stdio_share.0 || streams < limit.stdio_bytes.0 {
        return Outcome::Passed(format!(
            "{} of the bytes go through C streams ({}), which take {}",
            percent(share),
            Bytes(streams),
            Seconds(path.seconds)
        ));
    }
    files.sort_by_key(|file| std::cmp::Reverse(bytes(file)));
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "{} of the bytes ({}) go through C streams, most of them to and from {}",
        percent(share),
        Bytes(streams),
        names(&list)
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::Developer])
            .bytes("bytes through streams", streams)
            .bytes("bytes otherwise", others)
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::with(
                "use larger buffers, or MPI-IO where ranks share the file",
                "setvbuf(stream, NULL, _IOFBF, 8 << 20);",
            ))
            .gains(path.seconds / 2.0, "larger buffers halve the time"),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    /// So many MiB through streams next to 900 MiB through POSIX.
    fn job(mib: u64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        job.stdio("/lus/text", 0).write.bytes = mib << 20;
        job.posix("/lus/data", 1).write.bytes = 900 << 20;
        job
    }

    #[test]
    fn fires_above_a_tenth() {
        job(300).says(
            &RULE,
            "25 % of the bytes (300 MiB) go through C streams, most of them to and from text",
        );
    }

    #[test]
    fn is_silent_just_below() {
        job(100).silent(&RULE);
        assert_eq!(job(101).finds(&RULE).len(), 1);
    }

    #[test]
    fn standard_output_is_the_business_of_another_rule() {
        let mut job = job(90);
        job.stdio("<STDOUT>", 0).write.bytes = 5_000 << 20;
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_streams() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
