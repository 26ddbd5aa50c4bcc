//! `cargo xtask compare darshan`: runs the end-to-end programs under netra and under Darshan's own
//! runtime (`DARSHAN_LIB=`), and writes `docs/compare-darshan.md`: every counter equal, or differs
//! because ….
//!
//! A difference without a reason in [`REASONS`] is an error: it is a bug of netra, or a row to add.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use netra_darshan::counter;
use netra_e2e::{Case, Counters, Log, Outcome, Program, Scene, Tool};
use netra_event::Module;

use crate::artifact;
use crate::place::{output, root};

/// Programs that are run under both. Those that are about limits, places and libraries are not here:
/// they say nothing about counters.
const PROGRAMS: &str = "plain vector lfs64 stat_family names dup2 dup_offset o_append variadic pipes \
    close_range closefrom fdopen_fclose freopen fcloseall stdio wide_stdio standard_streams \
    printf_family scanf_family popen unlocked_inline temporary rename movers reserve mapping aio \
    syscall shared_fd short_threads many_threads thread_exit open_close_race pthread_cancel fork \
    raw_clone vfork posix_spawn signal_io atexit constructor fortify many_files errno malloc_io \
    signal_storm longjmp";

/// Why a counter differs: programs, counters (beginnings of their names), and the reason.
const REASONS: &[(&str, &str, &str)] = &[
    (
        "*",
        "POSIX_MAX_READ_TIME_SIZE POSIX_MAX_WRITE_TIME_SIZE",
        "which call was the slowest differs from run to run",
    ),
    ("*", "POSIX_MMAPS", "Darshan's preload library does not see `mmap` and writes −1"),
    (
        "temporary",
        "*",
        "names made by `mkstemp` differ from run to run; each record is equal but for its name; `tmpfile` is not seen by Darshan",
    ),
    (
        "fork posix_spawn raw_clone",
        "POSIX",
        "Darshan does not know descriptors that a child or a new image inherits (its records of such files are empty, or the parent's grow after a raw clone)",
    ),
    (
        "vfork",
        "POSIX",
        "what a child of vfork closes is closed in the parent's books of Darshan too",
    ),
    ("constructor", "POSIX", "calls before Darshan's constructor are not seen by it"),
    (
        "dup_offset o_append",
        "POSIX_MAX_BYTE_WRITTEN POSIX_CONSEC POSIX_SEQ POSIX_FILE_NOT",
        "Darshan keeps one position per file instead of one per open file, and ignores O_APPEND",
    ),
    (
        "pipes",
        "POSIX",
        "after `dup2` of a socket over a file's descriptor Darshan counts the socket's bytes to the file",
    ),
    (
        "fortify",
        "*",
        "fortified entry points (`__read_chk`, `__openat_2`, `__fgets_chk`, `__fprintf_chk` …) are not seen by Darshan",
    ),
    (
        "shared_fd short_threads many_threads open_close_race",
        "POSIX_CONSEC POSIX_SEQ POSIX_STRIDE POSIX_RW POSIX_WRITES POSIX_BYTES POSIX_SIZE POSIX_ACCESS POSIX_MAX POSIX_FILE_NOT",
        "sequence and stride are kept per thread in netra, and depend on how threads interleave; a close and an open in two threads make Darshan count to the wrong file",
    ),
    (
        "movers",
        "POSIX",
        "copies inside the kernel (`copy_file_range`, `sendfile`, `splice`) are not seen by Darshan",
    ),
    ("printf_family", "POSIX", "`dprintf` is not seen by Darshan"),
    ("syscall", "POSIX", "I/O through `syscall()` is not seen by Darshan"),
    (
        "rename",
        "POSIX",
        "Darshan counts `rename` only of files it has seen, and neither `renameat` nor `renameat2`",
    ),
    (
        "scanf_family",
        "STDIO_READS",
        "Darshan counts a scan that found the end of the file as a read of nothing",
    ),
    (
        "fdopen_fclose",
        "STDIO_MAX_BYTE",
        "a stream made by `fdopen` begins where its descriptor stands; Darshan begins at 0",
    ),
    (
        "variadic",
        "POSIX_MODE POSIX_STATS STDIO",
        "a file made with O_TMPFILE is opened without its mode under Darshan; netra passes it on and names the file's folder",
    ),
    (
        "*",
        "POSIX_STATS",
        "`stat` and its family as glibc 2.33 and later export it, and `statx`, are not seen by Darshan",
    ),
    (
        "*",
        "POSIX_MEM_ALIGNMENT POSIX_FILE_ALIGNMENT",
        "a record that only netra has; sums over processes of what is no sum",
    ),
    (
        "*",
        "STDIO",
        "`puts` (to which compilers turn `printf`), `putc`, `getc`, `getline`, wide characters, `_unlocked` forms and inlined buffers are not seen by Darshan",
    ),
];

