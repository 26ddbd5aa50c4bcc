//! `conflicts`: ranks use bytes that other ranks write.
//!
//! A read after another rank's write (RAW), a write after another's read (WAR) or write (WAW). Calls that overlap in
//! time race on any file system. Calls in order are safe under POSIX semantics; under commit semantics
//! the writer must flush in between, under session semantics (NFS, many burst buffers) it must close and the reader
//! open. netra's own trace has flushes, opens and closes and so the answer for both; traces of reads and writes alone
//! leave it open.
//!
//! Where POSIX shows nothing, MPI-IO may: aggregators put an order between bytes that ranks asked for at the same time, and the
//! standard leaves open who wins. Files with views are left out, because their offsets do not say where bytes lie.

use super::{Advice, Audience, Confidence, Finding, Level, Outcome, Rule, names, query};
use crate::metric::FileFacts;
use crate::pattern::{Conflicts, FileTrace};
use crate::{Facts, Layer, Thresholds};
use netra_event::Bytes;

/// The rule.
pub const RULE: Rule = Rule {
    slug: "conflicts",
    title: "several processes use the same bytes",
    explains: &[],
    sources: query::TRACED,
    check,
};

fn check(facts: &Facts, _: &Thresholds) -> Outcome {
    let Some(traced) = &facts.traced else { return Outcome::Silent };
    let shared: Vec<_> = traced
        .files
        .iter()
        .filter_map(|file| Some((facts.file(file.file)?, file)))
        .filter(|(file, traced)| file.is_shared() && is_written(file, traced))
        .collect();
    if shared.is_empty() {
        return Outcome::Silent;
    }
    let mut layers: [Vec<(&FileFacts, Conflicts)>; 2] = Default::default();
    for (file, traced) in shared {
        let above = traced.mpiio.and_then(|above| above.conflicts).filter(Conflicts::any);
        if traced.conflicts.any() {
            layers[0].push((file, traced.conflicts));
        } else if let Some(above) = above {
            layers[1].push((file, above));
        }
    }
    let [posix, mpiio] = layers.map(most_first);
    let found = [(Layer::Posix, posix), (Layer::Mpiio, mpiio)];
    let found = found.iter().filter_map(|(layer, files)| of_layer(*layer, files, facts)).collect();
    Outcome::from(found, || format!("no {} uses bytes that another writes", facts.one()))
}

/// Races before order, then by bytes.
fn most_first(mut files: Vec<(&FileFacts, Conflicts)>) -> Vec<(&FileFacts, Conflicts)> {
    files.sort_by(|(a, one), (b, other)| {
        let weight =
            |all: &Conflicts| (all.racing(), all.raw.bytes + all.war.bytes + all.waw.bytes);
        weight(other).cmp(&weight(one)).then_with(|| a.path.cmp(&b.path))
    });
    files
}

/// Whether writes were traced through either layer.
fn is_written(file: &FileFacts, traced: &FileTrace) -> bool {
    let above = || file.through(Layer::Mpiio).is_some_and(|usage| usage.write.bytes > 0);
    traced.bytes[1] > 0 || (traced.mpiio.is_some_and(|one| one.conflicts.is_some()) && above())
}

/// All files of a layer as one finding: whoever shares one file so mostly shares the next in the same way.
fn of_layer(layer: Layer, files: &[(&FileFacts, Conflicts)], facts: &Facts) -> Option<Finding> {
    let (first, rest) = files.split_first()?;
    let mut conflicts = first.1;
    rest.iter().for_each(|(_, other)| conflicts.absorb(other));
    let conflicts = &conflicts;
    let files: Vec<&FileFacts> = files.iter().map(|(file, _)| *file).collect();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let racing = conflicts.racing();
    let kinds: Vec<String> = [
        ("read after another's write (RAW)", conflicts.raw),
        ("written after another's read (WAR)", conflicts.war),
        ("written after another's write (WAW)", conflicts.waw),
    ]
    .iter()
    .filter(|(_, hazard)| hazard.bytes > 0)
    .map(|(name, hazard)| format!("{} {name}", Bytes(hazard.bytes)))
    .collect();
    let verdict = if racing > 0 && layer == Layer::Mpiio {
        format!("{} of it at the same time: MPI leaves open which of them wins", Bytes(racing))
    } else if racing > 0 {
        format!("{} of it at the same time: the result is open on any file system", Bytes(racing))
    } else if conflicts.semantics {
        format!("always one after the other: {}", promises(conflicts))
    } else {
        "always one after the other: safe under POSIX, needs a flush in between under commit and close-to-open under session semantics".into()
    };
    let cut = if conflicts.cut { " (not all calls were looked at)" } else { "" };
    let through = if layer == Layer::Mpiio { " through MPI-IO" } else { "" };
    let says = format!(
        "{} use the same bytes of {}{through}: {}, {verdict}{cut}",
        facts.noun(),
        names(&list),
        kinds.join(", ")
    );
    let level = if racing > 0 { Level::Warn } else { Level::Info };
    let finding = Finding { level, ..Finding::note(RULE.slug, says) }
        .sure(if racing > 0 { Confidence::High } else { Confidence::Medium })
        .to(&[Audience::Developer])
        .bytes("read after write", conflicts.raw.bytes)
        .bytes("write after read", conflicts.war.bytes)
        .bytes("write after write", conflicts.waw.bytes)
        .bytes("racing", racing)
        .bytes(
            "order uncertain within clock skew",
            conflicts.raw.uncertain + conflicts.war.uncertain + conflicts.waw.uncertain,
        )
        .count("files", files.len() as u64)
        .about(&files)
        .advise(Advice::with(
            "put an order between them",
            "MPI_File_sync(fh); MPI_Barrier(comm); MPI_File_sync(fh);",
        ));
    Some(finding)
}

