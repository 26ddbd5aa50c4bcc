//! The report for a terminal.

use std::io::{Result, Write};

use netra_analyse::Report;
use netra_analyse::insight::{Advice, Finding, Level, Line};
use netra_event::Seconds;

use super::headline::{LITTLE, cause, percent, place, verdict};
use super::query::Asked;
use crate::own;
use crate::plain::{plain, shortened};

/// How a page is written.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// With colours.
    pub colour: bool,
    /// With every finding, its symptoms, evidence and advice, and every check that passed.
    pub all: bool,
}

/// Characters in a line.
const WIDTH: usize = 100;
/// Where answers begin.
const INDENT: usize = 16;
/// Where the sentences of findings begin.
const COLUMN: usize = 24;
/// Findings on the first screen.
const FIRST: usize = 5;

/// Writes the report on a job.
pub fn page(out: &mut impl Write, name: &str, report: &Report, page: Page) -> Result<()> {
    let asked = Asked::of(name, &report.facts);
    title(out, name, report)?;
    answer(out, "Is it I/O?", &verdict(report))?;
    if let Some(place) = place(report) {
        answer(out, "Where", &place)?;
    }
    match cause(report) {
        Some(finding) if finding.level > Level::Info => why(out, finding)?,
        Some(finding) => {
            let says = format!(
                "nothing that costs much; the most is {}, {} ({} of the run)",
                finding.slug,
                Seconds(finding.lost),
                percent(finding.share),
            );
            answer(out, "Why", &says)?;
        }
        None if report.facts.layers.is_empty() => {}
        None => answer(out, "Why", &unexplained(report))?,
    }
    answer(out, "Trust", &trust(report))?;
    for also in report.facts.also.iter().filter(|_| page.all) {
        answer(out, "Also", &format!("{}: {}", also.module, own::line(also)))?;
    }
    findings(out, report, page, &asked)?;
    passed(out, report, page)?;
    unknown(out, report, page)
}

/// What is said where no rule found a cause.
fn unexplained(report: &Report) -> String {
    let io = report.facts.critical.seconds;
    if report.facts.share(io) < LITTLE {
        return "no rule found anything that costs time".to_owned();
    }
    format!("no rule explains these {}", Seconds(io))
}

fn title(out: &mut impl Write, name: &str, report: &Report) -> Result<()> {
    let facts = &report.facts;
    let command = plain(facts.command.as_bytes());
    let many = facts.who.how_many(facts.nprocs);
    writeln!(out, "{}", plain(name.as_bytes()))?;
    let tail = format!("{many}, {}", Seconds(facts.run_time));
    let room = WIDTH.saturating_sub(tail.chars().count() + 4);
    writeln!(out, "  {}  {tail}\n", shortened(command.trim(), room))
}

fn why(out: &mut impl Write, finding: &Finding) -> Result<()> {
    answer(out, "Why", &finding.says)?;
    if !finding.lines.is_empty() {
        let lines: Vec<String> = finding.lines.iter().map(called).collect();
        answer(out, "Lines", &lines.join("; "))?;
    }
    if let Some(first) = finding.advice.first() {
        answer(out, "Change", &first.says)?;
        code(out, first)?;
    }
    if let Some(gain) = finding.gain.as_ref().filter(|gain| gain.seconds > 0.0) {
        let share =
            if finding.lost > 0.0 { finding.share * gain.seconds / finding.lost } else { 0.0 };
        answer(
            out,
            "Gain",
            &format!(
                "up to {} ({} of the run), if {}",
                Seconds(gain.seconds),
                percent(share),
                gain.assuming
            ),
        )?;
    }
    Ok(())
}

/// A line of the program and what it called: `step (wave.c:42), 1200 × write, 3.20 s`.
fn called(line: &Line) -> String {
    format!("{}, {} × {}, {}", line.frame, line.calls, line.call, Seconds(line.seconds))
}

fn code(out: &mut impl Write, advice: &Advice) -> Result<()> {
    for line in advice.code.iter().flat_map(|code| code.lines()) {
        writeln!(out, "{:INDENT$}  {line}", "")?;
    }
    Ok(())
}

/// Whether the numbers can be trusted, in a sentence.
fn trust(report: &Report) -> String {
    let trust = &report.facts.trust;
    let caveats = trust.caveats();
    let mut says = if caveats.is_empty() {
        "nothing is known to be missing".to_owned()
    } else {
        format!("in part: {}", caveats.join("; "))
    };
    if trust.summed > 0 && report.facts.nprocs > 1 {
        let (records, are) =
            if trust.summed == 1 { ("record", "is a sum") } else { ("records", "are sums") };
        says.push_str(&format!("; {} {records} {are} over all ranks", trust.summed));
    }
    if report.facts.phases.is_none() && !report.facts.layers.is_empty() {
        says.push_str("; single calls were not traced");
    }
    if let Some(aside) = &trust.aside {
        says.push_str(&format!("; {}", aside.says()));
    }
    plain(says.as_bytes()).into_owned()
}

