//! Report pages beside PyDarshan's summary, Drishti's HTML and DXT Explorer's pages: what it takes to
//! make one, how large it is, and in a browser how long until it can be used and how far frames are
//! apart while zooming.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::contest::{Usage, measure};
use super::measured::{self, Row, Target};
use crate::place::{cargo, output, root, run as start, target};
use crate::{install, web};

/// Their processor time over ours.
const TIMES: f64 = 20.0;

/// A peer: how it is called, how a page of a log is made, and how a browser knows it is usable.
struct Peer {
    name: &'static str,
    make: fn(&Path, &Path, &Path) -> Command,
    /// The file it leaves, of all that it may leave the one that is opened.
    page: fn(&Path) -> Option<PathBuf>,
    kind: &'static str,
}

const PEERS: &[Peer] = &[
    Peer {
        name: "python -m darshan summary",
        make: |python, log, folder| {
            let mut command = Command::new(python);
            command.args(["-m", "darshan", "summary"]).arg(log);
            command.arg("--output").arg(folder.join("summary.html"));
            command
        },
        page: |folder| Some(folder.join("summary.html")),
        kind: "plain",
    },
    Peer {
        name: "drishti --html",
        make: |python, log, folder| {
            let mut command = Command::new(python.with_file_name("drishti"));
            command.args(["--html", "--export_dir"]).arg(folder).arg(log);
            command
        },
        page: |folder| largest(folder),
        kind: "plain",
    },
    Peer {
        name: "dxt-explorer",
        make: |python, log, folder| {
            let path = std::env::var("PATH").unwrap_or_default();
            let own = python.parent().unwrap_or(python);
            let mut command = Command::new(python.with_file_name("dxt-explorer"));
            command.arg("--prefix").arg(folder).arg(log);
            // It calls Drishti by its name.
            command.env("PATH", format!("{}:{path}", own.display()));
            command
        },
        page: |folder| largest(folder),
        kind: "plotly",
    },
];

/// `cargo xtask bench page [--dev]`: with the word, as built for everyday use, which is slower.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let (profile, folder, command) = match words {
        [] => ("release", "release", "netra report --html"),
        [word] if word == "--dev" => {
            ("dev", "debug", "netra report --html (not the release build)")
        }
        _ => bail!("usage: cargo xtask bench page [--dev]"),
    };
    // The program takes the bundle in when it is built.
    let measuring = web::measuring("measure.js")?;
    super::light_program(profile)?;
    start(&mut cargo(&[
        "build",
        "--profile",
        profile,
        "--package",
        "netra-darshan",
        "--examples",
    ]))?;
    let bench = Bench {
        netra: target().join(folder).join("netra"),
        make_log: target().join(folder).join("examples/make_log"),
        command,
        python: install::page_makers()?,
        measuring,
        folder: target().join("bench/page"),
    };
    fs::create_dir_all(&bench.folder)
        .with_context(|| format!("creating {}", bench.folder.display()))?;
    let mut rows = Vec::new();
    for log in real_logs() {
        rows.extend(bench.beside(&log)?);
    }
    for (events, seconds, usable) in
        [("277000", 1.0, 2.0), ("1000000", f64::INFINITY, 2.0), ("10000000", 10.0, 2.0)]
    {
        rows.extend(bench.large(events, seconds, usable)?);
    }
    measured::keep("page", &rows)
}

struct Bench {
    netra: PathBuf,
    make_log: PathBuf,
    command: &'static str,
    python: PathBuf,
    measuring: PathBuf,
    folder: PathBuf,
}

/// What a browser says of a page.
struct Seen {
    usable_seconds: f64,
    frame_ms: Option<f64>,
    work_ms: Option<f64>,
}

impl Bench {
    /// One log: ours and every peer's page of it.
    fn beside(&self, log: &Path) -> Result<Vec<Row>> {
        // The folder's name: files are named by the people who ran them.
        let folder = log.parent().and_then(Path::file_name);
        let short = folder.map_or(String::new(), |name| name.to_string_lossy().into_owned());
        println!("{short}");
        // DXT Explorer leaves files beside the log.
        let copy = self.folder.join("log").join(log.file_name().unwrap_or_default());
        fs::create_dir_all(self.folder.join("log"))?;
        fs::copy(log, &copy).with_context(|| format!("copying {}", log.display()))?;
        let log = copy.as_path();
        let page = self.folder.join("netra.html");
        let mut runs = vec![self.make(log, &page)?];
        let mut theirs = Vec::new();
        for peer in PEERS {
            match self.peer(peer, log) {
                Ok(measured) => theirs.push((peer.name, measured)),
                Err(error) => println!("    {}: left out: {error:#}", peer.name),
            }
            // In turns: a slow minute of the machine hurts all of them alike.
            runs.push(self.make(log, &page)?);
        }
        runs.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
        let (own, seen) = (runs[runs.len() / 2], self.open("netra", &page)?);
        let mut rows = Vec::new();
        for (name, (usage, size, opened)) in &theirs {
            let (ours, others) = ((&own, page.as_path(), &seen), (usage, *size, opened));
            rows.extend(self.against(&short, name, ours, others)?);
        }
        Ok(rows)
    }

    /// The median of seven, after one that reads the log from the disk: a few find memory that the machine has to bring first.
    fn make(&self, log: &Path, page: &Path) -> Result<Usage> {
        let command = || {
            let mut command = Command::new(&self.netra);
            command.arg("report").arg(log).arg("--html").arg(page);
            command
        };
        measure(&mut command(), &[0, 1])?;
        let mut runs = Vec::new();
        for _ in 0..7 {
            runs.push(measure(&mut command(), &[0, 1])?);
        }
        runs.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
        Ok(runs[3])
    }

