//! `netra password`: a line for the file of users who may ask the store over a network.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use netra_show::door::postgres::entry;
use netra_store::ask::Who;
use rustyline::completion::Completer;
use rustyline::config::Configurer as _;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Editor, Helper};

const EXAMPLES: &str = "\
The password is asked for, or read from standard input; only what proves it is in the line.
The file must be readable by its owner alone (mode 600).

Examples:
  netra password alice --uid 1000 --to users
  netra password grafana --administrator --to users";

/// For whom.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The name to come in with
    name: String,
    /// Sees the jobs of the user with this number
    #[arg(long, value_name = "N", required_unless_present = "administrator")]
    uid: Option<u32>,
    /// Sees the jobs of everybody
    #[arg(long, conflicts_with = "uid")]
    administrator: bool,
    /// Add the line to this file, which is made so that its owner alone may read it
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.name.is_empty() || args.name.contains(char::is_whitespace) || args.name.starts_with('#')
    {
        bail!("\"{}\" cannot be a user's name: no blanks, and no # in front", args.name);
    }
    let who = args.uid.map_or(Who::Administrator, Who::User);
    let password = password()?;
    if password.is_empty() {
        bail!("an empty password lets everybody in");
    }
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)
        .map_err(|error| anyhow::anyhow!("asking for randomness: {error}"))?;
    let line = entry(&args.name, who, &password, &salt);
    match &args.to {
        Some(path) => add(path, &line).with_context(|| format!("writing {}", path.display()))?,
        None => writeln!(io::stdout(), "{line}")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds a line to a file of which nobody but its owner reads anything.
fn add(path: &Path, line: &str) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options.create(true).append(true).mode(0o600).open(path)?;
    writeln!(file, "{line}")
}

fn password() -> Result<String> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line).context("reading the password")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let config = Config::builder().auto_add_history(false).build();
    let mut editor: Editor<Hidden, MemHistory> = Editor::with_history(config, MemHistory::new())?;
    editor.set_helper(Some(Hidden));
    editor.set_color_mode(rustyline::ColorMode::Forced);
    let first = editor.readline("password: ")?;
    let again = editor.readline("again: ")?;
    if first != again {
        bail!("these are two different passwords");
    }
    Ok(first)
}

/// Shows a star for each letter.
struct Hidden;

impl Completer for Hidden {
    type Candidate = String;
}

impl Hinter for Hidden {
    type Hint = String;
}

impl Validator for Hidden {}
impl Helper for Hidden {}

impl Highlighter for Hidden {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> std::borrow::Cow<'l, str> {
        "*".repeat(line.chars().count()).into()
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}
