//! `netra serve` and `netra top` over a real daemon and real processes: servers and daemons that are killed in the
//! middle of a job lose nothing, each user sees their own, jobs that ended are found in the store, and the
//! terminal shows the same.
#![cfg(feature = "serve")]

mod node;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use node::{DEADLINE, MINE, Node, Running, THEIRS, ask, free_port, poll};

const NOWHERE: &str = "[[sink]]\nkind = \"null\"";

#[test]
fn a_server_that_was_killed_knows_the_job_again() {
    let node = Node::new(NOWHERE);
    let _daemon = node.start();
    let (port, calls) = (free_port(), 20_000);
    let mut server = node.serve(port, &[]);
    let mut job = node.produce("slurm.7", calls);
    let written = |value: u64| {
        let answer = ask(port, "/api/jobs/slurm.7", MINE);
        answer.is_some_and(|(_, job)| job["bytes_written"] == value)
    };
    poll("everything was seen", || written(calls));
    let (status, _) = ask(port, "/api/jobs/slurm.7", THEIRS).expect("an answer");
    assert_eq!(status, 404);
    let (_, list) = ask(port, "/api/jobs", THEIRS).expect("an answer");
    assert_eq!(list["jobs"].as_array().map(Vec::len), Some(0));
    // Sampled once a second: the calls may be there before.
    poll("what the node does is seen", || {
        let answer = ask(port, "/api/jobs/slurm.7", MINE);
        answer.is_some_and(|(_, job)| job["metrics"].as_array().is_some_and(|all| !all.is_empty()))
    });
    server.kill();
    let _server = node.serve(port, &[]);
    // The events of before are gone with it; the counters are not.
    poll("it knows again", || written(calls));
    job.0.stdin.take().expect("a pipe").write_all(b"\n").expect("it waits");
    poll("it ended", || {
        let answer = ask(port, "/api/jobs/slurm.7", MINE);
        answer.is_some_and(|(_, job)| job["state"] == "ended")
    });
    let (_, ended) = ask(port, "/api/jobs/slurm.7", MINE).expect("an answer");
    assert_eq!((&ended["bytes_written"], &ended["writes"]), (&calls.into(), &calls.into()));
}