/// How one record's counter compares.
struct Finding {
    program: &'static str,
    file: String,
    counter: &'static str,
    netra: i64,
    darshan: i64,
}

/// What is known of a program after both runs.
enum Ran {
    Both(Vec<Finding>, usize),
    /// Under Darshan the program did not behave as without it.
    Disturbed(String),
}

/// `cargo xtask compare darshan`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if words.first().map(String::as_str) != Some("darshan") || words.len() != 1 {
        bail!("usage: DARSHAN_LIB=/path/libdarshan.so cargo xtask compare darshan");
    }
    let library = std::env::var_os("DARSHAN_LIB").map(PathBuf::from);
    let library = library.context("DARSHAN_LIB= must name Darshan's library, built without MPI")?;
    let netra = Tool::other(artifact::build()?);
    let darshan = Tool::darshan(library);
    let mut programs = BTreeMap::new();
    for name in PROGRAMS.split_whitespace() {
        let ran = compare(name, &netra, &darshan).with_context(|| format!("comparing {name}"))?;
        match &ran {
            Ran::Both(findings, equal) => {
                println!("{name:20} {equal} values equal, {} differ", findings.len());
            }
            Ran::Disturbed(how) => println!("{name:20} under Darshan {how}"),
        }
        programs.insert(name, ran);
    }
    let (page, unexplained) = page(&programs, &version(&darshan)?)?;
    fs::write(root().join("docs/compare-darshan.md"), page).context("writing the page")?;
    if !unexplained.is_empty() {
        bail!("differences without a reason in xtask/src/compare.rs:\n{}", unexplained.join("\n"));
    }
    Ok(())
}

/// The version that Darshan writes into its logs.
fn version(darshan: &Tool) -> Result<String> {
    let scene = Scene::new("compare_version")?;
    Case::of(Program::c("plain").named("compare_version")).run_with(darshan, &scene)?;
    let log = fs::read_dir(scene.logs())?.next().context("Darshan left no log")??;
    let log = netra_darshan::read::Log::open(log.path())?;
    let version = log.job().metadata().find(|(key, _)| *key == b"lib_ver");
    let (_, version) = version.context("Darshan's log names no version")?;
    Ok(String::from_utf8_lossy(version).into_owned())
}

/// Runs a program bare, under netra and under Darshan.
fn compare(name: &'static str, netra: &Tool, darshan: &Tool) -> Result<Ran> {
    let program = match name {
        "fortify" => Program::c(name).flag("-O2").flag("-D_FORTIFY_SOURCE=2"),
        "stdio" | "standard_streams" => Program::c(name).flag("-O0"),
        _ => Program::c(name),
    };
    let case =
        Case::of(program.named(&format!("compare_{name}"))).patience(Duration::from_secs(20));
    let scene = Scene::new(&format!("compare_{name}"))?;
    let bare = case.run_bare(&scene)?;
    let ours = counters(&case, netra, &scene, &bare)?.map_err(anyhow::Error::msg)?;
    let theirs = match counters(&case, darshan, &scene, &bare)? {
        Ok(theirs) => theirs,
        Err(how) => return Ok(Ran::Disturbed(how)),
    };
    let mut findings = Vec::new();
    let mut equal = 0;
    for (module, file) in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        let none = Counters::default();
        let key = (*module, file.clone());
        let (our, their) = (ours.get(&key).unwrap_or(&none), theirs.get(&key).unwrap_or(&none));
        let kind = Module::from_name(module).context("a module")?;
        for counter in counter::current(kind).context("its counters")?.int {
            let (netra, darshan) = (our.get(counter), their.get(counter));
            if netra == darshan {
                equal += 1;
            } else {
                let file = file.clone();
                findings.push(Finding { program: name, file, counter, netra, darshan });
            }
        }
    }
    Ok(Ran::Both(findings, equal))
}

