//! `cargo xtask demo`: builds netra and shows what it does, on the example log of the repository.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::place::{cargo, root, run as start, target};

/// The log that is shown; `docs/example/README.md` says how it was made.
const LOG: &str = "docs/example/wave.darshan";

/// A thing to look at: a sentence, and the words after `netra`.
struct Scene {
    says: &'static str,
    words: &'static [&'static str],
}

const SCENES: &[Scene] = &[Scene {
    says: "A job of four processes, on one screen. It spent a seventh of its time in I/O, nearly all\n\
           of it on the checkpoints, although there are far more writes to field.dat.",
    words: &["info", LOG],
}];

/// Builds the program and plays the scenes.
pub(crate) fn run(_: &[String]) -> Result<()> {
    start(&mut cargo(&["build", "--quiet", "--package", "netra-cli"]))?;
    let netra = target().join("debug/netra");
    for scene in SCENES {
        play(&netra, scene)?;
    }
    println!("\nMore: `cargo run -p netra-cli -- --help`");
    Ok(())
}

fn play(netra: &Path, scene: &Scene) -> Result<()> {
    println!("\n{}\n\n$ netra {}\n", scene.says, scene.words.join(" "));
    start(Command::new(netra).args(scene.words).current_dir(root()))
}
