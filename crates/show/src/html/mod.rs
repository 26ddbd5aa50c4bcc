//! The report page: one file that a browser opens without a network.
//!
//! The numbers go in as JSON, long rows of them as packed columns; script and style stand in the
//! file and a policy forbids everything else. Whatever a log says is text: it is escaped here and
//! never read as HTML by the script.

mod asset;
mod base64;
mod column;
mod data;
mod drawn;
mod plain;

use std::io::{Result, Write};

use netra_analyse::detail::{Budget, Detail};
use netra_analyse::{Job, Report};

use column::Columns;
use plain::escape;

/// Where nothing was built, nothing may run or load at all.
const NOTHING: &str = "default-src 'none'";

/// Writes the page of a report.
pub fn page<W: Write>(out: &mut W, job: &Job, report: &Report) -> Result<()> {
    let detail = Detail::of(job, Budget::default());
    let mut columns = Columns::default();
    let mut json = Vec::new();
    data::write(&mut json, job, report, &detail, &mut columns)?;
    let verdict = crate::report::verdict(report);
    let policy = if asset::BUILT { asset::POLICY } else { NOTHING };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
        escape(policy),
        escape(&title(job)),
        asset::STYLE,
    )?;
    plain::body(out, job, report, &verdict)?;
    out.write_all(b"</main>\n<script type=\"application/json\" id=\"report\">")?;
    out.write_all(harmless(&json).as_slice())?;
    out.write_all(b"</script>\n<script type=\"text/plain\" id=\"detail\">")?;
    out.write_all(columns.pack()?.as_bytes())?;
    write!(out, "</script>\n<script>{}</script>\n</body>\n</html>\n", asset::SCRIPT)
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
    for &byte in json {
        if byte == b'<' {
            out.extend_from_slice(b"\\u003c");
        } else {
            out.push(byte);
        }
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
