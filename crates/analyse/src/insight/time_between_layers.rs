//! `time-between-layers`: MPI-IO takes much longer than the POSIX calls it makes.
//!
//! The time is spent between the layers: waiting for locks or for each other, exchanging data,
//! copying. Independent calls are compared direction by direction. In collective calls most ranks
//! wait for the aggregators by design, so the slowest rank above is compared with the busiest below,
//! and more of a difference is needed.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, percent, query};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds, Usage};
use netra_event::Seconds;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "time-between-layers",
    title: "time lost between MPI-IO and POSIX",
    explains: &["time-imbalance", "phase-stragglers"],
    sources: &[query::MPIIO, query::POSIX],
    check,
};

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let both = |file: &&FileFacts| {
        let above = file.through(Layer::Mpiio);
        above.zip(file.through(Layer::Posix)).is_some_and(|(above, _)| above.bytes() > 0)
    };
    let files: Vec<&FileFacts> = facts.files.iter().filter(both).collect();
    if files.is_empty() {
        return Outcome::Silent;
    }
    let mut found: Vec<Finding> = files.iter().filter_map(|file| one(file, facts, limit)).collect();
    found.sort_by(|a, b| b.lost.total_cmp(&a.lost));
    // One sentence for the costliest file; the others are its kin.
    let Some(first) = found.first().cloned() else {
        return Outcome::Passed(
            "MPI-IO takes little more time than the POSIX calls below it".into(),
        );
    };
    let files: Vec<_> = found.iter().flat_map(|one| one.files.clone()).collect();
    Outcome::Found(vec![Finding { files, ..first }])
}

fn one(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let (above, below) = file.through(Layer::Mpiio).zip(file.through(Layer::Posix))?;
    let collective = above.read.collective + above.write.collective;
    if collective * 2 > above.read.calls + above.write.calls {
        gathered(file, facts, limit)
    } else {
        Direction::BOTH
            .into_iter()
            .filter_map(|direction| independent(file, (above, below), direction, facts, limit))
            .max_by(|a, b| a.lost.total_cmp(&b.lost))
    }
}

