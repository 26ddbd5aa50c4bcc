//! Every kept input, through its target.

use std::fs;
use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .expect("inputs are kept")
        .map(|input| input.expect("an input").path())
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "no inputs are kept for {target}");
    for input in inputs {
        let bytes = fs::read(&input).expect("an input");
        let survived = std::panic::catch_unwind(|| run(&bytes));
        assert!(survived.is_ok(), "{}", input.display());
    }
}

#[test]
fn header() {
    replay("header", netra_fuzz::header);
}

#[test]
fn regions() {
    replay("regions", netra_fuzz::regions);
}

#[test]
fn records() {
    replay("records", netra_fuzz::records);
}

#[test]
fn section() {
    replay("section", netra_fuzz::section);
}

#[test]
fn text() {
    replay("text", netra_fuzz::text);
}

#[test]
fn rewrite() {
    replay("rewrite", netra_fuzz::rewrite);
}

#[test]
fn publish() {
    replay("publish", netra_fuzz::publish);
}

#[test]
fn frame() {
    replay("frame", netra_fuzz::frame);
}
