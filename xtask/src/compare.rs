//! `cargo xtask compare darshan`: runs the end-to-end programs under netra and under Darshan's own
//! runtime (`DARSHAN_LIB=`), and writes `docs/compare-darshan.md`: every counter equal, or differs
//! because ….
//!
//! A difference without a reason in [`reason`] is an error: it is a bug of netra, or a row to add.

mod reason;

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

/// Counters by module, file and process; or how the program was disturbed.
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
    let mut images: BTreeMap<String, usize> = BTreeMap::new();
    for (origin, log) in logs {
        // Processes in the order of their numbers, each image of a program apart.
        let other = (!origin.executable.starts_with("compare_")).then(|| origin.executable.clone());
        let place = images.entry(origin.executable).or_default();
        *place += 1;
        for module in ["POSIX", "STDIO"] {
            for (name, record) in log.records(module) {
                let Some(file) = short(name, &scene.work()) else { continue };
                let file = match (&other, *place) {
                    (Some(other), _) => format!("{} ({other})", steady(&file)),
                    (None, 1) => steady(&file),
                    (None, place) => format!("{} (process {place})", steady(&file)),
                };
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
    let below = Path::new(name).strip_prefix(work).ok()?;
    Some(if below.as_os_str().is_empty() { ".".to_owned() } else { below.display().to_string() })
}

/// Names that a program makes up differ from run to run in six letters behind a dash.
fn steady(name: &str) -> String {
    let Some((begin, rest)) = name.split_once('-') else { return name.to_owned() };
    match rest.get(..6) {
        Some(made) if begin.len() == 1 && made.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{begin}-XXXXXX{}", &rest[6..])
        }
        _ => name.to_owned(),
    }
}

/// Differences by reason, then by program and file.
type Explained<'a> = BTreeMap<&'static str, BTreeMap<(&'a str, &'a str), Vec<String>>>;

/// The page, and the differences nobody explained.
fn page(programs: &BTreeMap<&'static str, Ran>, version: &str) -> Result<(String, Vec<String>)> {
    let date = output(Command::new("date").arg("+%Y-%m-%d"))?;
    let mut page = format!(
        "# Counters beside Darshan's\n\nWritten by `cargo xtask compare darshan` on {} with Darshan \
         {version} (without MPI): the programs of `e2e/programs`\nunder both libraries, every whole-number \
         counter of POSIX and STDIO of every file and process. Times differ from run to run and are not here.\n\n",
        String::from_utf8_lossy(&date).trim()
    );
    let mut unexplained = Vec::new();
    let mut explained = Explained::new();
    let mut differing = BTreeSet::new();
    let (mut equal, mut differ) = (0, 0);
    let mut disturbed = String::new();
    for (program, ran) in programs {
        match ran {
            Ran::Disturbed(how) => writeln!(disturbed, "| `{program}` | {how} |")?,
            Ran::Both(findings, same) => {
                equal += same;
                differ += findings.len();
                for finding in findings {
                    differing.insert(finding.counter);
                    explain(finding, &mut explained, &mut unexplained);
                }
            }
        }
    }
    writeln!(
        page,
        "{equal} values are equal, {differ} differ, for these reasons. Values are netra's, then Darshan's;"
    )?;
    writeln!(page, "where they depend on chance there are none.\n")?;
    for (why, places) in &explained {
        let mut text = why.chars();
        let first = text.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        writeln!(page, "**{first}{}.**\n", text.as_str())?;
        writeln!(page, "| program | file | counters |\n|---|---|---|")?;
        for ((program, file), counters) in places {
            writeln!(page, "| `{program}` | `{file}` | {} |", counters.join(", "))?;
        }
        writeln!(page)?;
    }
    for module in [Module::Posix, Module::Stdio] {
        let all = counter::current(module).context("its counters")?.int;
        let same: Vec<&str> =
            all.iter().copied().filter(|name| !differing.contains(name)).collect();
        writeln!(page, "**Equal everywhere, {module}**: {}.\n", same.join(" "))?;
    }
    if !disturbed.is_empty() {
        writeln!(
            page,
            "## Programs that Darshan disturbs\n\nnetra runs them with the same outcome as without it.\n\n| program | under Darshan |\n|---|---|\n{disturbed}"
        )?;
    }
    Ok((page, unexplained))
}

/// Puts a difference to its reason, or says that it has none.
fn explain<'a>(finding: &'a Finding, explained: &mut Explained<'a>, unexplained: &mut Vec<String>) {
    let Finding { program, file, counter, netra, darshan } = finding;
    let name = file.split(" (").next().unwrap_or(file);
    let Some(reason) = reason::of(program, name, counter) else {
        unexplained.push(format!("{program}: {file}: {counter}: netra {netra}, Darshan {darshan}"));
        return;
    };
    // One sentence for all files: which they are would fill the page.
    let place = if *counter == "POSIX_MMAPS" { ("*", "*") } else { (*program, file.as_str()) };
    let values = explained.entry(reason.why).or_default().entry(place).or_default();
    let says = match (*counter, reason.chance) {
        ("POSIX_MMAPS", _) | (_, true) => (*counter).to_owned(),
        _ => format!("{counter} {netra}/{darshan}"),
    };
    if !values.contains(&says) {
        values.push(says);
    }
}

#[cfg(test)]
mod tests {
    use super::steady;

    #[test]
    fn made_up_names_become_steady() {
        assert_eq!(steady("a-izUJm6"), "a-XXXXXX");
        assert_eq!(steady("c-xwFAnk.dat"), "c-XXXXXX.dat");
        assert_eq!(steady("not-so.dat"), "not-so.dat");
    }
}
