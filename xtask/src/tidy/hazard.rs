//! Every hazard has its program and every program its hazard: the table in `docs/hazards.md`
//! against the folder `e2e/programs`.

use super::Complaint;
use super::tree::Tree;

const TABLE: &str = "docs/hazards.md";
const FOLDER: &str = "e2e/programs/";
const TESTS: &str = "e2e/tests/";
/// Programs that are tested by a row of a list.
const ROWS: &str = "e2e/src/transparent/list/parallel.rs";

/// Programs without a row. A row without its program is found with the other dead paths.
pub(super) fn every_program_has_a_row(tree: &Tree) -> Vec<Complaint> {
    let table: String = tree.ending(&[TABLE]).map(|(_, text)| text).collect();
    let programs = tree.paths().filter(|path| path.starts_with(FOLDER) && !path.ends_with(".h"));
    programs
        .filter(|path| !table.contains(&format!("`{path}`")))
        .map(|path| format!("{path}: no hazard names this program; give it a row in {TABLE}"))
        .collect()
}

/// Programs that no test runs.
pub(super) fn every_program_is_run(tree: &Tree) -> Vec<Complaint> {
    let tests: Vec<&str> = tree
        .ending(&[".rs"])
        .filter(|(path, _)| path.starts_with(TESTS) || *path == ROWS)
        .map(|row| row.1)
        .collect();
    let programs = tree.paths().filter(|path| path.starts_with(FOLDER) && !path.ends_with(".h"));
    programs
        .filter(|path| {
            let name = path.trim_start_matches(FOLDER).split('.').next().unwrap_or_default();
            !tests.iter().any(|text| has_word(text, name))
        })
        .map(|path| format!("{path}: no test under {TESTS} runs this program"))
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|own| own == word)
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn a_program_without_a_row_is_named() {
        let tree = Tree::of(&[
            ("docs/hazards.md", "| fork | `e2e/programs/fork.c` | |"),
            ("e2e/programs/fork.c", ""),
            ("e2e/programs/vfork.c", ""),
            ("e2e/programs/expect.h", ""),
        ]);
        let complaints = every_program_has_a_row(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("e2e/programs/vfork.c: no hazard"));
    }

    #[test]
    fn a_program_that_nobody_runs_is_named() {
        let tree = Tree::of(&[
            ("e2e/programs/fork.c", ""),
            ("e2e/programs/vfork.c", ""),
            ("e2e/tests/hazard.rs", "plain! { vfork }"),
        ]);
        let complaints = every_program_is_run(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("e2e/programs/fork.c: no test"));
    }
}
