//! What the four rules about small calls share: files of one rank or of several, reads or writes.
//!
//! Calls that reach the file system count, so POSIX is looked at. What they cost is the time of
//! the layer that stands for the file, less what the same bytes would take in large calls, as the
//! job itself shows it or else as assumed ([`Rate`]). Under collective MPI-IO only the part spent in POSIX counts: the
//! rest is exchange between ranks, which the size of calls does not change.

use netra_event::{Bytes, Seconds};

use super::{Advice, Audience, Confidence, Finding, Outcome, count, names, percent};
use crate::metric::{FileFacts, Rate, Spent};
use crate::{Direction, Facts, Layer, Thresholds};

/// Which of the four.
pub(super) struct Case {
    pub(super) slug: &'static str,
    pub(super) direction: Direction,
    pub(super) shared: bool,
}

pub(super) fn check(case: &Case, facts: &Facts, limit: &Thresholds) -> Outcome {
    let files: Vec<&FileFacts> = facts
        .files
        .iter()
        .filter(|file| file.is_shared() == case.shared)
        .filter(|file| {
            file.through(Layer::Posix).is_some_and(|usage| usage.flow(case.direction).calls > 0)
        })
        .collect();
    let small = |file: &FileFacts| {
        file.through(Layer::Posix)
            .map_or(0, |usage| usage.smaller_than(case.direction, limit.small_request.0))
    };
    let calls: u64 = files
        .iter()
        .filter_map(|file| file.through(Layer::Posix))
        .map(|usage| usage.flow(case.direction).calls)
        .sum();
    let total: u64 = files.iter().map(|file| small(file)).sum();
    if calls == 0 {
        return Outcome::Silent;
    }
    let share = total as f64 / calls as f64;
    let verb = case.direction.verb();
    let kind = if case.shared { "shared files" } else { "files of one process" };
    let mut costly: Vec<(f64, &FileFacts)> = files
        .iter()
        .filter(|file| small(file) > 0)
        .map(|file| (seconds(case, file), *file))
        .collect();
    costly.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let costly: Vec<&FileFacts> = costly.into_iter().map(|(_, file)| file).collect();
    let rate = facts.rates.of(case.direction);
    let path = facts.cost_in(&costly, |file, spent| weight(case, file, spent, rate, limit));
    let few = total < limit.small_count || share <= limit.small_share.0;
    if few || facts.share(path.seconds) < limit.worth_share.0 {
        return Outcome::Passed(format!(
            "{} of {} {verb}s to {kind} are below {}, but cost no more than {}",
            count(total),
            count(calls),
            limit.small_request,
            Seconds(path.seconds),
        ));
    }
    Outcome::Found(vec![finding(case, facts, limit, &costly, (total, calls, path.seconds))])
}

/// Seconds of all ranks in this direction, by the layer that took most.
fn seconds(case: &Case, file: &FileFacts) -> f64 {
    file.layers.values().map(|usage| usage.flow(case.direction).seconds).fold(0.0, f64::max)
}

/// The share of a file's time that small calls cost.
fn weight(case: &Case, file: &FileFacts, spent: &Spent, rate: Rate, limit: &Thresholds) -> f64 {
    let Some(posix) = file.through(Layer::Posix) else { return 0.0 };
    if spent.layer == Layer::Stdio {
        return 0.0;
    }
    let flow = posix.flow(case.direction);
    let small =
        posix.smaller_than(case.direction, limit.small_request.0) as f64 / flow.calls.max(1) as f64;
    // Flushes count as writing in POSIX, and larger calls do not make them faster.
    let (part, calling) = match case.direction {
        Direction::Read => (spent.part(spent.read), 1.0),
        Direction::Write if spent.layer == Layer::Posix => {
            (spent.part(spent.write), 1.0 - file.flushing)
        }
        Direction::Write => (spent.part(spent.write), 1.0),
    };
    let below = below_collective(case.direction, file) * calling;
    let seconds =
        file.layers.get(&spent.layer).map_or(0.0, |usage| usage.flow(case.direction).seconds)
            * below;
    part * small * below * rate.lost(flow.calls, flow.bytes, seconds)
}

