//! Dependencies between our crates only point to the left: towards `event`.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Complaint;

/// A crate, and which of ours it may use.
struct Row {
    name: &'static str,
    may_use: &'static [&'static str],
    /// Foreign crates it may use; `None` where any will do.
    foreign: Option<&'static [&'static str]>,
}

const fn row(name: &'static str, may_use: &'static [&'static str]) -> Row {
    Row { name, may_use, foreign: None }
}

/// The way of the data, left to right. A new crate, or a new arrow, is a new entry here.
const ROWS: &[Row] = &[
    Row { name: "netra-event", may_use: &[], foreign: Some(&[]) },
    row("netra-darshan", &["netra-event"]),
    Row {
        name: "netra-capture",
        may_use: &["netra-event", "netra-darshan"],
        foreign: Some(&["libc"]),
    },
    Row {
        name: "netra-preload",
        may_use: &["netra-event", "netra-darshan", "netra-capture"],
        foreign: Some(&["libc"]),
    },
    row("netra-stream", &["netra-event", "netra-darshan"]),
    row("netra-store", &["netra-event", "netra-darshan", "netra-stream"]),
    row("netra-analyse", &["netra-event", "netra-darshan"]),
    row(
        "netra-show",
        &["netra-event", "netra-darshan", "netra-stream", "netra-store", "netra-analyse"],
    ),
    row(
        "netra-cli",
        &[
            "netra-event",
            "netra-darshan",
            "netra-stream",
            "netra-store",
            "netra-analyse",
            "netra-show",
        ],
    ),
    row(
        "netra-python",
        &[
            "netra-event",
            "netra-darshan",
            "netra-stream",
            "netra-store",
            "netra-analyse",
            "netra-show",
        ],
    ),
];

/// Crates that ship nothing: tests and tools stand outside the order.
const OUTSIDE: &[&str] = &["xtask", "netra-e2e", "netra-fuzz", "netra-workloads"];

/// Compares `cargo metadata` with the table. Development dependencies are free: they are not
/// shipped.
pub(super) fn point_left(metadata: &[u8]) -> Result<Vec<Complaint>> {
    let metadata: Value = serde_json::from_slice(metadata).context("reading cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let mut complaints = Vec::new();
    for package in packages {
        let name = package["name"].as_str().context("a package without a name")?;
        if OUTSIDE.contains(&name) {
            continue;
        }
        match ROWS.iter().find(|row| row.name == name) {
            Some(row) => complaints.extend(check(row, package)),
            None => complaints
                .push(format!("{name}: an unknown crate; give it a row in xtask/src/tidy/edge.rs")),
        }
    }
    Ok(complaints)
}

fn check(row: &Row, package: &Value) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let used = package["dependencies"].as_array().into_iter().flatten();
    for dependency in used.filter(|dependency| dependency["kind"].as_str() != Some("dev")) {
        let other = dependency["name"].as_str().unwrap_or_default();
        let ours = dependency["path"].is_string();
        let allowed = if ours {
            row.may_use.contains(&other)
        } else {
            row.foreign.is_none_or(|foreign| foreign.contains(&other))
        };
        if !allowed {
            complaints.push(format!(
                "{}: must not depend on {other}; move the code to where both may reach it \
                 (order: xtask/src/tidy/edge.rs)",
                row.name
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::point_left;

    /// Complaints about one package with one dependency.
    fn check(name: &str, other: &str, kind: &str, path: &str) -> Vec<String> {
        let text = format!(
            r#"{{"packages":[{{"name":"{name}","dependencies":[{{"name":"{other}","kind":{kind},"path":{path}}}]}}]}}"#
        );
        point_left(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_arrow_to_the_left_is_fine() {
        assert!(check("netra-darshan", "netra-event", "null", "\"x\"").is_empty());
        assert!(check("netra-darshan", "flate2", "null", "null").is_empty());
    }

    #[test]
    fn an_arrow_to_the_right_is_not() {
        let complaints = check("netra-event", "netra-darshan", "null", "\"x\"");
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("netra-event: must not depend on netra-darshan"));
    }

    #[test]
    fn what_lives_in_the_application_uses_nothing_foreign() {
        assert!(check("netra-capture", "libc", "null", "null").is_empty());
        assert_eq!(check("netra-capture", "serde", "null", "null").len(), 1);
        assert_eq!(check("netra-event", "libc", "null", "null").len(), 1);
    }

    #[test]
    fn tests_may_use_anything() {
        assert!(check("netra-event", "proptest", "\"dev\"", "null").is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert!(check("netra-new", "netra-event", "null", "\"x\"")[0].contains("unknown crate"));
    }
}
