//! Many logs as one job: programs without MPI leave a log per process. Nobody called them ranks.

use std::collections::BTreeSet;

use netra_analyse::{Commit, FunctionUse, Heatmap, Job, Opening, TraceRow, program};
use netra_event::{Loss, Rank, Seconds};

/// Steps of a heat map by which a process may have started later; a width that asks for more is
/// no width.
const STEPS: f64 = 1e6;

/// One job of many processes, in the order given.
///
/// # Errors
/// If one of them has several ranks already: records that were summed over the ranks of one job cannot
/// be split among those of another.
pub fn one_job(jobs: Vec<Job>) -> Result<Job, String> {
    if let Some(parallel) = jobs.iter().find(|job| job.nprocs > 1) {
        return Err(format!(
            "{} is a job of {} already; only logs of single processes can be taken together",
            parallel.source,
            parallel.who.how_many(parallel.nprocs)
        ));
    }
    let first =
        jobs.iter().filter_map(|job| job.start).map(|start| start.0).fold(f64::INFINITY, f64::min);
    let mut whole = Job::default();
    let (mut end, mut commands) = (first, BTreeSet::new());
    for (rank, job) in jobs.into_iter().enumerate() {
        let start = job.start.map_or(first, |start| start.0);
        end = f64::max(end, start + job.run_time.0);
        commands.insert(job.command.split(' ').next().unwrap_or_default().to_owned());
        add(&mut whole, job, rank, start - first);
    }
    whole.source = format!("{} logs", whole.nprocs);
    whole.command = commands.into_iter().collect::<Vec<_>>().join(", ");
    whole.start = first.is_finite().then_some(Seconds(first));
    whole.run_time = Seconds(if first.is_finite() { end - first } else { 0.0 });
    Ok(whole)
}

fn add(whole: &mut Job, job: Job, rank: usize, later: f64) {
    whole.nprocs += 1;
    if whole.id.is_empty() {
        whole.id = job.id;
    }
    for mount in job.mounts {
        if !whole.mounts.contains(&mount) {
            whole.mounts.push(mount);
        }
    }
    whole.names.extend(job.names);
    whole.hints.extend(job.hints);
    whole.usages.extend(job.usages.into_iter().map(|mut usage| {
        usage.rank = Rank(rank as i64);
        usage.extremes = None;
        usage
    }));
    let known: BTreeSet<_> = whole.layouts.iter().map(|layout| layout.file).collect();
    whole.layouts.extend(job.layouts.into_iter().filter(|layout| !known.contains(&layout.file)));
    let first = whole.places.len() as u32;
    let moved = |place: Option<u32>| place.map(|place| place + first);
    for (from, above) in [(&job.trace, false), (&job.above, true)] {
        for (row, place) in from.placed() {
            let file = whole.trace.file(job.trace.files()[row.file as usize]);
            let (start, end) = (row.start + later, row.end + later);
            let row = TraceRow { file, rank: rank as u32, start, end, ..row };
            let to = if above { &mut whole.above } else { &mut whole.trace };
            to.push_from(row, moved(place));
        }
    }
    for open in &job.opens {
        let file = whole.trace.file(job.trace.files()[open.file as usize]);
        let (start, end) = (open.start + later, open.end + later);
        let place = moved(open.place);
        whole.opens.push(Opening { file, rank: rank as u32, start, end, place, ..*open });
    }
    let rank = rank as u32;
    // Without netra's own section nobody knows more of a process than its log.
    let log = job.source.rsplit('/').next().unwrap_or_default();
    let name = job.who.others.into_values().next();
    let name = name.unwrap_or_else(|| format!("{} ({log})", program(&job.command)));
    whole.who.others.insert(rank, name);
    whole.hosts.extend(job.hosts.into_values().next().map(|host| (rank, host)));
    // Steps begin with each process, so those of one that started later would stand too early.
    let shift = |steps: Vec<u64>, by: usize| [vec![0; by], steps].concat();
    for heat in job.heatmaps.into_iter().filter(|heat| later / heat.width < STEPS) {
        let by = (later / heat.width) as usize;
        let (read, write) = (shift(heat.read, by), shift(heat.write, by));
        whole.heatmaps.push(Heatmap { rank, read, write, ..heat });
    }
    for partial in job.partial {
        if !whole.partial.contains(&partial) {
            whole.partial.push(partial);
        }
    }
    functions(&mut whole.functions, job.functions);
    let shifted = |commit: Commit| Commit { rank, time: commit.time + later, ..commit };
    whole.commits.extend(job.commits.into_iter().map(shifted));
    whole.places.extend(job.places);
    whole.sites.extend(job.sites.into_iter().map(|mut site| {
        site.place += first;
        site
    }));
    whole.threads = whole.threads.max(job.threads);
    if let Some(threaded) = &job.threaded {
        whole.threaded.get_or_insert_default().absorb(threaded);
    }
    match (&mut whole.attendance, job.attendance) {
        (Some(sum), Some(more)) => sum.add(more),
        (sum, more) => *sum = sum.take().or(more),
    }
    for (file, bytes) in job.mapped {
        let sum = whole.mapped.entry(file).or_default();
        *sum = sum.saturating_add(bytes);
    }
    if let Some(aside) = &job.aside {
        whole.aside.get_or_insert_default().absorb(aside);
    }
    if let Some(ledger) = job.ledger {
        let sum = whole.ledger.get_or_insert_default();
        sum.calls += ledger.calls;
        sum.produced += ledger.produced;
        sum.delivered += ledger.delivered;
        losses(&mut sum.dropped, ledger.dropped);
    }
    losses(&mut whole.dropped, job.dropped);
    whole.also.extend(job.also);
    whole.remarks.extend(job.remarks.into_iter().map(|remark| format!("{}: {remark}", job.source)));
    for module in job.modules {
        if !whole.modules.contains(&module) {
            whole.modules.push(module);
        }
    }
}

