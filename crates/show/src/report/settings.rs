//! A file of settings for reports: thresholds and silenced rules, of a site or of a user.
//!
//! ```toml
//! silence = ["call-mix"]
//!
//! [thresholds]
//! small_request = "4MiB"
//! straggler_seconds = "500ms"
//! high_share = 0.2
//! ```

use std::collections::BTreeSet;

use netra_analyse::insight::rule;
use netra_analyse::{LIMITS, Thresholds, Unit};
use toml::{Table, Value};

/// What is in force.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Limits that rules compare with.
    pub limits: Thresholds,
    /// Rules that are not asked.
    pub silenced: BTreeSet<String>,
}

impl Settings {
    /// Takes in a file; what it does not mention stays as it is.
    ///
    /// # Errors
    /// Everything that is wrong with it, a sentence each.
    pub fn add(&mut self, text: &str) -> Result<(), Vec<String>> {
        let table: Table =
            text.parse().map_err(|error: toml::de::Error| vec![error.to_string()])?;
        let mut wrong = Vec::new();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("silence", Value::Array(slugs)) => self.silence(slugs, &mut wrong),
                ("thresholds", Value::Table(limits)) => self.limits(limits, &mut wrong),
                ("silence", _) => wrong.push("silence must be a list of rules".into()),
                ("thresholds", _) => wrong.push("thresholds must be a table".into()),
                _ => wrong.push(format!("{key} is not known here; silence and thresholds are")),
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    fn silence(&mut self, slugs: &[Value], wrong: &mut Vec<String>) {
        for slug in slugs {
            match slug.as_str().filter(|slug| rule(slug).is_some()) {
                Some(slug) => drop(self.silenced.insert(slug.to_owned())),
                None => wrong.push(format!("there is no rule {slug:?}")),
            }
        }
    }

    fn limits(&mut self, limits: &Table, wrong: &mut Vec<String>) {
        for (name, value) in limits {
            let unit = LIMITS
                .iter()
                .map(|limit| limit())
                .find(|limit| limit.name == name)
                .map(|limit| limit.unit);
            let number = match unit {
                Some(unit) => number(name, value, unit),
                None => Err(format!("there is no threshold called {name:?}")),
            };
            if let Err(what) = number.and_then(|number| self.limits.set(name, number)) {
                wrong.push(what);
            }
        }
    }
}

/// Sizes and times are written with their unit, shares and counts without.
fn number(name: &str, value: &Value, unit: Unit) -> Result<f64, String> {
    let bare = value.as_float().or(value.as_integer().map(|number| number as f64));
    match (unit, value.as_str(), bare) {
        (Unit::Bytes, Some(text), _) => measured(text, &BYTES),
        (Unit::Seconds, Some(text), _) => measured(text, &SECONDS),
        (Unit::Ratio | Unit::Count, _, Some(number)) => Some(number),
        _ => None,
    }
    .ok_or_else(|| {
        let want = match unit {
            Unit::Bytes => "a size such as \"4MiB\"",
            Unit::Seconds => "a time such as \"250ms\"",
            Unit::Ratio | Unit::Count => "a number",
        };
        format!("{name} must be {want}")
    })
}

const BYTES: [(&str, f64); 5] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("B", 1.0),
];
const SECONDS: [(&str, f64); 4] = [("ms", 1e-3), ("us", 1e-6), ("min", 60.0), ("s", 1.0)];

/// A number with one of these units behind it; longer units come before those they end with.
fn measured(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (text, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    text.trim().parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use netra_event::{Bytes, Seconds};

    #[test]
    fn a_file_changes_what_it_names() {
        let mut settings = Settings::default();
        settings.add("silence = ['call-mix']\n[thresholds]\nsmall_request = '4MiB'\nstraggler_seconds = '500ms'\nsmall_count = 10").unwrap();
        assert_eq!(settings.limits.small_request, Bytes(4 << 20));
        assert_eq!(settings.limits.straggler_seconds, Seconds(0.5));
        assert_eq!(settings.limits.small_count, 10);
        assert_eq!(settings.limits.small_share.0, 0.1);
        assert!(settings.silenced.contains("call-mix"));
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let wrong = Settings::default()
            .add("silence = ['smal-reads']\nrules = 1\n[thresholds]\nsmall_request = 1048576\nhigh_share = '10%'\nsmal = 1")
            .unwrap_err();
        assert_eq!(wrong.len(), 5, "{wrong:?}");
        assert!(
            wrong.contains(&"small_request must be a size such as \"4MiB\"".to_owned()),
            "{wrong:?}"
        );
        assert!(wrong.contains(&"there is no threshold called \"smal\"".to_owned()), "{wrong:?}");
    }
}
