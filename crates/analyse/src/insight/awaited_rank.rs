//! `awaited-rank`: one rank is still at work when all others have done their part.
//!
//! The straggler that sums do not show: it moves as many bytes as the others and spends little time in its calls, but
//! makes many of them, or computes between them, and the others wait at the next barrier. A trace shows it: again and
//! again the others' last call has ended and this rank goes on. A rank that moves more than twice the median is not slow but has
//! more to do (`one-rank-heavy`, `byte-imbalance`); ranks that take turns are all alone equally long; aggregators of collective calls
//! work for the others by design.

use super::{Advice, Audience, Confidence, Finding, Outcome, Rule, count, percent, query};
use crate::metric::FileFacts;
use crate::pattern::Longest;
use crate::{Facts, Layer, Thresholds};
use netra_event::{Rank, Seconds};

/// The rule.
pub const RULE: Rule = Rule {
    slug: "awaited-rank",
    title: "a straggler that all others wait for",
    explains: &["straggler", "phase-stragglers", "time-imbalance"],
    sources: query::TRACED,
    check,
};

/// Stretches from which on it is no accident that the others stand still: fewer are a rank that prepares something for all.
const OFTEN: u64 = 4;

fn check(facts: &Facts, limit: &Thresholds) -> Outcome {
    let Some(phases) = &facts.phases else { return Outcome::Silent };
    let together =
        |longest: &Longest| longest.ranks * 2 >= facts.who.ranks && !is_collective(facts);
    let Some(longest) = phases.lone.filter(together) else { return Outcome::Silent };
    let lost = longest.alone.seconds - longest.others;
    let rank = Rank(i64::from(longest.alone.rank));
    let often = longest.alone.stretches >= OFTEN;
    let stands_out = longest.alone.seconds > (1.0 + limit.straggler_ratio.0) * longest.others;
    if !often || !stands_out || !does_its_part(&longest) || facts.share(lost) < limit.warn_share.0 {
        return Outcome::Passed(format!(
            "no rank does I/O alone for longer than {} (rank {rank})",
            Seconds(longest.alone.seconds)
        ));
    }
    let ratio = longest.all.calls as f64 / longest.usual.calls.max(1) as f64;
    let why = if ratio >= 2.0 {
        format!(
            "it makes {} calls where the median rank makes {}",
            count(longest.all.calls),
            count(longest.usual.calls)
        )
    } else {
        "it makes no more calls than they do".to_owned()
    };
    let says = format!(
        "rank {rank} is the straggler: for {} of the run ({}) it alone still does I/O, in {} stretches, when the others have done their part; {why} for about as many bytes",
        percent(facts.share(longest.alone.seconds)),
        Seconds(longest.alone.seconds),
        count(longest.alone.stretches),
    );
    let files = facts.critical.by_file();
    let files: Vec<&FileFacts> =
        files.iter().take(10).filter_map(|(file, _)| facts.file(*file)).collect();
    let mut finding = Finding::costing(RULE.slug, lost, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer, Audience::User])
        .count("stretches", longest.alone.stretches)
        .seconds("alone", longest.alone.seconds)
        .seconds("others alone, median", longest.others)
        .count("its calls", longest.all.calls)
        .count("calls of the median rank", longest.usual.calls)
        .bytes("its bytes", longest.all.bytes)
        .bytes("bytes of the median rank", longest.usual.bytes)
        .about(&files)
        .by(&[rank])
        .advise(Advice::new(if ratio >= 2.0 {
            format!("let rank {rank} move its part in as few calls as the others do")
        } else {
            format!("look at what rank {rank} computes between its calls, at its node and at the storage targets of its files")
        }))
        .gains(lost, format!("rank {rank} is done when the others are"));
    finding.window = Some(longest.alone.window);
    Outcome::Found(vec![finding])
}

/// Whether most of what MPI-IO is asked for is collective.
fn is_collective(facts: &Facts) -> bool {
    let usages = facts.files_of_ranks().iter().filter_map(|file| file.through(Layer::Mpiio));
    let flows = usages.flat_map(|usage| [&usage.read, &usage.write]);
    let (collective, calls) =
        flows.fold((0, 0), |sum, flow| (sum.0 + flow.collective, sum.1 + flow.calls));
    collective * 2 > calls
}

/// Whether the rank moves about as much as the others, most of it while it is alone.
fn does_its_part(longest: &Longest) -> bool {
    let (mine, usual) = (longest.all.bytes, longest.usual.bytes);
    mine <= usual.saturating_mul(2) && mine >= usual / 2 && longest.alone.bytes >= mine / 2
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Direction, Layer, TraceRow};
    use netra_event::Rank;

    fn job(pause: f64, length: u64) -> Sample {
        steps(6, pause, length)
    }

    /// In each step of 100 s three ranks write 80 bytes in a call, and rank 2 its own in eight, one every so many seconds.
    fn steps(steps: u32, pause: f64, length: u64) -> Sample {
        let mut job = Sample::new(4, 600.0);
        let id = job.id("/lus/f");
        for rank in 0..4 {
            job.posix("/lus/f", rank).write.seconds = 1.0;
        }
        let file = job.job.trace.file(id);
        for step in 0..steps {
            for rank in 0..4 {
                let (layer, direction) = (Layer::Posix, Direction::Write);
                let pieces = if rank == 2 { 8 } else { 1 };
                for piece in 0..pieces {
                    let start = f64::from(step) * 100.0 + f64::from(piece) * pause;
                    let length = if rank == 2 { length / 8 } else { 80 };
                    let (offset, end) = (0, start + 0.5);
                    let row = TraceRow { file, rank, layer, direction, start, end, offset, length };
                    job.job.trace.push(row);
                }
            }
        }
        job
    }

    #[test]
    fn fires_on_the_rank_that_goes_on_when_the_others_have_finished() {
        job(5.0, 80).says(&RULE, "rank 2 is the straggler: for 35 % of the run (210 s) it alone still does I/O, in 6 stretches, when the others have done their part; it makes 48 calls where the median rank makes 6 for about as many bytes");
        let found = job(5.0, 80).finds(&RULE);
        assert_eq!((found[0].lost, found[0].ranks.as_slice()), (210.0, &[Rank(2)][..]));
        assert_eq!(found[0].window, Some((0.5, 535.5)));
    }

    #[test]
    fn is_silent_just_below_two_hundredths_of_the_run() {
        job(0.28, 80).silent(&RULE);
        assert_eq!(job(0.29, 80).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_about_what_happens_three_times() {
        steps(3, 5.0, 80).silent(&RULE);
        assert_eq!(steps(4, 5.0, 80).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_about_a_rank_that_has_more_to_do() {
        job(5.0, 168).silent(&RULE);
        assert_eq!(job(5.0, 160).finds(&RULE).len(), 1);
    }

    #[test]
    fn is_silent_about_aggregators() {
        let mut job = job(5.0, 80);
        let flow = &mut job.mpiio("/lus/f", 0).write;
        (flow.calls, flow.collective) = (4, 3);
        job.silent(&RULE);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
