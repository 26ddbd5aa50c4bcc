//! `netra serve` and `netra top` over a real daemon and a real process: a server that is killed in the middle
//! of a job knows its exact totals again, each user sees their own, a finding calls a command, and the
//! terminal shows the same.
#![cfg(feature = "serve")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use netra_e2e::{Program, Tool};
use serde_json::Value;
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(120);
const MINE: &str = "a-token-of-my-own";
const THEIRS: &str = "a-token-of-theirs";

/// A process that is killed when the test ends, whatever its end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A daemon on a node, and a place for everything else.
struct Node {
    folder: TempDir,
    _daemon: Running,
    library: PathBuf,
    burst: PathBuf,
}

impl Node {
    fn start() -> Node {
        let folder = TempDir::new().expect("a folder");
        let library = Tool::netra().expect("the library is built").library().to_owned();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/load/burst.c");
        let burst = Program::c("burst").compile(Path::new(source)).expect("a compiler");
        for name in ["segments", "logs"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let text = "name = \"node\"\nstate = \"@/state\"\n[node]\nsegments = [\"@/segments\"]\n\
                    [[listen]]\naddress = \"unix:@/daemon.sock\"\n[[sink]]\nkind = \"null\"\n[sample]\ninterval = \"200ms\"\n";
        let text = text.replace('@', &folder.path().display().to_string());
        fs::write(folder.path().join("node.toml"), text).expect("a file");
        let mut command = netra(folder.path(), &["daemon", "node.toml"]);
        let daemon = Running(command.stderr(Stdio::null()).spawn().expect("netra starts"));
        poll("the daemon is ready", || folder.path().join("state/addresses").exists());
        Node { folder, _daemon: daemon, library, burst }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn daemon(&self) -> String {
        format!("unix:{}", self.path("daemon.sock").display())
    }

    /// A process that writes so many bytes, one by one, and then waits for a line.
    fn produce(&self, calls: u64) -> Running {
        let mut command = Command::new(&self.burst);
        command.arg(self.path("data")).arg(calls.to_string()).args(["1", "wait"]);
        command.env_clear().env("LD_PRELOAD", &self.library).env("NETRA_JOB", "slurm.7");
        command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
        command.env("NETRA_SEGMENT_DIR", self.path("segments"));
        command.env("NETRA_LOG_DIR", self.path("logs"));
        Running(command.stdin(Stdio::piped()).spawn().expect("the program starts"))
    }

    fn serve(&self, port: u16, words: &[&str]) -> Running {
        let mut command = netra(self.folder.path(), &["serve", "--daemon", &self.daemon()]);
        command.args(["--users", "users.toml", "--listen", &format!("127.0.0.1:{port}")]);
        command.args(words).stderr(Stdio::null());
        Running(command.spawn().expect("netra starts"))
    }
}

fn netra(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder).env("TERM", "xterm");
    command
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < until, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks the server; nothing where it does not answer.
fn ask(port: u16, path: &str, token: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

#[test]
fn a_server_that_was_killed_knows_the_job_again() {
    let node = Node::start();
    let uid =
        fs::metadata(node.folder.path()).map(|about| std::os::unix::fs::MetadataExt::uid(&about));
    let (uid, calls) = (uid.expect("a folder"), 20_000);
    let users = format!(
        "[[user]]\nname = \"me\"\nuid = {uid}\ntoken = \"{MINE}\"\n\
         [[user]]\nname = \"they\"\nuid = {}\ntoken = \"{THEIRS}\"\n",
        uid + 1
    );
    fs::write(node.path("users.toml"), users).expect("a file");
    // A port that is free, and stays the same after a restart.
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("a port").port();
    drop(free);
    let mut server = node.serve(port, &[]);
    let mut job = node.produce(calls);
    let written = |value: u64| {
        let answer = ask(port, "/api/jobs/slurm.7", MINE);
        answer.is_some_and(|(_, job)| job["bytes_written"] == value)
    };
    poll("everything was seen", || written(calls));
    let (status, _) = ask(port, "/api/jobs/slurm.7", THEIRS).expect("an answer");
    assert_eq!(status, 404);
    let (_, list) = ask(port, "/api/jobs", THEIRS).expect("an answer");
    assert_eq!(list["jobs"].as_array().map(Vec::len), Some(0));
    let (_, before) = ask(port, "/api/jobs/slurm.7", MINE).expect("an answer");
    assert!(before["metrics"].as_array().is_some_and(|all| !all.is_empty()), "{before:#}");
    // SIGKILL.
    server.0.kill().expect("a process");
    server.0.wait().expect("a process");
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

/// The terminal's view in a terminal that `script` makes.
#[test]
fn the_terminal_shows_a_running_job_and_is_left_with_q() {
    if !Path::new("/usr/bin/script").exists() {
        return println!("not checked: script is not installed");
    }
    let node = Node::start();
    let _job = node.produce(1000);
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
