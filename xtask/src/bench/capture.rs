//! The cost of a hooked call: instructions (callgrind) and nanoseconds, over the same call without
//! netra. `bench/null.c` below the hooks returns at once, so only the hook's own cost is left.
//!
//! Runs are interleaved, and the least of the rounds counts: what is added by a busy machine is not
//! ours. `DARSHAN_LIB=` names Darshan's library, which is then measured in the same rounds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use super::follow::Follower;
use super::measured::{self, Row, Target};
use crate::artifact;
use crate::place::{output, root, run as start, target};

const ROUNDS: usize = 7;
const STARTS: usize = 300;

/// What a call is measured with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// Counters alone.
    Off,
    /// Events into memory that was never touched; nobody reads.
    Fresh,
    /// Events into memory that a reader gives back.
    Warm,
}

/// A measurement in nanoseconds.
struct Case {
    name: &'static str,
    op: &'static str,
    threads: u32,
    same: bool,
    lanes: Lanes,
    limit: f64,
}

const CASES: &[Case] = &[
    case("pwrite, counters alone", "pwrite", Lanes::Off, 30.0),
    case("pread, counters alone", "pread", Lanes::Off, 30.0),
    case("write, counters alone", "write", Lanes::Off, 30.0),
    case("read, counters alone", "read", Lanes::Off, 30.0),
    case("pwrite with its event, a reader gives memory back", "pwrite", Lanes::Warm, 45.0),
    case("pwrite with its event, fresh memory", "pwrite", Lanes::Fresh, 70.0),
    case("write with its event, fresh memory", "write", Lanes::Fresh, 70.0),
    case("open and close", "openclose", Lanes::Off, 150.0),
    case("fwrite", "fwrite", Lanes::Off, 35.0),
    case("fprintf", "fprintf", Lanes::Off, 35.0),
    threads("pwrite, 2 threads, distinct files", "pwrite", false, 35.0),
    threads("pwrite, 2 threads, one file", "pwrite", true, 35.0),
    threads("write, 2 threads, one descriptor", "write", true, 90.0),
];

const fn case(name: &'static str, op: &'static str, lanes: Lanes, limit: f64) -> Case {
    Case { name, op, threads: 1, same: true, lanes, limit }
}

const fn threads(name: &'static str, op: &'static str, same: bool, limit: f64) -> Case {
    Case { name, op, threads: 2, same, lanes: Lanes::Off, limit }
}

/// What is needed to run.
struct Setup {
    netra: PathBuf,
    darshan: Option<PathBuf>,
    null: PathBuf,
    calls: PathBuf,
    /// Segments and logs: memory, not a disk; what others do to the disk is not what is measured.
    folder: PathBuf,
    /// The files that calls are made on. Darshan leaves files in memory out.
    files: PathBuf,
}

/// `cargo xtask bench capture`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let setup = Setup::new()?;
    let mut rows = Vec::new();
    for (op, trace, limit) in [
        ("pwrite", "off", 160.0),
        ("write", "off", 160.0),
        ("pwrite", "on", 220.0),
        ("write", "on", 220.0),
    ] {
        rows.push(setup.instructions(op, trace, limit)?);
    }
    for case in CASES {
        rows.push(setup.nanoseconds(case)?);
    }
    rows.push(setup.process()?);
    rows.push(setup.memory()?);
    measured::keep("capture", &rows)
}

