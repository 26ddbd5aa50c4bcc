//! `cargo xtask workload NAME [--ranks N] [--mpi M] [--with W] [--with-rank W] [--dir D] [knobs]`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context as _, Result, bail};

use crate::catalogue::{self, Workload};
use crate::compile::target;
use crate::launch::Launch;
use crate::mpi::Mpi;

/// What was typed.
#[derive(Debug)]
struct Typed {
    launch: Launch,
    folder: Option<PathBuf>,
    expect: bool,
}

/// Runs what the words ask for; a status is that of the program. No words: the list.
pub fn run(words: &[String]) -> Result<Option<ExitStatus>> {
    let Some(name) = words.first().filter(|word| !word.starts_with('-')) else {
        list();
        return Ok(None);
    };
    let typed = read(catalogue::find(name)?, &words[1..])?;
    let mut command = if typed.expect {
        typed.launch.expectation()?
    } else {
        let folder = folder(&typed)?;
        let command = typed.launch.command(&folder)?;
        eprintln!("{name}: running in {}", folder.display());
        command
    };
    let status = command.status();
    let first = command.get_program().display();
    Ok(Some(status.with_context(|| format!("starting `{first}`"))?))
}

#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
fn list() {
    println!(
        "usage: cargo xtask workload NAME [--ranks N] [--mpi mpich|openmpi|none] [--dir DIR]\n\
         \x20      [--with 'WORDS BEFORE THE LAUNCHER'] [--with-rank 'WORDS BEFORE EACH RANK'] [--expect] [knobs]\n\
         `cargo xtask workload NAME --help` tells a workload's knobs; workloads/NAME/README.md is its page.\n"
    );
    for workload in catalogue::ALL {
        println!("  {:<22} {}", workload.name, workload.says);
    }
}

/// The MPI one gets without asking: the first that is here and that the workload can use.
fn usual(workload: &Workload) -> Mpi {
    let wanted = workload.libraries;
    let usable = |mpi: &Mpi| {
        let linked = |library: &catalogue::Library| crate::compile::library_flags(*library, *mpi);
        mpi.is_here()
            && (*mpi != Mpi::None || workload.without_mpi)
            && wanted.iter().all(|library| linked(library).is_ok())
    };
    Mpi::ALL.into_iter().find(usable).unwrap_or(Mpi::Mpich)
}

/// Reads the words after the name. What is not the driver's is a knob, and checked by the program.
fn read(workload: &'static Workload, words: &[String]) -> Result<Typed> {
    let launch = Launch {
        workload,
        mpi: Mpi::None,
        ranks: 4,
        with: Vec::new(),
        with_rank: Vec::new(),
        knobs: Vec::new(),
    };
    let mut typed = Typed { launch, folder: None, expect: false };
    let mut mpi = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--ranks" => typed.launch.ranks = ranks(value()?)?,
            "--mpi" => mpi = Some(Mpi::named(value()?)?),
            "--with" => typed.launch.with.extend(split(value()?)),
            "--with-rank" => typed.launch.with_rank.extend(split(value()?)),
            "--dir" => typed.folder = Some(value()?.into()),
            "--expect" => typed.expect = true,
            _ => typed.launch.knobs.push(word.clone()),
        }
    }
    typed.launch.mpi = mpi.unwrap_or_else(|| usual(workload));
    if typed.launch.mpi == Mpi::None {
        typed.launch.ranks = 1;
    }
    Ok(typed)
}

/// The words of a command. A path becomes absolute, because the program runs in another folder.
fn split(text: &str) -> Vec<String> {
    let absolute = |word: &str| match Path::new(word).canonicalize() {
        Ok(path) if word.contains('/') => path.display().to_string(),
        _ => word.to_owned(),
    };
    text.split_whitespace().map(absolute).collect()
}

fn ranks(word: &str) -> Result<u32> {
    match word.parse() {
        Ok(ranks @ 1..=65_536) => Ok(ranks),
        _ => bail!("--ranks takes a number from 1 to 65536, not `{word}`"),
    }
}

/// The folder asked for, or the workload's own, emptied: the last run stays to be looked at.
fn folder(typed: &Typed) -> Result<PathBuf> {
    let folder = typed.folder.clone();
    let folder = folder.unwrap_or_else(|| {
        let fresh = target().join("run").join(typed.launch.workload.name);
        drop(fs::remove_dir_all(&fresh));
        fresh
    });
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    folder.canonicalize().with_context(|| format!("finding {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::catalogue::ALL;
    use crate::mpi::Mpi;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_drivers_words_and_the_knobs_are_told_apart() {
        let mut line = words("--ranks 3 --block 4KiB --mpi openmpi --dir d");
        line.extend(["--with".to_owned(), "netra run --".to_owned()]);
        let typed = read(&ALL[0], &line).unwrap();
        assert_eq!(typed.launch.ranks, 3);
        assert_eq!(typed.launch.mpi, Mpi::OpenMpi);
        assert_eq!(typed.launch.knobs, ["--block", "4KiB"]);
        assert_eq!(typed.launch.with, ["netra", "run", "--"]);
        assert_eq!(typed.folder.unwrap(), std::path::Path::new("d"));
    }

    #[test]
    fn a_path_in_front_is_made_absolute() {
        let split = super::split("./src env A=b");
        assert!(split[0].starts_with('/') && split[0].ends_with("/src"), "{split:?}");
        assert_eq!(split[1..], ["env", "A=b"]);
    }

    #[test]
    fn wrong_words_are_refused_with_a_reason() {
        for (line, says) in [
            ("--ranks many", "--ranks takes a number from 1 to 65536, not `many`"),
            ("--ranks", "--ranks needs a value"),
            ("--mpi lam", "--mpi is one of mpich, openmpi, none, not `lam`"),
        ] {
            assert_eq!(read(&ALL[0], &words(line)).unwrap_err().to_string(), says);
        }
    }
}