/// What holds on file systems that promise less than POSIX.
fn promises(conflicts: &Conflicts) -> String {
    let uncommitted = conflicts.raw.uncommitted + conflicts.waw.uncommitted;
    let unopened = conflicts.raw.unopened + conflicts.waw.unopened;
    let says = |open: u64, what: &str, missing: &str| match open {
        0 => format!("safe under {what} semantics"),
        bytes => {
            format!("not under {what} semantics ({} without {missing} in between)", Bytes(bytes))
        }
    };
    format!(
        "safe under POSIX, {}, {}",
        says(uncommitted, "commit", "a flush"),
        says(unopened, "session", "close and open")
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::sample::Sample;
    use crate::{Act, Commit, Direction, Layer, TraceRow};

    /// Rank 0 writes 100 bytes at second 0 to 1; rank 1 reads from a byte and a second on.
    fn job(offset: u64, start: f64) -> Sample {
        let mut job = Sample::new(2, 100.0);
        let id = job.id("/lus/f");
        for rank in 0..2 {
            job.posix("/lus/f", rank);
        }
        let file = job.job.trace.file(id);
        let row = TraceRow {
            file,
            rank: 0,
            layer: Layer::Posix,
            direction: Direction::Write,
            start: 0.0,
            end: 1.0,
            offset: 0,
            length: 100,
        };
        job.job.trace.push(row);
        job.job.trace.push(TraceRow {
            rank: 1,
            direction: Direction::Read,
            start,
            end: start + 1.0,
            offset,
            ..row
        });
        job
    }

    #[test]
    fn fires_with_a_verdict() {
        job(40, 0.5).says(&RULE, "ranks use the same bytes of f: 60 B read after another's write (RAW), 60 B of it at the same time: the result is open on any file system");
        job(40, 2.0).says(&RULE, "ranks use the same bytes of f: 60 B read after another's write (RAW), always one after the other: safe under POSIX, needs a flush in between under commit and close-to-open under session semantics");
    }

    #[test]
    fn fires_with_a_verdict_for_weaker_file_systems_where_flushes_are_known() {
        let says = |acts: &[(u32, Act, f64)], want: &str| {
            let mut job = job(40, 2.0);
            let file = job.id("/lus/f");
            job.job.commits =
                acts.iter().map(|&(rank, act, time)| Commit { file, rank, act, time }).collect();
            job.says(
                &RULE,
                &format!(
                    "ranks use the same bytes of f: 60 B read after another's write (RAW), always one after the other: {want}"
                ),
            );
        };
        says(
            &[(0, Act::Open, 0.0), (1, Act::Open, 0.0)],
            "safe under POSIX, not under commit semantics (60 B without a flush in between), not under session semantics (60 B without close and open in between)",
        );
        says(
            &[(0, Act::Sync, 1.5), (1, Act::Open, 1.7)],
            "safe under POSIX, safe under commit semantics, not under session semantics (60 B without close and open in between)",
        );
        says(
            &[(0, Act::Close, 1.5), (1, Act::Open, 1.7)],
            "safe under POSIX, safe under commit semantics, safe under session semantics",
        );
    }

    #[test]
    fn fires_for_mpiio_unless_views_move_its_offsets() {
        let through_mpiio = |views: u64| {
            let mut below = Sample::new(2, 100.0);
            for rank in 0..2 {
                let usage = below.mpiio("/lus/f", rank);
                (usage.views, usage.write.bytes) = (views, 100);
            }
            let rows: Vec<TraceRow> = job(40, 0.5).job.trace.rows().collect();
            let id = below.id("/lus/f");
            let file = below.job.trace.file(id);
            for row in rows {
                below.job.trace.push(TraceRow { file, layer: Layer::Mpiio, ..row });
            }
            below
        };
        through_mpiio(0).says(&RULE, "ranks use the same bytes of f through MPI-IO: 60 B read after another's write (RAW), 60 B of it at the same time: MPI leaves open which of them wins");
        through_mpiio(1).silent(&RULE);
    }

    #[test]
    fn fires_once_for_several_files() {
        let mut both = job(40, 2.0);
        let rows: Vec<TraceRow> = job(40, 0.5).job.trace.rows().collect();
        let id = both.id("/lus/g");
        for rank in 0..2 {
            both.posix("/lus/g", rank);
        }
        let file = both.job.trace.file(id);
        for row in rows {
            both.job.trace.push(TraceRow { file, ..row });
        }
        both.says(&RULE, "ranks use the same bytes of g and f: 120 B read after another's write (RAW), 60 B of it at the same time: the result is open on any file system");
        let files: Vec<String> =
            both.finds(&RULE)[0].files.iter().map(|file| file.1.clone()).collect();
        assert_eq!(files, ["/lus/g", "/lus/f"]);
    }

    #[test]
    fn is_silent_when_ranges_only_touch() {
        job(100, 0.5).silent(&RULE);
    }

    #[test]
    fn is_silent_without_a_trace() {
        Sample::new(4, 10.0).silent(&RULE);
    }
}
