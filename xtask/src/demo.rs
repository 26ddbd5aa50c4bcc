//! `cargo xtask demo`: builds netra and shows what it does, on the example log of the repository.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::place::{cargo, output, root, run as start, target};
use crate::web;

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
        says: "A job of four processes, on one screen. It spent a seventh of its time in I/O, nearly\n\
               all of it on the checkpoints, although there are far more writes to field.dat.",
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

/// Builds the program and plays the scenes.
pub(crate) fn run(_: &[String]) -> Result<()> {
    web::if_possible()?;
    start(&mut cargo(&["build", "--quiet", "--package", "netra-cli"]))?;
    let netra = target().join("debug/netra");
    for scene in SCENES {
        play(&netra, scene)?;
    }
    page(&netra)?;
    println!("\nMore: `cargo run -p netra-cli -- --help`");
    Ok(())
}

/// The page for a browser, which no terminal shows.
fn page(netra: &Path) -> Result<()> {
    let page = target().join("demo.html");
    start(Command::new(netra).args(["report", LOG, "--html"]).arg(&page).current_dir(root()))?;
    println!("\nAnd to explore, one file that needs no network: {}", page.display());
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
