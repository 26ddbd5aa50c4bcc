//! Every rule of the diagnosis has a page and three tests: a job that fires it, one just below, and one
//! in which there is nothing to look at.

use super::Complaint;
use super::tree::Tree;

const FOLDER: &str = "crates/analyse/src/insight/";
const PAGE: &str = "docs/reference/insights.md";

/// Rules without their three tests.
pub(super) fn every_rule_has_three_tests(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in rules(tree) {
        let tests: Vec<&str> = text.split("#[test]").skip(1).filter_map(name).collect();
        let begins = |word: &str| tests.iter().any(|test| test.starts_with(word));
        if tests.len() < 3 || !begins("fires") || !begins("is_silent_without") {
            complaints.push(format!(
                "{path}: a rule has a test fires_…, one just below, and is_silent_without_…; this has {}",
                tests.join(", ")
            ));
        }
    }
    complaints
}

/// Rules that the reference page does not name.
pub(super) fn every_rule_is_in_the_reference(tree: &Tree) -> Vec<Complaint> {
    let page: String = tree.ending(&[PAGE]).map(|(_, text)| text).collect();
    let missing = rules(tree).filter(|(path, _)| !page.contains(&format!("`{}`", slug(path))));
    missing.map(|(path, _)| format!("{path}: {PAGE} does not name `{}`", slug(path))).collect()
}

/// Files that hold a rule.
fn rules(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let sources = tree.ending(&[".rs"]).filter(|(path, _)| path.starts_with(FOLDER));
    sources.filter(|(_, text)| text.contains("\npub const RULE: Rule"))
}

/// The name of the function that a text goes on with.
fn name(text: &str) -> Option<&str> {
    let behind = text.split_once("fn ")?.1;
    behind.split('(').next()
}

fn slug(path: &str) -> String {
    path.trim_start_matches(FOLDER).trim_end_matches(".rs").replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    const RULE: &str = "\npub const RULE: Rule = …;\n";

    #[test]
    fn a_rule_without_its_empty_job_is_named() {
        let whole = format!(
            "{RULE}#[test]\nfn fires_on_many() {{}}\n#[test]\nfn is_silent_just_below() {{}}\n#[test]\nfn is_silent_without_reads() {{}}"
        );
        let part = format!("{RULE}#[test]\nfn fires_on_many() {{}}\n#[test]\nfn is_silent() {{}}");
        let tree = Tree::of(&[
            ("crates/analyse/src/insight/small_reads.rs", &whole),
            ("crates/analyse/src/insight/slow_ost.rs", &part),
            ("crates/analyse/src/insight/mod.rs", "no rule"),
        ]);
        let complaints = every_rule_has_three_tests(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(
            complaints[0].starts_with("crates/analyse/src/insight/slow_ost.rs"),
            "{complaints:?}"
        );
    }

    #[test]
    fn a_rule_that_the_reference_does_not_name_is_named() {
        let tree = Tree::of(&[
            ("crates/analyse/src/insight/small_reads.rs", RULE),
            ("crates/analyse/src/insight/slow_ost.rs", RULE),
            ("docs/reference/insights.md", "`small-reads`"),
        ]);
        let complaints = every_rule_is_in_the_reference(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("`slow-ost`"), "{complaints:?}");
    }
}
