//! The history of a program over many runs: how much they vary, which were unusual, and when.

use std::io::{Result, Write};

use netra_analyse::history::{History, Past, Spread};
use netra_event::{Bytes, Seconds};

use crate::member::{float, list, number, text};
use crate::plain::plain;
use crate::{Json, csv};

/// Unusual runs that are named.
const FEW: usize = 5;

/// The hour of the day, as people here count it, at which a run began.
#[must_use]
pub fn local_hour(start: Seconds) -> Option<u8> {
    // The cast saturates; what is in no calendar has no hour either.
    let second = start.0.floor() as i64;
    let local = second.checked_add(crate::time::zone(second))?;
    u8::try_from(local.rem_euclid(86_400) / 3600).ok()
}

/// For people: a few lines a program.
///
/// # Errors
/// If the output can not be written.
pub fn page(out: &mut impl Write, histories: &[History]) -> Result<()> {
    for (place, history) in histories.iter().enumerate() {
        if place > 0 {
            out.write_all(b"\n")?;
        }
        one(out, history)?;
    }
    Ok(())
}

fn one(out: &mut impl Write, history: &History) -> Result<()> {
    let runs = history.runs.len();
    writeln!(
        out,
        "{}  {runs} run{} on {} process{}",
        plain(history.program.as_bytes()),
        if runs == 1 { "" } else { "s" },
        history.processes,
        if history.processes == 1 { "" } else { "es" },
    )?;
    let seconds = |value: f64| Seconds(value).to_string();
    // The cast saturates; no rate comes near.
    let rate = |value: f64| format!("{}/s", Bytes(value as u64));
    line(out, "run", &history.run_seconds, seconds)?;
    line(out, "I/O", &history.io_seconds, seconds)?;
    line(out, "bandwidth", &history.rate, rate)?;
    if let Some(trend) = history.trend.filter(|trend| !(0.9..=1.1).contains(trend)) {
        let word = if trend > 1.0 { "slower" } else { "faster" };
        let factor = if trend > 1.0 { trend } else { 1.0 / trend };
        writeln!(
            out,
            "  {:<12} I/O of the newer half is {factor:.1} times {word} than of the older",
            "trend"
        )?;
    }
    for slow in history.unusual.iter().take(FEW) {
        let Some(run) = history.runs.get(slow.run) else { continue };
        writeln!(
            out,
            "  {:<12} {}: {} of I/O, {:.1} times the median{}",
            "unusual",
            plain(run.source.as_bytes()),
            Seconds(slow.io_seconds),
            slow.factor,
            reason(run),
        )?;
    }
    if history.unusual.len() > FEW {
        writeln!(out, "  {:<12} and {} more", "", history.unusual.len() - FEW)?;
    }
    let parts: Vec<String> = history
        .daytimes
        .iter()
        .map(|part| {
            let to = part.from + 6;
            format!("{:02}-{to:02} h {} ({} runs)", part.from, Seconds(part.io_seconds), part.runs)
        })
        .collect();
    if !parts.is_empty() {
        writeln!(out, "  {:<12} median I/O {}", "time of day", parts.join(", "))?;
    }
    let found: Vec<String> = history
        .findings
        .iter()
        .map(|(slug, count)| format!("{slug} in {count} of {runs}"))
        .collect();
    if !found.is_empty() {
        writeln!(out, "  {:<12} {}", "findings", found.join(", "))?;
    }
    Ok(())
}

/// The costliest finding of a run.
fn reason(run: &Past) -> String {
    let worst = run.findings.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    worst.map_or(String::new(), |(slug, lost)| format!(" ({slug}, {})", Seconds(*lost)))
}

fn line(
    out: &mut impl Write,
    name: &str,
    spread: &Spread,
    show: impl Fn(f64) -> String,
) -> Result<()> {
    if spread.most <= 0.0 {
        return Ok(());
    }
    writeln!(
        out,
        "  {name:<12} median {}, from {} to {} (varies by {:.0} %)",
        show(spread.median),
        show(spread.least),
        show(spread.most),
        spread.varies * 100.0,
    )
}

