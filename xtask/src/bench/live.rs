//! The live page of a job that makes a hundred thousand events a second, with three pages that follow:
//! processor time of its server, what an update costs a page, and how long an event waits until it is
//! seen. Node daemon, server, job and browser share this machine. `--dev` measures the program as built for
//! everyday use and keeps nothing.
//!
//! Nobody who is measured holds the clock: processor time is the kernel's, the page's work comes from the browser's own trace,
//! and when an event was made follows from its number, because the job makes them at a steady rate.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use netra_e2e::Program;
use serde_json::Value;

use super::measured::{self, Row, Target};
use crate::place::{cargo, root, run as start, target};
use crate::{artifact, web};

/// Events a second; `cargo xtask bench live SECONDS` chooses for how long.
const RATE: u64 = 100_000;
const SECONDS: u64 = 60;
const PAGES: u64 = 3;
/// Seconds before: until then the server holds fewer events than it ever will, and asking the rules of them is cheap.
const WARM: u64 = 15;
/// Seconds for the browser to begin.
const BEGINNING: u64 = 60;
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
}

/// `cargo xtask bench live [SECONDS] [--dev]`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let dev = words.iter().any(|word| word == "--dev");
    let seconds = words.iter().find(|word| *word != "--dev");
    let seconds = seconds.map_or(Ok(SECONDS), |word| word.parse());
    let seconds: u64 = seconds.context("usage: cargo xtask bench live [SECONDS] [--dev]")?;
    let Some(chromium) = web::browser() else { bail!("no browser is installed") };
    let measuring = web::measuring("live.js")?;
    let netra = program(dev)?;
    let folder = folder()?;
    let library = artifact::build()?;
    let paced = Program::c("paced").compile(&root().join("e2e/load/paced.c"))?;
    let mut daemon = Command::new(&netra);
    let _daemon = Running(daemon.arg("daemon").arg(folder.join("node.toml")).spawn()?);
    let ready = folder.join("state/addresses");
    while !ready.exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let (server, address) = serve(&netra, &folder)?;
    let mut job = Command::new(paced);
    let lasts = seconds + WARM + BEGINNING;
    job.arg(folder.join("data")).arg(RATE.to_string()).arg(lasts.to_string());
    job.env("LD_PRELOAD", &library).env("NETRA_JOB", "bench").env("NETRA_STREAM", "on");
    job.env("NETRA_LOSSLESS", "1GiB").env("NETRA_SEGMENT_DIR", folder.join("segments"));
    job.env("NETRA_LOG_DIR", folder.join("logs"));
    // A few milliseconds before its first event: what waited is never made to look shorter.
    let begun = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let _job = Running(job.spawn().context("starting the job")?);
    let address = address.replacen("/#", "/jobs/bench#", 1);
    let mut browse = Command::new("node");
    browse.arg(measuring).arg(&address).args([PAGES, seconds, WARM].map(|word| word.to_string()));
    let browse = browse.env("NETRA_CHROMIUM", chromium).stdout(Stdio::piped()).spawn();
    let mut browse = Running(browse.context("starting the browser")?);
    let mut lines = BufReader::new(browse.0.stdout.take().context("no pipe")?).lines();
    let mut line = || lines.next().context("the browser said nothing")?.context("the browser");
    line()?;
    let (before, from) = (server.seconds()?, std::time::Instant::now());
    let found: Value = serde_json::from_str(&line()?).context("the browser")?;
    let share = (server.seconds()? - before) / from.elapsed().as_secs_f64();
    let seen = Seen::of(&found, begun)?;
    if (seen.rate / RATE as f64 - 1.0).abs() > 0.02 {
        bail!("{:.0} events came in a second, and not {RATE}: nothing is measured", seen.rate);
    }
    let built = if dev { " (not the release build)" } else { "" };
    let command = format!("netra serve{built}, {RATE} events a second, {PAGES} pages, {seconds} s");
    let row = |name: &str, unit, value, limit| Row {
        name: name.to_owned(),
        unit,
        command: command.clone(),
        value,
        peer: None,
        target: Target::Below(limit),
    };
    let number = |key: &str| found[key].as_f64().with_context(|| format!("no {key}"));
    let shown =
        |name: &str, unit, value| Row { target: Target::Shown, ..row(name, unit, value, 0.0) };
    let rows = [
        row("server: share of one core", "%", 100.0 * share, 10.0),
        row("page: main thread, an update, mean", "ms", number("mean_ms")?, 8.0),
        row("page: main thread, an update, median", "ms", number("median_ms")?, 8.0),
        shown("page: main thread, the longest task", "ms", number("longest_task_ms")?),
        row("an event until it is seen, longest", "s", seen.longest, 2.0),
        shown("an event until it is seen, median", "s", seen.median),
        shown("events that came", "a second", seen.rate),
    ];
    if dev || seconds < SECONDS {
        rows.iter().for_each(|row| println!("{}: {:.3} {}", row.name, row.value, row.unit));
        println!("not kept: {seconds} s{built}");
        return Ok(());
    }
    measured::keep("live", &rows)
}

