//! `cargo xtask quote`: what was measured, as documents quote it: all of it in `docs/measured/README.md`, and the rows that most
//! people ask for in the README. Every benchmark ends with it, and `cargo xtask tidy` complains where a document says something else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::place::root;

/// The page with everything.
pub(crate) const PAGE: &str = "docs/measured/README.md";
/// Where the README quotes, and the lines between which it does.
pub(crate) const FRONT: &str = "README.md";
const BEGIN: &str = "<!-- from docs/measured, by `cargo xtask quote` -->\n";
const END: &str = "<!-- up to here -->\n";

/// A row of the README: what it says, and the row of which benchmark it quotes; that row's unit and peer where several have the name.
struct Chosen {
    says: &'static str,
    benchmark: &'static str,
    name: &'static str,
    unit: &'static str,
    peer: &'static str,
}

const fn chosen(
    says: &'static str,
    benchmark: &'static str,
    [name, unit, peer]: [&'static str; 3],
) -> Chosen {
    Chosen { says, benchmark, name, unit, peer }
}

const CHOSEN: &[Chosen] = &[
    chosen("recording a write, counters alone", "capture", ["pwrite, counters alone", "ns", ""]),
    chosen("… with its event", "capture", ["pwrite with its event, fresh memory", "ns", ""]),
    chosen("… two threads, one file", "capture", ["pwrite, 2 threads, one file", "ns", ""]),
    chosen("recording an open and a close", "capture", ["open and close", "ns", ""]),
    chosen(
        "time added to `MPI_Finalize`, 64 ranks, 1,000 shared files",
        "parallel",
        ["time added to MPI_Finalize, 64 ranks, 1000 files of all ranks", "", ""],
    ),
    chosen(
        "an event read and sent on by a node",
        "stream",
        ["node: processor time an event", "", ""],
    ),
    chosen("all counters of a 1.2 MB log as text", "parse", ["netra parse on jlbez", "", ""]),
    chosen(
        "facts and findings of that log",
        "report",
        ["facts and findings of jlbez", "", "drishti"],
    ),
    chosen("its page", "page", ["page of openpmd, processor time to make", "", "dxt-explorer"]),
    chosen(
        "a page of 10 million calls",
        "page",
        ["page of a trace of 10000000 events, wall time", "", ""],
    ),
    chosen(
        "10 million segments as a data frame",
        "python",
        ["10000000 segments into a data frame", "", ""],
    ),
    chosen(
        "an event from a frame into the store",
        "store",
        ["frames to committed rows: SOS", "", ""],
    ),
    chosen("its size there", "store", ["all tables with their roll-ups: SOS", "", ""]),
    chosen(
        "one rank of a job out of 100 million events",
        "store",
        ["one rank of one job", "ms", "DuckDB"],
    ),
    chosen(
        "serving the live page of 100,000 events a second",
        "live",
        ["server: share of one core", "", ""],
    ),
];

/// Benchmarks by name, as they are kept.
pub(crate) type Kept = BTreeMap<String, Value>;

/// `cargo xtask quote`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let kept = read()?;
    let place = root().join(PAGE);
    fs::write(&place, page(&kept)).with_context(|| format!("writing {PAGE}"))?;
    let place = root().join(FRONT);
    let text = fs::read_to_string(&place).with_context(|| format!("reading {FRONT}"))?;
    let text = front(&text, &kept).with_context(|| format!("{FRONT} has no place for numbers"))?;
    fs::write(&place, text).with_context(|| format!("writing {FRONT}"))?;
    println!("{PAGE} and {FRONT} quote {} benchmarks", kept.len());
    Ok(())
}

fn read() -> Result<Kept> {
    let mut kept = Kept::new();
    for entry in fs::read_dir(root().join("docs/measured")).context("reading docs/measured")? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "json") {
            let text = fs::read_to_string(&path)?;
            take(&mut kept, &text).with_context(|| format!("reading {}", path.display()))?;
        }
    }
    Ok(kept)
}

/// Takes one file of `docs/measured`.
pub(crate) fn take(kept: &mut Kept, text: &str) -> Result<()> {
    let value: Value = serde_json::from_str(text)?;
    let name = value["benchmark"].as_str().context("no benchmark has this name")?.to_owned();
    kept.insert(name, value);
    Ok(())
}

/// The page with everything.
pub(crate) fn page(kept: &Kept) -> String {
    let mut page = String::from(
        "# What was measured\n\nWritten by `cargo xtask quote` from the files beside it; not edited by hand. Each benchmark is repeated by the command at its \
         head, on a machine with two processors that others use, too: numbers near a target may fall on either side of it. Missed targets are marked.\n",
    );
    for (name, benchmark) in kept {
        let [met, of] = met(std::iter::once(benchmark));
        let date = benchmark["date_utc"].as_str().unwrap_or_default();
        let date = date.split('T').next().unwrap_or_default();
        let processor = benchmark["machine"]["processor"].as_str().unwrap_or("unknown processor");
        write!(
            page,
            "\n## {name}\n\n`cargo xtask bench {name}`, {date}, {processor}: {met} of {of} targets met.\n\n\
             | | netra | target | the peer | |\n|---|---|---|---|---|\n"
        )
        .ok();
        for row in rows(benchmark) {
            let name = row["name"].as_str().unwrap_or_default();
            let target =
                match (row["target"]["below"].as_f64(), row["target"]["ratio_at_least"].as_f64()) {
                    (Some(limit), _) => format!("below {}", number(limit)),
                    (_, Some(least)) => format!("{} times less", number(least)),
                    _ => String::new(),
                };
            let missed = if row["met"] == false { " **missed**" } else { "" };
            writeln!(
                page,
                "| {name} | {}{missed} | {target} | {} | {} |",
                ours(row),
                peer(row),
                ratio(row)
            )
            .ok();
        }
    }
    page
}

