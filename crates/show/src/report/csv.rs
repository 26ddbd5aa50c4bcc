//! Findings as rows: one a finding, causes and symptoms alike.

use std::io::{Result, Write};

use netra_analyse::Report;
use netra_analyse::insight::Finding;

use crate::csv::row;

/// The line of names.
pub fn header(out: &mut impl Write) -> Result<()> {
    out.write_all(
        b"log,slug,cause,level,lost_seconds,share,confidence,audience,says,gain_seconds,gain_if,files,ranks,processes\n",
    )
}

/// The findings of one report.
pub fn rows(out: &mut impl Write, name: &str, report: &Report) -> Result<()> {
    for finding in &report.findings {
        one(out, name, finding, "")?;
        for symptom in &finding.symptoms {
            one(out, name, symptom, &finding.slug)?;
        }
    }
    Ok(())
}

fn one(out: &mut impl Write, name: &str, finding: &Finding, cause: &str) -> Result<()> {
    let audience: Vec<&str> = finding.audience.iter().map(|one| one.name()).collect();
    let files: Vec<&str> = finding.files.iter().map(|file| file.1.as_str()).collect();
    let ranks: Vec<String> = finding.ranks.iter().map(ToString::to_string).collect();
    let gain = finding.gain.as_ref();
    row(
        out,
        [
            name,
            &finding.slug,
            cause,
            finding.level.name(),
            &finding.lost.to_string(),
            &finding.share.to_string(),
            finding.confidence.name(),
            &audience.join(" "),
            &finding.says,
            &gain.map_or(String::new(), |gain| gain.seconds.to_string()),
            gain.map_or("", |gain| &gain.assuming),
            &files.join(" "),
            &ranks.join(" "),
            &finding.processes.join("; "),
        ],
    )
}
