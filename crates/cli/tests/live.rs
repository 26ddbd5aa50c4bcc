//! `netra run --live` with a real MPI job: its page grows, its rules speak before the end, and in the end its
//! numbers are the workload's own. Over HTTP always, and in a browser where one is installed.
#![cfg(feature = "serve")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use netra_e2e::Tool;
use netra_workloads::{Expected, Launch, Mpi, catalogue};
use serde_json::{Value, json};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(180);

/// A run under `netra run --live`, killed when the test ends.
struct Live {
    child: Child,
    said: Receiver<String>,
    /// The page's address, with the token.
    address: String,
    expected: Value,
    _folder: TempDir,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Lines as they come.
fn lines(from: ChildStderr) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Starts a straggler of so many steps; nothing where there is no MPI.
fn start(steps: u32) -> Option<Live> {
    let folder = TempDir::new().expect("a folder");
    let workload = catalogue::find("slow-rank").expect("a workload");
    let (ranks, pieces, block) = (2, 256, 256 << 10);
    let knobs = format!("--steps {steps} --block 256KiB --pieces {pieces} --delay 1000");
    let knobs = knobs.split(' ').map(str::to_owned).collect();
    let mpi = [Mpi::Mpich, Mpi::OpenMpi].into_iter().find(|mpi| mpi.is_here())?;
    let program = env!("CARGO_BIN_EXE_netra");
    // MPI's own shared memory is no file of the workload's.
    let with =
        [program, "run", "--live", "--live-for", "600", "--exclude", "/dev/shm", "--log-file"];
    let mut with: Vec<String> = with.map(str::to_owned).to_vec();
    with.push(folder.path().join("job.darshan").display().to_string());
    with.push("--".to_owned());
    let launch = Launch { workload, mpi, ranks, with, with_rank: Vec::new(), knobs };
    let promised = Expected::ask(launch.expectation().expect("a program")).expect("a promise");
    let writes = u64::from(steps) * (pieces + u64::from(ranks) - 1);
    assert_eq!(
        promised.total["posix"]["pwrite"].calls, writes,
        "the promise is the workload's page"
    );
    let expected = json!({
        "file": "slow-rank.dat", "bytes_read": 0, "reads": 0, "ranks": ranks, "writes": writes,
        "bytes_written": u64::from(steps) * block * u64::from(ranks),
    });
    let place = folder.path().join("run");
    std::fs::create_dir(&place).expect("a folder");
    let mut command = launch.command(&place).expect("a command");
    let library = Tool::netra().expect("the library is built");
    command.env("NETRA_PRELOAD", library.library()).env("XDG_DATA_HOME", folder.path());
    command.env("NETRA_SEGMENT_DIR", folder.path().join("segments"));
    command.env("OMPI_MCA_orte_tmpdir_base", folder.path());
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a start");
    let said = lines(child.stderr.take().expect("a pipe"));
    let address = loop {
        let line = said.recv_timeout(DEADLINE).expect("an address");
        if let Some(address) = line.strip_prefix("netra: live at ") {
            break address.to_owned();
        }
    };
    Some(Live { child, said, address, expected, _folder: folder })
}

impl Live {
    /// Asks the server.
    fn ask(&self, what: &str) -> Value {
        let rest = self.address.strip_prefix("http://").expect("an address");
        let (place, token) = rest.split_once("#token=").expect("a token");
        let (host, path) = place.split_once('/').expect("a path");
        let mut stream = TcpStream::connect(host).expect("a server");
        let path = format!("/api/{path}{what}");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        .expect("a question");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        serde_json::from_str(body).unwrap_or(Value::Null)
    }

    /// Asks until it holds.
    fn poll(&self, what: &str, mut holds: impl FnMut(&Value) -> bool) -> Value {
        let until = Instant::now() + DEADLINE;
        loop {
            let job = self.ask("");
            if holds(&job) {
                return job;
            }
            assert!(Instant::now() < until, "{what}: not in time: {job:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn a_run_is_seen_while_it_runs_and_ends_with_exact_numbers() {
    let Some(live) = start(15) else {
        return println!("not checked: no MPI is installed");
    };
    let mut seen = Vec::new();
    live.poll("it grows", |job| {
        let written = job["bytes_written"].as_u64().unwrap_or(0);
        if written > 0 && seen.last() != Some(&written) {
            seen.push(written);
        }
        seen.len() >= 3
    });
    assert!(seen.is_sorted(), "{seen:?}");
    assert!(json!(seen[0]) != live.expected["bytes_written"], "it was over at once");
    let found = live.poll("a rule speaks", |job| {
        job["diagnosis"]["standings"].as_array().is_some_and(|list| !list.is_empty())
    });
    assert_eq!(found["state"], "running", "the job had ended before a rule spoke");
    let ended = live
        .poll("it ends", |job| job["state"] == "ended" && job["completeness"]["complete"] == true);
    // What it prints is written too, but promised nowhere.
    let files = ended["files"].as_array().expect("files");
    let file = files.iter().find(|file| file["path"].as_str().is_some_and(is_promised));
    let file = file.expect("the file");
    for key in ["bytes_read", "bytes_written", "reads", "writes"] {
        assert_eq!(file[key], live.expected[key], "{key}: {ended:#}");
    }
    assert_eq!(ended["ranks_list"].as_array().map(Vec::len), Some(2), "{ended:#}");
    let mut of_steps = 0;
    for step in ended["steps"].as_array().expect("steps") {
        for cell in step["cells"].as_array().expect("cells") {
            of_steps += if cell[1] == 1 && matches!(cell[0].as_u64(), Some(0 | 1)) {
                cell[3].as_u64().unwrap_or(0)
            } else {
                0
            };
        }
    }
    assert_eq!(ended["bytes_written"], of_steps, "steps add up to the whole");
    // The report of the last diagnosis is the report of the log.
    let report = live
        .poll("the last report", |_| live.ask("/report")["report"]["trust"]["complete"] == true);
    assert_eq!(report["state"], "ended");
}

fn is_promised(path: &str) -> bool {
    path.ends_with("/slow-rank.dat")
}

#[test]
fn a_browser_follows_a_run() {
    let test = root().join("web/build/live.test.js");
    let Some(chromium) =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| on_path(name))
    else {
        return println!("not checked in a browser: chromium is not installed");
    };
    if !test.exists() || on_path("node").is_none() {
        return println!("not checked in a browser: `cargo xtask web` has not built the tests");
    }
    let Some(live) = start(30) else {
        return println!("not checked: no MPI is installed");
    };
    let mut node = Command::new("node");
    node.arg("--test").arg(&test).env("NETRA_CHROMIUM", chromium);
    node.env("NETRA_LIVE", &live.address).env("NETRA_EXPECT", live.expected.to_string());
    let done = node.output().expect("node starts");
    let said: Vec<String> = live.said.try_iter().collect();
    assert!(
        done.status.success(),
        "{}\n{}\n{said:?}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
