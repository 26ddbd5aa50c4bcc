//! What netra costs a job of MPI: the time it adds to `MPI_Finalize`, where the ranks write one log together,
//! and to requests as IOR makes them. With MPICH of Debian, beside Darshan's library for it
//! (`DARSHAN_MPI_LIB=`) in the same rounds.
//!
//! Runs are interleaved; of `MPI_Finalize` the least of the rounds counts, of requests the middle one of all
//! ranks. There are more ranks than processors, so what is compared is work, not waiting for a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::measured::{self, Row, Target};
use crate::artifact;
use crate::place::{output, root, run as start, target};

/// Ranks and rounds. Darshan takes a minute to end a job of 64 ranks on two processors.
const JOBS: [(u32, usize); 3] = [(4, 3), (16, 2), (64, 1)];
const FILES: [u32; 3] = [1, 100, 1000];
const REQUEST_RANKS: u32 = 4;
const REQUEST_ROUNDS: usize = 12;

/// What is in front of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Bare,
    Netra,
    Darshan,
}

struct Setup {
    netra: PathBuf,
    darshan: Option<PathBuf>,
    finalize: PathBuf,
    requests: PathBuf,
    /// Files, segments and logs: memory, not a disk; what others do to the disk is not what is measured.
    folder: PathBuf,
}

/// `cargo xtask bench parallel`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let setup = Setup::new()?;
    let mut rows = setup.requests()?;
    for (ranks, rounds) in JOBS {
        for files in FILES {
            for kind in ["shared", "own"] {
                rows.push(setup.finalize(ranks, rounds, files, kind)?);
            }
        }
    }
    measured::keep("parallel", &rows)
}

