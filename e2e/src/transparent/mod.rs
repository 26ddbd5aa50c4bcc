//! Transparency: whatever an observer can see of a command is the same without netra and with it.
//!
//! A [`Guest`] is a command; a [`Way`] is how it is started. [`check`] runs it several times without netra
//! and learns what is the same each time; then it runs it in each way, and all of that must be as it was. It
//! looks three times, because looking changes things: once at what a user sees (output, ending, files), once at
//! the system calls (`strace`), once at what the kernel knows of each process when it starts a program
//! and when it ends (`witness/witness.c`). What differs between runs without netra is not compared, and is said.
//!
//! No time is compared. A difference is looked at again by running the command more often *without* netra, to see
//! whether it comes by itself. What a user sees is never retried under netra; which call comes first, where children
//! or threads run side by side, is chance now and then: there it counts if it is so in every one of three runs.

mod calls;
mod family;
mod guest;
mod list;
mod pattern;
mod sheet;
mod state;
mod suite;
mod way;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::outcome::Outcome;
use crate::program::Program;
use crate::scene::Scene;
use sheet::{Difference, Known, Sheet};

pub use guest::{Aspect, Guest, Line, PLAIN};
pub use list::all;
pub use suite::main;
pub use way::Way;

/// Runs without netra from which is learned, and how many more there may be where a difference is found.
const LEARN: usize = 2;
const LEARN_MORE: usize = 6;
/// How often calls and states that differ are looked at again under netra.
const AGAIN: usize = 2;
/// What follows from a difference differs, too: so many are told of a run.
const TOLD: usize = 6;
/// No command of the list takes this long.
const DEADLINE: Duration = Duration::from_secs(60);

/// How a run is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// As its user does.
    Outcome,
    /// System call by system call.
    Calls,
    /// As the kernel does.
    State,
}

/// What came out of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// How many topics were compared.
    pub compared: usize,
    /// What was not compared, and why.
    pub left_out: Vec<String>,
    /// What was otherwise under netra.
    pub differences: Vec<String>,
}

/// Runs a guest bare, then `rounds` times in each way, and compares.
pub fn check(guest: &Guest, ways: &[Way], rounds: usize) -> Result<Report> {
    let set = ways.iter().map(Way::name).collect::<String>().replace([' ', '-'], "");
    let scene = Scene::open_to_all(&format!("{}-{set}", guest.name))?;
    let mut report = Report::default();
    for look in [Look::Outcome, Look::Calls, Look::State] {
        let aspect = match look {
            Look::Outcome => None,
            Look::Calls => Some(Aspect::Calls),
            Look::State => Some(Aspect::State),
        };
        if aspect.is_some_and(|aspect| guest.is_apart(aspect)) {
            continue;
        }
        let mut known = Known::default();
        for _ in 0..LEARN {
            known.add(see(guest, &scene, &Way::Bare, look)?);
        }
        for way in ways.iter().filter(|way| !guest.is_apart(way.aspect())) {
            // What is seen of calls and of states is the same each time or learned not to be.
            for _ in 0..if look == Look::Outcome { rounds } else { 1 } {
                let sheet = see(guest, &scene, way, look)?;
                while !known.differences(&sheet).is_empty() && known.runs() < LEARN_MORE {
                    known.add(see(guest, &scene, &Way::Bare, look)?);
                }
                let mut found = known.differences(&sheet);
                if look != Look::Outcome {
                    for _ in 0..AGAIN {
                        if found.is_empty() {
                            break;
                        }
                        let again = known.differences(&see(guest, &scene, way, look)?);
                        let (stay, go): (Vec<_>, Vec<_>) = found
                            .into_iter()
                            .partition(|one| again.iter().any(|other| other.topic == one.topic));
                        let chance = |one: &Difference| format!("{}: not in every run", one.topic);
                        report.left_out.extend(go.iter().map(chance));
                        found = stay;
                    }
                }
                for one in found.iter().take(TOLD) {
                    let folder = format!("{} {look:?} {}", way.name(), one.topic).replace('/', "_");
                    known.write(&sheet, &one.topic, &scene.output(&folder))?;
                    report.differences.push(format!("{}: {}: {}", way.name(), one.topic, one.what));
                }
                if let Some(more) = found.len().checked_sub(TOLD + 1) {
                    report.differences.push(format!(
                        "{}: and {} topics more",
                        way.name(),
                        more + 1
                    ));
                }
            }
        }
        report.compared += known.topics().count();
        report.left_out.extend(known.left_out());
    }
    if !report.differences.is_empty() {
        report.left_out.push(format!("what was seen is in {}", scene.keep().display()));
    }
    let said = guest.apart.iter().map(|(aspect, why)| format!("{aspect:?}: {why}"));
    report.left_out.extend(said);
    Ok(report)
}