/// Under mostly collective MPI-IO, the part of the time that POSIX takes on its busiest rank.
fn below_collective(direction: Direction, file: &FileFacts) -> f64 {
    let Some(mpiio) = file.through(Layer::Mpiio).map(|usage| usage.flow(direction)) else {
        return 1.0;
    };
    let (Some(above), Some(below)) =
        (file.slowest.get(&Layer::Mpiio), file.slowest.get(&Layer::Posix))
    else {
        return 1.0;
    };
    if mpiio.collective * 2 > mpiio.calls && above.seconds > 0.0 {
        (below.seconds / above.seconds).min(1.0)
    } else {
        1.0
    }
}

fn finding(
    case: &Case,
    facts: &Facts,
    limit: &Thresholds,
    files: &[&FileFacts],
    (small, calls, lost): (u64, u64, f64),
) -> Finding {
    let verb = case.direction.verb();
    let list: Vec<&str> = files.iter().map(|file| file.name()).collect();
    let common = files
        .first()
        .and_then(|file| file.through(Layer::Posix))
        .map_or(0, |usage| usage.common[0].0);
    let says = format!(
        "{} of {} {verb}s to {} are below {} (most often {})",
        percent(small as f64 / calls as f64),
        count(calls),
        names(&list),
        limit.small_request,
        Bytes(common),
    );
    let finding = Finding::costing(case.slug, lost, says, facts, limit)
        .sure(Confidence::Medium)
        .to(&[Audience::Developer])
        .count("small calls", small)
        .count("calls", calls)
        .bytes("most common size", common)
        .about(files)
        .gains(
            lost,
            format!("calls of {} and more {}", limit.small_request, facts.rates.of(case.direction)),
        );
    advise(case, facts, files, finding)
}

/// What to do depends on the library that the costliest file was used through.
fn advise(case: &Case, facts: &Facts, files: &[&FileFacts], finding: Finding) -> Finding {
    let verb = case.direction.verb();
    let through = |layer| files.first().is_some_and(|file| file.through(layer).is_some());
    let parallel = facts.nprocs > 1 && through(Layer::Mpiio);
    let flow = files.first().and_then(|file| file.through(Layer::Mpiio));
    let flow = flow.map(|usage| usage.flow(case.direction));
    if parallel && flow.is_some_and(|flow| flow.collective * 2 > flow.calls) {
        return finding.advise(Advice::new(format!(
            "the calls are collective already: gather several steps in memory and {verb} them with one"
        )));
    }
    let call = if case.direction == Direction::Read {
        "MPI_File_read_at_all"
    } else {
        "MPI_File_write_at_all"
    };
    if through(Layer::H5d) {
        if !parallel {
            return finding.advise(Advice::with(
                format!("{verb} larger selections, and let HDF5 keep chunks and its own metadata in memory until they are whole"),
                "H5Pset_chunk_cache(dapl, 12421, 64 << 20, 1);\nH5Pset_meta_block_size(fapl, 1 << 20);  /* h5py: File(path, rdcc_nbytes=64 << 20, meta_block_size=1 << 20) */",
            ));
        }
        return finding.advise(Advice::with(
            format!("let HDF5 gather the {verb}s in collective calls, its own metadata too"),
            "H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);\nH5Pset_coll_metadata_write(fapl, true);\nH5Pset_all_coll_metadata_ops(fapl, true);",
        ));
    }
    if through(Layer::Pnetcdf) {
        return finding.advise(Advice::with(
            "use the collective or the buffered calls of PnetCDF",
            "ncmpi_iput_vara(...); ncmpi_wait_all(...);",
        ));
    }
    if case.shared && facts.nprocs > 1 && facts.has_mpi() {
        let lead = if parallel {
            "make the calls collective"
        } else {
            "move to MPI-IO's collective calls"
        };
        return finding.advise(Advice::with(
            format!("{lead}, so that a few ranks {verb} large blocks"),
            format!("{call}(fh, offset, buffer, count, type, &status);"),
        ));
    }
    finding.advise(Advice::with(
        format!("{verb} larger blocks: buffer in memory"),
        format!("char block[8 << 20];  /* one {verb}() of all of it; C++: rdbuf()->pubsetbuf(block, sizeof block), Python: open(path, mode, buffering=8 << 20) */"),
    ))
}