/// For machines: every program with every run.
///
/// # Errors
/// If the output can not be written.
pub fn json<W: Write>(out: &mut W, histories: &[History]) -> Result<()> {
    let mut json = Json::new(out);
    json.open('{')?;
    list(&mut json, "histories", histories, |json, history| {
        json.line()?;
        json.open('{')?;
        text(json, "program", &history.program)?;
        number(json, "processes", history.processes)?;
        for (key, spread) in [
            ("run_seconds", &history.run_seconds),
            ("io_seconds", &history.io_seconds),
            ("bytes_per_second", &history.rate),
        ] {
            json.key(key)?;
            json.open('{')?;
            float(json, "min", spread.least)?;
            float(json, "median", spread.median)?;
            float(json, "max", spread.most)?;
            float(json, "deviation_share", spread.varies)?;
            json.close('}')?;
        }
        json.key("trend")?;
        match history.trend {
            Some(trend) => json.float(trend)?,
            None => json.null()?,
        }
        list(json, "unusual", &history.unusual, |json, slow| {
            json.open('{')?;
            number(json, "run", slow.run as u64)?;
            float(json, "io_seconds", slow.io_seconds)?;
            float(json, "factor", slow.factor)?;
            json.close('}')
        })?;
        list(json, "time_of_day", &history.daytimes, |json, part| {
            json.open('{')?;
            number(json, "from_hour", u64::from(part.from))?;
            number(json, "runs", part.runs)?;
            float(json, "io_seconds_median", part.io_seconds)?;
            json.close('}')
        })?;
        list(json, "findings", &history.findings, |json, (slug, runs)| {
            json.open('{')?;
            text(json, "slug", slug)?;
            number(json, "runs", *runs)?;
            json.close('}')
        })?;
        list(json, "runs", &history.runs, |json, run| {
            json.line()?;
            json.open('{')?;
            text(json, "log", &run.source)?;
            json.key("start_seconds")?;
            match run.start {
                Some(start) => json.float(start.0)?,
                None => json.null()?,
            }
            float(json, "run_seconds", run.run_seconds)?;
            float(json, "io_seconds", run.io_seconds)?;
            number(json, "bytes", run.bytes)?;
            list(json, "findings", &run.findings, |json, (slug, lost)| {
                json.open('{')?;
                text(json, "slug", slug)?;
                float(json, "lost_seconds", *lost)?;
                json.close('}')
            })?;
            json.close('}')
        })?;
        json.close('}')
    })?;
    json.close('}')?;
    json.finish()
}

/// For spreadsheets: a row a run.
///
/// # Errors
/// If the output can not be written.
pub fn rows(out: &mut impl Write, histories: &[History]) -> Result<()> {
    out.write_all(
        b"program,processes,log,start_seconds,run_seconds,io_seconds,bytes,unusual,findings\n",
    )?;
    for history in histories {
        for (place, run) in history.runs.iter().enumerate() {
            let unusual = history.unusual.iter().any(|slow| slow.run == place);
            let slugs: Vec<&str> = run.findings.iter().map(|finding| finding.0.as_str()).collect();
            csv::row(
                out,
                [
                    history.program.as_str(),
                    &history.processes.to_string(),
                    &run.source,
                    &run.start.map_or(String::new(), |start| start.0.to_string()),
                    &run.run_seconds.to_string(),
                    &run.io_seconds.to_string(),
                    &run.bytes.to_string(),
                    if unusual { "1" } else { "0" },
                    &slugs.join(" "),
                ],
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{json, page, rows};
    use netra_analyse::Thresholds;
    use netra_analyse::history::{Past, histories};
    use netra_event::Seconds;

    fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_unusual_run_is_named_with_its_reason_in_all_faces() {
        let run = |day: u32, io_seconds: f64| Past {
            source: format!("{day}.darshan"),
            program: "wave".into(),
            processes: 4,
            start: Some(Seconds(f64::from(day) * 86_400.0)),
            hour: Some(3),
            run_seconds: 100.0,
            io_seconds,
            bytes: 1 << 30,
            findings: if io_seconds > 20.0 { vec![("slow-ost".into(), 40.0)] } else { Vec::new() },
        };
        let mut runs: Vec<Past> = (0..5).map(|day| run(day, 10.0)).collect();
        runs.push(run(5, 60.0));
        let all = histories(runs, &Thresholds::default());
        let text = written(|out| page(out, &all));
        assert!(text.starts_with("wave  6 runs on 4 processes\n"), "{text}");
        assert!(
            text.contains("5.darshan: 60.0 s of I/O, 6.0 times the median (slow-ost, 40.0 s)"),
            "{text}"
        );
        let value: serde_json::Value =
            serde_json::from_str(&written(|out| json(out, &all))).unwrap();
        assert_eq!(value["histories"][0]["unusual"][0]["run"], 5);
        assert_eq!(value["histories"][0]["io_seconds"]["median"], 10.0);
        let table = written(|out| rows(out, &all));
        assert!(table.lines().last().unwrap().ends_with(",1,slow-ost"), "{table}");
    }
}
