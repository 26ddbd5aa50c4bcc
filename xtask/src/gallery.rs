//! `cargo xtask gallery [DIR] [--looks] [--docs] [--only NAME,…]`: the papers' applications before and after tuning, recorded by netra,
//! as report pages, pages of both side by side, and small pictures of them. With `--looks` each page also in
//! three widths, light and dark, for eyes to judge; with `--docs` the pictures of the documents anew; with `--only`
//! these applications alone.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::place::{cargo, on_path, root, run as start, target};
use crate::{artifact, web};

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
        before: "--checkpoints 2 --unknowns 16 --cells 256 --attributes 20",
        after: "--checkpoints 2 --unknowns 16 --cells 256 --attributes 20 --mode collective --open once",
    },
    Pair {
        name: "nwchem",
        says: "a database that ranks use over each other, opened each step, then once",
        before: "--steps 20 --record 4096 --scratch 8KiB",
        after: "--steps 20 --record 4096 --scratch 8KiB --database once",
    },
    Pair {
        name: "same-file-every-rank",
        says: "every rank reads the same small file, then one reads for all",
        before: "--size 4MiB --piece 512 --passes 2",
        after: "--size 4MiB --piece 1MiB --mode broadcast",
    },
    Pair {
        name: "chombo",
        says: "each box by itself, then all of a level together",
        before: "--levels 3 --boxes 250 --cells 512 --lines 2000",
        after: "--levels 3 --boxes 250 --cells 512 --lines 2000 --mode collective --pout rank-0",
    },
    Pair {
        name: "qmcpack",
        says: "one checkpoint overwritten in place, then a new one each time",
        before: "--sections 4 --walkers 65536",
        after: "--sections 4 --walkers 65536 --mode new",
    },
    Pair {
        name: "load",
        says: "writes of 64 bytes, then of 1 MiB",
        before: "--mpi none --files 2 --threads 2 --size 8MiB --block 64 --read no --content any --call write",
        after: "--mpi none --files 2 --threads 2 --size 8MiB --block 1MiB --read no --content any --call write",
    },
    Pair {
        name: "slow-rank",
        says: "all wait for a rank that writes in pieces, then for none",
        before: "--steps 10 --block 4MiB --pieces 64",
        after: "--steps 10 --block 4MiB --pieces 1",
    },
    Pair {
        name: "sw4",
        says: "images row by row, then a rank's rows together",
        before: "--steps 40 --image-every 4 --checkpoint-every 20",
        after: "--steps 40 --image-every 4 --checkpoint-every 20 --images slabs",
    },
    Pair {
        name: "pnetcdf-var",
        says: "variables in independent pieces, then collectively",
        before: "--mpi openmpi --variables 16 --pieces 64",
        after: "--mpi openmpi --variables 16 --pieces 1 --mode collective",
    },
    Pair {
        name: "amrex",
        says: "computing waits for plot files, then goes on meanwhile",
        before: "--ranks 2 --plots 6 --boxes 64 --box 16 --compute 300",
        after: "--ranks 2 --plots 6 --boxes 64 --box 16 --compute 300 --mode overlapped",
    },
    Pair {
        name: "dlio",
        says: "a file is opened for every small sample, then once, and samples are larger",
        before: "--files 4 --samples 256",
        after: "--files 4 --samples 16 --sample 64KiB --open once",
    },
    Pair {
        name: "hacc-io",
        says: "nine variables behind a header of 2 KiB, then on their boundaries",
        before: "--elements 262144 --gap 2048",
        after: "--elements 262144 --gap 0",
    },
    Pair {
        name: "hacc-checkpoint",
        says: "a file for each rank, then one of all",
        before: "--particles 262144",
        after: "--particles 262144 --mode collective",
    },
    Pair {
        name: "stdout-bulk",
        says: "results in bulk through standard output, then what a person reads",
        before: "--lines 500000",
        after: "--lines 500",
    },
    Pair {
        name: "mpi-io-test",
        says: "blocks by independent calls, then by collective ones",
        before: "--ranks 2 --block 8KiB --iterations 1000",
        after: "--ranks 2 --block 8KiB --iterations 1000 --mode collective",
    },
];

/// What is made besides pages and small pictures.
#[derive(Default)]
struct Wish {
    looks: bool,
    docs: bool,
    only: Option<Vec<String>>,
    folder: Option<PathBuf>,
}

impl Wish {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|wanted| wanted == name))
    }
}

