//! The pages that follow from the code are those of this code, and no script or document names a setting that is
//! none.

use std::collections::BTreeMap;

use netra_event::Setting;

use super::Complaint;
use super::tree::Tree;
use crate::reference::{RULES, SETTINGS, put, rules, settings};

/// Pages that are out of date.
pub(super) fn is_that_of_the_code(tree: &Tree) -> Vec<Complaint> {
    let sources: BTreeMap<String, String> = tree
        .ending(&[".rs"])
        .filter(|(path, _)| path.starts_with("crates/analyse/src/"))
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect();
    let pages = [(RULES, rules(&sources)), (SETTINGS, settings())];
    let is_old = |(page, made): &(&str, String)| {
        tree.ending(&[page]).any(|(path, text)| path == *page && put(text, made) != text)
    };
    let old = pages.iter().filter(|page| is_old(page));
    old.map(|(page, _)| format!("{page}: is not that of the code; cargo xtask reference")).collect()
}

/// Variables that documents and scripts for users name, and that nobody reads.
pub(super) fn every_variable_is_a_setting(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let texts = tree.ending(&[".md", ".sh", ".lua", ".service", ".toml"]).filter(|(path, _)| {
        [
            "docs/use/",
            "docs/reference/",
            "contrib/",
            "README.md",
            "docs/install.md",
            "docs/start.md",
        ]
        .iter()
        .any(|begin| path.starts_with(begin))
    });
    for (path, text) in texts {
        for rest in text.split("NETRA_").skip(1) {
            let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_'));
            let key = rest.split_at(end.unwrap_or(rest.len())).0.trim_end_matches('_');
            let known = Setting::of_key(key.as_bytes()).is_some();
            // What an alarm's command is told, what Grafana's own file is, and a placeholder.
            if !known && !["", "RULE", "PASSWORD"].contains(&key) {
                complaints.push(format!(
                    "{path}: NETRA_{key} is not a setting of crates/event/src/setting.rs"
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn a_setting_that_is_none_is_named() {
        let tree = Tree::of(&[("docs/use/a.md", "`NETRA_*`, NETRA_TRACE=off and NETRA_TRACES")]);
        let complaints = every_variable_is_a_setting(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("NETRA_TRACES is not"), "{complaints:?}");
    }

    #[test]
    fn a_page_of_other_code_is_named() {
        let tree = Tree::of(&[(SETTINGS, "# Settings\n")]);
        assert_eq!(is_that_of_the_code(&tree).len(), 1);
        let fresh = put("# Settings\n", &settings());
        assert_eq!(is_that_of_the_code(&Tree::of(&[(SETTINGS, &fresh)])), [""; 0]);
    }
}
