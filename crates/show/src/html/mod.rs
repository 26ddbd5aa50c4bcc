//! The report page: one file that a browser opens without a network.
//!
//! The numbers go in as JSON, long rows of them as packed columns; script and style stand in the
//! file and a policy forbids everything else. Whatever a log says is text: it is escaped here and
//! never read as HTML by the script.

mod asset;
mod column;
mod compared;
mod data;
mod drawn;
mod functions;
mod known;
mod placed;
mod plain;

use std::io::{Result, Write};

use netra_analyse::detail::{Budget, Conflicts, Detail};
use netra_analyse::{Job, Report};

use crate::view::Views;
use column::Columns;
use plain::escape;

/// Where nothing was built, nothing may run or load at all.
const NOTHING: &str = "default-src 'none'";

/// Writes the page of a report, with what is drawn of the job.
pub fn page<W: Write>(
    out: &mut W,
    job: &Job,
    (report, detail): &(Report, Detail),
    views: &Views,
) -> Result<()> {
    let (json, packed) = run(job, report, detail, views)?;
    let verdict = crate::report::verdict(report);
    head(out, &title(job))?;
    plain::body(out, job, report, &verdict)?;
    tail(out, &json, &[packed])
}

/// A report as a page that follows a running job reads it: the same JSON and columns as stand in a
/// report page, with the number of the diagnosis.
///
/// # Errors
/// It can not be packed.
pub fn document(job: &Job, report: &Report, views: &Views, number: u64) -> Result<Vec<u8>> {
    let (json, packed) = run(job, report, &Detail::of(job, Budget::default()), views)?;
    let mut out =
        format!("{{\"number\":{number},\"columns\":\"{packed}\",\"report\":").into_bytes();
    out.extend_from_slice(&json);
    out.push(b'}');
    Ok(out)
}

/// Writes a page of several runs side by side, the first of which the others are compared with.
pub fn comparison<W: Write>(out: &mut W, runs: &[(&Job, &Report)], views: &Views) -> Result<()> {
    let mut all = Vec::new();
    let mut packed = Vec::new();
    for (job, report) in runs {
        let detail = Detail::of(job, Budget::default());
        let (json, columns) = run(job, report, &detail, views)?;
        all.push(json);
        packed.push(columns);
    }
    let reports: Vec<&Report> = runs.iter().map(|(_, report)| *report).collect();
    let mut json = Vec::new();
    compared::write(&mut json, &reports, &all)?;
    head(out, "Runs side by side: I/O")?;
    compared::plain(out, runs)?;
    tail(out, &json, &packed)
}

/// A run as JSON, and its packed columns.
fn run(job: &Job, report: &Report, detail: &Detail, views: &Views) -> Result<(Vec<u8>, String)> {
    let conflicts = Conflicts::of(job, &report.facts, Budget::default().conflicts);
    let mut columns = Columns::default();
    let mut json = Vec::new();
    let shown = data::Shown { job, report, detail, conflicts: &conflicts, views };
    data::write(&mut json, &shown, &mut columns)?;
    Ok((json, columns.pack()?))
}

fn head<W: Write>(out: &mut W, title: &str) -> Result<()> {
    let policy = if asset::BUILT { asset::POLICY } else { NOTHING };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        escape(policy),
        escape(title),
        asset::STYLE,
    )
}

fn tail<W: Write>(out: &mut W, json: &[u8], packed: &[String]) -> Result<()> {
    out.write_all(b"</main>\n<script type=\"application/json\" id=\"report\">")?;
    out.write_all(harmless(json).as_slice())?;
    out.write_all(b"</script>\n")?;
    for (at, columns) in packed.iter().enumerate() {
        writeln!(out, "<script type=\"text/plain\" id=\"detail-{at}\">{columns}</script>")?;
    }
    write!(out, "<script>{}</script>\n</body>\n</html>\n", asset::SCRIPT)
}

/// The command's first word without its folder, and the job.
fn title(job: &Job) -> String {
    let program = job.command.split_whitespace().next().unwrap_or(&job.source);
    let name = program.rsplit('/').next().unwrap_or(program);
    if job.id.is_empty() { format!("{name}: I/O") } else { format!("{name}, job {}: I/O", job.id) }
}

/// JSON in which nothing can end the element that holds it: `<` stands only in strings, where it
/// may be written as a number.
fn harmless(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    for (at, part) in json.split(|byte| *byte == b'<').enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\\u003c");
        }
        out.extend_from_slice(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{harmless, title};
    use netra_analyse::Job;

    #[test]
    fn nothing_in_the_data_ends_its_element() {
        let safe = harmless(b"{\"a\":\"</script><!--\"}");
        assert_eq!(safe, b"{\"a\":\"\\u003c/script>\\u003c!--\"}");
        let read: serde_json::Value = serde_json::from_slice(&safe).unwrap();
        assert_eq!(read["a"], "</script><!--");
    }

    #[test]
    fn a_title_is_short() {
        let job =
            Job { command: "/home/u/bin/wave -n 4".into(), id: "17".into(), ..Job::default() };
        assert_eq!(title(&job), "wave, job 17: I/O");
    }
}
