//! One run of a program, as the site and the list of a program's runs look at it: whether it still runs, has
//! just ended, or lies in the store.

use std::collections::BTreeMap;

use super::job::seconds;
use super::{Served, User};
use crate::live::{Cell, Job, Way};

/// A run.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    /// Its job's key.
    pub(super) job: String,
    /// Who started it.
    pub(super) user: String,
    /// The program, without its folder.
    pub(super) program: String,
    /// Ranks, or processes where there are none.
    pub(super) ranks: u64,
    /// The hosts it ran on.
    pub(super) nodes: Vec<String>,
    /// When it began, seconds since 1970.
    pub(super) start: f64,
    /// When it ended; nothing while it runs.
    pub(super) end: Option<f64>,
    /// Read and written by mount.
    pub(super) mounts: BTreeMap<String, [Cell; 2]>,
    /// Read and written in all.
    pub(super) moved: [Cell; 2],
    /// Seconds in calls of its slowest rank.
    pub(super) slowest: f64,
    /// Why it is not wholly covered; nothing where it is, or still runs.
    pub(super) missing: Option<String>,
    /// What was found above a note: rule and seconds lost.
    pub(super) findings: Vec<(String, f64)>,
    /// Whether nobody knows more of it than who tells this.
    #[cfg(feature = "store")]
    pub(super) well_known: bool,
    /// Second, and what was read and written in the step that begins there; empty where the store knows that.
    pub(super) steps: Vec<(u64, [Cell; 2])>,
}

impl Run {
    /// Bytes a second of time in reads or writes; nothing where there was none.
    pub(super) fn rate(&self, way: Way) -> Option<f64> {
        let cell = &self.moved[way as usize];
        (cell.bytes > 0 && cell.nanos > 0).then(|| cell.bytes as f64 / (cell.nanos as f64 / 1e9))
    }
}

/// The program of an executable's path, or of a command line where there is no path.
pub(super) fn program(exe: &str, command: &str) -> String {
    let path = if exe.is_empty() { command.split_whitespace().next().unwrap_or("") } else { exe };
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The runs that this server has seen itself and that a user may see.
pub(super) fn seen(served: &Served, user: &User) -> Vec<Run> {
    let state = served.live.lock();
    let jobs = state.jobs.values().filter(|job| user.sees(job.uid()));
    jobs.map(|job| run(served, job)).collect()
}

fn run(served: &Served, job: &Job) -> Run {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let about = job.first().map(|first| (text(&first.about.exe), text(&first.about.command)));
    let (exe, command) = about.unwrap_or_default();
    let owner = job.uid().map_or_else(String::new, |uid| {
        served.user_name(uid).map_or_else(|| uid.to_string(), str::to_owned)
    });
    let nanos = job.members().into_iter().map(|process| {
        Way::ALL.iter().map(|&way| process.cells.lowest(way).nanos).fold(0, u64::saturating_add)
    });
    let both = |ways: [Cell; 4]| [ways[Way::Read as usize], ways[Way::Write as usize]];
    let loud = job.diagnosis.standing().filter(|one| one.level != "INFO");
    let end = job.end();
    Run {
        job: job.key.clone(),
        user: owner,
        program: program(&exe, &command),
        ranks: job.ranks(),
        nodes: job.hosts().into_values().collect(),
        start: seconds(job.start()),
        end: end.map(seconds),
        mounts: job.files.by_mount().into_iter().map(|(name, ways)| (name, both(ways))).collect(),
        moved: job.moved(),
        slowest: seconds(nanos.max().unwrap_or(0)),
        missing: end.and_then(|_| missing(job)),
        findings: loud.map(|one| (one.slug.clone(), one.lost)).collect(),
        #[cfg(feature = "store")]
        well_known: super::job::is_well_known(job),
        steps: job
            .series
            .iter()
            .map(|(at, step)| (at, [Way::Read, Way::Write].map(|way| step.cells.lowest(way))))
            .collect(),
    }
}

/// Why a job that has ended is not whole.
fn missing(job: &Job) -> Option<String> {
    let found = job.completeness();
    if found.is_complete {
        return None;
    }
    let wanted = |slug: &str| matches!(slug, "excluded" | "filtered");
    let worst = found.dropped.iter().filter(|(loss, _)| !wanted(loss.slug()));
    Some(match worst.max_by_key(|(_, count)| **count) {
        Some((loss, _)) => format!("events were lost: {loss}"),
        None if job.missed > 0 => "this server was away or too slow for a while".to_owned(),
        None => "a process has not said what it wrote".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_is_named_without_its_folder() {
        assert_eq!(program("/apps/bin/wave", "wave -n 4"), "wave");
        assert_eq!(program("", "./wave -n 4"), "wave");
        assert_eq!(program("", ""), "");
    }
}
