//! The documents, run: every fenced block with a command of netra in it is run in a folder that has what the documents
//! speak of, and gives what the page shows. `docs/testing.md` says how a block is marked.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use netra_e2e::Tool;
use tempfile::TempDir;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// How a block is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    /// Run, and the output is the page's.
    Exact,
    /// Run, and the output is the page's but for numbers and names of places.
    Shape,
    /// Run where the program has the store.
    Store,
    /// Not run, for this reason.
    NotRun(String),
}

/// A command, and what the page shows of its output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    command: String,
    shows: Vec<String>,
}

#[derive(Debug)]
struct Block {
    page: String,
    line: usize,
    mark: Mark,
    steps: Vec<Step>,
}

/// The blocks of a page, and complaints about those with commands and without a mark.
fn blocks(page: &str, text: &str) -> (Vec<Block>, Vec<String>) {
    let (mut blocks, mut wrong) = (Vec::new(), Vec::new());
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| !line.starts_with("```"))
            .collect();
        let is_command = |line: &&str| line.starts_with("netra ") || line.starts_with("$ ");
        let mark = match info.split_once(' ').unwrap_or((info, "")) {
            ("console", "") => Mark::Exact,
            ("console", "shape") => Mark::Shape,
            ("console", "store") => Mark::Store,
            ("console", other) if other.starts_with("not run: ") => {
                Mark::NotRun(other.trim_start_matches("not run: ").to_owned())
            }
            ("python" | "toml" | "sql" | "json", _) => continue,
            _ if body.iter().any(is_command) => {
                wrong.push(format!(
                    "{page}:{}: a block with commands is marked console",
                    number + 1
                ));
                continue;
            }
            _ => continue,
        };
        let mut steps: Vec<Step> = Vec::new();
        for line in body {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { command: command.to_owned(), shows: Vec::new() });
                }
                // What goes on behind a backslash.
                (None, Some(step)) if step.command.ends_with('\\') => {
                    step.command.push('\n');
                    step.command.push_str(line);
                }
                (None, Some(step)) => step.shows.push(line.to_owned()),
                (None, None) => {
                    wrong.push(format!(
                        "{page}:{}: a block begins with $ and a command",
                        number + 1
                    ));
                    break;
                }
            }
        }
        blocks.push(Block { page: page.to_owned(), line: number + 1, mark, steps });
    }
    (blocks, wrong)
}

/// Every page that people read.
fn pages() -> Vec<(String, String)> {
    let mut paths = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from("contrib")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).expect("a page");
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