/// Which events were in sight when.
struct Seen {
    /// Events a second that came into sight.
    rate: f64,
    /// Seconds that an event waited: the longest, and of half of all moments at most.
    longest: f64,
    median: f64,
}

impl Seen {
    /// From moments (milliseconds since 1970) and counts in sight; the job began then, in seconds. Event number n was made
    /// n / RATE seconds later. Of those that come into sight together the first has waited longest.
    fn of(found: &Value, begun: f64) -> Result<Seen> {
        let all = found["seen"].as_array().context("nothing was seen")?;
        let both = |one: &Value| Some((one[0].as_f64()? / 1e3, one[1].as_f64()?));
        let all: Vec<(f64, f64)> = all.iter().filter_map(both).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { bail!("nothing grew") };
        let made = |number: f64| begun + number / RATE as f64;
        let mut waited: Vec<f64> =
            all.windows(2).map(|two| two[1].0 - made(two[0].1 + 1.0)).collect();
        waited.sort_by(f64::total_cmp);
        Ok(Seen {
            rate: (last.1 - first.1) / (last.0 - first.0),
            longest: *waited.last().context("nothing grew")?,
            median: waited[waited.len() / 2],
        })
    }
}

/// The program that is measured.
fn program(dev: bool) -> Result<PathBuf> {
    if dev {
        start(&mut cargo(&["build", "--package", "netra-cli"]))?;
        return Ok(target().join("debug/netra"));
    }
    let build = ["build", "--release", "--package", "netra-cli", "--no-default-features"];
    start(&mut cargo(&[&build[..], &["--features", "serve"]].concat()))?;
    Ok(target().join("release/netra"))
}

/// A place for a daemon and its job, emptied.
fn folder() -> Result<PathBuf> {
    let folder = target().join("bench-live");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    for name in ["segments", "logs"] {
        fs::create_dir_all(folder.join(name))?;
    }
    let text = "name = \"node\"\nstate = \"@/state\"\n[node]\nsegments = [\"@/segments\"]\n\
                [[listen]]\naddress = \"unix:@/daemon.sock\"\n[[sink]]\nkind = \"null\"\n";
    fs::write(folder.join("node.toml"), text.replace('@', &folder.display().to_string()))?;
    Ok(folder)
}

/// Starts the page's server; where it is.
fn serve(netra: &Path, folder: &Path) -> Result<(Running, String)> {
    let mut command = Command::new(netra);
    // A store of whoever measures has nothing to do with it.
    command.args(["serve", "--listen", "127.0.0.1:0", "--daemon"]).env("HOME", folder);
    command.env_remove("NETRA_STORE").env_remove("XDG_DATA_HOME");
    command.arg(format!("unix:{}", folder.join("daemon.sock").display()));
    let mut child = command.stderr(Stdio::piped()).spawn().context("starting the server")?;
    let mut lines = BufReader::new(child.stderr.take().context("no pipe")?).lines();
    let server = Running(child);
    let found = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("netra: http").map(|rest| format!("http{rest}")));
    // It goes on to speak: somebody has to listen.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    Ok((server, found.context("the server says no address")?))
}
