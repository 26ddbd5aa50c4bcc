//! A site in small: a node, two hubs behind it, and producers under the real library.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use netra_e2e::{Program, Tool};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) fn is_long() -> bool {
    std::env::var_os("NETRA_LONG").is_some()
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

/// A process that is killed when the test ends, whatever its end.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Three daemons and a place for producers.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) library: PathBuf,
    pub(crate) burst: PathBuf,
}

/// What a node does here; `@` stands for the folder.
pub(crate) const NODE: &str = "[node]\nsegments = [\"@/segments\"]\nlogs = \"@/recovered\"\n";

/// The daemons, the one nearest to the processes first.
pub(crate) const DAEMONS: [&str; 3] = ["node", "near", "far"];

impl Site {
    pub(crate) fn new() -> Site {
        let library = Tool::netra().expect("the library is built").library().to_owned();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/load/burst.c");
        let burst = Program::c("burst").compile(Path::new(source)).expect("a compiler");
        let site = Site { folder: TempDir::new().expect("a folder"), library, burst };
        fs::create_dir(site.path("segments")).expect("a folder");
        fs::create_dir(site.path("logs")).expect("a folder");
        site.write("node", NODE, "near");
        site.write("near", "[[listen]]\naddress = \"unix:@/near.sock\"\n", "far");
        let far = "[[listen]]\naddress = \"unix:@/far.sock\"\n[[sink]]\nkind = \"null\"\n";
        site.write("far", far, "");
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a daemon's file; `@` stands for the folder.
    pub(crate) fn write(&self, name: &str, what: &str, upstream: &str) {
        let mut text = format!("name = \"{name}\"\nstate = \"@/{name}\"\n{what}");
        if !upstream.is_empty() {
            text += &format!("[[upstream]]\nname = \"up\"\naddress = \"unix:@/{upstream}.sock\"\n");
        }
        let text = text.replace('@', &self.folder.path().display().to_string());
        fs::write(self.path(&format!("{name}.toml")), text).expect("a file");
    }

    pub(crate) fn netra(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        command.args(words).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command
    }

    /// Starts a daemon and waits until it is ready.
    pub(crate) fn start(&self, name: &str) -> Running {
        self.start_by(name, self.netra(&["daemon", &format!("{name}.toml")]))
    }

    /// The same, by a command of one's own.
    pub(crate) fn start_by(&self, name: &str, mut command: Command) -> Running {
        let ready = self.path(name).join("addresses");
        fs::remove_file(&ready).ok();
        let log = File::options().create(true).append(true).open(self.path(&format!("{name}.log")));
        command.stderr(log.expect("a file"));
        let daemon = Running(command.spawn().expect("netra starts"));
        poll(&format!("{name} is ready"), || ready.exists());
        daemon
    }

    /// Starts a producer of so many events.
    pub(crate) fn produce(&self, job: &str, number: u64, calls: u64) -> Running {
        let mut command = self.recorded(&self.burst, job);
        command.arg(self.path(&format!("data-{number}"))).arg(calls.to_string()).arg("2");
        Running(command.spawn().expect("the program starts"))
    }

    /// A program under the library, for a daemon to read.
    pub(crate) fn recorded(&self, program: &Path, job: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_clear().env("LD_PRELOAD", &self.library).env("NETRA_JOB", job);
        command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
        command.env("NETRA_SEGMENT_DIR", self.path("segments"));
        command.env("NETRA_LOG_DIR", self.path("logs"));
        command
    }

    /// The certificate of a job at a daemon's first sink, once there is one.
    pub(crate) fn certificate(&self, daemon: &str, job: &str) -> Option<serde_json::Value> {
        let state = self.path(daemon).display().to_string();
        let done = self.netra(&["ledger", "--state", &state, "--json", job]).output();
        let done = done.expect("netra starts");
        let all: serde_json::Value = serde_json::from_slice(&done.stdout).ok()?;
        all.get(0).cloned()
    }

    /// Waits until all of so many processes have ended and everything of them has arrived.
    #[track_caller]
    pub(crate) fn settle(&self, job: &str, processes: usize) -> serde_json::Value {
        let mut last = None;
        poll("everything has arrived", || {
            last = self.certificate("far", job);
            last.as_ref().is_some_and(|found| {
                let all = found["processes"].as_array().map_or(0, Vec::len) == processes;
                all && found["final"] == true && found["sums"]["in_flight"] == 0
            })
        });
        last.expect("it was there")
    }

    /// Everything, the daemon nearest to the processes last.
    pub(crate) fn start_all(&self) -> Vec<Running> {
        DAEMONS.iter().rev().map(|name| self.start(name)).collect()
    }

    /// The folder of the segments of this user.
    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let folder = format!("segments/netra-{}", rustix::process::geteuid().as_raw());
        let left = fs::read_dir(self.path(&folder)).into_iter().flatten().flatten();
        left.map(|entry| entry.path()).collect()
    }

    /// Whether a daemon said this.
    pub(crate) fn has_said(&self, daemon: &str, what: &str) -> bool {
        let log = fs::read_to_string(self.path(&format!("{daemon}.log")));
        log.is_ok_and(|log| log.contains(what))
    }

    /// What the daemons said, for a test that fails.
    pub(crate) fn said(&self) -> String {
        let log = |name: &&str| {
            let path = self.path(&format!("{name}.log"));
            format!("{name}: {}", fs::read_to_string(path).unwrap_or_default())
        };
        DAEMONS.iter().map(log).collect()
    }
}

#[track_caller]
pub(crate) fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Events of one producer: the calls of both threads, their beginnings, open and close.
pub(crate) fn events(calls: u64) -> u64 {
    2 * calls + 4
}

#[track_caller]
pub(crate) fn adds_up(found: &serde_json::Value, site: &Site) {
    let sums = &found["sums"];
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let dropped = sums["dropped"].as_object().expect("reasons");
    let on_the_way: u64 = ["filtered", "torn", "behind"]
        .iter()
        .filter_map(|reason| dropped.get(*reason))
        .map(number)
        .sum();
    assert_eq!(found["broken"].as_array().map(Vec::len), Some(0), "{found:#}\n{}", site.said());
    assert_eq!(
        number(&sums["produced"]),
        number(&sums["delivered"]) + on_the_way + number(&sums["in_flight"]),
        "{found:#}"
    );
}