/// A folder with what the documents speak of.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = TempDir::new().expect("a folder");
        let place = Place { folder };
        let example = root().join("docs/example/wave.darshan");
        for name in [
            "job.darshan",
            "before.darshan",
            "after.darshan",
            "docs/example/wave.darshan",
            "archive/2026/11/16/4711.darshan",
            "home/.local/share/netra/logs/2026/11/15/4711_wave_1.darshan",
        ] {
            place.put(name, &fs::read(&example).expect("the example"), 0o644);
        }
        for name in ["slow.py", "once.py"] {
            let text = fs::read(root().join("docs/example").join(name)).expect("an example");
            place.put(&format!("docs/example/{name}"), &text, 0o755);
            place.put(name, &text, 0o755);
        }
        place.put("app", b"#!/bin/sh\ncat \"${1:-input.dat}\" > output.dat\n", 0o755);
        place.put("input.dat", b"one\ntwo\n", 0o644);
        fs::create_dir_all(place.path("bin")).expect("a folder");
        fs::create_dir_all(place.path("segments")).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_netra"), place.path("bin/netra")).expect("a link");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8], mode: u32) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, bytes).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// Makes something that the documents speak of.
    fn prepare(&self, line: &str) {
        let (code, text) = self.run(line);
        assert_eq!(code, 0, "{line}: {text}");
    }

    /// Runs a line as a shell does; both streams as they come.
    fn run(&self, line: &str) -> (i32, String) {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(self.folder.path());
        command.env_clear().env("TZ", "UTC").env("COLUMNS", "100").stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("HOME", self.path("home")).env("NETRA_SEGMENT_DIR", self.path("segments"));
        command.env("NETRA_PRELOAD", Tool::netra().expect("the library is built").library());
        let done = command.output().expect("a shell");
        let code = done.status.code().expect("an exit code");
        (code, String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

/// A line without what differs from run to run: numbers with their unit, names of places.
fn shape(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        let bare = word.trim_matches(|c: char| "(),;:.".contains(c));
        let is_unit = ["ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB"].contains(&bare);
        let is_commit = bare.len() == 7 && bare.chars().all(|c| c.is_ascii_hexdigit());
        let is_number = is_commit || bare.starts_with(|c: char| c.is_ascii_digit());
        if bare.contains('/') && bare != "/" || is_number || bare.contains("+0x") {
            words.push("#");
        } else if !(is_unit && words.last() == Some(&"#")) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Whether an output is what a page shows; a line `…` stands for any lines.
fn is_shown(output: &str, shows: &[String], same: impl Fn(&str, &str) -> bool) -> bool {
    fn from(lines: &[&str], shows: &[String], same: &impl Fn(&str, &str) -> bool) -> bool {
        match (lines, shows) {
            ([], []) => true,
            (_, [first, rest @ ..]) if first.trim() == "…" => {
                (0..=lines.len()).any(|skip| from(&lines[skip..], rest, same))
            }
            ([line, lines @ ..], [shown, shows @ ..]) => {
                same(line.trim_end(), shown.trim_end()) && from(lines, shows, same)
            }
            _ => false,
        }
    }
    from(&output.lines().collect::<Vec<_>>(), shows, &same)
}

/// Runs a block; everything that is not as on the page.
fn run(place: &Place, block: &Block) -> Vec<String> {
    if block.mark == Mark::Store {
        place.prepare("netra import -q archive/2026/11/16/4711.darshan");
    }
    if block.steps.iter().any(|step| step.command.contains("job42_")) {
        for name in ["logs/job42_0.darshan", "logs/job42_1.darshan"] {
            place.prepare(&format!("netra run -q --log-file {name} -- cp input.dat output.dat"));
        }
    }
    let mut wrong = Vec::new();
    for step in &block.steps {
        let line =
            step.command.replace("/tmp/netra-1000", "segments").replace("/logs/", "archive/");
        let (code, text) = place.run(&line);
        let named = format!("{}:{}: $ {}", block.page, block.line, step.command);
        if !matches!(code, 0 | 1) {
            wrong.push(format!("{named}\nends with {code}:\n{text}"));
            continue;
        }
        let shown = match block.mark {
            _ if step.shows.is_empty() => true,
            Mark::Shape => {
                is_shown(&text, &step.shows, |line, shown| match shown.strip_suffix('…') {
                    Some(begin) => shape(line).starts_with(&shape(begin)),
                    None => shape(line) == shape(shown),
                })
            }
            _ => is_shown(&text, &step.shows, |a, b| a == b),
        };
        if !shown {
            wrong.push(format!("{named}\ngives:\n{text}"));
        }
    }
    wrong
}

#[test]
fn every_command_of_every_document_does_what_the_page_shows() {
    let (mut wrong, mut ran, mut not_run) = (Vec::new(), 0, 0);
    for (page, text) in pages() {
        let (blocks, complaints) = blocks(&page, &text);
        wrong.extend(complaints);
        // What a block of a page makes, those behind it may use.
        let place = Place::new();
        for block in blocks {
            match &block.mark {
                Mark::NotRun(why) => {
                    not_run += block.steps.len();
                    println!("not run: {}:{}: {why}", block.page, block.line);
                }
                Mark::Store if !cfg!(feature = "store") => {
                    not_run += block.steps.len();
                    println!("not run: {}:{}: this netra has no store", block.page, block.line);
                }
                _ => {
                    ran += block.steps.len();
                    wrong.extend(run(&place, &block));
                }
            }
        }
    }
    println!("{ran} commands of documents ran, {not_run} did not");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(ran > 20, "only {ran} commands were found");
}

#[test]
fn a_block_is_taken_apart() {
    let page = "```console shape\n$ netra info \\\n  a\nx\n…\n$ b\n```\n```\nnetra c\n```\n```console not run: why\n$ d\n```\n";
    let (blocks, wrong) = blocks("p.md", page);
    assert_eq!(wrong, ["p.md:8: a block with commands is marked console"]);
    assert_eq!(blocks[0].steps[0].command, "netra info \\\n  a");
    assert_eq!(blocks[0].steps[0].shows, ["x", "…"]);
    assert_eq!((&blocks[0].mark, blocks[0].steps.len()), (&Mark::Shape, 2));
    assert_eq!(blocks[1].mark, Mark::NotRun("why".to_owned()));
}

#[test]
fn an_output_is_the_pages_or_has_its_shape() {
    let shows = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let exact = |a: &str, b: &str| a == b;
    assert!(is_shown("a\nb\nc\n", &shows("a\n…\nc"), exact));
    assert!(is_shown("a\n", &shows("…\na\n…"), exact));
    assert!(!is_shown("a\nb\n", &shows("a"), exact));
    assert!(!is_shown("a\nc\n", &shows("a\n…\nb"), exact));
    assert_eq!(shape("I/O took 749 ms of 777 ms (96 %)"), shape("I/O took 1.5 s of 2 s (7 %)"));
    assert_eq!(shape("log /tmp/a/x.darshan"), shape("log /home/b/y.darshan"));
    assert_eq!(shape("netra 0.1.0 (bae1ef6), logs"), shape("netra 2.0.0 (0123456), logs"));
    assert_ne!(shape("wrote 7 KiB"), shape("read 7 KiB"));
}
