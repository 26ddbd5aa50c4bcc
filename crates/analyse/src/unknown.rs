//! What a job's source could not know: not missing by accident, but never recorded. A sentence each, with what therefore
//! cannot be said.

use crate::{Job, Layer};

/// The sentences, most important first; nothing about a job without I/O.
pub(crate) fn unknown(job: &Job) -> Vec<String> {
    if job.usages.is_empty() {
        return Vec::new();
    }
    let all = [calls(job), ranks(job), flushes(job), lines(job), targets(job), servers(job)];
    all.into_iter().flatten().collect()
}

fn calls(job: &Job) -> Option<String> {
    if !job.trace.is_empty() {
        return None;
    }
    let when = if job.heatmaps.is_empty() { "when bytes moved, " } else { "" };
    Some(format!(
        "single calls were not traced: {when}phases, conflicts, bytes used twice and blocks that all ranks read are not known, and request sizes are counted in bins"
    ))
}

fn ranks(job: &Job) -> Option<String> {
    let summed = job.usages.iter().filter(|usage| usage.rank.is_shared()).count();
    if summed == 0 || job.nprocs < 2 {
        return None;
    }
    let (records, are) = if summed == 1 { ("record", "is a sum") } else { ("records", "are sums") };
    Some(format!(
        "{summed} {records} {are} over all ranks: of each only the fastest and the slowest rank are known"
    ))
}

fn flushes(job: &Job) -> Option<String> {
    (!job.trace.is_empty() && job.commits.is_empty() && job.nprocs > 1).then(|| {
        format!("flushes, opens and closes were not traced: whether {} that use the same bytes are safe on NFS or a burst buffer is not known", job.who.noun(job.nprocs))
    })
}

fn lines(job: &Job) -> Option<String> {
    job.sites.is_empty().then(|| {
        "the source has no call sites: which lines of the program made the calls is not known"
            .into()
    })
}

fn targets(job: &Job) -> Option<String> {
    let on_lustre = job.usages.iter().filter(|usage| usage.layer == Layer::Posix).any(|usage| {
        let path = job.names.get(&usage.file);
        path.and_then(|path| job.mount_of(path)).is_some_and(|mount| mount.kind == "lustre")
    });
    (on_lustre && job.layouts.is_empty()).then(|| {
        "how files lie on Lustre was not recorded: nothing is said about storage targets".into()
    })
}

fn servers(job: &Job) -> Option<String> {
    (!job.layouts.is_empty() && job.servers.is_empty()).then(|| {
        "which server has which storage target is not known: [servers] in report.toml can tell"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::unknown;
    use crate::sample::Sample;
    use crate::{Act, Commit, Direction, Layer, SiteUse, TraceRow};
    use netra_event::Function;

    #[track_caller]
    fn begins(job: &Sample, want: &[&str]) {
        let says = unknown(&job.job);
        assert_eq!(says.len(), want.len(), "{says:?}");
        for (says, want) in says.iter().zip(want) {
            assert!(says.starts_with(want), "{says:?} does not begin with {want:?}");
        }
    }

    #[test]
    fn counters_alone_leave_much_open() {
        let mut job = Sample::new(4, 10.0);
        begins(&job, &[]);
        job.summed("/lus/f", (0, 1.0), (1, 2.0));
        begins(
            &job,
            &[
                "single calls were not traced: when bytes moved, phases",
                "1 record is a sum over all ranks",
                "the source has no call sites",
                "how files lie on Lustre was not recorded",
            ],
        );
        job.layout("/lus/f", 1 << 20, &[3]);
        assert!(unknown(&job.job)[3].starts_with("which server has"));
    }

    #[test]
    fn a_trace_with_call_sites_leaves_little_open() {
        let mut job = Sample::new(2, 10.0);
        job.posix("/home/f", 0);
        let file = job.id("/home/f");
        let number = job.job.trace.file(file);
        let (layer, direction) = (Layer::Posix, Direction::Write);
        let (start, end, offset, length) = (0.0, 1.0, 0, 8);
        let row = TraceRow { file: number, rank: 0, layer, direction, start, end, offset, length };
        job.job.trace.push(row);
        begins(
            &job,
            &["flushes, opens and closes were not traced", "the source has no call sites"],
        );
        job.job.commits.push(Commit { file, rank: 0, act: Act::Close, time: 1.0 });
        job.job.sites.push(SiteUse {
            place: 0,
            function: Function::Write,
            file: Some(file),
            calls: 1,
            failed: 0,
            bytes: 8,
            seconds: 1.0,
        });
        begins(&job, &[]);
    }
}