/// One run, looked at in one manner.
fn see(guest: &Guest, scene: &Scene, way: &Way, look: Look) -> Result<Sheet> {
    let folder = scene.output("seen");
    for used in [scene.work(), scene.logs(), scene.segments(), folder.clone()] {
        if used.exists() {
            fs::remove_dir_all(&used).with_context(|| format!("clear {}", used.display()))?;
        }
        fs::create_dir_all(&used)?;
    }
    for place in ["home", "tmp"] {
        fs::create_dir_all(scene.work().join(place))?;
    }
    (guest.input)(&scene.work()).context("make its input")?;
    let words = guest.words()?;
    let program = Path::new(&words[0]).file_name().unwrap_or_default();
    let program = program.to_string_lossy().into_owned();
    let mut command = front(look, &folder, &way.environment(scene)?)?;
    command.extend(way.prefix(scene));
    command.extend(words);
    let mut command = surrounded(&command, scene);
    let outcome = Outcome::of(&mut command, scene, DEADLINE)?;
    let below = way.is_below_netra();
    let mut sheet = match look {
        Look::Outcome => outcome_of(&outcome),
        Look::Calls => calls::read(&folder, &program, below)?,
        Look::State => state::read(&fs::read(folder.join("states"))?, &program, below)?,
    };
    if guest.is_apart(Aspect::Errors) {
        sheet.remove("stderr");
    }
    if guest.is_apart(Aspect::Ends) {
        sheet.retain(|topic, _| !topic.ends_with(" at its end"));
    }
    if guest.is_apart(Aspect::Resources) {
        sheet.retain(|topic, _| !topic.starts_with("resources "));
    }
    Ok(sheet)
}

/// The words of what looks, with the variables that it must give to what it starts.
fn front(look: Look, folder: &Path, variables: &[(&str, OsString)]) -> Result<Vec<OsString>> {
    let mut words: Vec<OsString> = Vec::new();
    let mut option = None;
    match look {
        Look::Outcome => words.push("env".into()),
        Look::Calls => {
            words.extend(calls::strace(folder));
            option = Some("-E");
        }
        Look::State => {
            let witness = Program::beside("witness/witness.c").words()?;
            words.extend(witness.into_iter().map(OsString::from));
            words.push(folder.join("states").into());
        }
    }
    for (name, value) in variables {
        words.extend(option.map(OsString::from));
        let mut variable = OsString::from(format!("{name}="));
        variable.push(value);
        words.push(variable);
    }
    Ok(words)
}

/// The same few variables for everyone.
fn surrounded(words: &[OsString], scene: &Scene) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(scene.work()).stdin(Stdio::null()).env_clear();
    command.env("PATH", guest::PATH).env("LC_ALL", "C").env("TZ", "UTC").env("SHELL", "/bin/sh");
    command.env("HOME", scene.work().join("home")).env("TMPDIR", scene.work().join("tmp"));
    command.env("USER", "root").env("XDG_DATA_HOME", scene.output("data"));
    // Root may start ranks, as in a container, and more of them than there are processors.
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(name, "1");
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command
}

/// What a user sees.
fn outcome_of(outcome: &Outcome) -> Sheet {
    // A character for a byte, so that no two texts become one.
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        text.split_inclusive('\n').map(str::to_owned).collect()
    };
    let mut sheet: BTreeMap<String, Vec<String>> = BTreeMap::new();
    sheet.insert("ending".into(), vec![outcome.status.to_string()]);
    sheet.insert("stdout".into(), lines(&outcome.stdout));
    sheet.insert("stderr".into(), lines(&outcome.stderr));
    let mut names = Vec::new();
    for (path, left) in &outcome.files {
        names.push(format!("{} {:o}", path.display(), left.mode));
        sheet.insert(format!("file {}", path.display()), lines(&left.contents));
    }
    sheet.insert("files".into(), names);
    sheet
}
