//! What every source file keeps: it opens with its purpose, is finished, is tested, names no
//! machine, and lies in no drawer.

use super::Complaint;
use super::tree::Tree;

/// Names that say only that something has not been understood yet.
const DRAWERS: &[&str] =
    &["utils", "util", "common", "helpers", "misc", "types", "shared", "manager"];

/// Names that look like a drawer and are the field's word for something.
const WORDS: &[&str] = &[
    // A record of all ranks is shared.
    "crates/darshan/src/reduce/shared.rs",
];

/// Marks of unfinished code. Put together from halves, or this file would complain of itself.
const UNFINISHED: &[(&str, &str)] = &[("todo", "!("), ("dbg", "!("), ("unimplemented", "!(")];

/// Folders that exist on one machine and not on the next.
const LOCAL: &[&str] = &["work", "root", "opt"];

/// Text that people write by hand.
const WRITTEN: &[&str] = &[".rs", ".md", ".toml", ".py", ".sh", ".c", ".h", ".f90", ".yml"];

/// Each Rust file says at its top what it is for.
pub(super) fn opens_with_a_module_comment(tree: &Tree) -> Vec<Complaint> {
    let silent = tree.ending(&[".rs"]).filter(|(_, text)| !text.starts_with("//!"));
    silent
        .map(|(path, _)| format!("{path}:1: no module comment; open with `//!` and its purpose"))
        .collect()
}

/// No unfinished code is landed.
pub(super) fn is_finished(tree: &Tree) -> Vec<Complaint> {
    let is_unfinished = |line: &str| {
        UNFINISHED.iter().any(|(name, call)| {
            line.match_indices(&format!("{name}{call}")).any(|(at, _)| starts_a_word(line, at))
        })
    };
    lines(tree, &[".rs"], is_unfinished, "unfinished code; finish it or leave it out")
}

/// No test is put aside.
pub(super) fn ignores_no_test(tree: &Tree) -> Vec<Complaint> {
    let mark = concat!("#[", "ignore");
    let advice = "an ignored test; assert what happens today and say why that is wrong";
    lines(tree, &[".rs"], |line| line.trim_start().starts_with(mark), advice)
}

/// No path of one person's machine is written down.
pub(super) fn names_no_machine(tree: &Tree) -> Vec<Complaint> {
    let is_local = |line: &str| {
        LOCAL.iter().any(|folder| {
            let path = format!("/{folder}/");
            line.match_indices(&path).any(|(at, _)| {
                // The folder alone is no place: it may be the very thing to exclude.
                let goes_on =
                    line[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
                goes_on && starts_a_word(line, at)
            })
        })
    };
    lines(tree, WRITTEN, is_local, "a path of one machine; find the place at run time instead")
}

/// No file or folder has a drawer's name.
pub(super) fn has_no_drawer(tree: &Tree) -> Vec<Complaint> {
    let is_drawer = |part: &str| DRAWERS.contains(&part.split('.').next().unwrap_or(part));
    let written = tree.paths().filter(|path| WRITTEN.iter().any(|end| path.ends_with(end)));
    written
        .filter(|path| path.split('/').any(is_drawer) && !WORDS.contains(path))
        .map(|path| format!("{path}: a drawer; name it after what is in it"))
        .collect()
}

/// A complaint for each line of these files that a rule dislikes.
fn lines(
    tree: &Tree,
    ends: &[&str],
    dislikes: impl Fn(&str) -> bool,
    advice: &str,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in tree.ending(ends) {
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| dislikes(line)) {
            complaints.push(format!("{path}:{number}: {advice}: {}", line.trim()));
        }
    }
    complaints
}

/// Whether nothing before this place belongs to the same word or path.
fn starts_a_word(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|start| start.chars().next_back());
    !before.is_some_and(|c| c.is_ascii_alphanumeric() || "_-./~".contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::Complaint;
    use super::super::tree::Tree;
    use super::*;

    /// How many complaints one rule has about one file.
    #[track_caller]
    fn check(rule: fn(&Tree) -> Vec<Complaint>, path: &str, text: &str, complaints: usize) {
        let found = rule(&Tree::of(&[(path, text)]));
        assert_eq!(found.len(), complaints, "{path}: {text}: {found:?}");
        assert!(found.iter().all(|complaint| complaint.starts_with(path)));
    }

    #[test]
    fn a_module_comment_is_asked_for() {
        check(opens_with_a_module_comment, "a.rs", "//! Purpose.\nfn f() {}", 0);
        check(opens_with_a_module_comment, "a.rs", "fn f() {}", 1);
        check(opens_with_a_module_comment, "a.md", "text", 0);
    }

    #[test]
    fn unfinished_code_is_found() {
        check(is_finished, "a.rs", concat!("fn f() { to", "do!() }"), 1);
        check(is_finished, "a.rs", concat!("let x = db", "g!(3);"), 1);
        check(is_finished, "a.rs", concat!("my_to", "do!();"), 0);
    }

    #[test]
    fn an_ignored_test_is_found() {
        check(ignores_no_test, "a.rs", concat!("    #[ig", "nore = \"slow\"]"), 1);
        check(ignores_no_test, "a.rs", "// we ignore this", 0);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        check(names_no_machine, "a.md", concat!("run /wo", "rk/main/x"), 1);
        check(names_no_machine, "a.rs", concat!("\"/ro", "ot/.cargo\""), 1);
        check(names_no_machine, "a.rs", concat!("\"/scratch/wo", "rk/x\" and /etc/mtab"), 0);
        check(names_no_machine, "a.rs", concat!("b\"/op", "t/\", b\"/usr/\""), 0);
    }

    #[test]
    fn a_drawer_is_found() {
        check(has_no_drawer, "crates/show/src/utils.rs", "", 1);
        check(has_no_drawer, "crates/common/src/lib.rs", "", 1);
        check(has_no_drawer, "crates/show/src/table.rs", "", 0);
    }
}
