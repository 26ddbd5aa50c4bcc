//! A daemon, a page's server and jobs on this machine, as real processes that end with the test.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use netra_e2e::{Program, Tool};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const DEADLINE: Duration = Duration::from_secs(180);
pub(crate) const MINE: &str = "a-token-of-my-own";
pub(crate) const THEIRS: &str = "a-token-of-theirs";

/// A process that is killed when the test ends, whatever its end.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Running {
    /// SIGKILL, and gone.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("a process");
        self.0.wait().expect("a process");
    }
}

/// A place for a daemon and everything else.
pub(crate) struct Node {
    pub(crate) folder: TempDir,
    library: PathBuf,
}

impl Node {
    /// A node whose daemon gives what it reads to these sinks (TOML; `@` is the folder).
    pub(crate) fn new(sinks: &str) -> Node {
        let folder = TempDir::new().expect("a folder");
        let library = Tool::netra().expect("the library is built").library().to_owned();
        for name in ["segments", "logs"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let text = format!(
            "name = \"node\"\nstate = \"@/state\"\n[node]\nsegments = [\"@/segments\"]\n\
             [[listen]]\naddress = \"unix:@/daemon.sock\"\n{sinks}\n[sample]\ninterval = \"200ms\"\n"
        );
        let text = text.replace('@', &folder.path().display().to_string());
        fs::write(folder.path().join("node.toml"), text).expect("a file");
        let uid = fs::metadata(folder.path()).expect("a folder").uid();
        let users = format!(
            "[[user]]\nname = \"me\"\nuid = {uid}\ntoken = \"{MINE}\"\n\
             [[user]]\nname = \"they\"\nuid = {}\ntoken = \"{THEIRS}\"\n",
            uid + 1
        );
        fs::write(folder.path().join("users.toml"), users).expect("a file");
        Node { folder, library }
    }

    /// Starts its daemon.
    pub(crate) fn start(&self) -> Running {
        fs::remove_file(self.path("state/addresses")).ok();
        let mut command = self.netra(&["daemon", "node.toml"]);
        let daemon = Running(command.stderr(Stdio::null()).spawn().expect("netra starts"));
        poll("the daemon is ready", || self.path("state/addresses").exists());
        daemon
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn daemon(&self) -> String {
        format!("unix:{}", self.path("daemon.sock").display())
    }

    /// netra in this place.
    pub(crate) fn netra(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        command.args(words).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
        command.env("HOME", self.folder.path());
        command
    }

    /// A program of `e2e/load` as a recorded job.
    pub(crate) fn job(&self, program: &str, key: &str, words: &[&str]) -> Command {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/load");
        let source = source.join(format!("{program}.c"));
        let program = Program::c(program).compile(&source).expect("a compiler");
        let mut command = Command::new(program);
        command.args(words).env_clear().env("LD_PRELOAD", &self.library).env("NETRA_JOB", key);
        command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
        command.env("NETRA_SEGMENT_DIR", self.path("segments"));
        command.env("NETRA_LOG_DIR", self.path("logs"));
        command
    }

    /// A process that writes so many bytes, one by one, and then waits for a line.
    pub(crate) fn produce(&self, key: &str, calls: u64) -> Running {
        let (data, calls) = (self.path("data").display().to_string(), calls.to_string());
        let mut command = self.job("burst", key, &[&data, &calls, "1", "wait"]);
        Running(command.stdin(Stdio::piped()).spawn().expect("the program starts"))
    }

    /// The page's server; what it and others before it said is in `serve.log`.
    pub(crate) fn serve(&self, port: u16, words: &[&str]) -> Running {
        let mut command = self.netra(&["serve", "--daemon", &self.daemon()]);
        command.args(["--users", "users.toml", "--listen", &format!("127.0.0.1:{port}")]);
        let log = fs::OpenOptions::new().append(true).create(true).open(self.path("serve.log"));
        command.args(words).stderr(log.expect("a file"));
        Running(command.spawn().expect("netra starts"))
    }
}

/// A port that is free, and stays the same after a restart.
pub(crate) fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("a port").port()
}

#[track_caller]
pub(crate) fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < until, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks the server; nothing where it does not answer.
pub(crate) fn ask(port: u16, path: &str, token: &str) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    write!(
        stream,
        // In this version nobody sends a body in chunks.
        "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}
