//! `time-between-layers`: MPI-IO takes much longer than the POSIX calls it makes.
//!
//! The time is spent between the layers: waiting for locks or for each other, exchanging data,
//! copying. Independent calls are compared direction by direction. In collective calls most ranks
//! wait for the aggregators by design, so the slowest rank above is compared with the busiest below,
//! and more of a difference is needed. A file that is used in both ways is looked at as what takes most of its time.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, names, percent, query};
use crate::metric::FileFacts;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::{Rank, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "time-between-layers",
    title: "time lost between MPI-IO and POSIX",
    explains: &["metadata-time", "time-imbalance", "phase-stragglers"],
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
    let (together, alone): (Vec<&FileFacts>, Vec<&FileFacts>) =
        files.into_iter().partition(|file| is_collective(file));
    let independent = Direction::BOTH
        .into_iter()
        .filter_map(|direction| independent(&alone, direction, facts, limit));
    let found = independent.chain(gathered(&together, facts, limit));
    // One sentence for what costs most; the others are its kin.
    match found.max_by(|a, b| a.lost.total_cmp(&b.lost)) {
        Some(most) => Outcome::Found(vec![most]),
        None => {
            let of = |layer: Layer| {
                let seconds = facts.layer(layer).rank_seconds;
                Seconds(seconds.iter().sum())
            };
            Outcome::Passed(format!(
                "MPI-IO takes {} of all ranks, and POSIX below it and beside it {}",
                of(Layer::Mpiio),
                of(Layer::Posix)
            ))
        }
    }
}

/// Whether most of the time goes into collective calls; where nobody knows the time of calls, whether most calls are.
fn is_collective(file: &FileFacts) -> bool {
    if let Some(share) = file.gathered {
        return share > 0.5;
    }
    file.through(Layer::Mpiio).is_some_and(|above| {
        (above.read.collective + above.write.collective) * 2 > above.read.calls + above.write.calls
    })
}

/// Seconds of all ranks in one direction, in MPI-IO and in POSIX.
fn seconds(file: &FileFacts, direction: Direction) -> (f64, f64) {
    let of = |layer| file.through(layer).map_or(0.0, |usage| usage.flow(direction).seconds);
    (of(Layer::Mpiio), of(Layer::Posix))
}

/// What files lose is added up: a checkpoint a step may cost little each, and much together.
fn independent(
    files: &[&FileFacts],
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Option<Finding> {
    let mut files: Vec<&FileFacts> = files.to_vec();
    files.retain(|file| {
        let (above, below) = seconds(file, direction);
        above > limit.layer_factor.0 * below
    });
    let lost = |file: &FileFacts| {
        let (above, below) = seconds(file, direction);
        above - below
    };
    files.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then_with(|| a.path.cmp(&b.path)));
    let (above, below) = files.iter().fold((0.0, 0.0), |sum, file| {
        let (above, below) = seconds(file, direction);
        (sum.0 + above, sum.1 + below)
    });
    let path = facts.cost_in(&files, |file, spent| {
        if spent.layer != Layer::Mpiio {
            return 0.0;
        }
        let part = if direction == Direction::Read { spent.read } else { spent.write };
        let (above, below) = seconds(file, direction);
        spent.part(part) * (1.0 - below / above)
    });
    let share = facts.share(path.seconds);
    let much = path.seconds >= limit.layer_seconds.0 || share >= limit.collective_layer_most.0;
    if files.is_empty() || share < limit.layer_share.0 || !much {
        return None;
    }
    let verb = direction.verb();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let says = format!(
        "MPI-IO {verb}s of {} take {} of all ranks, the POSIX {verb}s below them {}: {} of the time is lost between the layers",
        names(&list),
        Seconds(above),
        Seconds(below),
        percent(1.0 - below / above),
    );
    let network = matches!(files.first()?.file_system.as_deref(), Some("nfs" | "nfs4"));
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
            .about(&files)
            .by(&[path.rank])
            .advise(Advice::with(format!("{lock}: write to a parallel file system, or let one rank a node write (collective buffering)"), "MPI_Info_set(info, \"romio_cb_write\", \"enable\");  /* and MPI_File_write_at_all */"))
            .gains(path.seconds, "the calls become as fast as the POSIX calls below"),
    )
}

