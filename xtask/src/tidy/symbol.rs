//! Every exported name has a row in `docs/symbols.md`.

use super::Complaint;
use super::tree::Tree;
use crate::artifact::named_rows;

const PAGE: &str = "docs/symbols.md";

/// Exported names that the page does not know.
pub(super) fn every_export_has_a_row(tree: &Tree) -> Vec<Complaint> {
    let page: String = tree.ending(&[PAGE]).map(|(_, text)| text).collect();
    let sources = tree.ending(&[".rs"]).filter(|(path, _)| path.starts_with("crates/preload/src/"));
    let mut complaints = Vec::new();
    for (path, text) in sources {
        for name in named_rows(text) {
            if !page.contains(&format!("\n| `{name}` | yes")) {
                complaints
                    .push(format!("{path}: `{name}` has no row in {PAGE}; cargo xtask symbols"));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::every_export_has_a_row;

    #[test]
    fn an_export_without_a_row_is_named() {
        let rows = "    read / 3 = posix::read;\n    printf / variadic = format::printf;\n";
        let tree = Tree::of(&[
            ("crates/preload/src/lib.rs", rows),
            ("docs/symbols.md", "|---|\n| `read` | yes | POSIX READS |\n"),
        ]);
        let complaints = every_export_has_a_row(&tree);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("`printf` has no row"));
    }
}
