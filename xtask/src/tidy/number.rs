//! Numbers in documents are those that were measured.

use super::Complaint;
use super::tree::Tree;
use crate::quote::{self, FRONT, Kept, PAGE};

/// What documents quote is what `docs/measured` holds.
pub(super) fn are_those_measured(tree: &Tree) -> Vec<Complaint> {
    let mut kept = Kept::new();
    let files = tree.ending(&[".json"]).filter(|(path, _)| path.starts_with("docs/measured/"));
    for (path, text) in files {
        if let Err(error) = quote::take(&mut kept, text) {
            return vec![format!("{path}: {error}; `cargo xtask bench` writes such files")];
        }
    }
    let text = |wanted: &str| {
        tree.ending(&[".md"]).find(|(path, _)| *path == wanted).map_or("", |(_, text)| text)
    };
    let fresh = [
        (PAGE, text(PAGE) == quote::page(&kept)),
        (FRONT, quote::front(text(FRONT), &kept).as_deref() == Some(text(FRONT))),
    ];
    fresh
        .into_iter()
        .filter(|(_, is_fresh)| !is_fresh)
        .map(|(path, _)| {
            format!("{path}: its numbers are not those of docs/measured; run `cargo xtask quote`")
        })
        .collect()
}