/// Makes everything; workloads whose libraries are missing are said and left out.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let mut wish = Wish::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => {
                let names = words.next().context("--only wants names, with commas between them")?;
                wish.only = Some(names.split(',').map(str::to_owned).collect());
            }
            "--looks" => wish.looks = true,
            "--docs" => wish.docs = true,
            word if word.starts_with('-') || wish.folder.is_some() => {
                bail!("usage: cargo xtask gallery [DIR] [--looks] [--docs] [--only NAME,…]")
            }
            folder => wish.folder = Some(PathBuf::from(folder)),
        }
    }
    let folder = wish.folder.clone().unwrap_or_else(|| target().join("gallery"));
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let folder = folder.canonicalize().context("finding the gallery's folder")?;
    web::if_possible()?;
    start(&mut cargo(&["build", "--quiet", "--package", "netra-cli", "--no-default-features"]))?;
    let (netra, library) = (target().join("debug/netra"), artifact::build()?);
    let mut made = Vec::new();
    for pair in PAIRS.iter().filter(|pair| wish.wants(pair.name)) {
        match both(&netra, &library, &folder, pair) {
            Ok(()) => made.push(pair),
            Err(error) => println!("left out: {}: {error:#}", pair.name),
        }
    }
    let pages = made.iter().flat_map(|pair| pages(&folder, pair.name));
    let mut pictures: Vec<Picture> =
        pages.clone().map(|page| Picture::first_screen(&page)).collect();
    if wish.looks {
        pictures.extend(pages.flat_map(|page| looks(&page)));
    }
    if wish.docs {
        pictures.extend(documents(&folder));
    }
    take(&pictures)?;
    index(&folder, &made)?;
    println!(
        "{} of {} pairs; open {}",
        made.len(),
        PAIRS.len(),
        folder.join("index.html").display()
    );
    if made.is_empty() { bail!("no workload could be recorded") } else { Ok(()) }
}

/// Before, after, and both.
fn pages(folder: &Path, name: &str) -> [PathBuf; 3] {
    ["-before", "-after", ""].map(|which| folder.join(format!("{name}{which}.html")))
}

fn both(netra: &Path, library: &Path, folder: &Path, pair: &Pair) -> Result<()> {
    let log = |which: &str| folder.join(format!("{}-{which}.darshan", pair.name));
    let [before, after, side_by_side] = pages(folder, pair.name);
    for (which, knobs, page) in [("before", pair.before, before), ("after", pair.after, after)] {
        record(netra, library, pair.name, knobs, &log(which))?;
        start(Command::new(netra).arg("report").arg(log(which)).arg("--html").arg(&page))?;
    }
    let mut compare = Command::new(netra);
    compare.arg("compare").arg(log("before")).arg(log("after"));
    start(compare.arg("--html").arg(&side_by_side))
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
    // Programs and their files lie where the paths on the pages say nothing about this machine.
    let place = std::env::temp_dir().join("netra");
    let mut driver = Command::new(std::env::current_exe().context("finding this program")?);
    driver.args(["workload", name]).args(knobs.split_whitespace()).args(["--with", &with]);
    start(driver.env("CARGO_TARGET_DIR", place))?;
    if log.exists() { Ok(()) } else { bail!("{name} left no log") }
}

/// What a page looks like: `web/bench/picture.ts` takes it.
struct Picture {
    page: PathBuf,
    /// What is chosen on the page.
    fragment: &'static str,
    /// A part of it alone.
    part: Option<&'static str>,
    size: (u32, u32),
    dark: bool,
    out: PathBuf,
}

impl Picture {
    fn first_screen(page: &Path) -> Picture {
        let (page, out) = (page.to_owned(), page.with_extension("png"));
        Picture { page, fragment: "", part: None, size: (1280, 860), dark: false, out }
    }

    fn json(&self) -> Value {
        json!({
            "page": self.page,
            "fragment": self.fragment,
            "part": self.part,
            "width": self.size.0,
            "height": self.size.1,
            "dark": self.dark,
            "out": self.out,
        })
    }
}

/// A telephone, half a screen and a whole one, each in both lights.
fn looks(page: &Path) -> Vec<Picture> {
    let mut all = Vec::new();
    for (width, dark) in [420, 900, 1600].into_iter().flat_map(|wide| [(wide, false), (wide, true)])
    {
        let light = if dark { "dark" } else { "light" };
        let out = page.with_extension(format!("{width}-{light}.png"));
        let first = Picture::first_screen(page);
        all.push(Picture { size: (width, 2400), dark, out, ..first });
    }
    all
}

/// The pictures in `README.md` and `docs`.
fn documents(folder: &Path) -> Vec<Picture> {
    let picture = |page: &str, fragment, part, size, name: &str| Picture {
        page: folder.join(page),
        fragment,
        part,
        size,
        dark: false,
        out: root().join("docs/picture").join(name),
    };
    vec![
        picture("openpmd-before.html", "#finding=0", None, (1280, 800), "report.png"),
        picture("same-file-every-rank.html", "", None, (1280, 900), "compare.png"),
        picture(
            "nwchem-before.html",
            "#offset=0~17000",
            Some("#offsets"),
            (1280, 900),
            "calls.png",
        ),
    ]
}

/// Takes pictures, where there is a browser and something that drives it.
fn take(pictures: &[Picture]) -> Result<()> {
    let Some(browser) = web::browser().filter(|_| on_path("npm")) else {
        println!("no pictures were taken: that needs Chromium and Node.js");
        return Ok(());
    };
    let mut command = Command::new("node");
    command.arg(web::measuring("picture.js")?).env("NETRA_CHROMIUM", browser);
    let mut node = command.stdin(Stdio::piped()).spawn().context("starting node")?;
    let list: Vec<Value> = pictures.iter().map(Picture::json).collect();
    if let Some(mut input) = node.stdin.take() {
        input.write_all(&serde_json::to_vec(&list)?).context("telling node what to look at")?;
    }
    if !node.wait().context("waiting for node")?.success() {
        bail!("the pictures could not be taken");
    }
    pictures.iter().try_for_each(|one| small(&one.out))
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
