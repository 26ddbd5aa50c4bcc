//! Events on their way: what a live reader costs the application, what node and hub cost for each
//! event, and whether all of them arrive over two hops. Every number is of real processes under the
//! real library; a run that loses an event fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use netra_e2e::Program;
use serde_json::Value;

use super::measured::{self, Row, Target};
use crate::artifact;
use crate::place::{output, root, target};

/// Calls of the producer; `cargo xtask bench stream CALLS` chooses another number.
const CALLS: u64 = 2_000_000;
const DEADLINE: Duration = Duration::from_secs(300);
/// The kernel's clock ticks a second, as `/proc` counts processor time.
const TICKS: f64 = 100.0;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Running {
    /// Processor seconds so far.
    fn seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
        let both = ticks(11).zip(ticks(12)).context("no processor time")?;
        Ok((both.0 + both.1) / TICKS)
    }

    /// The most memory it had, in MiB.
    fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
        Ok(kilobytes.context("no memory")?.trim().parse::<f64>()? / 1024.0)
    }
}

struct Site {
    folder: PathBuf,
    netra: PathBuf,
    library: PathBuf,
    burst: PathBuf,
}

/// `cargo xtask bench stream [CALLS]`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let calls = words.first().map_or(Ok(CALLS), |word| word.parse()).context("CALLS")?;
    let site = Site::new()?;
    let bare = site.produce(calls, false)?;
    let daemons = ["far", "near", "node"].map(|name| site.daemon(name));
    let [far, near, node] = daemons;
    let (_far, near, node) = (far?, near?, node?);
    let began = Instant::now();
    let live = site.produce(calls, true)?;
    let events = site.settle()?;
    let took = began.elapsed().as_secs_f64();
    let per_event = |seconds: f64| seconds * 1e6 / events as f64;
    let command = format!("burst {calls} under node, hub, hub");
    let row = |name: &str, unit, value, limit| Row {
        name: name.to_owned(),
        unit,
        command: command.clone(),
        value,
        peer: None,
        target: Target::Below(limit),
    };
    measured::keep(
        "stream",
        &[
            row(
                "an event in the application, with a live reader",
                "ns",
                (live - bare) * 1e9 / calls as f64,
                45.0,
            ),
            row("node: processor time an event", "µs", per_event(node.seconds()?), 0.2),
            row(
                "hub: processor time an event, received, checked, sent on",
                "µs",
                per_event(near.seconds()?),
                1.0,
            ),
            row("node: memory", "MiB", node.memory()?, 64.0),
            row(
                "two hops: time an event, all processes on this machine",
                "µs",
                per_event(took),
                2.0,
            ),
        ],
    )
}

impl Site {
    fn new() -> Result<Site> {
        super::light_program("release")?;
        let folder = target().join("bench-stream");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("segments"))?;
        fs::create_dir_all(folder.join("logs"))?;
        let burst = Program::c("burst").compile(&root().join("e2e/load/burst.c"))?;
        let netra = target().join("release/netra");
        let site = Site { folder, netra, library: artifact::build()?, burst };
        site.write("node", "[node]\nsegments = [\"@/segments\"]\n", Some("near"))?;
        site.write("near", "[[listen]]\naddress = \"unix:@/near.sock\"\n", Some("far"))?;
        let far = "[[listen]]\naddress = \"unix:@/far.sock\"\n[[sink]]\nkind = \"null\"\n";
        site.write("far", far, None)?;
        Ok(site)
    }

    fn write(&self, name: &str, what: &str, upstream: Option<&str>) -> Result<()> {
        let mut text = format!("name = \"{name}\"\nstate = \"@/{name}\"\n{what}");
        if let Some(upstream) = upstream {
            text += &format!("[[upstream]]\nname = \"up\"\naddress = \"unix:@/{upstream}.sock\"\n");
        }
        let text = text.replace('@', &self.folder.display().to_string());
        Ok(fs::write(self.folder.join(format!("{name}.toml")), text)?)
    }

    fn daemon(&self, name: &str) -> Result<Running> {
        let mut command = Command::new(&self.netra);
        command.arg("daemon").arg(self.folder.join(format!("{name}.toml")));
        let daemon = Running(command.stdin(Stdio::null()).spawn().context("starting a daemon")?);
        let ready = self.folder.join(name).join("addresses");
        wait(|| ready.exists()).with_context(|| format!("{name} is not ready"))?;
        Ok(daemon)
    }

    /// Seconds of processor time of a producer, with the library and a reader or without both.
    fn produce(&self, calls: u64, live: bool) -> Result<f64> {
        let mut command = Command::new(&self.burst);
        command.arg(self.folder.join("data")).arg(calls.to_string());
        if live {
            command.env("LD_PRELOAD", &self.library).env("NETRA_JOB", "bench");
            command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
            command.env("NETRA_SEGMENT_DIR", self.folder.join("segments"));
            command.env("NETRA_LOG_DIR", self.folder.join("logs"));
        }
        let mut child = command.spawn().context("starting the producer")?;
        let ended = wait4::Wait4::wait4(&mut child).context("waiting for the producer")?;
        if !ended.status.success() {
            bail!("the producer failed ({})", ended.status);
        }
        Ok((ended.rusage.utime + ended.rusage.stime).as_secs_f64())
    }

    /// Waits until everything has arrived; how many events that were.
    fn settle(&self) -> Result<u64> {
        let mut found = Value::Null;
        wait(|| {
            found = self.certificate(&self.folder.join("far")).unwrap_or_default();
            found["final"] == true && found["sums"]["in_flight"] == 0
        })?;
        if found["complete"] != true {
            bail!("events are missing: {}", found["sentence"]);
        }
        found["sums"]["delivered"].as_u64().context("no events")
    }

    fn certificate(&self, state: &Path) -> Option<Value> {
        let mut command = Command::new(&self.netra);
        command.arg("ledger").arg("--state").arg(state).args(["--json", "bench"]);
        let all: Value = serde_json::from_slice(&output(&mut command).ok()?).ok()?;
        all.get(0).cloned()
    }
}

fn wait(mut done: impl FnMut() -> bool) -> Result<()> {
    let until = Instant::now() + DEADLINE;
    while !done() {
        if Instant::now() > until {
            bail!("waited in vain");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
