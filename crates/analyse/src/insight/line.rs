//! Which lines of the program cause a finding: the call sites that spent most on its files, in calls
//! of the kind that it is about.

use std::collections::{BTreeMap, BTreeSet};

use netra_event::{Kind, RecordId};

use super::{Finding, Line};
use crate::{Frame, Job, SiteUse};

/// Lines that are named.
const MOST: usize = 3;

/// What kind of calls a rule is about.
fn kinds(slug: &str) -> &'static [Kind] {
    const DATA: &[Kind] = &[Kind::Read, Kind::Write];
    match slug {
        "common-blocks" | "stage-file" => &[Kind::Read],
        "checkpoint-overwrite"
        | "shared-stripes"
        | "data-sieving"
        | "stdout-bulk"
        | "narrow-stripe" => &[Kind::Write],
        "open-storm" | "waits-in-open" | "file-per-process" => &[Kind::Open, Kind::Close],
        "metadata-time" => {
            &[Kind::Open, Kind::Close, Kind::Seek, Kind::Stat, Kind::Sync, Kind::Meta]
        }
        "seek-storm" => &[Kind::Seek],
        "sync-storm" => &[Kind::Sync],
        "stat-storm" => &[Kind::Stat],
        "failed-calls" => &[Kind::Open, Kind::Stat, Kind::Read, Kind::Write, Kind::Meta],
        slug if slug.ends_with("-reads") => &[Kind::Read],
        slug if slug.ends_with("-writes") => &[Kind::Write],
        _ => DATA,
    }
}

/// The costliest lines of a finding; none where call sites are not known.
pub(crate) fn lines(finding: &Finding, job: &Job) -> Vec<Line> {
    if job.sites.is_empty() {
        return Vec::new();
    }
    let files: BTreeSet<RecordId> = finding.files.iter().map(|file| file.0).collect();
    let kinds = kinds(&finding.slug);
    let failures = finding.slug == "failed-calls";
    let concerns = |site: &&SiteUse| {
        let file = site.file.is_some_and(|file| files.contains(&file));
        (files.is_empty() || file)
            && kinds.contains(&site.function.kind())
            && (!failures || site.failed > 0)
    };
    let mut lines: BTreeMap<(&Frame, &'static str), Line> = BTreeMap::new();
    for site in job.sites.iter().filter(concerns) {
        let Some(frame) = job.places.get(site.place as usize).and_then(|place| place.frame())
        else {
            continue;
        };
        let call = site.function.name();
        let line = lines.entry((frame, call)).or_insert_with(|| Line {
            frame: frame.clone(),
            call,
            calls: 0,
            bytes: 0,
            seconds: 0.0,
        });
        line.calls += if failures { site.failed } else { site.calls };
        line.bytes = line.bytes.saturating_add(site.bytes);
        line.seconds += site.seconds;
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    lines.sort_by(|a, b| {
        b.seconds.total_cmp(&a.seconds).then(b.calls.cmp(&a.calls)).then(a.frame.cmp(&b.frame))
    });
    // A line that takes next to nothing beside the first causes nothing.
    let least = lines.first().map_or(0.0, |first| first.seconds / 50.0);
    lines.retain(|line| line.seconds >= least);
    lines.truncate(MOST);
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::insight::Finding;
    use crate::sample::Sample;
    use crate::{Frame, Place, SiteUse};
    use netra_event::{Function, RecordId};

    fn site(place: u32, function: Function, file: RecordId, seconds: f64) -> SiteUse {
        SiteUse { place, function, file: Some(file), calls: 10, failed: 0, bytes: 0, seconds }
    }

    #[test]
    fn the_costliest_calls_of_the_right_kind_and_file_are_named() {
        let mut job = Sample::new(1, 10.0);
        let (file, other) = (job.id("/lus/f"), job.id("/lus/g"));
        let frame = |line: u32| Frame {
            object: "/home/a.out".into(),
            function: Some("step".into()),
            file: Some("a.c".into()),
            line: Some(line),
            own: true,
            ..Frame::default()
        };
        let place = |line: u32| Place { frames: vec![frame(line)] };
        job.job.places = vec![place(1), place(2), place(3)];
        job.job.sites = vec![
            site(0, Function::Write, file, 1.0),
            site(1, Function::Write, file, 3.0),
            site(1, Function::Read, file, 9.0),
            site(2, Function::Write, other, 9.0),
            // Next to nothing.
            site(2, Function::Pwrite, file, 0.05),
        ];
        let mut finding = Finding::note("small-writes", String::new());
        finding.files = vec![(file, "/lus/f".into())];
        let found: Vec<(String, f64)> = lines(&finding, &job.job)
            .iter()
            .map(|line| (format!("{} {}", line.call, line.frame), line.seconds))
            .collect();
        assert_eq!(found, [("write step (a.c:2)".into(), 3.0), ("write step (a.c:1)".into(), 1.0)]);
        job.job.sites.clear();
        assert!(lines(&finding, &job.job).is_empty());
    }
}
