//! `waits-in-open`: opening a file took minutes and moved nothing.
//!
//! That is waiting, not I/O: a named pipe whose other end came late, a lock, or a server that hung.
//! Such time is left out of the time in I/O, because it overlaps with whatever the process waited for.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, counted, names};
use crate::metric::FileFacts;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Module, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "waits-in-open",
    title: "opens that only wait",
    explains: &["metadata-time", "open-storm"],
    sources: &[
        Source::Counters(
            Module::Posix,
            &[
                "POSIX_OPENS",
                "POSIX_F_OPEN_START_TIMESTAMP",
                "POSIX_F_OPEN_END_TIMESTAMP",
                "POSIX_F_META_TIME",
            ],
        ),
        Source::Counters(
            Module::Mpiio,
            &[
                "MPIIO_INDEP_OPENS",
                "MPIIO_COLL_OPENS",
                "MPIIO_F_OPEN_START_TIMESTAMP",
                "MPIIO_F_OPEN_END_TIMESTAMP",
                "MPIIO_F_META_TIME",
            ],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    if facts.critical.waiting <= 0.0 {
        return Outcome::Silent;
    }
    let mut files: Vec<(f64, &FileFacts)> = facts
        .files
        .iter()
        .filter_map(|file| Some((file.through(Layer::Posix)?.meta, file)))
        .filter(|(meta, file)| {
            *meta >= limit.waiting_share.0 * facts.run_time && file.bytes() < limit.small_request.0
        })
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let files: Vec<&FileFacts> = files.into_iter().map(|(_, file)| file).collect();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "opening {} took up to {} each and moved next to nothing: a pipe, a lock or a server that hung ({})",
        counted(files.len() as u64, "file"),
        Seconds(facts.critical.waiting),
        names(&list),
    );
    Outcome::Found(vec![
        Finding::costing(RULE.slug, facts.critical.waiting, says, facts, limit)
            .sure(Confidence::Low)
            .to(&[Audience::Developer])
            .seconds("longest", facts.critical.waiting)
            .count("files", files.len() as u64)
            .about(&files)
            .advise(Advice::new("if these are pipes between processes there is nothing to gain here: look at what the other end does meanwhile")),
    ])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(meta: f64) -> Sample {
        let mut job = Sample::new(1, 1000.0);
        let usage = job.posix("/run/pipe", 0);
        (usage.meta, usage.opens) = (meta, 1);
        job
    }

    #[test]
    fn fires_on_an_open_of_minutes() {
        job(900.0).says(&RULE, "opening 1 file took up to 900 s each and moved next to nothing: a pipe, a lock or a server that hung (pipe)");
    }

    #[test]
    fn is_silent_just_below() {
        job(9.9).silent(&RULE);
        assert_eq!(job(10.0).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_files() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
