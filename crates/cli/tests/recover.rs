//! A browser that follows a job whose server is killed and started again, and which is itself killed: the page comes back by
//! itself, and nothing is lost.
#![cfg(feature = "serve")]

mod node;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use node::{MINE, Node, Running, ask, free_port, poll};

const CALLS: u64 = 20_000;

/// The browser's program and its test, where both are installed.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find = |name: &str| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    let chromium =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| find(name));
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/build/recover.js");
    match chromium {
        Some(chromium) if find("node").is_some() && test.is_file() => Some((chromium, test)),
        _ => None,
    }
}

/// Opens the job's page.
fn look(port: u16, (chromium, test): &(PathBuf, PathBuf)) -> (Running, BufReader<ChildStdout>) {
    let mut command = Command::new("node");
    command.arg(test).env("NETRA_CHROMIUM", chromium).env("NETRA_WRITTEN", CALLS.to_string());
    command.env("NETRA_LIVE", format!("http://127.0.0.1:{port}/jobs/slurm.9#token={MINE}"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("node starts");
    let said = BufReader::new(child.stdout.take().expect("a pipe"));
    (Running(child), said)
}

#[track_caller]
fn says(said: &mut BufReader<ChildStdout>, wanted: &str) {
    let mut line = String::new();
    said.read_line(&mut line).expect("a pipe");
    assert_eq!(line.trim(), wanted, "the browser's test ended or went another way");
}

#[test]
fn a_page_comes_back_by_itself() {
    let Some(browser) = browser() else {
        return println!(
            "not checked: chromium or node is not installed, or `cargo xtask web` has not built the tests"
        );
    };
    let node = Node::new("[[sink]]\nkind = \"null\"");
    let mut daemon = node.start();
    let port = free_port();
    let mut server = node.serve(port, &[]);
    let mut job = node.produce("slurm.9", CALLS);
    let known = || {
        ask(port, "/api/jobs/slurm.9", MINE).is_some_and(|(_, job)| job["bytes_written"] == CALLS)
    };
    poll("the job is known", known);
    // One browser is killed in the middle: nobody minds.
    let (mut killed, mut said) = look(port, &browser);
    says(&mut said, "seen");
    killed.kill();
    let (mut page, mut said) = look(port, &browser);
    says(&mut said, "seen");
    server.kill();
    says(&mut said, "lost");
    daemon.kill();
    let _daemon = node.start();
    let _server = node.serve(port, &[]);
    says(&mut said, "back");
    job.0.stdin.take().expect("a pipe").write_all(b"\n").expect("it waits");
    says(&mut said, "ended");
    assert!(page.0.wait().expect("it ends").success());
    assert!(known(), "the numbers are those of before");
}
