//! `cargo xtask gallery [DIR]`: the papers' applications before and after tuning, recorded by netra,
//! as report pages, pages of both side by side, and small pictures of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::place::{cargo, on_path, output, root, run as start, target};
use crate::{artifact, web, workload};

/// An application in two settings.
struct Pair {
    name: &'static str,
    says: &'static str,
    before: &'static str,
    after: &'static str,
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "hmmer",
        says: "every rank scans one file by tiny reads, then in blocks",
        before: "--sequences 20000 --lines 5",
        after: "--sequences 20000 --lines 5 --mode block",
    },
    Pair {
        name: "openpmd",
        says: "meshes in small independent blocks, then in collective slabs",
        before: "--steps 4 --meshes 4 --edge 16",
        after: "--steps 4 --meshes 4 --edge 16 --mode tuned --alignment 64KiB",
    },
    Pair {
        name: "flash",
        says: "checkpoints opened twice and written independently, then once and collectively",
        before: "--checkpoints 4 --unknowns 8 --cells 4096",
        after: "--checkpoints 4 --unknowns 8 --cells 4096 --mode collective --open once",
    },
    Pair {
        name: "nwchem",
        says: "a database that ranks use over each other, opened each step, then once",
        before: "--steps 200 --record 4096 --scratch 8KiB",
        after: "--steps 200 --record 4096 --scratch 8KiB --database once",
    },
    Pair {
        name: "same-file-every-rank",
        says: "every rank reads the same small file, then one reads for all",
        before: "--size 4MiB --piece 512 --passes 2",
        after: "--size 4MiB --piece 1MiB --mode broadcast",
    },
    Pair {
        name: "load",
        says: "writes of 64 bytes, then of 1 MiB",
        before: "--mpi none --files 2 --threads 2 --size 8MiB --block 64 --read no --content any --call write",
        after: "--mpi none --files 2 --threads 2 --size 8MiB --block 1MiB --read no --content any --call write",
    },
];

/// Makes everything; workloads whose libraries are missing are said and left out.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let folder = match words {
        [] => target().join("gallery"),
        [folder] => PathBuf::from(folder),
        _ => bail!("usage: cargo xtask gallery [DIR]"),
    };
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let folder = folder.canonicalize().context("finding the gallery's folder")?;
    web::if_possible()?;
    start(&mut cargo(&["build", "--quiet", "--package", "netra-cli"]))?;
    let (netra, library) = (target().join("debug/netra"), artifact::build()?);
    let mut made = Vec::new();
    for pair in PAIRS {
        match both(&netra, &library, &folder, pair) {
            Ok(()) => made.push(pair),
            Err(error) => println!("left out: {}: {error:#}", pair.name),
        }
    }
    index(&folder, &made)?;
    println!(
        "{} of {} pairs; open {}",
        made.len(),
        PAIRS.len(),
        folder.join("index.html").display()
    );
    if made.is_empty() { bail!("no workload could be recorded") } else { Ok(()) }
}

fn both(netra: &Path, library: &Path, folder: &Path, pair: &Pair) -> Result<()> {
    let log = |which: &str| folder.join(format!("{}-{which}.darshan", pair.name));
    for (which, knobs) in [("before", pair.before), ("after", pair.after)] {
        record(netra, library, pair.name, knobs, &log(which))?;
        let page = folder.join(format!("{}-{which}.html", pair.name));
        start(Command::new(netra).arg("report").arg(log(which)).arg("--html").arg(&page))?;
        picture(&page)?;
    }
    let page = folder.join(format!("{}.html", pair.name));
    start(
        Command::new(netra)
            .arg("compare")
            .arg(log("before"))
            .arg(log("after"))
            .arg("--html")
            .arg(&page),
    )?;
    picture(&page)
}

/// Runs a workload under netra, and leaves its log.
fn record(netra: &Path, library: &Path, name: &str, knobs: &str, log: &Path) -> Result<()> {
    if log.exists() {
        fs::remove_file(log).with_context(|| format!("removing {}", log.display()))?;
    }
    let with = format!(
        "env NETRA_PRELOAD={} {} run --log-file {} --",
        library.display(),
        netra.display(),
        log.display()
    );
    let words = [name].into_iter().chain(knobs.split_whitespace()).chain(["--with", with.as_str()]);
    workload::run(&words.map(str::to_owned).collect::<Vec<_>>())?;
    if log.exists() { Ok(()) } else { bail!("{name} left no log") }
}

/// The first screen of a page, where there is a browser.
fn picture(page: &Path) -> Result<()> {
    let Some(browser) = web::browser() else { return Ok(()) };
    let shot = page.with_extension("png");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.args(["--window-size=1280,860", "--virtual-time-budget=4000"]);
    command
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{}", page.display()));
    output(&mut command)?;
    small(&shot)
}

/// Pictures of few colours need no more: a page's is then below 100 KB.
fn small(shot: &Path) -> Result<()> {
    if !on_path("pngquant") {
        return Ok(());
    }
    start(
        Command::new("pngquant").args(["--force", "--ext", ".png", "--speed", "3", "64"]).arg(shot),
    )
}

/// A page of all pairs, in words and pictures.
fn index(folder: &Path, made: &[&Pair]) -> Result<()> {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>netra: a gallery</title>\n\
         <style>body { font: 14px system-ui, sans-serif; margin: 24px; } img { width: 420px; border: 1px solid #ccc; } section { margin-bottom: 28px; }</style>\n\
         <h1>Before and after tuning</h1>\n",
    );
    for Pair { name, says, before, after } in made {
        page.push_str(&format!(
            "<section><h2>{name}</h2><p>{says}: <a href=\"{name}.html\">side by side</a></p>\n"
        ));
        for (which, knobs) in [("before", before), ("after", after)] {
            page.push_str(&format!(
                "<a href=\"{name}-{which}.html\"><img src=\"{name}-{which}.png\" alt=\"{name} {which}: {knobs}\"></a>\n"
            ));
        }
        page.push_str("</section>\n");
    }
    let path = folder.join("index.html");
    fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    let inside = path.strip_prefix(root()).unwrap_or(&path);
    println!("wrote {}", inside.display());
    Ok(())
}
