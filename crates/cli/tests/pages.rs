//! The pages over a store in a browser: the list, the site, the runs of a program, and a stored job with analyses.
//!
//! `NETRA_TEST_PYTHON` names a Python with pandas and pyarrow; `cargo xtask test` sets it.
#![cfg(feature = "store")]

#[expect(dead_code, reason = "other tests use more of it")]
mod node;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use node::{MINE, Node, ask, free_port, poll};
use serde_json::{Value, json};

/// A module that can be computed only as far as its fourth line.
const BROKEN: &str =
    "inputs = {\"one\": \"SELECT 1 AS x\"}\n\ndef analyse(one, job: str):\n    return 1 / 0\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A node that has a store with two runs of one program, each a log of its own.
fn filled() -> Node {
    let node = Node::new("[[sink]]\nkind = \"null\"");
    let log = root().join("docs/example/wave.darshan").display().to_string();
    run(&node, &["convert", "--compress", "bzip2", "-o", "again.darshan", &log]);
    run(&node, &["import", "--quiet", "--store", "store", &log, "again.darshan"]);
    let modules = node.path("modules");
    fs::create_dir(&modules).expect("a folder");
    fs::write(modules.join("broken.py"), BROKEN).expect("a module");
    node
}

fn run(node: &Node, words: &[&str]) -> Vec<u8> {
    let done = node.netra(words).output().expect("netra starts");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn rows(node: &Node, question: &str) -> Vec<Value> {
    let text = run(node, &["sql", "--store", "store", "--format", "json", question]);
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn pages_over_a_store_are_whole_in_a_browser() {
    let chromium =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| on_path(name));
    let test = root().join("web/build/pages.test.js");
    let python = std::env::var_os("NETRA_TEST_PYTHON");
    let (Some(chromium), Some(python)) = (chromium, python) else {
        return println!("not checked: chromium, or a Python with pandas and pyarrow, is missing");
    };
    if on_path("node").is_none() || !test.exists() {
        return println!("not checked: `cargo xtask web` has not built the tests");
    }
    let node = filled();
    let jobs = rows(&node, "SELECT job FROM jobs ORDER BY job");
    let job = jobs[0]["job"].as_str().expect("a key").to_owned();
    let ranks = rows(
        &node,
        &format!(
            "SELECT rank, sum(time) / 1e9 AS seconds FROM activity WHERE job = '{job}' \
             AND layer IN ('POSIX', 'STDIO') GROUP BY rank ORDER BY rank"
        ),
    );
    assert_eq!((jobs.len(), ranks.len()), (2, 4), "the example has four ranks");
    let expected =
        json!({ "jobs": 2, "job": job, "program": "wave", "runs": 2, "ranks": ranks }).to_string();

    let _daemon = node.start();
    let port = free_port();
    let mut serve = node.netra(&["serve", "--daemon", &node.daemon(), "--store", "store"]);
    serve.args(["--listen", &format!("127.0.0.1:{port}"), "--users", "users.toml"]);
    let modules = [node.path("modules"), root().join("contrib/analysis")];
    serve.env("NETRA_ANALYSIS", std::env::join_paths(modules).expect("folders"));
    serve.env("NETRA_PYTHON", &python).stderr(std::process::Stdio::null());
    fs::write(
        node.path("users.toml"),
        format!("[[user]]\nname = \"operator\"\nadministrator = true\ntoken = \"{MINE}\"\n"),
    )
    .expect("a file");
    let _server = node::Running(serve.spawn().expect("netra starts"));
    poll("the server answers", || ask(port, "/api/jobs", MINE).is_some());

    let mut browse = Command::new("node");
    browse.arg("--test").arg(&test).env("NETRA_CHROMIUM", chromium);
    browse.env("NETRA_LIVE", format!("http://127.0.0.1:{port}/#token={MINE}"));
    let done = browse.env("NETRA_EXPECT", expected).output().expect("node starts");
    assert!(
        done.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}
