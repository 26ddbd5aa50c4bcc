//! Two runs side by side: what changed, which findings went or came, and whether it helped.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use netra_analyse::insight::{Finding, Level};
use netra_analyse::{Report, program};
use netra_event::{Bytes, Seconds};

use crate::Json;
use crate::plain::plain;

/// A difference below this share of the first run is noise.
const NOISE: f64 = 0.05;

/// One finding in both runs: seconds lost before and after, nothing where it was not found.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    slug: String,
    before: Option<(Level, f64)>,
    after: Option<(Level, f64)>,
}

/// For each run the level of a finding and the seconds it lost; nothing where it was not found.
pub(crate) type Runs = Vec<Option<(Level, f64)>>;

/// What each run lost to each finding, the largest difference between runs first; of several
/// findings with one slug the costliest.
pub(crate) fn findings<'a>(reports: &[&'a Report]) -> Vec<(&'a Finding, Runs)> {
    let mut all: BTreeMap<&str, (&Finding, Runs)> = BTreeMap::new();
    for (run, report) in reports.iter().enumerate() {
        for finding in &report.findings {
            let known = all.entry(&finding.slug);
            let (_, runs) = known.or_insert_with(|| (finding, vec![None; reports.len()]));
            if runs[run].is_none_or(|known| finding.lost > known.1) {
                runs[run] = Some((finding.level, finding.lost));
            }
        }
    }
    let apart = |runs: &[Option<(Level, f64)>]| {
        let costs = || runs.iter().map(|run| run.map_or(0.0, |(_, lost)| lost));
        costs().fold(0.0, f64::max) - costs().fold(f64::INFINITY, f64::min)
    };
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by(|a, b| apart(&b.1).total_cmp(&apart(&a.1)).then_with(|| a.0.slug.cmp(&b.0.slug)));
    all
}

fn changes(before: &Report, after: &Report) -> Vec<Change> {
    let all = findings(&[before, after]);
    let change = |(finding, runs): (&Finding, Runs)| Change {
        slug: finding.slug.to_string(),
        before: runs[0],
        after: runs[1],
    };
    all.into_iter().map(change).collect()
}

/// Writes the comparison for people.
pub fn text(
    out: &mut impl Write,
    names: (&str, &str),
    before: &Report,
    after: &Report,
) -> Result<()> {
    writeln!(out, "A  {}\nB  {}\n", names.0, names.1)?;
    writeln!(out, "{}\n", verdict(before, after))?;
    let row = |out: &mut dyn Write, name: &str, a: String, b: String| {
        writeln!(out, "{name:<26} {a:>12} {b:>12}")
    };
    row(out, "", "A".into(), "B".into())?;
    let (a, b) = (&before.facts, &after.facts);
    let noun = if (a.noun(), b.noun()) == ("ranks", "ranks") { "ranks" } else { "processes" };
    row(out, noun, a.nprocs.to_string(), b.nprocs.to_string())?;
    row(out, "run", Seconds(a.run_time).to_string(), Seconds(b.run_time).to_string())?;
    row(
        out,
        &format!("I/O of the slowest {}", one(before, after)),
        Seconds(a.critical.seconds).to_string(),
        Seconds(b.critical.seconds).to_string(),
    )?;
    for (at, kind) in ["  reading", "  writing", "  metadata"].into_iter().enumerate() {
        row(
            out,
            kind,
            Seconds(a.critical.parts[at]).to_string(),
            Seconds(b.critical.parts[at]).to_string(),
        )?;
    }
    let bytes = |report: &Report| Bytes(report.facts.files.iter().map(|file| file.bytes()).sum());
    row(out, "bytes moved", bytes(before).to_string(), bytes(after).to_string())?;
    let changes = changes(before, after);
    if !changes.is_empty() {
        writeln!(out, "\nFindings, seconds lost")?;
    }
    for change in &changes {
        let side = |side: Option<(Level, f64)>| match side {
            None => "-".to_owned(),
            Some((level, lost)) => format!("{} {}", level.name(), Seconds(lost)),
        };
        let word = match (change.before, change.after) {
            (Some(_), None) => "gone",
            (None, Some(_)) => "new",
            _ => "",
        };
        writeln!(
            out,
            "{:<26} {:>12} {:>12}  {word}",
            change.slug,
            side(change.before),
            side(change.after)
        )?;
    }
    Ok(())
}

/// What one of the processes of either run is called.
fn one(before: &Report, after: &Report) -> &'static str {
    let ranks = [before, after].map(|report| report.facts.one());
    if ranks == ["rank", "rank"] { "rank" } else { "process" }
}

