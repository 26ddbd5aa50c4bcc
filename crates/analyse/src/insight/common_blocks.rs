//! `common-blocks`: nearly every rank reads the same blocks of a shared file.
//!
//! Typical for the metadata of HDF5 files, which every rank reads by itself unless told otherwise. Needs a trace.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, Source, count};
use crate::metric::FileFacts;
use crate::pattern::CommonBlocks;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Kind, Layer as Of, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "common-blocks",
    title: "blocks that every rank reads",
    explains: &["small-shared-reads", "random-reads", "redundant-reads", "independent-reads"],
    sources: &[Source::Calls(Of::Posix, &[Kind::Read])],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(traced) = &facts.traced else { return Outcome::Silent };
    let found: Vec<Finding> = traced
        .files
        .iter()
        .filter(|file| file.common.calls >= limit.common_block_calls)
        .filter_map(|file| Some(one(facts.file(file.file)?, &file.common, facts, limit)))
        .collect();
    if found.is_empty()
        && (facts.who.ranks < limit.common_block_ranks
            || traced.files.iter().all(|file| file.bytes[0] == 0))
    {
        return Outcome::Silent;
    }
    Outcome::from(found, || "no blocks that every rank reads".into())
}

fn one(file: &FileFacts, common: &CommonBlocks, facts: &Facts, limit: &Thresholds) -> Finding {
    let lost = common.rank_seconds / facts.who.ranks as f64;
    let says = format!(
        "{} blocks of {} are read by nearly all of {} ranks: {} reads, {} of all ranks",
        count(common.blocks),
        file.name(),
        count(facts.who.ranks),
        count(common.calls),
        Seconds(common.rank_seconds),
    );
    let finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::High)
        .to(&[Audience::Developer])
        .count("blocks", common.blocks)
        .count("reads", common.calls)
        .bytes("bytes", common.bytes)
        .seconds("rank seconds", common.rank_seconds)
        .about(&[file])
        .gains(lost, "one rank reads and tells the others");
    if file.through(Layer::H5d).is_some() || file.path.ends_with(".h5") {
        finding.advise(Advice::with(
            "let HDF5 read its metadata collectively",
            "H5Pset_all_coll_metadata_ops(fapl, true);",
        ))
    } else {
        finding.advise(Advice::with(
            "read on one rank and tell the others",
            "MPI_Bcast(buffer, count, type, 0, comm);",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};

    /// Sixteen ranks that each read the same so many blocks, a tenth of a second each.
    fn job(blocks: u64) -> Sample {
        let mut job = Sample::new(16, 100.0);
        let id = job.id("/lus/in.h5");
        for rank in 0..16 {
            job.posix("/lus/in.h5", rank).read.calls = blocks;
        }
        let file = job.job.trace.file(id);
        for block in 0..blocks {
            for rank in 0..16 {
                let start = block as f64;
                job.job.trace.push(TraceRow {
                    file,
                    rank,
                    layer: Layer::Posix,
                    direction: Direction::Read,
                    start,
                    end: start + 0.1,
                    offset: block * 512,
                    length: 512,
                });
            }
        }
        job
    }

    #[test]
    fn fires_on_blocks_that_all_read() {
        job(100).says(&RULE, "100 blocks of in.h5 are read by nearly all of 16 ranks: 1,600 reads, 160 s of all ranks");
    }

    #[test]
    fn is_silent_just_below() {
        job(62).silent(&RULE);
        assert_eq!(job(63).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(16, 10.0).silent(&RULE);
    }
}
