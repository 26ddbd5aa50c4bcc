//! The completeness certificate of a job: one sentence for people, JSON for machines.

use std::fmt::Write as _;
use std::io::{Result, Write};

use netra_darshan::section::Attendance;
use netra_event::Loss;
use netra_stream::ledger::{Certificate, Sums};
use serde_json::{Value, json};

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn count(number: u64, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {noun}{end}", grouped(number))
}

/// Whether anything is missing, of those who are recorded and of those who are not.
#[must_use]
pub fn of_all(certificate: &Certificate, attendance: Option<&Attendance>) -> String {
    let missing = attendance.map(Attendance::caveats).unwrap_or_default();
    [vec![said(certificate, missing.is_empty())], missing].concat().join("; ")
}

/// Whether anything is missing, in one sentence.
#[must_use]
pub fn sentence(certificate: &Certificate) -> String {
    said(certificate, true)
}

/// `all`: whether everybody is recorded, as far as is known.
fn said(certificate: &Certificate, all: bool) -> String {
    let sums = &certificate.sums;
    let processes =
        count(certificate.processes.len() as u64, "process").replace("processs", "processes");
    let mut text = format!("job {} at {}: ", certificate.job, certificate.sink);
    let events = count(sums.produced, "event");
    if certificate.is_complete() {
        let end = if all { "; nothing is missing" } else { "" };
        write!(text, "all {events} of {processes} arrived{end}").ok();
    } else if !certificate.broken.is_empty() {
        write!(text, "the account does not add up: {}", certificate.broken.join("; ")).ok();
    } else {
        let arrived = grouped(sums.delivered);
        write!(text, "{arrived} of {events} of {processes} arrived").ok();
        if sums.in_flight > 0 {
            write!(text, ", {} on the way", grouped(sums.in_flight)).ok();
        }
        if !certificate.is_final() {
            let running = certificate.processes.iter().filter(|process| !process.is_final).count();
            write!(text, ", {running} still running").ok();
        }
    }
    let missed = |loss: &Loss| !matches!(loss, Loss::Excluded | Loss::Filtered);
    for (loss, dropped) in sums.dropped.iter().filter(|(loss, _)| missed(loss)) {
        write!(text, "; {} lost because {loss}", count(*dropped, "event")).ok();
    }
    let excluded: u64 =
        sums.dropped.iter().filter(|(loss, _)| !missed(loss)).map(|(_, dropped)| dropped).sum();
    if excluded > 0 {
        write!(text, " ({} left out by settings)", count(excluded, "call")).ok();
    }
    text
}

/// The sentence, and a line for each process of which something is missing.
///
/// # Errors
/// The output can not be written.
pub fn text(out: &mut impl Write, certificate: &Certificate) -> Result<()> {
    writeln!(out, "{}", sentence(certificate))?;
    for process in &certificate.processes {
        let sums = &process.sums;
        if sums.in_flight == 0 && sums.missed() == 0 {
            continue;
        }
        let rank = process.rank.map_or_else(String::new, |rank| format!(" (rank {rank})"));
        writeln!(
            out,
            "  process {} on {}{rank}: produced {}, delivered {}, lost {}, on the way {}",
            process.pid,
            process.host,
            grouped(sums.produced),
            grouped(sums.delivered),
            grouped(sums.missed()),
            grouped(sums.in_flight),
        )?;
    }
    Ok(())
}

fn sums(sums: &Sums) -> Value {
    let dropped: serde_json::Map<String, Value> =
        sums.dropped.iter().map(|(loss, &count)| (loss.slug().to_owned(), count.into())).collect();
    json!({
        "calls": sums.calls,
        "produced": sums.produced,
        "received": sums.received,
        "delivered": sums.delivered,
        "dropped": dropped,
        "in_flight": sums.in_flight,
    })
}

/// The certificate as JSON.
#[must_use]
pub fn json(certificate: &Certificate) -> Value {
    let processes: Vec<Value> = certificate
        .processes
        .iter()
        .map(|process| {
            json!({
                "host": process.host,
                "pid": process.pid,
                "rank": process.rank,
                "final": process.is_final,
                "sums": sums(&process.sums),
            })
        })
        .collect();
    let functions: Vec<Value> = certificate
        .functions
        .iter()
        .map(|line| json!({"name": line.name, "calls": line.calls, "delivered": line.delivered}))
        .collect();
    json!({
        "job": certificate.job,
        "sink": certificate.sink,
        "complete": certificate.is_complete(),
        "final": certificate.is_final(),
        "sentence": sentence(certificate),
        "sums": sums(&certificate.sums),
        "broken": certificate.broken,
        "functions": functions,
        "processes": processes,
    })
}

/// Certificates as one JSON list.
///
/// # Errors
/// The output can not be written.
pub fn write_json(out: &mut impl Write, certificates: &[Certificate]) -> Result<()> {
    let all: Vec<Value> = certificates.iter().map(json).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netra_stream::ledger::ProcessLine;

    fn certificate(delivered: u64, budget: u64) -> Certificate {
        let mut all =
            Sums { produced: 1000, delivered, in_flight: 1000 - delivered, ..Sums::default() };
        if budget > 0 {
            all.dropped.insert(Loss::Budget, budget);
        }
        let line = ProcessLine { is_final: true, sums: all.clone(), ..ProcessLine::default() };
        Certificate {
            job: "j".to_owned(),
            sink: "hub".to_owned(),
            processes: vec![line],
            sums: all,
            ..Certificate::default()
        }
    }

    #[track_caller]
    fn says(certificate: &Certificate, want: &str) {
        assert_eq!(sentence(certificate), want);
    }

    #[test]
    fn one_sentence_says_whether_anything_is_missing() {
        says(
            &certificate(1000, 0),
            "job j at hub: all 1,000 events of 1 process arrived; nothing is missing",
        );
        says(
            &certificate(990, 0),
            "job j at hub: 990 of 1,000 events of 1 process arrived, 10 on the way",
        );
        says(
            &certificate(1000, 7),
            "job j at hub: 1,000 of 1,000 events of 1 process arrived; 7 events lost because the trace budget was spent",
        );
        assert_eq!(json(&certificate(1000, 7))["sums"]["dropped"]["budget"], 7);
        assert_eq!(json(&certificate(1000, 0))["complete"], true);
    }
}
