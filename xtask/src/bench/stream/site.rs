//! A site in small for measurements: node, hub and hub from the optimised program, and producers under
//! the shipped library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use netra_e2e::Program;
use serde_json::Value;

use crate::artifact;
use crate::place::{output, root, target};

const DEADLINE: Duration = Duration::from_secs(300);
/// The kernel's clock ticks a second, as `/proc` counts processor time.
const TICKS: f64 = 100.0;

/// A process that ends with us.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Running {
    /// Processor seconds so far.
    pub(super) fn seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
        let both = ticks(11).zip(ticks(12)).context("no processor time")?;
        Ok((both.0 + both.1) / TICKS)
    }

    /// The most memory it had, in MiB.
    pub(super) fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
        Ok(kilobytes.context("no memory")?.trim().parse::<f64>()? / 1024.0)
    }
}

/// Where everything lies.
pub(super) struct Site {
    pub(super) folder: PathBuf,
    /// The application's own file: memory, because what a disk takes for a call differs by more than a tool adds.
    pub(super) memory: PathBuf,
    pub(super) netra: PathBuf,
    library: PathBuf,
}

/// The daemons at work, the one nearest to the processes first.
pub(super) struct Daemons {
    pub(super) node: Running,
    pub(super) near: Running,
    pub(super) far: Running,
}

impl Drop for Site {
    fn drop(&mut self) {
        // A leftover is gone with the next start of the machine.
        fs::remove_dir_all(&self.memory).ok();
    }
}

impl Site {
    pub(super) fn new() -> Result<Site> {
        super::super::light_program("release")?;
        let folder = target().join("bench-stream");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("segments"))?;
        fs::create_dir_all(folder.join("logs"))?;
        let netra = target().join("release/netra");
        let memory = Path::new("/dev/shm").join(format!("netra-stream-{}", std::process::id()));
        fs::create_dir_all(&memory)?;
        let site = Site { folder, memory, netra, library: artifact::build()? };
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

    /// A program of `e2e/load`.
    pub(super) fn program(name: &str) -> Result<PathBuf> {
        Program::c(name).compile(&root().join(format!("e2e/load/{name}.c")))
    }

    pub(super) fn start(&self) -> Result<Daemons> {
        let (far, near) = (self.daemon("far")?, self.daemon("near")?);
        Ok(Daemons { node: self.daemon("node")?, near, far })
    }

    fn daemon(&self, name: &str) -> Result<Running> {
        let mut command = Command::new(&self.netra);
        command.arg("daemon").arg(self.folder.join(format!("{name}.toml")));
        let daemon = Running(command.stdin(Stdio::null()).spawn().context("starting a daemon")?);
        let ready = self.folder.join(name).join("addresses");
        wait(|| ready.exists()).with_context(|| format!("{name} is not ready"))?;
        Ok(daemon)
    }

    /// Puts the library and a job into a command's environment.
    pub(super) fn record<'a>(&self, command: &'a mut Command, job: &str) -> &'a mut Command {
        command.env("LD_PRELOAD", &self.library).env("NETRA_JOB", job);
        command.env("NETRA_STREAM", "on").env("NETRA_LOSSLESS", "1GiB");
        command.env("NETRA_SEGMENT_DIR", self.folder.join("segments"));
        command.env("NETRA_LOG_DIR", self.folder.join("logs"))
    }

    /// Waits until everything of a job's processes has arrived; how many events that were. A job that lacks
    /// one is an error.
    pub(super) fn settle(&self, job: &str, processes: usize) -> Result<u64> {
        let mut found = Value::Null;
        wait(|| {
            found = self.certificate(&self.folder.join("far"), job).unwrap_or_default();
            found["final"] == true
                && found["sums"]["in_flight"] == 0
                && found["processes"].as_array().is_some_and(|all| all.len() == processes)
        })?;
        if found["complete"] != true {
            bail!("events are missing: {}", found["sentence"]);
        }
        found["sums"]["delivered"].as_u64().context("no events")
    }

    fn certificate(&self, state: &Path, job: &str) -> Option<Value> {
        let mut command = Command::new(&self.netra);
        command.arg("ledger").arg("--state").arg(state).args(["--json", job]);
        let all: Value = serde_json::from_slice(&output(&mut command).ok()?).ok()?;
        all.get(0).cloned()
    }
}

/// Processor seconds of a command, which must succeed.
pub(super) fn cost(command: &mut Command) -> Result<f64> {
    let mut child = command.stdout(Stdio::null()).spawn().context("starting a producer")?;
    ended(&mut child)
}

/// Processor seconds of a child, once it has ended well.
pub(super) fn ended(child: &mut Child) -> Result<f64> {
    let ended = wait4::Wait4::wait4(child).context("waiting for a producer")?;
    if !ended.status.success() {
        bail!("a producer failed ({})", ended.status);
    }
    Ok((ended.rusage.utime + ended.rusage.stime).as_secs_f64())
}

pub(super) fn wait(mut done: impl FnMut() -> bool) -> Result<()> {
    let until = Instant::now() + DEADLINE;
    while !done() {
        if Instant::now() > until {
            bail!("waited in vain");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
