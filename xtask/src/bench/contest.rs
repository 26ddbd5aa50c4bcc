//! Programs run in turns, and what each used: processor time and memory, from the kernel's own
//! account of the finished process.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use wait4::Wait4 as _;

/// What one run used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// User and system time of the process and its children.
    pub(crate) cpu_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// Largest resident set.
    pub(crate) peak_bytes: u64,
}

/// A program in a contest: a name to print, and how to start it.
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) start: Box<dyn Fn() -> Command>,
    /// The exit codes of a run that counts.
    codes: &'static [i32],
    runs: Vec<Usage>,
}

impl Contestant {
    pub(crate) fn new(
        name: impl Into<String>,
        start: impl Fn() -> Command + 'static,
    ) -> Contestant {
        Contestant { name: name.into(), start: Box::new(start), codes: &[0], runs: Vec::new() }
    }

    /// Lets other exit codes count too.
    pub(crate) fn ending_with(self, codes: &'static [i32]) -> Contestant {
        Contestant { codes, ..self }
    }

    /// The run with the median processor time.
    pub(crate) fn median(&self) -> Result<Usage> {
        let mut runs = self.runs.clone();
        runs.sort_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
        runs.get(runs.len() / 2).copied().with_context(|| format!("{} never ran", self.name))
    }
}

/// Runs every contestant once a round, in turns, so that a slow minute of the machine hurts all
/// of them alike. Their output goes nowhere.
pub(crate) fn contest(rounds: usize, contestants: &mut [Contestant]) -> Result<()> {
    for _ in 0..rounds {
        for contestant in &mut *contestants {
            let usage = measure(&mut (contestant.start)(), contestant.codes)
                .with_context(|| format!("running {}", contestant.name))?;
            println!(
                "    {:<40} {:>8.3} s processor, {:>8.3} s wall, {:>6} MiB",
                contestant.name,
                usage.cpu_seconds,
                usage.wall_seconds,
                usage.peak_bytes >> 20
            );
            contestant.runs.push(usage);
        }
    }
    Ok(())
}

/// Runs one command to its end, which must be one of these exit codes.
pub(crate) fn measure(command: &mut Command, codes: &[i32]) -> Result<Usage> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let done = child.wait4()?;
    if !done.status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("ended with {}", done.status);
    }
    Ok(Usage {
        cpu_seconds: (done.rusage.utime + done.rusage.stime).as_secs_f64(),
        wall_seconds: start.elapsed().as_secs_f64(),
        peak_bytes: done.rusage.maxrss,
    })
}
