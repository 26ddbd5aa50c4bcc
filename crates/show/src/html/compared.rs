//! Several runs on one page: their reports, and which findings went or came.

use std::io::{Result, Write};

use netra_analyse::insight::Level;
use netra_analyse::{Job, Report};
use netra_event::Seconds;

use super::asset;
use super::plain::escape;
use crate::Json;
use crate::compare;
use crate::member::{list, text};

/// The member `compare`, and the runs as they are written for a page of their own.
pub(super) fn write(out: &mut Vec<u8>, reports: &[&Report], runs: &[Vec<u8>]) -> Result<()> {
    let mut json = Json::new(out);
    json.open('{')?;
    json.key("compare")?;
    json.open('{')?;
    text(&mut json, "netra", env!("CARGO_PKG_VERSION"))?;
    text(&mut json, "says", &says(reports))?;
    list(&mut json, "findings", &compare::findings(reports), |json, (finding, lost)| {
        json.open('{')?;
        text(json, "slug", &finding.slug)?;
        text(json, "title", &finding.title)?;
        list(json, "runs", lost, |json, one: &Option<(Level, f64)>| match one {
            Some((level, lost)) => {
                json.open('{')?;
                text(json, "level", level.name())?;
                json.key("lost_seconds")?;
                json.float(*lost)?;
                json.close('}')
            }
            None => json.null(),
        })?;
        json.close('}')
    })?;
    json.close('}')?;
    json.key("runs")?;
    json.open('[')?;
    for run in runs {
        json.document(run)?;
    }
    json.close(']')?;
    json.close('}')?;
    json.finish()
}

fn says(reports: &[&Report]) -> String {
    match reports {
        [first, .., last] => compare::verdict(first, last),
        _ => "There is only one run.".into(),
    }
}

/// What the page says without its script.
pub(super) fn plain<W: Write>(out: &mut W, runs: &[(&Job, &Report)]) -> Result<()> {
    let reports: Vec<&Report> = runs.iter().map(|(_, report)| *report).collect();
    writeln!(out, "<h1>Runs side by side</h1>")?;
    if !asset::BUILT {
        super::plain::missing(out)?;
    }
    writeln!(out, "<p>{}</p>\n<table>", escape(&says(&reports)))?;
    for (job, report) in runs {
        writeln!(
            out,
            "<tr><th>{}</th><td>{}</td></tr>",
            escape(&job.source),
            escape(&crate::report::verdict(report))
        )?;
    }
    writeln!(out, "</table>\n<h2>Findings, seconds lost</h2>\n<table>")?;
    for (finding, lost) in compare::findings(&reports) {
        write!(out, "<tr><th>{}</th>", escape(&finding.title))?;
        for one in lost {
            let text = one.map_or("-".to_owned(), |(_, lost)| Seconds(lost).to_string());
            write!(out, "<td>{text}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</table>")
}
