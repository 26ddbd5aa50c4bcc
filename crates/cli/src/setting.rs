//! Settings: what the environment says, else what the files `netra.toml` say. There is one format for all of
//! them: lines before the first table are for the library and the program, a table `[report]` has options of
//! `netra report`, and `[thresholds]`, `[[rule]]` and `[servers]` are for reports and pages.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Command;
use netra_event::{Reader, Setting};
use toml::Value;

use crate::{folder, surroundings, word};

/// What the file is called in the site's and in the user's folder.
const NAME: &str = "netra.toml";
/// What a project's is called, in its folder or above the one we are in.
const PROJECT: &str = ".netra.toml";
/// Tables that are not options of a command.
pub(crate) const OF_REPORTS: [&str; 3] = ["thresholds", "rule", "servers"];

/// A file of settings.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Whose it is: `site`, `user`, `project` or `NETRA_CONFIG`.
    pub(crate) whose: &'static str,
    pub(crate) path: PathBuf,
    /// What it says; nothing if it is not there.
    pub(crate) says: Option<toml::Table>,
    /// What is wrong with it.
    pub(crate) wrong: Vec<String>,
}

/// All files, the later over the earlier. They are read once.
pub(crate) fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| places().into_iter().map(|(whose, path)| read(whose, path)).collect())
}

fn places() -> Vec<(&'static str, PathBuf)> {
    let mut places: Vec<(&str, PathBuf)> =
        ["site", "user"].into_iter().zip(folder::usual().map(|folder| folder.join(NAME))).collect();
    if let Some(path) = project() {
        places.push(("project", path));
    }
    if let Some(path) = env::var_os(Setting::Config.variable()) {
        places.push((Setting::Config.variable(), PathBuf::from(path)));
    }
    places
}

/// The project's file: the nearest above where we are. One of somebody else's is not followed: whoever
/// can write into a folder of many could otherwise decide for all who work there.
fn project() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let path = here.ancestors().map(|folder| folder.join(PROJECT)).find(|path| path.is_file())?;
    let about = fs::metadata(&path).ok()?;
    let ours = [0, surroundings::uid()].contains(&about.uid()) && about.mode() & 0o022 == 0;
    ours.then_some(path)
}

fn read(whose: &'static str, path: PathBuf) -> File {
    let named = |what: &str| format!("{}: {what}", path.display());
    let (says, wrong) = match fs::read_to_string(&path) {
        Ok(text) => match text.parse::<toml::Table>() {
            Ok(table) => (Some(table), Vec::new()),
            Err(error) => {
                let line = error.span().map_or(1, |at| text[..at.start].lines().count().max(1));
                (None, vec![named(&format!("line {line}: {}", error.message()))])
            }
        },
        // The home of somebody else's, or none at all, is nothing to complain about.
        Err(error) if whose != Setting::Config.variable() || error.kind() == NotFound => {
            (None, Vec::new())
        }
        Err(error) => (None, vec![named(&error.to_string())]),
    };
    File { whose, path, says, wrong }
}

/// What a file has for a setting, as the environment would have it.
fn of_file(file: &File, setting: Setting) -> Option<String> {
    let says = file.says.as_ref()?.iter();
    let mut found = says.filter(|(key, _)| Setting::of_key(key.as_bytes()) == Some(setting));
    text(found.next()?.1)
}

/// A value as it would be typed.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Boolean(true) => Some("on".to_owned()),
        Value::Boolean(false) => Some("off".to_owned()),
        Value::Array(_) | Value::Table(_) => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Datetime(time) => Some(time.to_string()),
    }
}

/// A setting's value and where it came from; nothing if it is not set.
pub(crate) fn found(setting: Setting) -> Option<(OsString, String)> {
    if let Some(value) = env::var_os(setting.variable()).filter(|value| !value.is_empty()) {
        return Some((value, "environment".to_owned()));
    }
    if !in_files(setting) {
        return None;
    }
    let mut files = files().iter().rev();
    files.find_map(|file| Some((of_file(file, setting)?.into(), file.path.display().to_string())))
}

/// Whether a setting may stand in a file: what others read than the program and the library cannot, nor what the
/// store's analyses read for themselves.
fn in_files(setting: Setting) -> bool {
    let others = [Setting::Config, Setting::Analysis, Setting::Python];
    matches!(setting.reader(), Reader::Library | Reader::Program) && !others.contains(&setting)
}

