//! Settings: names that nobody reads and values that nobody understands. The library takes the
//! default for them and goes on; here they are said before.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use netra_event::{Setting, Value};
use netra_stream::guess::nearest;

use super::{Finding, bad, good, note};

pub(super) fn examine(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut count = 0;
    for (name, value) in variables {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if !is_meant(&name) {
            continue;
        }
        count += 1;
        match Setting::of_variable(name.as_bytes()) {
            Some(setting) => findings.extend(complaint(&name, setting, &value)),
            None => findings.push(note(stranger(&name))),
        }
        if name == Setting::Config.variable() {
            findings.extend(file(Path::new(value.as_ref())));
        }
    }
    if findings.is_empty() && count > 0 {
        findings.push(good(format!("{count} settings in the environment, all understood")));
    }
    findings
}

/// Variables that look like settings and are none.
pub(super) fn unknown(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    let names = variables.map(|(name, _)| name.to_string_lossy().into_owned());
    let strange = |name: &String| is_meant(name) && Setting::of_variable(name.as_bytes()).is_none();
    let mut says: Vec<String> = names.filter(strange).map(|name| stranger(&name)).collect();
    says.sort();
    says
}

/// Whether a variable looks like a setting; what tests of netra use is none.
fn is_meant(name: &str) -> bool {
    (name == Setting::Netra.variable() || name.starts_with("NETRA_"))
        && !name.starts_with("NETRA_TEST_")
}

fn stranger(name: &str) -> String {
    let known = Setting::ALL.iter().map(|setting| setting.variable());
    match nearest(name, known.filter(|known| *known != Setting::Netra.variable())) {
        Some(meant) => format!("{name} is not a setting of netra; did you mean {meant}?"),
        None => format!("{name} is not a setting of netra; netra settings lists them"),
    }
}

fn complaint(name: &str, setting: Setting, value: &str) -> Option<Finding> {
    let wanted = match setting.value() {
        Value::Number if value.parse::<u64>().is_err() => "a whole number",
        Value::Path if !value.starts_with('/') => "an absolute path",
        Value::Size if !is_size(value) => "a size with its unit, such as 64MiB",
        Value::Switch if netra_event::switch(value.as_bytes()).is_none() => "on or off",
        Value::Time if !is_number_of(value, &["ms", "s", "min"]) => {
            "a time with its unit, such as 60s"
        }
        _ => return None,
    };
    Some(bad(format!("{name}: {value:?} is not {wanted}; the default is used")))
}

fn is_size(value: &str) -> bool {
    is_number_of(value, &["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"])
}

fn is_number_of(value: &str, units: &[&str]) -> bool {
    let at = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(at);
    number.parse::<u64>().is_ok() && units.contains(&unit.trim())
}

/// The lines before the first table are for the library too.
fn file(path: &Path) -> Vec<Finding> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return vec![bad(format!("NETRA_CONFIG: {shown}: {error}"))],
    };
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.starts_with('[') {
            break;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{shown}:{number}");
        match line.split_once('=') {
            None => findings.push(bad(format!("{place}: not of the form key = value"))),
            Some((key, value)) => {
                let (key, value) = (key.trim(), value.trim().trim_matches('"'));
                let named = format!("{place}: {key}");
                match Setting::of_key(key.as_bytes()) {
                    Some(setting) => findings.extend(complaint(&named, setting, value)),
                    None => findings.push(note(format!("{named} is not a setting of netra"))),
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(variables: &[(&str, &str)], want: &[&str]) {
        let variables = variables.iter().map(|&(name, value)| (name.into(), value.into()));
        let said: Vec<String> = examine(variables).into_iter().map(|found| found.says).collect();
        assert_eq!(said, want);
    }

    #[test]
    fn bad_values_and_unknown_names_are_said() {
        says(&[("PATH", "x"), ("NETRA_TEST_PYTHON", "y")], &[]);
        says(
            &[("NETRA_TRACE", "off"), ("NETRA_TRACE_BUDGET", "8MiB")],
            &["2 settings in the environment, all understood"],
        );
        says(
            &[("NETRA_TRACE_BUDGET", "8"), ("NETRA_BUDGET", "8MiB"), ("NETRA_LOG_DIR", "here")],
            &[
                "NETRA_TRACE_BUDGET: \"8\" is not a size with its unit, such as 64MiB; the default is used",
                "NETRA_BUDGET is not a setting of netra; netra settings lists them",
                "NETRA_LOG_DIR: \"here\" is not an absolute path; the default is used",
            ],
        );
    }

    #[test]
    fn a_slip_of_the_pen_is_told_from_a_stranger() {
        let names = ["NETRA_STRANGE_THING", "NETRA_EXLUDE", "NETRAX", "NETRA", "NETRA_TEST_LONG"];
        assert_eq!(
            unknown(names.iter().map(|name| (name.into(), "1".into()))),
            [
                "NETRA_EXLUDE is not a setting of netra; did you mean NETRA_EXCLUDE?",
                "NETRA_STRANGE_THING is not a setting of netra; netra settings lists them",
            ]
        );
    }

    #[test]
    fn a_file_is_read_up_to_its_first_table() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("netra.toml");
        fs::write(&path, "# mine\ntrace = \"perhaps\"\nnonsense\n\n[serve]\nport = 1\n").unwrap();
        let path = path.to_str().unwrap();
        says(
            &[("NETRA_CONFIG", path)],
            &[
                &format!("{path}:2: trace: \"perhaps\" is not on or off; the default is used"),
                &format!("{path}:3: not of the form key = value"),
            ],
        );
        says(
            &[("NETRA_CONFIG", "/none")],
            &["NETRA_CONFIG: /none: No such file or directory (os error 2)"],
        );
    }
}
