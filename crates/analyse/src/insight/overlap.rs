//! What the two rules about hiding I/O behind computing share.
//!
//! A job without non-blocking calls is not to blame as such. The rules speak only where the trace shows that it would
//! help: phases next to a quiet time of the whole job that is long enough to hide them in. They say nothing where
//! calls were not traced, and nothing is wrong with a program whose first thread leaves its I/O to others.

use super::{Advice, Audience, Confidence, Finding, Outcome, counted, percent};
use crate::pattern::Phase;
use crate::{Direction, Facts, Layer, Thresholds};
use netra_event::Seconds;

/// The share of bytes by other threads than the first from which a program is taken to hide its I/O already. A
/// first thread that works with the others in equal parts has its share.
const BEHIND: f64 = 0.95;

pub(super) fn check(
    slug: &'static str,
    direction: Direction,
    facts: &Facts,
    limit: &Thresholds,
) -> Outcome {
    let Some(phases) = &facts.phases else { return Outcome::Silent };
    let verb = direction.verb();
    let mpiio = facts.files.iter().filter_map(|file| file.through(Layer::Mpiio));
    if mpiio.map(|usage| usage.flow(direction).nonblocking).sum::<u64>() > 0 {
        return Outcome::Passed(format!("non-blocking {verb}s are used"));
    }
    if let Some(threaded) = facts.threaded.filter(|one| one.behind(direction) >= BEHIND) {
        return Outcome::Passed(format!(
            "{} of the bytes are {} by threads of their own, beside which the others go on",
            percent(threaded.behind(direction)),
            if direction == Direction::Read { "read" } else { "written" },
        ));
    }
    let (hidden, hiding) = hideable(&phases.job.phases, direction, facts.run_time);
    // A phase is as long as its ranks together; no more can be hidden than the slowest of them spends.
    let spent = facts.critical.parts[usize::from(direction == Direction::Write)];
    let hidden = facts.critical.at_most_spent(hidden, spent);
    if hiding == 0 {
        return Outcome::Silent;
    }
    if facts.share(hidden) < limit.hidden_share.0 {
        return Outcome::Passed(format!(
            "no more than {} of {verb}s could go on while the program computes",
            Seconds(hidden)
        ));
    }
    let side = if direction == Direction::Read { "follow" } else { "are followed by" };
    let says = format!(
        "{} of {verb}s in {} {side} quiet time that could hide them ({} of the run)",
        Seconds(hidden),
        counted(hiding, "phase"),
        percent(facts.share(hidden)),
    );
    let finding = Finding::costing(slug, hidden, says, facts, limit)
        .sure(Confidence::Low)
        .to(&[Audience::Developer])
        .count("phases", hiding)
        .seconds("seconds that could be hidden", hidden)
        .gains(hidden, "the quiet time is computing, and memory is enough for a second buffer");
    Outcome::Found(vec![finding.advise(advice(direction, facts))])
}

fn advice(direction: Direction, facts: &Facts) -> Advice {
    let verb = direction.verb();
    if facts.layers.contains_key(&Layer::H5d) {
        return Advice::with(
            "HDF5's asynchronous connector needs no change of the program",
            "export HDF5_VOL_CONNECTOR=\"async under_vol=0;under_info={}\"",
        );
    }
    if facts.layers.contains_key(&Layer::Mpiio) {
        let code = format!(
            "MPI_File_i{verb}_at_all(fh, offset, buffer, count, type, &request);\n/* compute */\nMPI_Wait(&request, &status);"
        );
        return Advice::with(format!("start the {verb}, compute, and wait for it later"), code);
    }
    Advice::new(match direction {
        Direction::Read => "let a thread read the next input while the others compute",
        Direction::Write => "let a thread write the last result while the others compute",
    })
}

/// Seconds of phases that fit into the quiet time before (reads) or behind them (writes), and how many phases.
fn hideable(phases: &[Phase], direction: Direction, run_time: f64) -> (f64, u64) {
    let mut hidden = (0.0, 0);
    for (at, phase) in phases.iter().enumerate() {
        let quiet = match direction {
            Direction::Read => {
                phase.start - at.checked_sub(1).map_or(0.0, |before| phases[before].end)
            }
            Direction::Write => phases.get(at + 1).map_or(run_time, |next| next.start) - phase.end,
        };
        let mostly = (phase.bytes_written > phase.bytes_read) == (direction == Direction::Write);
        if mostly && quiet > 0.0 {
            // Within a phase there are gaps too: only the time in calls can be hidden.
            hidden.0 += quiet.min(phase.slowest.1);
            hidden.1 += 1;
        }
    }
    hidden
}
