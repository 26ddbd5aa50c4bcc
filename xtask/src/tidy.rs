//! `cargo xtask tidy`: the house rules that a machine can check.
//!
//! A rule is one function from the [`Tree`] to complaints, and one row in [`RULES`]. A complaint
//! says where, what, and what to do about it.

mod document;
mod edge;
mod hazard;
mod insight;
mod number;
mod reference;
mod source;
mod symbol;
mod tree;

use anyhow::{Result, bail};

use crate::place::{cargo, output, root};
use tree::Tree;

/// What a rule found: a place and a sentence.
type Complaint = String;

const RULES: &[fn(&Tree) -> Vec<Complaint>] = &[
    document::paths_exist,
    source::opens_with_a_module_comment,
    source::is_finished,
    source::ignores_no_test,
    source::names_no_machine,
    source::has_no_drawer,
    hazard::every_program_has_a_row,
    hazard::every_program_is_run,
    insight::every_rule_has_three_tests,
    insight::every_rule_is_in_the_reference,
    number::are_those_measured,
    reference::is_that_of_the_code,
    reference::every_variable_is_a_setting,
    symbol::every_export_has_a_row,
];

/// Checks the repository; fails with all complaints.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let tree = Tree::read(root())?;
    let mut complaints: Vec<Complaint> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    let metadata =
        output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]))?;
    complaints.extend(edge::point_left(&metadata)?);
    if complaints.is_empty() {
        println!("tidy: {} files keep the rules", tree.len());
        return Ok(());
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    bail!("{} complaints", complaints.len())
}
