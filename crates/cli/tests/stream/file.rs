//! A daemon's file: checked without a daemon, read again on demand, and a wrong one changes nothing.

use std::fs;
use std::process::Command;

use crate::site::{Running, Site, events, poll};

fn signal(daemon: &Running, name: &str) {
    let done = Command::new("kill").args([name, &daemon.0.id().to_string()]).status();
    assert!(done.expect("kill starts").success());
}

/// The node reads its file again, and is ready again.
fn again(site: &Site, node: &Running) {
    let ready = site.path("node").join("addresses");
    fs::remove_file(&ready).expect("it was ready");
    signal(node, "-HUP");
    poll("it is ready again", || ready.exists());
}

#[test]
fn a_file_is_checked_and_everything_wrong_is_said_at_once() {
    let site = Site::new();
    let done = site.netra(&["daemon", "--check", "node.toml"]).output().expect("netra starts");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let path = site.path("node.toml");
    let text = fs::read_to_string(&path).expect("a file");
    let text = text.replace("segments = [", "segmets = [").replace("unix:", "tpc:");
    fs::write(&path, text).expect("a file");
    let done = site.netra(&["daemon", "--check", "node.toml"]).output().expect("netra starts");
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        said.contains("[node] segmets: no such key") && said.contains("[upstream] address"),
        "{said}"
    );
}

#[test]
fn a_daemon_reads_its_file_again_and_ends_with_everything_passed_on() {
    let site = Site::new();
    let far = site.start("far");
    let near = site.start("near");
    let mut node = site.start("node");
    // A file that is wrong is said and changes nothing.
    let path = site.path("node.toml");
    let right = fs::read_to_string(&path).expect("a file");
    fs::write(&path, "nonsense = 1\n").expect("a file");
    again(&site, &node);
    assert!(site.has_said("node", "nonsense: no such key"), "{}", site.said());
    // Now it keeps lines, too.
    let lines =
        format!("[[sink]]\nkind = \"json-lines\"\npath = \"{}\"\n", site.path("lines").display());
    fs::write(&path, format!("{right}{lines}")).expect("a file");
    again(&site, &node);
    let calls = 1000;
    assert!(site.produce("again", 0, calls).0.wait().expect("it ends").success());
    poll("the segment was read", || site.segments().is_empty());
    signal(&node, "-TERM");
    assert_eq!(node.0.wait().expect("it ends").code(), Some(0), "{}", site.said());
    let found = site.settle("again", 1);
    assert_eq!(found["sums"]["delivered"], events(calls));
    let text = fs::read_to_string(site.path("lines")).expect("lines");
    assert_eq!(text.matches("\"pwrite\"").count() as u64, 2 * calls);
    drop((near, far));
}
