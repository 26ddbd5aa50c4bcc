//! Lustre targets: what lies on each, and how long files on it took.
//!
//! Counters do not say which target a call went to. Files that lie on one target alone tell its
//! time exactly; of a file that is striped, bytes are shared out evenly and its time says nothing.

use std::collections::BTreeMap;

use crate::pattern::median;
use crate::{Job, Layer};

/// One target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OstFacts {
    /// Its number.
    pub ost: u64,
    /// Its server, where the site has told.
    pub server: Option<String>,
    /// Files with a stripe on it.
    pub files: u64,
    /// Bytes that went to it, as far as layouts tell.
    pub bytes: u64,
    /// Files that lie on it alone and took any time.
    pub alone: u64,
    /// Mean seconds of such a file.
    pub seconds_mean: f64,
    /// The slowest of them.
    pub seconds_max: f64,
    /// Bytes of such files.
    pub alone_bytes: u64,
}

/// One storage server: its targets together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerFacts {
    /// Its name.
    pub server: String,
    /// Targets that hold files of the job.
    pub osts: u64,
    /// Bytes that went to them.
    pub bytes: u64,
    /// Files that lie on one of them alone and took any time.
    pub alone: u64,
    /// Mean seconds of such a file.
    pub seconds_mean: f64,
}

/// All targets that hold a file of the job.
#[derive(Debug, Clone, Default)]
pub struct Osts {
    /// By number.
    pub by_ost: Vec<OstFacts>,
    /// Servers, by name, where the site has told which target is whose.
    pub servers: Vec<ServerFacts>,
    /// Median of the mean seconds of files that lie on one target alone.
    pub seconds_median: f64,
}

impl Osts {
    pub(super) fn of(job: &Job) -> Osts {
        let layouts: BTreeMap<_, _> =
            job.layouts.iter().map(|layout| (layout.file, layout)).collect();
        let mut files: BTreeMap<_, (u64, f64)> = BTreeMap::new();
        for usage in job.usages.iter().filter(|usage| usage.layer == Layer::Posix) {
            let file = files.entry(usage.file).or_default();
            file.0 = file.0.saturating_add(usage.bytes());
            // Metadata calls go to another server.
            file.1 += usage.read.seconds + usage.write.seconds;
        }
        let mut osts: BTreeMap<u64, OstFacts> = BTreeMap::new();
        for (id, (bytes, seconds)) in files {
            let Some(layout) = layouts.get(&id).filter(|layout| !layout.osts.is_empty()) else {
                continue;
            };
            let share = bytes / layout.osts.len() as u64;
            for &number in &layout.osts {
                let ost = osts.entry(number).or_insert_with(|| OstFacts {
                    ost: number,
                    server: job.servers.get(&number).cloned(),
                    ..OstFacts::default()
                });
                ost.files += 1;
                ost.bytes += share;
                if layout.osts.len() == 1 && bytes > 0 && seconds > 0.0 {
                    ost.alone += 1;
                    ost.alone_bytes += bytes;
                    ost.seconds_mean += seconds;
                    ost.seconds_max = ost.seconds_max.max(seconds);
                }
            }
        }
        let mut by_ost: Vec<OstFacts> = osts.into_values().collect();
        for ost in by_ost.iter_mut().filter(|ost| ost.alone > 0) {
            ost.seconds_mean /= ost.alone as f64;
        }
        let mut means: Vec<f64> =
            by_ost.iter().filter(|ost| ost.alone > 0).map(|ost| ost.seconds_mean).collect();
        Osts {
            seconds_median: median(&mut means).unwrap_or(0.0),
            servers: servers(&by_ost),
            by_ost,
        }
    }
}

/// What servers have in all.
fn servers(osts: &[OstFacts]) -> Vec<ServerFacts> {
    let mut servers: BTreeMap<&str, ServerFacts> = BTreeMap::new();
    for ost in osts {
        let Some(name) = &ost.server else { continue };
        let server = servers
            .entry(name)
            .or_insert_with(|| ServerFacts { server: name.clone(), ..ServerFacts::default() });
        server.osts += 1;
        server.bytes += ost.bytes;
        server.alone += ost.alone;
        server.seconds_mean += ost.seconds_mean * ost.alone as f64;
    }
    let mut servers: Vec<ServerFacts> = servers.into_values().collect();
    for server in servers.iter_mut().filter(|server| server.alone > 0) {
        server.seconds_mean /= server.alone as f64;
    }
    servers
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;

    #[test]
    fn targets_of_a_server_add_up() {
        let mut job = Sample::new(3, 10.0);
        for (rank, ost, seconds) in [(0, 1, 2.0), (1, 2, 4.0), (2, 3, 9.0)] {
            let path = format!("/lus/{rank}");
            let usage = job.posix(&path, rank);
            (usage.write.bytes, usage.write.seconds) = (100, seconds);
            job.layout(&path, 1 << 20, &[ost]);
        }
        job.job.servers = [(1, "a".to_owned()), (2, "a".to_owned())].into();
        let osts = job.facts().osts;
        let seen: Vec<_> = osts
            .servers
            .iter()
            .map(|one| (one.server.as_str(), one.osts, one.bytes, one.seconds_mean))
            .collect();
        assert_eq!(seen, [("a", 2, 200, 3.0)]);
        assert_eq!(osts.by_ost[2].server, None);
    }
}