/// The README with its table made anew; `None` where it has no place for it.
pub(crate) fn front(text: &str, kept: &Kept) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let mut table = String::from("| | netra | the peer | |\n|---|---|---|---|\n");
    for chosen in CHOSEN {
        let found = kept.get(chosen.benchmark).and_then(|benchmark| {
            rows(benchmark).find(|row| {
                let begins = |key: &str, with: &str| {
                    with.is_empty() || row[key].as_str().is_some_and(|text| text.starts_with(with))
                };
                begins("name", chosen.name)
                    && begins("unit", chosen.unit)
                    && begins("peer", chosen.peer)
            })
        });
        let Some(row) = found else { continue };
        let missed = if row["met"] == false { ", target missed" } else { "" };
        writeln!(
            table,
            "| {} | {}{missed} | {} | {} |",
            chosen.says,
            ours(row),
            peer(row),
            ratio(row)
        )
        .ok();
    }
    let [met, of] = met(kept.values());
    let all = format!(
        "\n{met} of {of} targets are met; [all numbers](docs/measured/README.md), those that missed among them.\n"
    );
    Some(format!("{before}{BEGIN}{table}{all}{END}{after}"))
}

fn rows(benchmark: &Value) -> impl Iterator<Item = &Value> {
    benchmark["rows"].as_array().into_iter().flatten()
}

/// How many targets were met, of those that could be.
fn met<'a>(benchmarks: impl Iterator<Item = &'a Value>) -> [usize; 2] {
    let judged = benchmarks.flat_map(rows).filter_map(|row| row["met"].as_bool());
    judged.fold([0, 0], |[met, of], good| [met + usize::from(good), of + 1])
}

fn ours(row: &Value) -> String {
    let value = row["value"].as_f64().unwrap_or_default();
    format!("{} {}", number(value), row["unit"].as_str().unwrap_or_default())
}

fn peer(row: &Value) -> String {
    match (row["peer"].as_str(), row["peer_value"].as_f64()) {
        (Some(peer), Some(value)) => format!("{peer}: {}", number(value)),
        _ => String::new(),
    }
}

/// How much less ours is, or more.
fn ratio(row: &Value) -> String {
    match row["ratio"].as_f64() {
        Some(ratio) if ratio >= 1000.0 => "over 1000 times less".to_owned(),
        Some(ratio) if ratio >= 1.05 => format!("{} times less", number(ratio)),
        Some(ratio) if ratio > 0.95 => "the same".to_owned(),
        Some(ratio) if ratio > 0.0 => format!("{} times more", number(1.0 / ratio)),
        _ => String::new(),
    }
}

/// Three digits, as many as the eye takes in.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        size if size >= 0.01 => 4,
        _ => 6,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        let mut kept = Kept::new();
        let row = |name: &str, value: f64, peer: f64, met: bool| {
            serde_json::json!({
                "name": name, "unit": "ns over the bare call", "value": value, "peer": "Darshan", "peer_value": peer,
                "ratio": peer / value, "target": { "below": 30.0 }, "met": met,
            })
        };
        let rows = [
            row("pwrite, counters alone", 20.0, 170.0, true),
            row("open and close", 160.0, 80.0, false),
        ];
        let text = serde_json::json!({
            "benchmark": "capture", "date_utc": "2026-11-16T17:46:11Z", "machine": { "processor": "P" }, "rows": rows,
        });
        take(&mut kept, &text.to_string()).unwrap();
        kept
    }

    #[test]
    fn the_page_marks_what_missed() {
        let page = page(&kept());
        let head = "`cargo xtask bench capture`, 2026-11-16, P: 1 of 2 targets met.";
        assert!(page.contains(head), "{page}");
        assert!(page.contains(
            "| pwrite, counters alone | 20 ns over the bare call | below 30 | Darshan: 170 | 8.5 times less |\n\
             | open and close | 160 ns over the bare call **missed** | below 30 | Darshan: 80 | 2 times more |\n"
        ), "{page}");
    }

    #[test]
    fn the_readme_quotes_what_it_chose_and_keeps_the_rest() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let want = format!(
            "before\n{BEGIN}| | netra | the peer | |\n|---|---|---|---|\n\
             | recording a write, counters alone | 20 ns over the bare call | Darshan: 170 | 8.5 times less |\n\
             | recording an open and a close | 160 ns over the bare call, target missed | Darshan: 80 | 2 times more |\n\n\
             1 of 2 targets are met; [all numbers](docs/measured/README.md), those that missed among them.\n{END}after\n"
        );
        assert_eq!(front(&text, &kept()), Some(want.clone()));
        assert_eq!(front(&want, &kept()), Some(want.clone()), "again nothing changes");
        assert_eq!(front("no place", &kept()), None);
    }

    #[test]
    fn numbers_have_three_digits() {
        let given = [29_700.0, 171.6, 19.9, 0.0, 2.5, 0.119, 0.011_56, 1e-9];
        let want = ["29700", "172", "19.9", "0", "2.5", "0.119", "0.0116", "0"];
        assert_eq!(given.map(number), want);
    }
}