impl Setup {
    fn new() -> Result<Setup> {
        let folder = Path::new("/dev/shm").join(format!("netra-parallel-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        let built = target().join("bench");
        fs::create_dir_all(&built).with_context(|| format!("creating {}", built.display()))?;
        let compile = |name: &str| -> Result<PathBuf> {
            let program = built.join(name);
            let mut compile = Command::new("mpicc.mpich");
            compile.args(["-O2", "-o"]).arg(&program);
            start(compile.arg(root().join("xtask/bench").join(format!("{name}.c"))))?;
            Ok(program)
        };
        // Empty is the same as absent.
        let given = std::env::var_os("DARSHAN_MPI_LIB").filter(|path| !path.is_empty());
        Ok(Setup {
            finalize: compile("finalize")?,
            requests: compile("requests")?,
            netra: artifact::build()?,
            darshan: given.map(PathBuf::from),
            folder,
        })
    }

    fn tools(&self) -> impl Iterator<Item = Tool> {
        let darshan = self.darshan.is_some().then_some(Tool::Darshan);
        [Tool::Bare, Tool::Netra].into_iter().chain(darshan)
    }

    /// Runs a program and gives the numbers behind `word`, a row a rank.
    fn job(
        &self,
        tool: Tool,
        trace: bool,
        (ranks, program): (u32, &Path),
        (word, words): (&str, &[String]),
    ) -> Result<Vec<Vec<f64>>> {
        let (files, logs) = (self.folder.join("files"), self.folder.join("logs"));
        for folder in [&files, &logs] {
            fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        let mut command = Command::new("mpiexec.mpich");
        command.args(["-n", &ranks.to_string()]);
        // The launcher itself runs without: only ranks are measured.
        let library = match tool {
            Tool::Bare => None,
            Tool::Netra => Some(&self.netra),
            Tool::Darshan => self.darshan.as_ref(),
        };
        if let Some(library) = library {
            command.arg("-genv").arg("LD_PRELOAD").arg(library);
        }
        command.arg(program).args(words).arg(&files);
        command.env("NETRA_TRACE", if trace { "on" } else { "off" });
        command.env("NETRA_SEGMENT_DIR", &self.folder).env("NETRA_LOG_DIR", &logs);
        command.env("DARSHAN_LOGPATH", &logs).env("DARSHAN_LOGDIR", &logs);
        // Else it leaves everything below /dev out.
        let config = self.folder.join("darshan.conf");
        fs::write(&config, "NAME_INCLUDE ^/dev/shm *\n").context("writing Darshan's settings")?;
        command.env("DARSHAN_CONFIG_PATH", config);
        if trace {
            command.env("DXT_ENABLE_IO_TRACE", "1");
        }
        let said = output(&mut command)?;
        if tool != Tool::Bare {
            ensure!(count(&logs, "darshan") == 1, "the ranks did not write one log");
        }
        for folder in [files, logs] {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("removing {}", folder.display()))?;
        }
        let said = String::from_utf8_lossy(&said).into_owned();
        let lines = said.lines().filter_map(|line| line.strip_prefix(word));
        let rows: Vec<Vec<f64>> =
            lines.map(|line| line.split_whitespace().flat_map(str::parse).collect()).collect();
        ensure!(rows.len() == ranks as usize, "{} of {ranks} ranks spoke: {said}", rows.len());
        Ok(rows)
    }

    /// Milliseconds that `MPI_Finalize` takes longer than without a tool, for the rank that waits longest.
    fn finalize(&self, ranks: u32, rounds: usize, files: u32, kind: &str) -> Result<Row> {
        println!("MPI_Finalize, {ranks} ranks, {files} files, {kind}");
        let words = [files.to_string(), kind.to_owned()];
        let mut least = [f64::INFINITY; 3];
        for _ in 0..rounds {
            for tool in self.tools() {
                let job = (ranks, self.finalize.as_path());
                let rows = self.job(tool, true, job, ("finalize", &words))?;
                let slowest =
                    rows.iter().filter_map(|row| row.first().copied()).fold(0.0, f64::max);
                least[tool as usize] = least[tool as usize].min(slowest * 1e3);
            }
        }
        let [bare, netra, darshan] = least;
        let whose = if kind == "own" { "each of one rank" } else { "of all ranks" };
        Ok(Row {
            name: format!("time added to MPI_Finalize, {ranks} ranks, {files} files {whose}"),
            unit: "ms over the bare call",
            command: format!("finalize {files} {kind}"),
            // Less than nothing is noise.
            value: (netra - bare).max(0.01),
            peer: self.darshan.as_ref().map(|_| (name(true), (darshan - bare).max(0.01))),
            target: Target::RatioAtLeast(1.0),
        })
    }

    /// What a request costs more through a tool than past it. A pass makes as many as one chunk of our trace holds, so
    /// that every pass pays for fresh memory; all together few enough that Darshan's trace has a place for each: it
    /// writes no more after some fifty thousand, and then costs less.
    fn requests(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (size, count, limits) in [(64 << 10, 100, Some([3.0, 5.0])), (4 << 10, 1023, None)] {
            for trace in [false, true] {
                println!("requests of {size} bytes, trace {trace}");
                let words = [size.to_string(), count.to_string(), "20".to_owned()];
                let mut found: [Vec<Request>; 3] = Default::default();
                for _ in 0..REQUEST_ROUNDS {
                    for tool in self.tools() {
                        let job = (REQUEST_RANKS, self.requests.as_path());
                        for row in self.job(tool, trace, job, ("request", &words))? {
                            let row = row.try_into().ok().context("a rank said too little")?;
                            found[tool as usize].push(row);
                        }
                    }
                }
                rows.extend(self.request_rows(size, trace, limits, &found));
            }
        }
        Ok(rows)
    }

    fn request_rows(
        &self,
        size: u32,
        trace: bool,
        limits: Option<[f64; 2]>,
        [bare, netra, darshan]: &[Vec<Request>; 3],
    ) -> Vec<Row> {
        let with = if trace { "lanes" } else { "counters" };
        let row = |(side, what): (usize, &str)| {
            // The C library itself takes a little.
            let added = |tool: &[Request]| middle(tool, side) - middle(bare, side);
            let call = middle(bare, side) + middle(bare, side + 1);
            let name_of = format!("{} KiB {what}, {REQUEST_RANKS} ranks, with {with}", size >> 10);
            let peer = self.darshan.as_ref().map(|_| (name(trace), added(darshan)));
            let command = format!("requests {size}");
            match limits {
                Some(limits) => Row {
                    name: name_of,
                    unit: "% more processor time than the bare call",
                    command,
                    value: added(netra) / call * 100.0,
                    peer: peer.map(|(name, added)| (name, added / call * 100.0)),
                    target: Target::Below(limits[usize::from(trace)]),
                },
                None => Row {
                    name: name_of,
                    unit: "ns over the bare call",
                    command,
                    value: added(netra).max(0.1),
                    peer,
                    target: Target::RatioAtLeast(4.0),
                },
            }
        };
        [(0, "writes"), (2, "reads")].into_iter().map(row).collect()
    }
}

/// Nanoseconds of a request of one rank: how much more written through the C library than past it, written past it, and
/// the same for reads.
type Request = [f64; 4];

/// The middle one of all ranks in all rounds.
fn middle(requests: &[Request], at: usize) -> f64 {
    let mut all: Vec<f64> = requests.iter().map(|request| request[at]).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Drop for Setup {
    fn drop(&mut self) {
        // In memory; a leftover is gone with the next start of the machine.
        let _left = fs::remove_dir_all(&self.folder);
    }
}

fn name(trace: bool) -> String {
    if trace { "Darshan with DXT" } else { "Darshan" }.to_owned()
}

/// Files below a folder whose names end so.
fn count(folder: &Path, end: &str) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .map(|path| {
            if path.is_dir() {
                return count(&path, end);
            }
            usize::from(path.extension().is_some_and(|found| found == end))
        })
        .sum()
}
