//! The verdict: the first lines of a report, as sentences.

use netra_analyse::Report;
use netra_analyse::insight::{Finding, Level};
use netra_event::{Bytes, Seconds};

use crate::plain::{plain, shortened};

/// From this share of the run on, I/O is the problem.
const MUCH: f64 = 0.25;
/// Below this share it is not.
pub(super) const LITTLE: f64 = 0.05;
/// Characters that a path may take.
const PATH: usize = 60;

/// Is I/O my problem?
pub(crate) fn verdict(report: &Report) -> String {
    let facts = &report.facts;
    let io = &facts.critical;
    let share = facts.share(io.seconds);
    if facts.layers.is_empty() {
        return "no I/O was recorded".into();
    }
    let word = match share {
        s if s >= MUCH => "yes",
        s if s >= LITTLE => "partly",
        _ => "no",
    };
    let at_least = if io.at_most > io.seconds * 1.01 { "at least " } else { "" };
    let who = if facts.nprocs > 1 {
        format!(" on {}, the slowest", facts.who.called(io.rank))
    } else {
        String::new()
    };
    let mut says = format!(
        "{word}: I/O takes {at_least}{} of {} ({}){who}",
        Seconds(io.seconds),
        Seconds(facts.run_time),
        percent(share),
    );
    let kinds = [("reading", io.parts[0]), ("writing", io.parts[1]), ("metadata", io.parts[2])];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|kind| facts.share(kind.1) >= 0.001)
        .map(|kind| format!("{} {}", kind.0, percent(facts.share(kind.1))))
        .collect();
    if !kinds.is_empty() {
        says.push_str(&format!(": {}", kinds.join(", ")));
    }
    // Processes that are no ranks have nothing in common that a mean would be one of.
    if facts.noun() == "ranks" && facts.nprocs > 1 && io.mean < io.seconds / 2.0 && share >= LITTLE
    {
        says.push_str(&format!(
            "; the mean rank spends {} ({})",
            Seconds(io.mean),
            percent(facts.share(io.mean))
        ));
    }
    if io.waiting > 0.0 {
        says.push_str(&format!("; opens that only waited ({}) are not in it", Seconds(io.waiting)));
    }
    if io.overlaps {
        says.push_str("; calls of several threads overlap, so it is cut off at the run");
    }
    says
}

/// Where: the files and file systems that the slowest rank's time goes to.
pub(crate) fn place(report: &Report) -> Option<String> {
    let facts = &report.facts;
    let files = facts.critical.by_file();
    let total: f64 = files.iter().map(|file| file.1).sum();
    let &(first, seconds) = files.first()?;
    let file = facts.file(first)?;
    let mut says = format!(
        "{} ({} of that time, {} moved)",
        shortened(&plain(file.path.as_bytes()), PATH),
        percent(seconds / total),
        Bytes(file.bytes()),
    );
    if let (Some(kind), Some(mount)) = (&file.file_system, &file.mount) {
        says.push_str(&format!(" on {} {}", plain(kind.as_bytes()), plain(mount.as_bytes())));
    }
    if let Some(&(second, seconds)) = files.get(1).filter(|file| file.1 >= total / 10.0) {
        let name = facts
            .file(second)
            .map_or(String::new(), |file| plain(file.path.as_bytes()).into_owned());
        says.push_str(&format!("; {} ({})", shortened(&name, PATH), percent(seconds / total)));
    }
    let rest = files.len().saturating_sub(2);
    if rest > 0 {
        says.push_str(&format!("; {rest} more file{}", if rest == 1 { "" } else { "s" }));
    }
    Some(says)
}

/// The finding that answers why, if one costs enough to be said first.
pub(super) fn cause(report: &Report) -> Option<&Finding> {
    report.findings.first().filter(|finding| finding.level > Level::Info || finding.lost > 0.0)
}

/// A share as people read it.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        v if v <= 0.0 => "0 %".into(),
        v if v < 0.1 => "below 0.1 %".into(),
        v if (10.0..=99.0).contains(&v) => format!("{v:.0} %"),
        v if v >= 99.95 => "100 %".into(),
        v => format!("{v:.1} %"),
    }
}