impl Setup {
    fn new() -> Result<Setup> {
        let folder = Path::new("/dev/shm").join(format!("netra-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let sources = root().join("xtask/bench");
        let built = target().join("bench");
        fs::create_dir_all(&built).with_context(|| format!("creating {}", built.display()))?;
        let (null, calls) = (built.join("libnull.so"), built.join("calls"));
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&null).arg(sources.join("null.c"));
        start(&mut compile)?;
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-o"]).arg(&calls).arg(sources.join("calls.c"));
        start(compile.args(["-lpthread", "-ldl", "-lm"]))?;
        let files = built.join("files");
        fs::create_dir_all(&files).with_context(|| format!("creating {}", files.display()))?;
        // Empty is the same as absent.
        let given = std::env::var_os("DARSHAN_LIB").filter(|path| !path.is_empty());
        let darshan = given.map(PathBuf::from);
        Ok(Setup { netra: artifact::build()?, darshan, null, calls, folder, files })
    }

    /// The program with libraries in front of it.
    fn program(&self, tool: Option<&Path>, trace: &str) -> Command {
        let mut command = Command::new(&self.calls);
        self.prepare(&mut command, tool, trace, true);
        command
    }

    fn prepare(&self, command: &mut Command, tool: Option<&Path>, trace: &str, null: bool) {
        let mut preload: Vec<String> = tool.iter().map(|path| path.display().to_string()).collect();
        if null {
            preload.push(self.null.display().to_string());
        }
        command
            .env("LD_PRELOAD", preload.join(" "))
            .env("NETRA_TRACE", trace)
            .env("NETRA_SEGMENT_DIR", &self.folder)
            .env("NETRA_LOG_DIR", self.folder.join("logs"))
            .env("DARSHAN_ENABLE_NONMPI", "1")
            .env("DARSHAN_LOGDIR", &self.folder)
            .env("DARSHAN_LOGPATH", &self.folder)
            .env("DARSHAN_MMAP_LOGPATH", &self.folder);
    }

    /// Instructions a call, over the bare call: the difference between two lengths of the loop.
    fn instructions(&self, op: &'static str, trace: &'static str, limit: f64) -> Result<Row> {
        println!("instructions of {op}, trace {trace}");
        let count = |tool: Option<&Path>| -> Result<f64> {
            let (few, many) =
                (self.collect(tool, op, trace, 1_000)?, self.collect(tool, op, trace, 5_000)?);
            // The round that warms up runs the loop as well.
            Ok((many - few) / 8_000.0)
        };
        let bare = count(None)?;
        let ours = count(Some(&self.netra))? - bare;
        let peer = match &self.darshan {
            Some(library) => Some((darshan_name(), count(Some(library))? - bare)),
            None => None,
        };
        let traced = if trace == "off" { "counters alone" } else { "with its event" };
        Ok(Row {
            name: format!("{op}, {traced}"),
            unit: "instructions over the bare call",
            command: "callgrind".into(),
            value: ours,
            peer,
            target: Target::Below(limit),
        })
    }

    fn collect(&self, tool: Option<&Path>, op: &str, trace: &str, count: u32) -> Result<f64> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&self.calls);
        command.args([op, "64", &count.to_string(), "1", "1", "same"]).arg(&self.files);
        self.prepare(&mut command, tool, trace, true);
        let done = command.output().context("running valgrind; is it installed?")?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let line = said.lines().find_map(|line| line.split_once("Collected : "));
        let (_, count) = line.with_context(|| format!("callgrind said no count:\n{said}"))?;
        Ok(count.trim().parse()?)
    }

    /// Nanoseconds a call, over the bare call.
    fn nanoseconds(&self, case: &Case) -> Result<Row> {
        println!("{}", case.name);
        let trace = if case.lanes == Lanes::Off { "off" } else { "on" };
        let mut least = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            let tools = [None, Some(self.netra.as_path()), self.darshan.as_deref()];
            for (place, tool) in tools.into_iter().enumerate() {
                if place != 2 || tool.is_some() {
                    let took = self.time(case, tool, trace)?;
                    least[place] = least[place].min(took);
                }
            }
        }
        let [bare, ours, darshan] = least;
        Ok(Row {
            name: case.name.into(),
            unit: "ns over the bare call",
            command: format!("calls {}", case.op),
            value: finite(ours - bare).with_context(|| {
                format!("{}: the threads never ran side by side; is the machine busy?", case.name)
            })?,
            // Threads that wait for each other's locks never run side by side: there is no such number.
            peer: finite(darshan - bare).map(|value| (darshan_name(), value)),
            target: Target::Below(case.limit),
        })
    }

    fn time(&self, case: &Case, tool: Option<&Path>, trace: &str) -> Result<f64> {
        // Below the budget, where nobody reads; long enough for the clock else. Two threads are to run
        // side by side in many short rounds, some of which no other program disturbs; a bare call is a
        // tenth as long.
        let (count, rounds) = match (case.lanes, case.threads) {
            (Lanes::Fresh, _) => (5_000, 20),
            (_, 1) => (20_000, 20),
            _ if tool.is_none() => (200_000, 200),
            _ => (20_000, 200),
        };
        let mut command = self.program(tool, trace);
        let same = if case.same { "same" } else { "distinct" };
        command.args([case.op, "64"]).args([count, rounds].map(|value: u32| value.to_string()));
        command.args([&case.threads.to_string(), same]).arg(&self.files).stderr(Stdio::inherit());
        let follower =
            (case.lanes == Lanes::Warm && tool.is_some()).then(|| Follower::start(&self.folder));
        let said = output(&mut command)?;
        drop(follower);
        self.forget_segments();
        let said = String::from_utf8_lossy(&said).into_owned();
        let words: Vec<&str> = said.split_whitespace().collect();
        // Threads that wait for each other show in wall time; one thread's own work in CPU time.
        let number = match words[..] {
            // With two threads only rounds count in which both ran at the same time.
            ["cpu", cpu, _, "wall", wall, _, "together", _] => {
                if case.threads == 1 {
                    cpu
                } else {
                    wall
                }
            }
            _ => bail!("calls said `{said}`"),
        };
        Ok(number.parse()?)
    }

    /// Milliseconds from the start of a small process to its end, over the same without netra.
    fn process(&self) -> Result<Row> {
        println!("a process that writes ten times");
        let program = target().join("bench/ten");
        let mut compile = Command::new("cc");
        start(compile.args(["-O2", "-o"]).arg(&program).arg(root().join("xtask/bench/ten.c")))?;
        let mut least = [f64::INFINITY; 3];
        for _ in 0..STARTS {
            let tools = [None, Some(self.netra.as_path()), self.darshan.as_deref()];
            for (place, tool) in tools.into_iter().enumerate() {
                if place == 2 && tool.is_none() {
                    continue;
                }
                let mut command = Command::new(&program);
                command.arg(self.files.join("ten"));
                self.prepare(&mut command, tool, "on", false);
                let begin = Instant::now();
                start(&mut command)?;
                least[place] = least[place].min(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
        let [bare, ours, darshan] = least;
        Ok(Row {
            name: "a process that writes ten times, start to exit".into(),
            unit: "ms over the bare process",
            command: "ten".into(),
            value: ours - bare,
            peer: self.darshan.as_ref().map(|_| (darshan_name(), darshan - bare)),
            target: Target::Below(0.3),
        })
    }

    /// Memory of a process with many files and threads, without lanes, over the same without netra.
    fn memory(&self) -> Result<Row> {
        const FILES: u32 = 500;
        const THREADS: u32 = 4;
        println!("memory of {THREADS} threads that write {FILES} files each");
        let program = target().join("bench/memory");
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-pthread", "-o"]).arg(&program);
        start(compile.arg(root().join("xtask/bench/memory.c")))?;
        let resident = |tool: Option<&Path>| -> Result<f64> {
            let mut command = Command::new(&program);
            command.args([FILES, THREADS].map(|value| value.to_string())).arg(&self.files);
            self.prepare(&mut command, tool, "off", false);
            let said = output(&mut command)?;
            self.forget_segments();
            Ok(String::from_utf8_lossy(&said).trim().parse()?)
        };
        let bare = resident(None)?;
        let peer = match &self.darshan {
            Some(library) => Some((darshan_name(), resident(Some(library))? - bare)),
            None => None,
        };
        Ok(Row {
            name: format!("memory without lanes, {THREADS} threads with {FILES} files each"),
            unit: "KiB resident over the bare process",
            command: "memory".into(),
            value: resident(Some(&self.netra))? - bare,
            peer,
            target: Target::Below(1024.0 + f64::from(FILES * THREADS)),
        })
    }

    /// The program leaves without a log: its segment stays.
    fn forget_segments(&self) {
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                // What stays is removed with the folder.
                let _left = fs::remove_file(file.path());
            }
        }
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        // In memory; a leftover is gone with the next start of the machine.
        let _left = fs::remove_dir_all(&self.folder);
    }
}

fn darshan_name() -> String {
    "Darshan".into()
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