    fn peer(&self, peer: &Peer, log: &Path) -> Result<(Usage, u64, Seen)> {
        let folder = self.folder.join(peer.kind.to_owned() + "-" + &peer.name.replace(' ', "-"));
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("removing {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let usage = measure(&mut (peer.make)(&self.python, log, &folder), &[0])?;
        let page = (peer.page)(&folder).context("it left no page")?;
        let size = pages(&folder)?;
        Ok((usage, size, self.open(peer.kind, &page)?))
    }

    fn open(&self, kind: &str, page: &Path) -> Result<Seen> {
        let mut command = Command::new("node");
        command.arg(&self.measuring).arg(kind).arg(page);
        if let Some(browser) = web::browser() {
            command.env("NETRA_CHROMIUM", browser);
        }
        let said = output(&mut command)?;
        let said: Value =
            serde_json::from_slice(said.trim_ascii()).context("reading what was measured")?;
        let number = |key: &str| said[key].as_f64();
        Ok(Seen {
            usable_seconds: number("usable_ms").unwrap_or(f64::NAN) / 1e3,
            frame_ms: number("frame_ms"),
            work_ms: number("work_ms"),
        })
    }

    /// A trace of so many events, ours alone.
    fn large(&self, events: &str, seconds: f64, usable: f64) -> Result<Vec<Row>> {
        let log = self.folder.join(format!("segments-{events}.darshan"));
        if !log.exists() {
            start(Command::new(&self.make_log).args(["segments", events]).arg(&log))?;
        }
        let page = self.folder.join(format!("{events}.html"));
        let own = self.make(&log, &page)?;
        let seen = self.open("netra", &page)?;
        let row = |name: &str, unit, value, limit| Row {
            name: format!("page of a trace of {events} events, {name}"),
            unit,
            command: self.command.into(),
            value,
            peer: None,
            target: Target::Below(limit),
        };
        let mut rows = Vec::new();
        if seconds.is_finite() {
            rows.push(row("wall time to make", "s", own.wall_seconds, seconds));
        }
        rows.push(row("memory to make", "MiB", (own.peak_bytes >> 20) as f64, 1024.0));
        rows.push(row("size", "MB", size_of(&page)? as f64 / 1e6, 15.0));
        rows.push(row("time until usable", "s", seen.usable_seconds, usable));
        if let (Some(frame), Some(work)) = (seen.frame_ms, seen.work_ms) {
            rows.push(row("median time between frames while zooming", "ms", frame, 50.0));
            rows.push(row("median work in a frame while zooming", "ms", work, 50.0));
        }
        Ok(rows)
    }

    /// Our page beside another's.
    fn against(
        &self,
        log: &str,
        peer: &str,
        (own, page, seen): (&Usage, &Path, &Seen),
        (usage, size, theirs): (&Usage, u64, &Seen),
    ) -> Result<Vec<Row>> {
        let row = |name: &str, unit, value, other: f64, target| Row {
            name: format!("page of {log}, {name}"),
            unit,
            command: self.command.into(),
            value,
            peer: Some((peer.into(), other)),
            target,
        };
        let least = Target::RatioAtLeast(TIMES);
        let (ours, others) = (size_of(page)? as f64 / 1e6, size as f64 / 1e6);
        let mut rows = vec![
            row("processor time to make", "s", own.cpu_seconds, usage.cpu_seconds, least),
            row("wall time to make", "s", own.wall_seconds, usage.wall_seconds, least),
            row("size of all its files", "MB", ours, others, Target::Shown),
            row(
                "time until usable",
                "s",
                seen.usable_seconds,
                theirs.usable_seconds,
                Target::Shown,
            ),
        ];
        let frame = "median time between frames while zooming";
        if let (Some(ours), Some(others)) = (seen.frame_ms, theirs.frame_ms) {
            rows.push(row(frame, "ms", ours, others, Target::RatioAtLeast(1.0)));
        }
        let work = "median work in a frame while zooming";
        if let (Some(ours), Some(others)) = (seen.work_ms, theirs.work_ms) {
            rows.push(row(work, "ms", ours, others, Target::RatioAtLeast(1.0)));
        }
        Ok(rows)
    }
}

/// Logs of real jobs with a trace, where they are at hand.
fn real_logs() -> Vec<PathBuf> {
    let folders =
        ["openpmd", "mpi_io_test_with_dxt"].map(|name| root().join("../shared/logs").join(name));
    let mut found = Vec::new();
    for folder in folders {
        let logs = fs::read_dir(&folder).ok().into_iter().flatten().filter_map(Result::ok);
        let log = logs
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "darshan"));
        match log {
            Some(log) => found.push(log),
            None => println!("skipped, not on this machine: {}", folder.display()),
        }
    }
    found
}

fn size_of(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).with_context(|| format!("looking at {}", path.display()))?.len())
}

/// Every page below a folder, with its size.
fn below(folder: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder).ok().into_iter().flatten().filter_map(Result::ok);
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(below(&path));
        } else if path.extension().is_some_and(|end| end == "html") {
            let size = fs::metadata(&path).map_or(0, |data| data.len());
            found.push((path, size));
        }
    }
    found
}

fn pages(folder: &Path) -> Result<u64> {
    let all = below(folder);
    if all.is_empty() {
        bail!("it left no page");
    }
    Ok(all.iter().map(|(_, size)| size).sum())
}

/// The page with the picture is the largest.
fn largest(folder: &Path) -> Option<PathBuf> {
    below(folder).into_iter().max_by_key(|(_, size)| *size).map(|(path, _)| path)
}
