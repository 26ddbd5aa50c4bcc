//! A finding for machines: one writer for the JSON report and for the page.

use std::io::{Result, Write};

use netra_analyse::insight::{Finding, Value};

use super::query::Asked;
use crate::Json;
use crate::member::{float, list, number, optional, text};

/// How the files of a finding are written: what a report names, a page points at.
pub(crate) trait Files {
    /// Writes them.
    fn write<W: Write>(&self, json: &mut Json<'_, W>, finding: &Finding) -> Result<()>;
}

/// With record and path: the member `files`.
pub(crate) struct Named;

impl Files for Named {
    fn write<W: Write>(&self, json: &mut Json<'_, W>, finding: &Finding) -> Result<()> {
        list(json, "files", &finding.files, |json, (id, path)| {
            json.open('{')?;
            text(json, "id", &id.0.to_string())?;
            text(json, "path", path)?;
            json.close('}')
        })
    }
}

/// Writes a finding and, inside it, its symptoms.
pub(crate) fn write<W: Write>(
    json: &mut Json<'_, W>,
    finding: &Finding,
    asked: &Asked<'_>,
    files: &impl Files,
) -> Result<()> {
    json.line()?;
    json.open('{')?;
    text(json, "slug", &finding.slug)?;
    text(json, "title", &finding.title)?;
    text(json, "level", finding.level.name())?;
    text(json, "says", &finding.says)?;
    float(json, "lost_seconds", finding.lost)?;
    float(json, "share", finding.share)?;
    text(json, "confidence", finding.confidence.name())?;
    list(json, "audience", &finding.audience, |json, one| json.text(one.name()))?;
    evidence(json, finding)?;
    files.write(json, finding)?;
    list(json, "ranks", &finding.ranks, |json, rank| json.int(rank.0))?;
    list(json, "processes", &finding.processes, |json, name| json.text(name))?;
    json.key("window_seconds")?;
    match finding.window {
        Some((start, end)) => {
            json.open('[')?;
            json.float(start)?;
            json.float(end)?;
            json.close(']')?;
        }
        None => json.null()?,
    }
    lines(json, finding)?;
    list(json, "queries", &finding.queries, |json, query| {
        json.open('{')?;
        optional(json, "command", asked.command(query).as_deref())?;
        text(json, "sql", &asked.sql(query))?;
        json.close('}')
    })?;
    remedy(json, finding)?;
    list(json, "symptoms", &finding.symptoms, |json, one| write(json, one, asked, files))?;
    json.close('}')
}

/// Values with their unit as the member's name, and as people read them.
fn evidence<W: Write>(json: &mut Json<'_, W>, finding: &Finding) -> Result<()> {
    list(json, "evidence", &finding.evidence, |json, one| {
        json.open('{')?;
        text(json, "name", &one.name)?;
        match one.value {
            Value::Count(value) => number(json, "count", value)?,
            Value::Bytes(value) => number(json, "bytes", value)?,
            Value::Seconds(value) => float(json, "seconds", value)?,
            Value::Ratio(value) => float(json, "ratio", value)?,
        }
        text(json, "text", &one.value.to_string())?;
        json.close('}')
    })
}

/// The lines of the program that cause it.
fn lines<W: Write>(json: &mut Json<'_, W>, finding: &Finding) -> Result<()> {
    list(json, "lines", &finding.lines, |json, line| {
        json.open('{')?;
        text(json, "says", &line.frame.to_string())?;
        text(json, "object", &line.frame.object)?;
        number(json, "address", line.frame.address)?;
        optional(json, "function", line.frame.function.as_deref())?;
        optional(json, "file", line.frame.file.as_deref())?;
        json.key("line")?;
        match line.frame.line {
            Some(line) => json.unsigned(u64::from(line))?,
            None => json.null()?,
        }
        text(json, "call", line.call)?;
        number(json, "calls", line.calls)?;
        number(json, "bytes", line.bytes)?;
        float(json, "rank_seconds", line.seconds)?;
        json.close('}')
    })
}

/// What to change and what that gains.
fn remedy<W: Write>(json: &mut Json<'_, W>, finding: &Finding) -> Result<()> {
    list(json, "advice", &finding.advice, |json, advice| {
        json.open('{')?;
        text(json, "says", &advice.says)?;
        optional(json, "code", advice.code.as_deref())?;
        json.close('}')
    })?;
    json.key("gain")?;
    match &finding.gain {
        Some(gain) => {
            json.open('{')?;
            float(json, "seconds", gain.seconds)?;
            text(json, "assuming", &gain.assuming)?;
            json.close('}')
        }
        None => json.null(),
    }
}