/// Adds up what processes did with each function.
fn functions(sums: &mut Vec<FunctionUse>, more: Vec<FunctionUse>) {
    for one in more {
        let Some(sum) = sums.iter_mut().find(|sum| sum.function == one.function) else {
            sums.push(one);
            continue;
        };
        sum.calls += one.calls;
        sum.traced += one.traced;
        sum.failed += one.failed;
        sum.bytes = sum.bytes.saturating_add(one.bytes);
        sum.seconds += one.seconds;
        sum.own_seconds += one.own_seconds;
        sum.longest = sum.longest.max(one.longest);
        for (error, count) in one.errors {
            match sum.errors.iter_mut().find(|known| known.0 == error) {
                Some(known) => known.1 += count,
                None => sum.errors.push((error, count)),
            }
        }
        sum.errors.sort_by_key(|&(error, count)| (std::cmp::Reverse(count), error));
    }
}

fn losses(sums: &mut Vec<(Loss, u64)>, more: Vec<(Loss, u64)>) {
    for (loss, count) in more {
        match sums.iter_mut().find(|sum| sum.0 == loss) {
            Some(sum) => sum.1 += count,
            None => sums.push((loss, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::one_job;
    use netra_analyse::{Job, Layer, Usage, Who};
    use netra_event::{Rank, RecordId, Seconds};

    fn process(start: f64, run_time: f64) -> Job {
        let usage = Usage::new(Layer::Posix, RecordId(1), Rank::SHARED);
        Job {
            nprocs: 1,
            start: Some(Seconds(start)),
            run_time: Seconds(run_time),
            usages: vec![usage],
            ..Job::default()
        }
    }

    #[test]
    fn processes_become_one_run_and_no_ranks() {
        let job = one_job(vec![process(100.0, 10.0), process(105.0, 20.0)]).unwrap();
        assert_eq!((job.nprocs, job.start, job.run_time), (2, Some(Seconds(100.0)), Seconds(25.0)));
        let ranks: Vec<Rank> = job.usages.iter().map(|usage| usage.rank).collect();
        assert_eq!(ranks, [Rank(0), Rank(1)]);
        assert_eq!((job.who.ranks, job.who.others.len()), (0, 2));
    }

    #[test]
    fn a_parallel_job_is_refused() {
        let who = Who::ranks(4);
        let parallel = Job { nprocs: 4, who, source: "a.darshan".into(), ..Job::default() };
        assert!(
            one_job(vec![process(0.0, 1.0), parallel])
                .unwrap_err()
                .contains("a.darshan is a job of 4 ranks")
        );
    }
}
