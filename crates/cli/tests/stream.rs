//! Daemons with real processes under the real library: node → hub → hub, exact delivery, and what is
//! left after any of them was killed. Each run prints its seed, the kills by phase and the events it
//! checked; `NETRA_LONG=1` makes them long, `NETRA_SEED` chooses the seed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use netra_e2e::{Program, Tool};
use tempfile::TempDir;

const DEADLINE: Duration = Duration::from_secs(120);

fn is_long() -> bool {
    std::env::var_os("NETRA_LONG").is_some()
}

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

/// A process that is killed when the test ends, whatever its end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Three daemons and a place for producers.
struct Site {
    folder: TempDir,
    library: PathBuf,
    burst: PathBuf,
}

/// The daemons, the one nearest to the processes first.
const DAEMONS: [&str; 3] = ["node", "near", "far"];

impl Site {
    fn new() -> Site {
        let library = Tool::netra().expect("the library is built").library().to_owned();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/load/burst.c");
        let burst = Program::c("burst").compile(Path::new(source)).expect("a compiler");
        let site = Site { folder: TempDir::new().expect("a folder"), library, burst };
        fs::create_dir(site.path("segments")).expect("a folder");
        fs::create_dir(site.path("logs")).expect("a folder");
        site.write("node", "[node]\nsegments = [\"@/segments\"]\n", "near");
        site.write("near", "[[listen]]\naddress = \"unix:@/near.sock\"\n", "far");
        let far = "[[listen]]\naddress = \"unix:@/far.sock\"\n[[sink]]\nkind = \"null\"\n";
        site.write("far", far, "");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a daemon's file; `@` stands for the folder.
    fn write(&self, name: &str, what: &str, upstream: &str) {
        let mut text = format!("name = \"{name}\"\nstate = \"@/{name}\"\n{what}");
        if !upstream.is_empty() {
            text += &format!("[[upstream]]\nname = \"up\"\naddress = \"unix:@/{upstream}.sock\"\n");
        }
        let text = text.replace('@', &self.folder.path().display().to_string());
        fs::write(self.path(&format!("{name}.toml")), text).expect("a file");
    }

    fn netra(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        command.args(words).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command
    }

    /// Starts a daemon and waits until it is ready.
    fn start(&self, name: &str) -> Running {
        let ready = self.path(name).join("addresses");
        fs::remove_file(&ready).ok();
        let log = File::options().create(true).append(true).open(self.path(&format!("{name}.log")));
        let mut command = self.netra(&["daemon", &format!("{name}.toml")]);
        command.stderr(log.expect("a file"));
        let daemon = Running(command.spawn().expect("netra starts"));
        poll(&format!("{name} is ready"), || ready.exists());
        daemon
    }

    /// Starts a producer of so many events.
    fn produce(&self, job: &str, number: u64, calls: u64) -> Running {
        let mut command = Command::new(&self.burst);
        command.arg(self.path(&format!("data-{number}"))).arg(calls.to_string()).arg("2");
        command.env_clear().env("LD_PRELOAD", &self.library).env("NETRA_JOB", job);
        command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
        command.env("NETRA_SEGMENT_DIR", self.path("segments"));
        command.env("NETRA_LOG_DIR", self.path("logs"));
        Running(command.stdin(Stdio::null()).spawn().expect("the program starts"))
    }

    /// The certificate of a job at a daemon's first sink, once there is one.
    fn certificate(&self, daemon: &str, job: &str) -> Option<serde_json::Value> {
        let state = self.path(daemon).display().to_string();
        let done = self.netra(&["ledger", "--state", &state, "--json", job]).output();
        let done = done.expect("netra starts");
        let all: serde_json::Value = serde_json::from_slice(&done.stdout).ok()?;
        all.get(0).cloned()
    }

    /// Waits until all of so many processes have ended and everything of them has arrived.
    #[track_caller]
    fn settle(&self, job: &str, processes: usize) -> serde_json::Value {
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

    /// What the daemons said, for a test that fails.
    fn said(&self) -> String {
        let log = |name: &&str| {
            let path = self.path(&format!("{name}.log"));
            format!("{name}: {}", fs::read_to_string(path).unwrap_or_default())
        };
        DAEMONS.iter().map(log).collect()
    }
}

#[track_caller]
fn poll(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Events of one producer: the calls of both threads, their beginnings, open and close.
fn events(calls: u64) -> u64 {
    2 * calls + 4
}

#[track_caller]
fn adds_up(found: &serde_json::Value, site: &Site) {
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

#[test]
fn events_of_many_processes_cross_two_hubs_exactly_once() {
    let (producers, calls) = if is_long() { (8, 500_000) } else { (4, 10_000) };
    let site = Site::new();
    let _daemons: Vec<Running> = DAEMONS.iter().rev().map(|name| site.start(name)).collect();
    let mut all: Vec<Running> =
        (0..producers).map(|number| site.produce("exact", number, calls)).collect();
    for producer in &mut all {
        assert!(producer.0.wait().expect("it ends").success());
    }
    let found = site.settle("exact", producers as usize);
    adds_up(&found, &site);
    assert_eq!(found["complete"], true, "{found:#}");
    assert_eq!(found["sums"]["delivered"], producers * events(calls));
    let calls_of = |name: &str| {
        let lines = found["functions"].as_array().expect("functions");
        let line = lines.iter().find(|line| line["name"] == name).expect("called");
        (line["calls"].as_u64(), line["delivered"].as_u64())
    };
    let writes = Some(producers * 2 * calls);
    assert_eq!(calls_of("pwrite"), (writes, writes));
    assert_eq!(calls_of("open"), (Some(producers), Some(producers)));
    let folder = format!("segments/netra-{}", rustix::process::geteuid().as_raw());
    poll("segments are removed", || {
        fs::read_dir(site.path(&folder)).is_ok_and(|left| left.count() == 0)
    });
    println!("{} events of {producers} processes checked", producers * events(calls));
}

#[test]
fn segments_older_than_the_daemon_are_found() {
    let site = Site::new();
    let mut producer = site.produce("older", 0, 1000);
    assert!(producer.0.wait().expect("it ends").success());
    let _daemons: Vec<Running> = DAEMONS.iter().rev().map(|name| site.start(name)).collect();
    let found = site.settle("older", 1);
    assert_eq!(
        (found["complete"].as_bool(), found["sums"]["delivered"].as_u64()),
        (Some(true), Some(events(1000)))
    );
}

#[test]
fn whoever_is_killed_nothing_is_lost_or_counted_twice() {
    let seed = std::env::var("NETRA_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let mut random = Random(seed);
    let (rounds, calls) = if is_long() { (40, 400_000) } else { (6, 60_000) };
    let site = Site::new();
    let mut running: Vec<Option<Running>> = vec![None, None, None];
    for place in (0..DAEMONS.len()).rev() {
        running[place] = Some(site.start(DAEMONS[place]));
    }
    let mut producers: Vec<Running> = Vec::new();
    let (mut killed, mut kills, mut started) = (Vec::new(), [0_u32; 4], 0);
    for round in 0..rounds {
        while producers.len() < 3 {
            producers.push(site.produce("killed", started, calls));
            started += 1;
        }
        std::thread::sleep(Duration::from_millis(20 + random.below(200)));
        // Every phase is hit: the first rounds go through all of them.
        let phase = if round < 4 { round as usize } else { random.below(4) as usize };
        kills[phase] += 1;
        match running.get_mut(phase) {
            Some(place) => {
                // Dropped, it is killed without a word, and collected.
                drop(place.take());
                std::thread::sleep(Duration::from_millis(random.below(200)));
                *place = Some(site.start(DAEMONS[phase]));
            }
            None => {
                let mut victim = producers.swap_remove(random.below(3) as usize);
                victim.0.kill().expect("it can be killed");
                killed.push(victim.0.wait().expect("it ends"));
            }
        }
        producers.retain_mut(|producer| producer.0.try_wait().is_ok_and(|end| end.is_none()));
    }
    for producer in &mut producers {
        assert!(producer.0.wait().expect("it ends").success(), "the application never notices");
    }
    let found = site.settle("killed", started as usize);
    adds_up(&found, &site);
    let dropped = found["sums"]["dropped"].as_object().expect("reasons");
    let lost = |reason: &String| reason != "excluded" && reason != "killed";
    assert!(!dropped.keys().any(lost), "seed {seed}: {found:#}\n{}", site.said());
    assert!(kills.iter().all(|&kills| kills > 0), "a phase was never hit: {kills:?}");
    println!(
        "seed {seed}: kills of node {}, near hub {}, far hub {}, application {}; {} events of {started} processes checked",
        kills[0], kills[1], kills[2], kills[3], found["sums"]["delivered"]
    );
}

#[test]
fn a_live_run_has_every_event_though_memory_was_used_again() {
    let site = Site::new();
    let calls = 60_000;
    let mut command = site.netra(&[
        "run",
        "--live",
        "--trace-budget",
        "256KiB",
        "--log-file",
        "live.darshan",
        "--",
    ]);
    command.arg(&site.burst).arg(site.path("data")).arg(calls.to_string()).arg("2");
    command.env("NETRA_PRELOAD", &site.library).env("NETRA_SEGMENT_DIR", site.path("segments"));
    let done = command.output().expect("netra starts");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    let whole = format!("all {} events of 1 process arrived; nothing is missing", "120,004");
    assert!(said.contains(&whole), "{said}");
    let traced = site.netra(&["dxt", "live.darshan"]).output().expect("netra starts");
    let text = String::from_utf8(traced.stdout).expect("text");
    let writes = text.lines().filter(|line| line.contains("X_POSIX") && line.contains("write"));
    assert_eq!(writes.count() as u64, 2 * calls, "{said}");
    let left: Vec<_> = fs::read_dir(site.folder.path()).expect("a folder").flatten().collect();
    assert!(left.iter().all(|entry| !is_hidden(&entry.path())), "{left:?}");
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".netra"))
}