/// What makes the two runs another matter: another program, or another number of processes.
fn unlike(before: &Report, after: &Report) -> Option<String> {
    let (a, b) = (&before.facts, &after.facts);
    let programs = (program(&a.command), program(&b.command));
    let many = (a.who.how_many(a.nprocs), b.who.how_many(b.nprocs));
    let mut says = Vec::new();
    if programs.0 != programs.1 {
        says.push(format!(
            "other programs ({} and {})",
            plain(programs.0.as_bytes()),
            plain(programs.1.as_bytes())
        ));
    }
    if many.0 != many.1 {
        says.push(format!("another number of processes ({} and {})", many.0, many.1));
    }
    (!says.is_empty()).then(|| format!("These are runs of {}.", says.join(" on ")))
}

/// Did it help, in a sentence, behind what makes the question doubtful.
pub(crate) fn verdict(before: &Report, after: &Report) -> String {
    let helped = helped(before, after);
    unlike(before, after).map_or(helped.clone(), |unlike| format!("{unlike} {helped}"))
}

fn helped(before: &Report, after: &Report) -> String {
    let (a, b) = (before.facts.critical.seconds, after.facts.critical.seconds);
    let (run_a, run_b) = (before.facts.run_time, after.facts.run_time);
    let change = a - b;
    if a <= 0.0 && b <= 0.0 {
        return "Neither run has I/O to compare.".into();
    }
    if change.abs() <= NOISE * a.max(b) {
        return format!("No difference to speak of: I/O takes {} and {}.", Seconds(a), Seconds(b));
    }
    let (word, factor) =
        if change > 0.0 { ("faster", a / b.max(1e-9)) } else { ("slower", b / a.max(1e-9)) };
    format!(
        "I/O of B is {factor:.1} times {word}: {} after {} on the slowest {}; the run took {} after {}.",
        Seconds(b),
        Seconds(a),
        one(before, after),
        Seconds(run_b),
        Seconds(run_a),
    )
}

/// Writes the comparison for machines.
pub fn json<W: Write>(
    out: &mut W,
    names: (&str, &str),
    before: &Report,
    after: &Report,
) -> Result<()> {
    let mut json = Json::new(out);
    json.open('{')?;
    for (key, name, report) in [("a", names.0, before), ("b", names.1, after)] {
        let facts = &report.facts;
        json.key(key)?;
        json.open('{')?;
        json.key("log")?;
        json.text(name)?;
        json.key("command")?;
        json.text(&facts.command)?;
        json.key("processes")?;
        json.unsigned(facts.nprocs)?;
        json.key("ranks")?;
        json.unsigned(facts.who.ranks)?;
        json.key("run_time_seconds")?;
        json.float(facts.run_time)?;
        json.key("io_seconds")?;
        json.float(facts.critical.seconds)?;
        json.close('}')?;
    }
    json.key("findings")?;
    json.open('[')?;
    for change in changes(before, after) {
        json.open('{')?;
        json.key("slug")?;
        json.text(&change.slug)?;
        for (key, side) in [("lost_seconds_a", change.before), ("lost_seconds_b", change.after)] {
            json.key(key)?;
            match side {
                Some((_, lost)) => json.float(lost)?,
                None => json.null()?,
            }
        }
        json.close('}')?;
    }
    json.close(']')?;
    json.close('}')?;
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::{text, verdict};
    use netra_analyse::{Job, Layer, Report, Thresholds, Usage, Who, diagnose};
    use netra_event::{Rank, RecordId, Seconds};
    use std::collections::BTreeSet;

    /// A run of a hundred seconds that opens a file so often, in so many seconds.
    fn run(opens: u64, seconds: f64) -> Report {
        let mut usage = Usage::new(Layer::Posix, RecordId(1), Rank(0));
        (usage.opens, usage.meta) = (opens, seconds);
        let job = Job {
            nprocs: 1,
            who: Who::ranks(1),
            run_time: Seconds(100.0),
            usages: vec![usage],
            ..Job::default()
        };
        diagnose(&job, &Thresholds::default(), &BTreeSet::new())
    }

    #[test]
    fn says_whether_it_helped() {
        let faster = verdict(&run(5000, 50.0), &run(1, 5.0));
        assert_eq!(
            faster,
            "I/O of B is 10.0 times faster: 5.00 s after 50.0 s on the slowest rank; the run took 100 s after 100 s."
        );
        assert!(verdict(&run(1, 5.0), &run(5000, 50.0)).contains("10.0 times slower"));
        assert!(verdict(&run(1, 5.0), &run(1, 5.1)).starts_with("No difference"));
    }

    #[test]
    fn findings_go_and_come() {
        let mut out = Vec::new();
        text(&mut out, ("a", "b"), &run(5000, 20.0), &run(1, 0.5)).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("open-storm"), "{out}");
        assert!(
            out.lines().any(|line| line.starts_with("open-storm") && line.ends_with("gone")),
            "{out}"
        );
    }
}