/// Of collective calls; what files lose is added up here too.
fn gathered(files: &[&FileFacts], facts: &Facts, limit: &Thresholds) -> Option<Finding> {
    let mut found: Vec<(f64, f64, Rank, &FileFacts)> = files
        .iter()
        .filter_map(|file| {
            let slowest = |layer| file.slowest.get(&layer);
            let (above, below) = slowest(Layer::Mpiio).zip(slowest(Layer::Posix))?;
            let much = above.seconds > limit.collective_layer_factor.0 * below.seconds;
            much.then_some((above.seconds, below.seconds, below.rank, *file))
        })
        .collect();
    found.sort_by(|a, b| (b.0 - b.1).total_cmp(&(a.0 - a.1)).then_with(|| a.3.path.cmp(&b.3.path)));
    let (above, below) = found.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Ranks that are slow in one file and not in the next would be added to more than any of them spends.
    let lost = (above - below).min(facts.critical.seconds);
    let share = facts.share(lost);
    let much = lost >= limit.collective_layer_seconds.0 || share >= limit.collective_layer_most.0;
    if found.is_empty() || share < limit.collective_layer_share.0 || !much {
        return None;
    }
    let files: Vec<&FileFacts> = found.iter().map(|one| one.3).collect();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let ranks = if files.len() == 1 { "rank" } else { "ranks" };
    let says = format!(
        "collective MPI-IO on {} takes {}, the busiest {ranks} below in POSIX {}: {} go into exchange and waiting",
        names(&list),
        Seconds(above),
        Seconds(below),
        Seconds(lost),
    );
    Some(
        Finding::costing(RULE.slug, lost, says, facts, limit)
            .sure(Confidence::Medium)
            .to(&[Audience::User, Audience::Developer])
            .seconds("MPI-IO seconds of the slowest rank", above)
            .seconds("POSIX seconds of the busiest rank", below)
            .about(&files)
            .by(&[found.first()?.2])
            .advise(Advice::with("use more aggregators and larger buffers", "MPI_Info_set(info, \"cb_nodes\", \"<nodes>\");\nMPI_Info_set(info, \"cb_buffer_size\", \"16777216\");"))
            .advise(Advice::with("try independent calls for comparison: with large blocks gathering may cost more than it saves", "MPI_Info_set(info, \"romio_cb_write\", \"disable\");"))
            .advise(Advice::new("have no more ranks than cores: a rank that waits in MPI takes a core away from those that work"))
            .gains(lost, "collective calls take no longer than the busiest aggregator's POSIX calls"),
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Layer, SiteUse};
    use netra_event::{Function, RecordId};

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
    fn files_that_lose_little_each_are_added_up() {
        let mut job = Sample::new(64, 100.0);
        for step in 0..8 {
            let path = format!("/lus/step.{step}");
            let usage = job.summed_as(Layer::Mpiio, &path, (1, 9.0), (0, 10.0));
            usage.write.seconds = 640.0;
            usage.write.bytes = 1 << 26;
            (usage.write.calls, usage.write.collective) = (64, 64);
            job.posix(&path, 3).write.seconds = 0.5;
        }
        job.says(&RULE, "collective MPI-IO on step.0, step.1 and 6 more takes 80.0 s, the busiest ranks below in POSIX 4.00 s: 76.0 s go into exchange and waiting");
        assert_eq!(job.finds(&RULE)[0].files.len(), 8);
        let mut job = Sample::new(4, 20.0);
        for (step, rank) in (0..8).flat_map(|step| (0..4).map(move |rank| (step, rank))) {
            let path = format!("/lus/step.{step}");
            let usage = job.mpiio(&path, rank);
            (usage.write.bytes, usage.write.seconds) = (1 << 20, 0.5);
            (usage.write.calls, usage.write.independent) = (4, 4);
            job.posix(&path, rank).write.seconds = 0.1;
        }
        job.says(&RULE, "MPI-IO writes of step.0, step.1 and 6 more take 16.0 s of all ranks, the POSIX writes below them 3.20 s: 80 % of the time is lost between the layers");
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

    #[test]
    fn a_short_run_that_is_mostly_between_the_layers_is_told() {
        let short = |above: f64| {
            let mut job = Sample::new(4, 1.0);
            for rank in 0..4 {
                let usage = job.mpiio("/lus/out", rank);
                (usage.write.bytes, usage.write.seconds) = (1 << 20, above);
                (usage.write.calls, usage.write.independent) = (220, 200);
                job.posix("/lus/out", rank).write.seconds = 0.001;
            }
            job
        };
        short(0.55).says(
            &RULE,
            "MPI-IO writes of out take 2.20 s of all ranks, the POSIX writes below them 4.00 ms: 99.8 % of the time is lost between the layers",
        );
        short(0.5).silent(&RULE);
        // Twenty collective calls of each rank take what two hundred others do not.
        let mut job = short(0.55);
        let file = Some(RecordId::of(b"/lus/out"));
        for (function, calls, seconds) in
            [(Function::MpiFileWriteAtAll, 80, 2.1), (Function::MpiFileWriteAt, 800, 0.1)]
        {
            let site = SiteUse { function, file, place: 0, calls, failed: 0, bytes: 0, seconds };
            job.job.sites.push(site);
        }
        job.says(
            &RULE,
            "collective MPI-IO on out takes 550 ms, the busiest rank below in POSIX 1.00 ms: 549 ms go into exchange and waiting",
        );
    }
}
