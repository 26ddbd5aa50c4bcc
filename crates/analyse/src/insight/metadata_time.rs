//! `metadata-time`: a rank spends long in opens, closes, stats and seeks.
//!
//! Per rank, never summed over ranks: half a second on each of 65,536 ranks is half a second.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, counted};
use crate::metric::{FileFacts, Spent};
use crate::{Facts, Layer, Thresholds};
use netra_event::{Module, Rank, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "metadata-time",
    title: "much time in metadata calls",
    explains: &["open-storm", "seek-storm", "file-per-process"],
    sources: &[
        Source::Counters(
            Module::Posix,
            &["POSIX_OPENS", "POSIX_STATS", "POSIX_SEEKS", "POSIX_FSYNCS", "POSIX_F_META_TIME"],
        ),
        Source::Counters(Module::Stdio, &["STDIO_OPENS", "STDIO_SEEKS", "STDIO_F_META_TIME"]),
        Source::Counters(
            Module::Mpiio,
            &["MPIIO_INDEP_OPENS", "MPIIO_COLL_OPENS", "MPIIO_SYNCS", "MPIIO_F_META_TIME"],
        ),
    ],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let opens: u64 = facts.layers.values().map(|layer| layer.opens).sum();
    if opens == 0 {
        return Outcome::Silent;
    }
    let path = facts.cost(|spent| spent.part(spent.meta));
    let long = path.seconds > limit.metadata_seconds.0
        || (facts.share(path.seconds) > limit.metadata_share.0
            && path.seconds >= limit.floor_seconds.0);
    if !long {
        return Outcome::Passed(format!(
            "no {} spends more than {} in metadata calls",
            facts.one(),
            Seconds(path.seconds)
        ));
    }
    let files = costliest(facts, path.rank);
    let total =
        facts.files.iter().filter(|file| file.layers.values().any(|usage| usage.opens > 0)).count();
    let says = format!(
        "{} spends {} in opens, closes, stats and seeks ({} of {} by all {})",
        facts.who.called(path.rank),
        Seconds(path.seconds),
        counted(opens, "open"),
        counted(total as u64, "file"),
        facts.noun(),
    );
    let finding = Finding::costing(RULE.slug, path.seconds, says, facts, limit)
        .sure(Confidence::High)
        .to(&[Audience::Developer, Audience::User])
        .seconds(format!("metadata seconds of the slowest {}", facts.one()), path.seconds)
        .count("opens", opens)
        .about(&files)
        .by(&[path.rank]);
    let through = |layer| files.first().is_some_and(|file| file.through(layer).is_some());
    let finding = if in_mpiio(facts, path.rank) {
        finding.advise(Advice::new(
            "most of it is in MPI_File_open, close, set_view and sync, in which ranks wait for each other: open files once, early, and by few ranks where few use them; ranks that come late to the call make the others wait",
        ))
    } else {
        finding
    };
    Outcome::Found(vec![if through(Layer::H5d) && through(Layer::Mpiio) {
        finding.advise(Advice::with(
            "let HDF5 read and write its metadata collectively, and keep files open",
            "H5Pset_all_coll_metadata_ops(fapl, true);\nH5Pset_coll_metadata_write(fapl, true);",
        ))
    } else if through(Layer::H5d) {
        finding.advise(Advice::with(
            "keep HDF5 files open, and let HDF5 write its metadata in larger blocks",
            "H5Pset_meta_block_size(fapl, 1 << 20);\nH5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);  /* h5py: File(path, libver=\"latest\", meta_block_size=1 << 20) */",
        ))
    } else if finding.advice.is_empty() {
        finding.advise(Advice::new(
            "open files once and keep them open; put many small files into one",
        ))
    } else {
        finding
    }])
}

/// Whether most of a rank's metadata time is spent in MPI-IO.
fn in_mpiio(facts: &Facts, rank: Rank) -> bool {
    let sum = |mpiio: bool| -> f64 {
        let spent = facts.critical.spent.iter();
        let of = spent.filter(|spent| (spent.layer == Layer::Mpiio) == mpiio);
        of.map(|spent| spent.of_rank(rank) * spent.part(spent.meta)).sum()
    };
    sum(true) > sum(false)
}

/// The files that make up four fifths of a rank's metadata time, costliest first.
fn costliest(facts: &Facts, rank: Rank) -> Vec<&FileFacts> {
    let meta = |spent: &Spent| spent.of_rank(rank) * spent.part(spent.meta);
    let mut spent: Vec<(f64, &Spent)> =
        facts.critical.spent.iter().map(|spent| (meta(spent), spent)).collect();
    spent.sort_by(|a, b| b.0.total_cmp(&a.0));
    let enough = spent.iter().map(|one| one.0).sum::<f64>() * 0.8;
    let mut sum = 0.0;
    let most = spent.into_iter().take_while(|one| {
        let more = sum < enough;
        sum += one.0;
        more
    });
    most.filter_map(|one| facts.file(one.1.file)).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;

    fn job(ranks: u64, meta: f64) -> Sample {
        let mut job = Sample::new(ranks, 1000.0);
        let usage = job.summed("/lus/f", (1, meta * 0.9), (0, meta));
        usage.meta = meta * ranks as f64;
        usage.opens = ranks;
        job
    }

    #[test]
    fn fires_on_a_rank_with_more_than_thirty_seconds() {
        job(16, 31.0).says(&RULE, "rank 0 spends 31.0 s in opens, closes, stats and seeks (16 opens of 1 file by all ranks)");
    }

    #[test]
    fn is_silent_just_below_and_never_sums_over_ranks() {
        job(16, 30.0).silent(&RULE);
        job(65_536, 0.54).silent(&RULE);
    }

    #[test]
    fn is_silent_without_opens() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