/// Server and daemon are killed while the job runs, then the server once more when it is over: it is found in the
/// store, with every call.
#[cfg(feature = "store")]
#[test]
fn nothing_is_lost_when_server_and_daemon_are_killed_and_the_job_is_kept() {
    let node = Node::new("[[sink]]\nkind = \"store\"\nplace = \"@/store\"\nevery = \"1s\"");
    let mut daemon = node.start();
    let (port, calls) = (free_port(), 20_000);
    let store = node.path("store").display().to_string();
    let mut server = node.serve(port, &["--store", &store]);
    let mut job = node.produce("slurm.8", calls);
    let written = || {
        let answer = ask(port, "/api/jobs/slurm.8", MINE);
        answer.is_some_and(|(_, job)| job["bytes_written"] == calls)
    };
    poll("everything was seen", written);
    daemon.kill();
    // The job goes on without it; so does the page.
    let (status, _) = ask(port, "/api/jobs/slurm.8", MINE).expect("an answer");
    assert_eq!(status, 200);
    server.kill();
    let _daemon = node.start();
    let mut server = node.serve(port, &["--store", &store]);
    poll("it is known again", written);
    job.0.stdin.take().expect("a pipe").write_all(b"\n").expect("it waits");
    poll("it ended", || {
        let answer = ask(port, "/api/jobs/slurm.8", MINE);
        answer.is_some_and(|(_, job)| job["state"] == "ended")
    });
    let count = || {
        let question = "/api/sql?q=SELECT%20count(*)%20AS%20n%20FROM%20events%20WHERE%20job%3D%27slurm.8%27%20AND%20op%3D%27write%27";
        ask(port, question, MINE).is_some_and(|(_, rows)| rows[0]["n"] == calls)
    };
    poll("every call is in the store, once", count);
    // The next server has never seen it run.
    server.kill();
    let _server = node.serve(port, &["--store", &store]);
    poll("it is found in the store", || {
        let answer = ask(port, "/api/jobs/slurm.8", MINE);
        answer.is_some_and(|(_, job)| job["stored"] == true && job["state"] == "ended")
    });
    let (_, kept) = ask(port, "/api/jobs/slurm.8", MINE).expect("an answer");
    assert_eq!(
        (&kept["bytes_written"], &kept["writes"]),
        (&calls.into(), &calls.into()),
        "{kept:#}"
    );
    assert_eq!(kept["completeness"]["complete"], true, "{kept:#}");
    let (status, report) = ask(port, "/api/jobs/slurm.8/report", MINE).expect("an answer");
    assert_eq!(status, 200);
    let trust = &report["report"]["trust"];
    assert_eq!(trust["complete"], true, "{trust:#}");
    let (_, list) = ask(port, "/api/jobs", THEIRS).expect("an answer");
    assert_eq!(list["jobs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn other_machines_are_refused_without_a_certificate() {
    let node = Node::new(NOWHERE);
    let words = ["serve", "--daemon", "unix:/nothing", "--listen", "0.0.0.0:0"];
    let done = node.netra(&words).output().expect("netra starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("--page-certificate") && said.contains("--unencrypted"), "{said}");
}

/// With a certificate the page speaks TLS, and nothing else.
#[test]
fn a_page_with_a_certificate_is_encrypted() {
    if [Path::new("/usr/bin/openssl"), Path::new("/usr/bin/curl")].iter().any(|path| !path.exists())
    {
        return println!("not checked: openssl or curl is not installed");
    }
    let node = Node::new(NOWHERE);
    let mut make = Command::new("/usr/bin/openssl");
    make.args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]);
    make.args([
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
    ]);
    let made = make.current_dir(node.folder.path()).output().expect("openssl starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let port = free_port();
    let _server = node.serve(port, &["--page-certificate", "cert.pem", "--page-key", "key.pem"]);
    let curl = |scheme: &str| {
        let mut curl = Command::new("/usr/bin/curl");
        curl.args([
            "--silent",
            "--show-error",
            "--noproxy",
            "*",
            "--cacert",
            "cert.pem",
            "--max-time",
            "20",
        ]);
        curl.args([
            "-H",
            &format!("Authorization: Bearer {MINE}"),
            &format!("{scheme}://localhost:{port}/api/me"),
        ]);
        let done = curl.current_dir(node.folder.path()).output().expect("curl starts");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    poll("it answers", || curl("https").contains("\"name\":\"me\""));
    assert_eq!(curl("http"), "", "plain text was answered");
}

/// The terminal's view in a terminal that `script` makes.
#[test]
fn the_terminal_shows_a_running_job_and_is_left_with_q() {
    if !Path::new("/usr/bin/script").exists() {
        return println!("not checked: script is not installed");
    }
    let node = Node::new(NOWHERE);
    let _daemon = node.start();
    let _job = node.produce("slurm.7", 1000);
    let words = format!("{} top --daemon {}", env!("CARGO_BIN_EXE_netra"), node.daemon());
    let mut command = Command::new("/usr/bin/script");
    command.args(["-qec", &format!("stty cols 120 rows 40; {words}"), "/dev/null"]);
    command.env("TERM", "xterm").env("HOME", node.folder.path()).stdin(Stdio::piped());
    let mut top = Running(command.stdout(Stdio::piped()).spawn().expect("script starts"));
    let mut out = BufReader::new(top.0.stdout.take().expect("a pipe"));
    let (mut seen, mut piece) = (String::new(), Vec::new());
    let until = Instant::now() + DEADLINE;
    // Words are put in their places one by one: the number of bytes, then their unit.
    while !(seen.contains("netra top:") && seen.contains("1000")) {
        assert!(Instant::now() < until, "{seen:?}");
        piece.clear();
        // Pictures are drawn with escapes: each ends somewhere.
        out.read_until(b'\x1b', &mut piece).expect("it draws");
        seen.push_str(&String::from_utf8_lossy(&piece));
    }
    top.0.stdin.take().expect("a pipe").write_all(b"q").expect("it listens");
    let drained = std::thread::spawn(move || out.read_to_end(&mut Vec::new()).map(drop));
    poll("it ends", || top.0.try_wait().is_ok_and(|ended| ended.is_some()));
    drained.join().expect("a thread").ok();
    assert!(top.0.wait().expect("it ended").success());
}
