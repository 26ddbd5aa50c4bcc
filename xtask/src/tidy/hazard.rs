//! Every hazard has its program and every program its hazard: the table in `docs/hazards.md`
//! against the folder `e2e/programs`.

use super::Complaint;
use super::tree::Tree;

const TABLE: &str = "docs/hazards.md";
const FOLDER: &str = "e2e/programs/";

/// Programs without a row. A row without its program is found with the other dead paths.
pub(super) fn every_program_has_a_row(tree: &Tree) -> Vec<Complaint> {
    let table: String = tree.ending(&[TABLE]).map(|(_, text)| text).collect();
    let programs = tree.paths().filter(|path| path.starts_with(FOLDER) && !path.ends_with(".h"));
    programs
        .filter(|path| !table.contains(&format!("`{path}`")))
        .map(|path| format!("{path}: no hazard names this program; give it a row in {TABLE}"))
        .collect()
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
}
