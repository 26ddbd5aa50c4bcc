//! The published connector's message of a real program: what it selects in a data set stands in the messages.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::site::{NODE, Site, poll};

/// Compiles the program that selects in every way; none where there is no HDF5.
fn program(site: &Site) -> Option<std::path::PathBuf> {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "hdf5-serial"]).output();
    let flags = flags.ok().filter(|done| done.status.success())?;
    let flags = String::from_utf8(flags.stdout).expect("flags");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/programs/hdf5.c");
    let binary = site.path("hdf5");
    let mut compile = Command::new("cc");
    compile.arg(source).arg("-o").arg(&binary).args(flags.split_whitespace());
    assert!(compile.status().expect("a compiler").success());
    Some(binary)
}

fn messages(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a message")).collect()
}

#[test]
fn messages_say_what_a_program_selects_in_a_data_set() {
    let site = Site::new();
    let Some(binary) = program(&site) else {
        println!("skipped: no HDF5 (pkg-config knows no hdf5-serial)");
        return;
    };
    let sink = "[[sink]]\nkind = \"connector-json\"\npath = \"@/messages\"\n";
    site.write("node", &format!("{NODE}{sink}"), "");
    let _node = site.start("node");
    let mut command = site.recorded(&binary, "selections");
    let done = command.stdout(Stdio::null()).status().expect("it starts");
    assert!(done.success());
    let mut found = Vec::new();
    poll("the file is closed", || {
        found = messages(&site.path("messages"));
        let closed = |one: &&Value| one["module"] == "H5F" && one["op"] == "close";
        found.iter().filter(closed).count() == 1
    });
    let set =
        |one: &&Value| one["module"] == "H5D" && one["seg"][0]["data_set"] == "/outer/inner/set";
    let said = |one: &Value| {
        let number = |key: &str| one["seg"][0][key].as_i64().expect("a number");
        let selection = ["pt_sel", "irreg_hslab", "reg_hslab", "ndims", "len"].map(number);
        ((one["op"].as_str().expect("an operation").to_owned(), selection), number("npoints"))
    };
    let (said, points): (Vec<_>, Vec<i64>) = found.iter().filter(set).map(said).take(7).unzip();
    let none = [-1; 5];
    let expected = [
        ("open", none),
        ("write", [0, 0, 0, 2, 480]),
        ("write", [0, 0, 1, 2, 96]),
        ("read", [0, 1, 1, 2, 104]),
        ("read", [1, 1, 1, 2, 16]),
        ("read", [1, 1, 1, 2, 0]),
        ("close", none),
    ];
    assert_eq!(said, expected.map(|(operation, numbers)| (operation.to_owned(), numbers)));
    // What is known of the whole data set comes with its counters, perhaps behind its first events.
    for (points, selected) in points.into_iter().zip([-1, 60, 12, 13, 2, 0, -1]) {
        assert!(points == selected || (selected >= 0 && points == 60), "{points} or {selected}");
    }
}
