//! `cargo xtask demo`: builds netra and shows what it does: the example log of the repository from several
//! sides; then a parallel program with a bottleneck runs under `netra run --live`, whose page grows meanwhile,
//! and is diagnosed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use netra_workloads::Mpi;

use crate::place::{cargo, output, root, run as start, target};
use crate::{artifact, web, workload};

/// The log that is shown; `docs/example/README.md` says how it was made.
const LOG: &str = "docs/example/wave.darshan";

/// A thing to look at: a sentence, the words after `netra`, and which lines of the output.
struct Scene {
    says: &'static str,
    words: &'static [&'static str],
    lines: Lines,
}

enum Lines {
    All,
    First(usize),
    With(&'static str),
}

const SCENES: &[Scene] = &[
    Scene {
        says: "A job of four processes, on one screen. It spent most of its time in I/O, the largest\n\
               part in calls of MPI-IO that neither read nor write. Nearly all bytes went to the\n\
               checkpoints, although there are far more writes to field.dat.",
        words: &["info", LOG],
        lines: Lines::All,
    },
    Scene {
        says: "The counters behind it, as darshan-parser prints them. Rank -1 is all processes\n\
               together.",
        words: &["parse", LOG],
        lines: Lines::With("_BYTES_WRITTEN"),
    },
    Scene {
        says: "And every single write, from the log's extended trace.",
        words: &["dxt", LOG],
        lines: Lines::With("X_MPIIO       3"),
    },
    Scene {
        says: "The same for machines.",
        words: &["dxt", "--format", "csv", LOG],
        lines: Lines::First(3),
    },
];

/// What the recorded program does, where there is MPI: in each of many steps all ranks wait for one that takes
/// longer, and each writes its block in 1024 pieces.
const PARALLEL: &[&str] = &[
    "slow-rank",
    "--ranks",
    "4",
    "--steps",
    "240",
    "--block",
    "1MiB",
    "--pieces",
    "1024",
    "--delay",
    "20",
];

/// And where there is none: a million and a half writes of 32 bytes.
const ALONE: &[&str] = &[
    "load",
    "--mpi",
    "none",
    "--files",
    "2",
    "--threads",
    "1",
    "--size",
    "24MiB",
    "--block",
    "32",
    "--read",
    "no",
    "--content",
    "any",
    "--call",
    "write",
];

/// Builds the program and plays the scenes.
pub(crate) fn run(_: &[String]) -> Result<()> {
    println!(
        "Building netra; the first time takes a while, because its store has a query engine in it."
    );
    web::if_possible()?;
    start(&mut cargo(&["build", "--quiet", "--package", "netra-cli"]))?;
    let library = artifact::build()?;
    let netra = target().join("debug/netra");
    for scene in SCENES {
        play(&netra, scene)?;
    }
    let log = target().join("demo.darshan");
    record(&netra, &library, &log)?;
    report(&netra, &log)
}

/// Runs a program under netra, with its live page.
fn record(netra: &Path, library: &Path, log: &Path) -> Result<()> {
    if log.exists() {
        std::fs::remove_file(log).with_context(|| format!("removing {}", log.display()))?;
    }
    let parallel = [Mpi::Mpich, Mpi::OpenMpi].into_iter().any(Mpi::is_here);
    let (program, says) = if parallel {
        (
            PARALLEL,
            "Now a job: four ranks, one of which makes all others wait, for about twenty seconds.",
        )
    } else {
        (ALONE, "Now a program that writes in small pieces (no MPI is installed here).")
    };
    println!(
        "\n{says}\nEvery call is recorded, at a few tens of nanoseconds each, and shown while it happens: open\n\
         the address that is printed now.\n\n$ netra run --live -- {}\n",
        program.join(" ")
    );
    let run = format!(
        "env NETRA_PRELOAD={} {} run --live --live-open --store {} --log-file {} --",
        library.display(),
        netra.display(),
        store().display(),
        log.display()
    );
    let words = program.iter().copied().chain(["--with", run.as_str()]).map(str::to_owned);
    workload::run(&words.collect::<Vec<_>>())
}

/// Where the jobs of demos are kept: out of the user's own store.
fn store() -> PathBuf {
    target().join("demo-store")
}

/// What is wrong with it, in the terminal, and a page for a browser.
fn report(netra: &Path, log: &Path) -> Result<()> {
    let page = target().join("demo.html");
    println!(
        "\nIs I/O its problem, where, why, and what to change?\n\n$ netra report {}\n",
        log.display()
    );
    start(Command::new(netra).arg("report").arg(log))?;
    start(Command::new(netra).arg("report").arg(log).arg("--html").arg(&page))?;
    println!("\nTo explore it, one file that needs no network: {}", page.display());
    println!(
        "The job is in a store now, beside those of other demos: its page again, and all runs side by side:\n\n\
         $ {0} serve --store {1}\n$ {0} jobs --store {1}\n",
        netra.display(),
        store().display()
    );
    println!("More: {} --help", netra.display());
    Ok(())
}

fn play(netra: &Path, scene: &Scene) -> Result<()> {
    let filter = match scene.lines {
        Lines::All => String::new(),
        Lines::First(count) => format!(" | head -{count}"),
        Lines::With(text) => format!(" | grep {:?} | head -8", text),
    };
    println!("\n{}\n\n$ netra {}{filter}\n", scene.says, scene.words.join(" "));
    let text = output(Command::new(netra).args(scene.words).current_dir(root()))?;
    let text = String::from_utf8_lossy(&text);
    let count = match scene.lines {
        Lines::All => usize::MAX,
        Lines::First(count) => count,
        Lines::With(_) => 8,
    };
    let wanted = |line: &&str| !matches!(scene.lines, Lines::With(text) if !line.contains(text));
    for line in text.lines().filter(wanted).take(count) {
        println!("{line}");
    }
    Ok(())
}
