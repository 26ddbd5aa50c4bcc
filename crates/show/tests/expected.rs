//! What the rules say about real logs, against what was written down by hand before there were rules
//! (`crates/analyse/tests/expected/logs.toml`). Logs that are not on this machine are skipped and named.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use netra_analyse::insight::{Finding, Level};
use netra_analyse::{Report, Thresholds, diagnose};
use netra_darshan::read::Log;
use netra_show::load;
use toml::{Table, Value};

const CASES: &str = include_str!("../../analyse/tests/expected/logs.toml");

/// Where "logs/…" and "pypi/…" lie, if they are here.
struct Places {
    logs: PathBuf,
    pypi: Option<PathBuf>,
}

impl Places {
    fn find() -> Places {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = std::env::var_os("NETRA_TEST_PYTHON");
        let pypi = python.and_then(|python| {
            let ask = "import darshan, os; print(os.path.join(os.path.dirname(darshan.__file__), 'examples'))";
            let answer = Command::new(python).args(["-c", ask]).output().ok()?;
            Some(PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim()))
        });
        Places { logs: root.join("../shared/logs"), pypi }
    }

    fn path(&self, log: &str) -> Option<PathBuf> {
        let path = match log.split_once('/')? {
            ("logs", rest) => self.logs.join(rest),
            ("pypi", rest) => self.pypi.as_ref()?.join(rest),
            _ => panic!("{log} begins with neither logs/ nor pypi/"),
        };
        path.exists().then_some(path)
    }
}

#[test]
fn real_logs_get_the_findings_that_were_written_down() {
    let places = Places::find();
    let cases: Table = CASES.parse().unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for case in cases["case"].as_array().unwrap() {
        let log = case["log"].as_str().unwrap();
        let Some(path) = places.path(log) else {
            println!("skipped, not on this machine: {log}");
            continue;
        };
        seen += 1;
        let (job, _) = load::job(log, &Log::open(&path).unwrap());
        let report = diagnose(&job, &Thresholds::default(), &BTreeSet::new());
        wrong.extend(check(case, &report).into_iter().map(|what| format!("{log}: {what}")));
    }
    println!("{seen} logs looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is not as expected.
fn check(case: &Value, report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let facts = &report.facts;
    if let Some(range) = case.get("share") {
        within("share of I/O", facts.share(facts.critical.seconds), range, &mut wrong);
    }
    if let Some(first) = case.get("first").and_then(Value::as_str) {
        let found = report.findings.first().map_or("nothing", |finding| &*finding.slug);
        if found != first {
            wrong.push(format!("{found} is first, not {first}"));
        }
    }
    let causes: BTreeSet<&str> = report.findings.iter().map(|finding| &*finding.slug).collect();
    let all: BTreeSet<&str> =
        report.findings.iter().flat_map(with_symptoms).map(|finding| &*finding.slug).collect();
    wrong.extend(
        words(case, "found")
            .filter(|slug| !all.contains(slug))
            .map(|slug| format!("{slug} is missing")),
    );
    wrong.extend(
        words(case, "absent")
            .filter(|slug| causes.contains(slug))
            .map(|slug| format!("{slug} stands on its own")),
    );
    if case.get("calm").and_then(Value::as_bool) == Some(true) {
        let loud = report.findings.iter().filter(|finding| finding.level > Level::Info);
        wrong.extend(
            loud.map(|finding| {
                format!("{} {}: {}", finding.level.name(), finding.slug, finding.says)
            }),
        );
    }
    for (slug, range) in case.get("lost").and_then(Value::as_table).into_iter().flatten() {
        match report.findings.iter().find(|finding| finding.slug == *slug) {
            Some(finding) => within(slug, finding.lost, range, &mut wrong),
            None => wrong.push(format!("{slug} has no cost, it was not found")),
        }
    }
    let caveats = facts.trust.caveats().join("; ");
    wrong.extend(
        words(case, "trust")
            .filter(|word| !caveats.contains(word))
            .map(|word| format!("trust does not speak of {word}: {caveats:?}")),
    );
    wrong
}

fn with_symptoms(finding: &Finding) -> impl Iterator<Item = &Finding> {
    std::iter::once(finding).chain(&finding.symptoms)
}

fn words<'a>(case: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    case.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn within(what: &str, value: f64, range: &Value, wrong: &mut Vec<String>) {
    let bound = |at: usize| range[at].as_float().unwrap_or(f64::NAN);
    let (low, high) = (bound(0), bound(1));
    if !(low..=high).contains(&value) {
        wrong.push(format!("{what} is {value}, not {low} to {high}"));
    }
}

/// Every slug in the file is a rule: a misspelt one would never be missed.
#[test]
fn expectations_name_rules_that_exist() {
    let cases: Table = CASES.parse().unwrap();
    for case in cases["case"].as_array().unwrap() {
        let lost = case
            .get("lost")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
            .map(|(slug, _)| slug.as_str());
        let named = ["found", "absent"].into_iter().flat_map(|key| words(case, key));
        let first = case.get("first").and_then(Value::as_str);
        for slug in named.chain(first).chain(lost) {
            assert!(netra_analyse::insight::rule(slug).is_some(), "{slug} in {:?}", case["log"]);
        }
    }
}