/// Counters by module and file, summed over processes; or how the program was disturbed.
type Sums = BTreeMap<(&'static str, String), Counters>;

fn counters(
    case: &Case,
    tool: &Tool,
    scene: &Scene,
    bare: &Outcome,
) -> Result<std::result::Result<Sums, String>> {
    scene.clear()?;
    for folder in [scene.logs(), scene.segments()] {
        fs::remove_dir_all(&folder)?;
        fs::create_dir_all(&folder)?;
    }
    let outcome = match case.run_with(tool, scene) {
        Ok(outcome) => outcome,
        Err(error) => return Ok(Err(format!("{}", error.root_cause()))),
    };
    if outcome.status != bare.status {
        return Ok(Err(format!(
            "it ended with {}, without it with {}",
            outcome.status, bare.status
        )));
    }
    let mut sums = Sums::new();
    let logs = match Log::read_all(&scene.logs()) {
        Ok(logs) => logs,
        Err(error) => return Ok(Err(format!("its log is not whole: {}", error.root_cause()))),
    };
    for log in logs.into_values() {
        for module in ["POSIX", "STDIO"] {
            for (name, record) in log.records(module) {
                let Some(file) = short(name, &scene.work()) else { continue };
                let sum = sums.entry((module, file)).or_default();
                for (counter, value) in record.iter() {
                    sum.add(counter, value);
                }
            }
        }
    }
    Ok(Ok(sums))
}

fn short(name: &str, work: &Path) -> Option<String> {
    if name.starts_with('<') {
        return Some(name.to_owned());
    }
    Path::new(name).strip_prefix(work).ok().map(|path| path.display().to_string())
}

fn reason(finding: &Finding) -> Option<&'static str> {
    let row = REASONS.iter().find(|(programs, counters, _)| {
        let named = |list: &str, name: &str| {
            list.split_whitespace().any(|own| own == "*" || name.starts_with(own))
        };
        (*programs == "*" || programs.split_whitespace().any(|own| own == finding.program))
            && named(counters, finding.counter)
    });
    row.map(|(_, _, reason)| *reason)
}

/// The page, and the differences nobody explained.
fn page(programs: &BTreeMap<&'static str, Ran>, version: &str) -> Result<(String, Vec<String>)> {
    let date = output(Command::new("date").arg("+%Y-%m-%d"))?;
    let mut page = format!(
        "# Counters beside Darshan's\n\nWritten by `cargo xtask compare darshan` on {} with Darshan \
         {version} (without MPI): the programs of `e2e/programs`\nunder both libraries, every whole-number \
         counter of POSIX and STDIO of every file. Times differ from run to run and are not here.\n\n",
        String::from_utf8_lossy(&date).trim()
    );
    let mut unexplained = Vec::new();
    let mut reasons: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let (mut equal, mut differ) = (0, 0);
    let mut disturbed = String::new();
    for (program, ran) in programs {
        match ran {
            Ran::Disturbed(how) => writeln!(disturbed, "| `{program}` | {how} |")?,
            Ran::Both(findings, same) => {
                equal += same;
                differ += findings.len();
                for finding in findings {
                    let Finding { program, file, counter, netra, darshan } = finding;
                    match reason(finding) {
                        Some(why) => {
                            let counters = reasons.entry(why).or_default();
                            counters.entry(counter).or_default().insert(program);
                        }
                        None => unexplained.push(format!(
                            "{program}: {file}: {counter}: netra {netra}, Darshan {darshan}"
                        )),
                    }
                }
            }
        }
    }
    writeln!(page, "{equal} values are equal, {differ} differ, for these reasons:\n")?;
    writeln!(page, "| because | counters | programs |\n|---|---|---|")?;
    for (why, counters) in &reasons {
        let names: Vec<&str> = counters.keys().copied().collect();
        let programs: BTreeSet<&str> = counters.values().flatten().copied().collect();
        let programs: Vec<&str> = programs.into_iter().collect();
        writeln!(page, "| {why} | {} | {} |", names.join(" "), programs.join(" "))?;
    }
    let differing: BTreeSet<&str> = reasons.values().flat_map(BTreeMap::keys).copied().collect();
    for module in [Module::Posix, Module::Stdio] {
        let all = counter::current(module).context("its counters")?.int;
        let same: Vec<&str> =
            all.iter().copied().filter(|name| !differing.contains(name)).collect();
        writeln!(page, "\n**Equal everywhere, {module}**: {}.", same.join(" "))?;
    }
    if !disturbed.is_empty() {
        writeln!(
            page,
            "\n## Programs that Darshan disturbs\n\nnetra runs them with the same outcome as without it.\n\n| program | under Darshan |\n|---|---|\n{disturbed}"
        )?;
    }
    Ok((page, unexplained))
}
