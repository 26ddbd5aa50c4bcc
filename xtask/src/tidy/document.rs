//! What documents say about the tree is true: a path named in one exists.

use super::Complaint;
use super::tree::Tree;

/// Endings by which a word in backquotes is taken for a file of ours.
const ENDINGS: &[&str] = &[".rs", ".md", ".toml"];

/// Every path named in a document exists. A word in backquotes is a path when it starts with a
/// top-level name (`crates/…`) or ends like a source file; the target of a link always is, unless
/// it leads elsewhere.
pub(super) fn paths_exist(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (document, text) in tree.ending(&[".md"]) {
        for (number, line) in (1..).zip(text.lines()) {
            let words = quoted(line).filter(|word| is_missing_word(tree, word));
            let links = linked(line).filter(|link| is_missing_link(tree, document, link));
            for name in words.chain(links) {
                complaints.push(format!(
                    "{document}:{number}: `{name}` does not exist; correct the path or leave it out"
                ));
            }
        }
    }
    complaints
}

/// What stands between backquotes on a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of `[text](target)` on a line, without their anchors.
fn linked(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter_map(|target| target.split('#').next()).filter(|target| !target.is_empty())
}

fn is_missing_word(tree: &Tree, word: &str) -> bool {
    let placeholder = |c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c));
    if word.contains(placeholder) || word.starts_with(['/', '-', '.']) && !word.starts_with(".c") {
        return false;
    }
    let (top, rest) = word.split_once('/').unwrap_or((word, ""));
    let ours = tree.has(top) && !rest.is_empty();
    let like_a_file = ENDINGS.iter().any(|end| word.ends_with(end) && word.len() > end.len());
    (ours || like_a_file) && !tree.has(word) && (ours || !tree.has_ending(word))
}

fn is_missing_link(tree: &Tree, document: &str, link: &str) -> bool {
    if link.contains(':') || link.starts_with('/') {
        return false;
    }
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            part => parts.push(part),
        }
    }
    !parts.is_empty() && !tree.has(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::paths_exist;

    /// The complaints about one document beside two files that exist.
    #[track_caller]
    fn check(document: &str, line: &str, missing: &[&str]) {
        let tree = Tree::of(&[
            (document, line),
            ("crates/event/src/unit.rs", ""),
            ("docs/glossary.md", ""),
        ]);
        let expected: Vec<String> = missing
            .iter()
            .map(|name| {
                format!("{document}:1: `{name}` does not exist; correct the path or leave it out")
            })
            .collect();
        assert_eq!(paths_exist(&tree), expected);
    }

    #[test]
    fn a_path_that_exists_is_fine() {
        check("A.md", "see `crates/event/src/unit.rs`, `event/src/unit.rs` and `unit.rs`", &[]);
        check("A.md", "see `crates/event/` and [words](docs/glossary.md#job)", &[]);
        check("docs/b.md", "[words](glossary.md) and [code](../crates/event/src/unit.rs)", &[]);
    }

    #[test]
    fn a_path_that_does_not_exist_is_named() {
        check("A.md", "see `crates/gone` and `lane.rs`", &["crates/gone", "lane.rs"]);
        check("A.md", "see [this](docs/gone.md)", &["docs/gone.md"]);
        check("docs/b.md", "see [this](gone.md)", &["gone.md"]);
    }

    #[test]
    fn other_words_are_not_paths() {
        check("A.md", "`read/write`, `crates/<name>/src`, `/etc/mtab`, `netra-event`, `.rs`", &[]);
        check("A.md", "[the site](https://example.org/x.md) and [below](#below)", &[]);
    }
}