fn independent(
    file: &FileFacts,
    (above, below): (&Usage, &Usage),
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Option<Finding> {
    let (above, below) = (above.flow(direction).seconds, below.flow(direction).seconds);
    // No rank can lose more than its slowest took, which spares the search in most files.
    let most = file.slowest.get(&Layer::Mpiio).map_or(0.0, |slowest| slowest.seconds);
    if above <= limit.layer_factor.0 * below || most < limit.layer_seconds.0 {
        return None;
    }
    let between = 1.0 - below / above;
    let path = facts.cost(|spent| {
        let seconds = if direction == Direction::Read { spent.read } else { spent.write };
        if spent.file == file.id && spent.layer == Layer::Mpiio {
            spent.part(seconds) * between
        } else {
            0.0
        }
    });
    if path.seconds < limit.layer_seconds.0 || facts.share(path.seconds) < limit.layer_share.0 {
        return None;
    }
    let verb = direction.verb();
    let says = format!(
        "MPI-IO {verb}s of {} take {} of all ranks, the POSIX {verb}s below them {}: {} of the time is lost between the layers",
        file.name(),
        Seconds(above),
        Seconds(below),
        percent(between),
    );
    let network = matches!(file.file_system.as_deref(), Some("nfs" | "nfs4"));
    let lock = if network {
        "on NFS ROMIO locks every call, so that the ranks take turns"
    } else {
        "ranks take turns, most likely for a lock"
    };
    Some(
        Finding::costing(RULE.slug, path.seconds, says, facts, limit)
            .sure(Confidence::High)
            .to(&[Audience::Developer, Audience::User])
            .seconds("MPI-IO rank seconds", above)
            .seconds("POSIX rank seconds", below)
            .about(&[file])
            .by(&[path.rank])
            .advise(Advice::with(format!("{lock}: write to a parallel file system, or let one rank a node write (collective buffering)"), "MPI_Info_set(info, \"romio_cb_write\", \"enable\");  /* and MPI_File_write_at_all */"))
            .gains(path.seconds, "the calls become as fast as the POSIX calls below"),
    )
}

fn gathered(file: &FileFacts, facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let (above, below) = (file.slowest.get(&Layer::Mpiio)?, file.slowest.get(&Layer::Posix)?);
    let lost = above.seconds - below.seconds;
    let share = facts.share(lost);
    let much = lost >= limit.collective_layer_seconds.0 || share >= limit.collective_layer_most.0;
    if above.seconds <= limit.collective_layer_factor.0 * below.seconds
        || share < limit.collective_layer_share.0
        || !much
    {
        return None;
    }
    let says = format!(
        "collective MPI-IO on {} takes {}, the busiest rank below in POSIX {}: {} go into exchange and waiting",
        file.name(),
        Seconds(above.seconds),
        Seconds(below.seconds),
        Seconds(lost),
    );
    Some(
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::User, Audience::Developer])
            .seconds("MPI-IO seconds of the slowest rank", above.seconds)
            .seconds("POSIX seconds of the busiest rank", below.seconds)
            .about(&[file])
            .by(&[below.rank])
            .advise(Advice::with("use more aggregators and larger buffers", "MPI_Info_set(info, \"cb_nodes\", \"<nodes>\");\nMPI_Info_set(info, \"cb_buffer_size\", \"16777216\");"))
            .advise(Advice::with("try independent calls for comparison: with large blocks gathering may cost more than it saves", "MPI_Info_set(info, \"romio_cb_write\", \"disable\");"))
            .gains(lost, "collective calls take no longer than the busiest aggregator's POSIX calls"),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::Layer;
    use crate::sample::Sample;

    /// 32 ranks that write for so long in MPI-IO and 0.03 s below.
    fn job(above: f64) -> Sample {
        let mut job = Sample::new(32, 20.0);
        for rank in 0..32 {
            let usage = job.mpiio("/nfs/out", rank);
            usage.write.bytes = 1 << 26;
            usage.write.seconds = above;
            (usage.write.calls, usage.write.independent) = (4, 4);
            job.posix("/nfs/out", rank).write.seconds = 0.03;
        }
        job
    }

    #[test]
    fn fires_on_independent_calls() {
        job(5.0).says(
            &RULE,
            "MPI-IO writes of out take 160 s of all ranks, the POSIX writes below them 960 ms: 99.4 % of the time is lost between the layers",
        );
    }

    #[test]
    fn is_silent_just_below() {
        assert_eq!(job(2.04).finds(&RULE).len(), 1);
        job(2.02).silent(&RULE);
    }

    fn collective(above: f64, below: f64) -> Sample {
        collective_in(700.0, above, below)
    }

    fn collective_in(run: f64, above: f64, below: f64) -> Sample {
        let mut job = Sample::new(64, run);
        let usage = job.summed_as(Layer::Mpiio, "/lus/out", (1, above - 1.0), (0, above));
        usage.write.seconds = above * 64.0;
        usage.write.bytes = 1 << 36;
        (usage.write.calls, usage.write.collective) = (640, 640);
        job.posix("/lus/out", 3).write.seconds = below;
        job
    }

    #[test]
    fn collective_calls_may_wait_for_their_aggregators() {
        assert_eq!(collective(600.0, 200.0).finds(&RULE)[0].lost, 400.0);
        collective(600.0, 401.0).silent(&RULE);
        collective(250.0, 100.0).silent(&RULE);
    }

    /// A first try takes seconds, not minutes: what counts is that most of it went between the layers.
    #[test]
    fn a_short_run_that_is_mostly_waiting_is_told() {
        assert_eq!(collective_in(3.0, 2.0, 0.2).finds(&RULE)[0].lost, 1.8);
        collective_in(3.0, 1.6, 0.2).silent(&RULE);
    }

    #[test]
    fn is_silent_without_mpi_io() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