fn findings(out: &mut impl Write, report: &Report, page: Page, asked: &Asked<'_>) -> Result<()> {
    let (told, notes): (Vec<&Finding>, Vec<&Finding>) =
        report.findings.iter().partition(|finding| page.all || finding.level > Level::Info);
    if !told.is_empty() {
        writeln!(out, "\nFindings, by the seconds they cost")?;
    }
    let first = if page.all { told.len() } else { FIRST };
    for (place, finding) in told.iter().take(first).enumerate() {
        // The first has been said in full above.
        let says = if place == 0 && !page.all { "see above" } else { &finding.says };
        one(out, finding, says, page)?;
        if page.all {
            details(out, finding, asked)?;
        }
    }
    if told.len() > first {
        writeln!(out, "  … and {} more", told.len() - first)?;
    }
    if !notes.is_empty() {
        let mut slugs: Vec<&str> = notes.iter().map(|finding| &*finding.slug).collect();
        let mut seen = std::collections::BTreeSet::new();
        slugs.retain(|slug| seen.insert(*slug));
        out.write_all(b"\n")?;
        answer(out, "Costs little", &slugs.join(", "))?;
    }
    Ok(())
}

fn one(out: &mut impl Write, finding: &Finding, says: &str, page: Page) -> Result<()> {
    let (on, off) = match (page.colour, finding.level) {
        (false, _) | (true, Level::Info) => ("", ""),
        (true, Level::Warn) => ("\x1b[33m", "\x1b[0m"),
        (true, Level::High) => ("\x1b[1;31m", "\x1b[0m"),
    };
    let cost = if finding.lost > 0.0 {
        format!("{:>8} {:>6}", Seconds(finding.lost).to_string(), percent(finding.share))
    } else {
        format!("{:>15}", "no cost known")
    };
    write!(out, "  {on}{}{off} {cost}  ", finding.level.name())?;
    wrap(out, &format!("{}: {}", finding.slug, plain(says.as_bytes())), COLUMN)?;
    if !finding.symptoms.is_empty() {
        let slugs: Vec<&str> = finding.symptoms.iter().map(|symptom| &*symptom.slug).collect();
        indented(out, COLUMN, &format!("seen as: {}", slugs.join(", ")))?;
    }
    Ok(())
}

fn details(out: &mut impl Write, finding: &Finding, asked: &Asked<'_>) -> Result<()> {
    let values: Vec<String> =
        finding.evidence.iter().map(|one| format!("{} {}", one.name, one.value)).collect();
    if !values.is_empty() {
        let confidence = finding.confidence.name();
        indented(out, COLUMN, &format!("{} (confidence {confidence})", values.join(", ")))?;
    }
    for line in &finding.lines {
        indented(out, COLUMN, &format!("at {}", called(line)))?;
    }
    for advice in &finding.advice {
        write!(out, "{:COLUMN$}> ", "")?;
        wrap(out, &plain(advice.says.as_bytes()), COLUMN + 2)?;
        for line in advice.code.iter().flat_map(|code| code.lines()) {
            writeln!(out, "{:COLUMN$}    {line}", "")?;
        }
    }
    for command in finding.queries.iter().filter_map(|query| asked.command(query)) {
        // Not wrapped: it is there to be copied.
        writeln!(out, "{:COLUMN$}$ {}", "", plain(command.as_bytes()))?;
    }
    Ok(())
}

fn passed(out: &mut impl Write, report: &Report, page: Page) -> Result<()> {
    if report.passed.is_empty() {
        return Ok(());
    }
    if page.all {
        writeln!(out, "\nPassed")?;
        for (slug, says) in &report.passed {
            indented(out, 2, &format!("{slug}: {says}"))?;
        }
        return Ok(());
    }
    let slugs: Vec<&str> = report.passed.iter().map(|(slug, _)| &**slug).collect();
    answer(out, "Passed", &slugs.join(", "))
}

/// What nobody recorded, and what therefore is not said.
fn unknown(out: &mut impl Write, report: &Report, page: Page) -> Result<()> {
    let says = &report.facts.trust.unknown;
    if says.is_empty() || !page.all {
        return Ok(());
    }
    writeln!(out, "\nNot known")?;
    says.iter().try_for_each(|says| indented(out, 2, says))
}

/// A question and its answer.
fn answer(out: &mut impl Write, question: &str, says: &str) -> Result<()> {
    write!(out, "{question:<INDENT$} ")?;
    wrap(out, &plain(says.as_bytes()), INDENT + 1)
}

/// Words, with units kept at their number.
fn lines_break_between(text: &str) -> Vec<String> {
    const UNITS: [&str; 12] =
        ["%", "s", "ms", "µs", "ns", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ';', ':', ')', '.']);
        let number = words.last().is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match words.last_mut() {
            Some(last) if number && UNITS.contains(&bare) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// A paragraph of its own.
fn indented(out: &mut impl Write, indent: usize, text: &str) -> Result<()> {
    write!(out, "{:indent$}", "")?;
    wrap(out, &plain(text.as_bytes()), indent)
}

/// Writes words into lines of at most [`WIDTH`] that begin at `indent`, as the first one already does.
fn wrap(out: &mut impl Write, text: &str, indent: usize) -> Result<()> {
    let mut column = indent;
    for (place, word) in lines_break_between(text).into_iter().enumerate() {
        let length = word.chars().count();
        if place > 0 && column + 1 + length > WIDTH {
            write!(out, "\n{:indent$}", "")?;
            column = indent;
        } else if place > 0 {
            out.write_all(b" ")?;
            column += 1;
        }
        out.write_all(word.as_bytes())?;
        column += length;
    }
    out.write_all(b"\n")
}