/// A setting's value.
pub(crate) fn value(setting: Setting) -> Option<OsString> {
    found(setting).map(|(value, _)| value)
}

/// What the files say for the library, and the environment does not.
pub(crate) fn for_the_library() -> impl Iterator<Item = (&'static str, OsString)> {
    let of_library = |setting: &&Setting| {
        setting.reader() == Reader::Library && env::var_os(setting.variable()).is_none()
    };
    Setting::ALL
        .iter()
        .filter(of_library)
        .filter_map(|setting| Some((setting.variable(), value(*setting)?)))
}

/// What the files say for reports and pages, each as a text of its own.
pub(crate) fn of_reports() -> impl Iterator<Item = (&'static PathBuf, String)> {
    files().iter().filter_map(|file| {
        let says = file.says.as_ref()?;
        let own = OF_REPORTS.iter().any(|name| says.contains_key(*name));
        Some((&file.path, fs::read_to_string(&file.path).ok().filter(|_| own)?))
    })
}

/// Options of commands from the files become what holds where nothing is typed. Says what is wrong with
/// the files: a command that does not exist, an option that it does not have.
pub(crate) fn defaults(mut program: Command) -> (Command, Vec<String>) {
    let mut wrong = Vec::new();
    for file in files() {
        wrong.extend(file.wrong.iter().cloned());
        for (name, says) in file.says.iter().flatten() {
            let complain = |what: String| format!("{}: {what}", file.path.display());
            match says {
                Value::Table(options) if program.find_subcommand(name).is_some() => {
                    for (option, value) in options {
                        let complaint;
                        (program, complaint) = default(program, name, option, value);
                        wrong.extend(complaint.map(complain));
                    }
                }
                _ if OF_REPORTS.contains(&name.as_str()) => {}
                Value::Table(_) => {
                    let commands: Vec<&str> =
                        program.get_subcommands().map(Command::get_name).collect();
                    wrong.push(complain(word::unknown("command", name, &commands)));
                }
                _ if Setting::of_key(name.as_bytes()).is_some_and(in_files) => {}
                _ if Setting::of_key(name.as_bytes()).is_some() => {
                    wrong.push(complain(format!("{name} is read from the environment alone")));
                }
                _ => {
                    let keys: Vec<String> = Setting::ALL.iter().map(|one| key(*one)).collect();
                    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                    wrong.push(complain(word::unknown("setting", name, &keys)));
                }
            }
        }
    }
    (program, wrong)
}

/// What a setting is called in a file.
pub(crate) fn key(setting: Setting) -> String {
    let name = setting.variable();
    name.strip_prefix("NETRA_").unwrap_or(name).to_lowercase()
}

/// Gives an option of a command a default; or what is wrong with it, and the program as it was.
fn default(
    program: Command,
    command: &str,
    option: &str,
    value: &Value,
) -> (Command, Option<String>) {
    let long = option.replace('_', "-");
    let Some(known) = program.find_subcommand(command) else { return (program, None) };
    let is_meant = |arg: &&clap::Arg| {
        arg.get_long() == Some(&long)
            || arg.get_all_aliases().is_some_and(|all| all.contains(&long.as_str()))
            || (arg.is_positional() && arg.get_id().as_str() == long)
    };
    let Some(arg) = known.get_arguments().find(is_meant) else {
        let all: Vec<&str> = known.get_arguments().filter_map(clap::Arg::get_long).collect();
        let what = word::unknown("option", &long, &all);
        return (program, Some(format!("[{command}] {what}")));
    };
    let is_switch = !arg.get_action().takes_values();
    let typed: Vec<String> = match value {
        Value::Boolean(on) if is_switch => vec![on.to_string()],
        _ if is_switch => {
            return (program, Some(format!("[{command}] {option} is true or false")));
        }
        Value::Array(all) => all.iter().filter_map(text).collect(),
        other => text(other).into_iter().collect(),
    };
    let id = arg.get_id().clone();
    // What the program is described with lives as long as the program.
    let values: Vec<&'static str> = typed.into_iter().map(|text| &*text.leak()).collect();
    let program = program.mut_subcommand(command, |command| {
        command.mut_arg(id, |arg| arg.default_values(values).required(false))
    });
    (program, None)
}
