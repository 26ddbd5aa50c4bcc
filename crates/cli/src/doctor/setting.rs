//! Settings: names that nobody reads and values that nobody understands. The library takes the
//! default for them and goes on; here they are said before.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::{Finding, bad, good, note};

/// What a setting's value must be.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Path,
    Size,
    Switch,
    Text,
    Time,
}

/// Settings of the library and the program; in a file they are written small.
const KNOWN: &[(&str, Kind)] = &[
    ("CONFIG", Kind::Path),
    ("DEBUG", Kind::Switch),
    ("DISABLE", Kind::Switch),
    ("EXCEPT", Kind::Text),
    ("EXCLUDE", Kind::Text),
    ("FILTERS", Kind::Number),
    ("FINALIZE_WAIT", Kind::Time),
    ("INCLUDE", Kind::Text),
    ("JOB", Kind::Text),
    ("LOG_DIR", Kind::Path),
    ("LOG_DIR_LATER", Kind::Path),
    ("LOG_FILE", Kind::Path),
    ("LOG_TRACES", Kind::Size),
    ("LOSSLESS", Kind::Size),
    ("MODULES", Kind::Text),
    ("ONLY", Kind::Text),
    ("PLATFORM", Kind::Path),
    ("PRELOAD", Kind::Path),
    ("ROLL", Kind::Path),
    ("SEGMENT_DIR", Kind::Path),
    ("STORE", Kind::Text),
    ("STREAM", Kind::Switch),
    ("TRACE", Kind::Switch),
    ("TRACE_BUDGET", Kind::Size),
];

pub(super) fn examine(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut count = 0;
    for (name, value) in variables {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        // What tests of netra use is not a setting.
        let Some(key) = name.strip_prefix("NETRA_").filter(|key| !key.starts_with("TEST_")) else {
            continue;
        };
        count += 1;
        findings.extend(complaint(&name, key, &value));
        if key == "CONFIG" {
            findings.extend(file(Path::new(value.as_ref())));
        }
    }
    if findings.is_empty() && count > 0 {
        findings.push(good(format!("{count} settings in the environment, all understood")));
    }
    findings
}

fn complaint(name: &str, key: &str, value: &str) -> Option<Finding> {
    let Some((_, kind)) = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)) else {
        return Some(note(format!("{name} is not a setting of netra")));
    };
    let wanted = match kind {
        Kind::Number if value.parse::<u64>().is_err() => "a whole number",
        Kind::Path if !value.starts_with('/') => "an absolute path",
        Kind::Size if !is_size(value) => "a size with its unit, such as 64MiB",
        Kind::Switch if !is_switch(value) => "on or off",
        Kind::Time if !is_number_of(value, &["ms", "s", "min"]) => {
            "a time with its unit, such as 60s"
        }
        _ => return None,
    };
    Some(bad(format!("{name}: {value:?} is not {wanted}; the default is used")))
}

fn is_switch(value: &str) -> bool {
    ["1", "on", "true", "yes", "0", "off", "false", "no", ""].contains(&value)
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
                findings.extend(complaint(&format!("{place}: {key}"), key, value));
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
                "NETRA_BUDGET is not a setting of netra",
                "NETRA_LOG_DIR: \"here\" is not an absolute path; the default is used",
            ],
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
