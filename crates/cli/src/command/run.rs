//! `netra run`: a command with the library in it, then one log and a few lines about it.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, Result};
use netra_darshan::Log;
use netra_darshan::section::Attendance;
use netra_event::roll::Absence;
use netra_event::{Bytes, Setting};
use netra_show::run::{self, Run};
use netra_stream::job::{Job, Name, Target, Written};
use netra_stream::memory;
use netra_stream::source::is_launcher;

use super::reading::Told;
use crate::collect::{Found, Pieces};
use crate::doctor::{self, Level, Start};
use crate::launch::child::{self, End};
use crate::launch::live::{self, Live};
#[cfg(feature = "serve")]
use crate::launch::page;
use crate::launch::{haven, library};
use crate::{last, sentence, setting, surroundings, word};

const EXAMPLES: &str = "\
Everything behind -- is the command. Its output, signals and exit code are its own; netra speaks on
standard error when it has ended.

Examples:
  netra run -- ./app input.dat
  netra run -- mpirun -n 4 ./app
  netra run --log-file app.darshan --trace-budget 256MiB -- python3 train.py";

/// What to run, and how it is recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write the log below this folder [default: $XDG_DATA_HOME/netra/logs]
    #[arg(long, value_name = "DIR")]
    log_dir: Option<PathBuf>,
    /// Write the log to exactly this file
    #[arg(long, value_name = "FILE", conflicts_with = "log_dir")]
    log_file: Option<PathBuf>,
    /// Count, but do not trace every call
    #[arg(long, conflicts_with = "trace_budget")]
    no_trace: bool,
    /// Memory for the trace of each process, 64KiB to 16GiB [default: 64MiB, less where there is little memory]
    #[arg(long, value_name = "SIZE", value_parser = word::trace_budget, allow_negative_numbers = true)]
    trace_budget: Option<Bytes>,
    /// Leave out files whose path begins with this
    #[arg(long, value_name = "PATH")]
    exclude: Vec<PathBuf>,
    /// Record files whose path begins with this, though they are left out otherwise
    #[arg(long, value_name = "PATH")]
    include: Vec<PathBuf>,
    /// Only these layers or modules (posix,stdio), or all but these (-stdio)
    #[arg(long = "layer", alias = "modules", value_name = "LIST", value_parser = word::recorded, allow_hyphen_values = true)]
    modules: Option<String>,
    /// Read the trace while the command runs, so that no event is dropped because its memory is full,
    /// and show it on a page. The job is kept in the store, too
    #[arg(long, conflicts_with = "no_trace")]
    live: bool,
    #[cfg(feature = "serve")]
    #[command(flatten)]
    page: page::Wish,
    #[cfg(feature = "store")]
    #[command(flatten)]
    which: crate::stored::Which,
    /// Record only programs whose name is like this, or whose path is, where the pattern has a slash; * and ? stand for
    /// other letters
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    only: Vec<String>,
    /// Leave out such programs. Unless they are asked for, those that give up rights or confine themselves are left out
    /// too: logins, the system's daemons, browsers' inner processes
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    except: Vec<String>,
    /// How long processes that outlive the command are waited for
    #[arg(long, value_name = "TIME", value_parser = word::patience, default_value = "2s")]
    wait: Duration,
    /// Say nothing unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with = "format")]
    json: bool,
    /// How to speak when it has ended; JSON is one line on standard error, the last one
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Told,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// What the trace may take at most, unless told otherwise.
const BUDGET: u64 = 64 << 20;
/// What it may take even where little is free.
const BUDGET_LEAST: u64 = 1 << 20;

/// A pattern of programs. A path is made absolute, as the library sees it.
fn pattern(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(':') {
        return Err("a pattern is a name or a path without colons".to_owned());
    }
    if !text.contains('/') {
        return Ok(text.to_owned());
    }
    // Links lead to the name that the kernel knows.
    let path = fs::canonicalize(text).or_else(|_| std::path::absolute(text));
    path.map(|path| path.to_string_lossy().into_owned()).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    if let Some(setting) = surroundings::left_out() {
        if !args.quiet {
            eprintln!("netra: {setting}: nothing is recorded");
        }
        return args.plainly(&mut command);
    }
    let prepared = haven::prepare(args.log_file.as_deref(), args.log_dir.as_deref());
    let Some((target, pieces)) = prepared else { return args.plainly(&mut command) };
    for unknown in doctor::unknown_settings() {
        eprintln!("netra: {unknown}");
    }
    let about = doctor::start(&args.command[0]);
    let recording = args.prepare(&mut command, &pieces, &about);
    #[cfg(feature = "store")]
    let start = || Live::start(&pieces, args.page.clone().quietly(args.quiet), args.store());
    #[cfg(all(feature = "serve", not(feature = "store")))]
    let start = || Live::start(&pieces, args.page.clone().quietly(args.quiet));
    #[cfg(not(feature = "serve"))]
    let start = || Live::start(&pieces);
    let live = (recording && args.live).then(start).transpose().unwrap_or_else(|error| {
        // Nobody would read what is recorded for a reader.
        command.env_remove("NETRA_STREAM").env_remove("NETRA_LOSSLESS");
        eprintln!("netra: it cannot be watched live: {}", sentence::of(&error));
        None
    });
    match child::run(&mut command)? {
        End::NotStarted(code, error) => {
            if let Some(live) = live {
                live.finish().clear();
            }
            pieces.clear();
            eprintln!("netra: {}: {error}", args.command[0].display());
            Ok(ExitCode::from(code))
        }
        End::Ran(pid, status) => {
            let running = if recording { pieces.wait(args.wait) } else { BTreeSet::new() };
            let live = live.map(Live::finish);
            let mut found = if recording { pieces.collect(&running) } else { Found::default() };
            if let Some(absence) = about.absence.filter(|_| recording) {
                found.roll.call_out(pid, absence, &about.program.to_string_lossy());
            }
            let kept = live.as_ref().map(|live| live.kept.as_path());
            let ended = status.code().map(|_| pid);
            match args.finish(&pieces, found, &target, (kept, ended)) {
                _ if !recording => {}
                Ok(attendance) => args.clear(live.as_ref(), attendance.as_ref()),
                // The command's exit code stays its own.
                Err(error) => eprintln!("netra: {}", sentence::of(&error)),
            }
            pieces.clear();
            Ok(child::end_like(status))
        }
    }
}

impl Args {
    /// Runs the command as it is, without netra.
    fn plainly(&self, command: &mut Command) -> Result<ExitCode> {
        match child::run(command)? {
            End::Ran(_, status) => Ok(child::end_like(status)),
            End::NotStarted(code, error) => {
                eprintln!("netra: {}: {error}", self.command[0].display());
                Ok(ExitCode::from(code))
            }
        }
    }

    /// Puts the library and the settings into the command's environment; false if there is no
    /// library, and the command then runs without it.
    fn prepare(&self, command: &mut Command, pieces: &Pieces, about: &Start) -> bool {
        let Some(library) = library::find().filter(|path| library::can_be_listed(path)) else {
            eprintln!(
                "netra: {} was not found near the program; nothing is recorded (NETRA_PRELOAD says where it is)",
                library::NAME
            );
            return false;
        };
        command.envs(setting::for_the_library());
        let existing = env::var_os("LD_PRELOAD");
        // A program that would not start with it is started without, and said at the end.
        if about.absence != Some(Absence::OtherLibc) {
            let list = library::join(existing.as_deref(), &library, about.first.as_deref());
            command.env("LD_PRELOAD", list);
        }
        command.env("NETRA_JOB", &pieces.key).env("NETRA_LOG_DIR", pieces.logs());
        command.env("NETRA_ROLL", &pieces.folder);
        // Scripts set TMPDIR; segments are to be where we look for them.
        if let Some(base) = pieces.segments.parent() {
            command.env("NETRA_SEGMENT_DIR", base);
        }
        for (name, patterns) in [("NETRA_ONLY", &self.only), ("NETRA_EXCEPT", &self.except)] {
            if !patterns.is_empty() {
                command.env(name, patterns.join(":"));
            }
        }
        command.env("NETRA_LOG_DIR_LATER", &pieces.later).env_remove("NETRA_LOG_FILE");
        // Of two digits: the library writes over it in processes that go into a harmless sandbox.
        command.env("NETRA_FILTERS", format!("{:02}", surroundings::filters()));
        if self.live {
            command.env("NETRA_STREAM", "on");
            if setting::value(Setting::Lossless).is_none() {
                command.env("NETRA_LOSSLESS", format!("{}B", 4 * budget(&pieces.segments)));
            }
        }
        if self.no_trace {
            command.env("NETRA_TRACE", "off");
        } else if let Some(budget) = &self.trace_budget {
            command.env("NETRA_TRACE_BUDGET", format!("{}B", budget.0));
        } else if setting::value(Setting::TraceBudget).is_none() {
            command.env("NETRA_TRACE_BUDGET", format!("{}B", budget(&pieces.segments)));
        }
        for (name, paths) in [(Setting::Exclude, &self.exclude), (Setting::Include, &self.include)]
        {
            if let Some(list) = prefixes(setting::value(name), paths) {
                command.env(name.variable(), list);
            }
        }
        if let Some(modules) = &self.modules {
            command.env("NETRA_MODULES", modules);
        }
        true
    }

    /// Says whether the live trace is whole, and removes what it was kept in.
    fn clear(&self, live: Option<&live::Ended>, attendance: Option<&Attendance>) {
        let Some(live) = live else { return };
        // What the summary has said of everybody is not said again.
        if let Some(certificate) = live.certificate.as_ref()
            && !certificate.is_complete()
        {
            eprintln!("netra: {}", netra_show::ledger::of_all(certificate, attendance));
        }
        live.clear();
    }

    /// Says that there is no log: because the library could not get in, or had nothing to record.
    fn say_nothing(&self, attendance: &Attendance) {
        let mut hindered = false;
        for finding in doctor::program(&self.command[0]) {
            if finding.level == Level::Bad {
                hindered = true;
                eprintln!("netra: nothing was recorded: {}", finding.says);
            }
        }
        if !hindered {
            for caveat in attendance.caveats() {
                hindered = true;
                eprintln!("netra: {caveat}");
            }
        }
        if !self.quiet {
            for wished in attendance.wished() {
                eprintln!("netra: {wished}");
            }
            if !hindered {
                eprintln!("netra: no I/O on files was recorded; there is no log");
            }
        }
    }

    /// The store that gets what the run does while it runs; that there is none is said, and no more.
    #[cfg(feature = "store")]
    fn store(&self) -> Option<std::sync::Arc<netra_store::Store>> {
        let made = self.which.place().and_then(|place| Ok(netra_store::Store::create(place)?));
        match made {
            Ok(store) => Some(std::sync::Arc::new(store)),
            Err(error) => {
                eprintln!("netra: nothing is kept in the store: {error:#}");
                None
            }
        }
    }

    /// Completes the job in the store by what its log has besides, so that it can be asked and compared at once. That this does
    /// not work is said, and no more: the log is there.
    #[cfg(feature = "store")]
    fn keep(&self, log: &Path) {
        match self.which.create().and_then(|stored| stored.keep(log)) {
            Ok(Some(job)) if !self.quiet => {
                eprintln!("netra: kept as job {job}; netra report {job}");
            }
            Ok(_) => {}
            Err(error) => eprintln!("netra: the job is not in the store: {error:#}"),
        }
    }

    /// Writes a job's log where it should be, or else where it can be, which is said.
    fn place(&self, job: &Job, target: &Target, name: Name<'_>) -> Result<(Written, Run)> {
        let to = |target: &Target| {
            let mut summary = Run::leaving_out(&self.leaving_out());
            let written = job.write(target, name, &mut |piece, number, log| {
                summary.process(piece, number, log);
            })?;
            anyhow::Ok((written, summary))
        };
        let error = match to(target) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        for other in haven::instead(target) {
            if let Ok((written, summary)) = to(&other) {
                let (why, path) = (sentence::of(&error), written.path.display());
                eprintln!("netra: {why}; the log is {path}");
                return Ok((written, summary));
            }
        }
        Err(error)
    }

    /// The settings that leave calls out.
    fn leaving_out(&self) -> Vec<&'static str> {
        let set = |setting: Setting| setting::value(setting).is_some();
        [
            ("--layer", self.modules.is_some()),
            ("NETRA_MODULES", self.modules.is_none() && set(Setting::Modules)),
            ("--exclude", !self.exclude.is_empty()),
            ("NETRA_EXCLUDE", set(Setting::Exclude)),
        ]
        .into_iter()
        .filter_map(|(name, is_set)| is_set.then_some(name))
        .collect()
    }

    /// Makes the log and speaks about it; who there was.
    fn finish(
        &self,
        pieces: &Pieces,
        found: Found,
        target: &Target,
        (kept, ended): (Option<&Path>, Option<u32>),
    ) -> Result<Option<Attendance>> {
        for complaint in &found.complaints {
            eprintln!("netra: {complaint}");
        }
        if found.pieces.is_empty() {
            self.say_nothing(&found.roll.attendance(&[]));
            return Ok(None);
        }
        let (job, mut summary, written) = self.write(pieces, found, target, kept)?;
        if let Some(pid) = ended {
            summary.ended(pid);
        }
        for (path, error) in &written.left_out {
            eprintln!("netra: {} is left out: {error:#}", path.display());
        }
        let kept = job.remove(&written);
        if kept > 0 {
            eprintln!(
                "netra: {kept} parts could not be read or removed, see {}",
                pieces.folder.display()
            );
        }
        #[cfg(feature = "store")]
        if self.live {
            self.keep(&written.path);
        }
        let attendance = job.attendance().cloned();
        if self.quiet {
            return Ok(attendance);
        }
        let log = Log::open(&written.path)?;
        let mut text = Vec::new();
        if self.json || self.format == Told::Json {
            last::remember(&written.path);
            summary.json(&mut text, &job, &log, &written.path)?;
        } else {
            let terminal = std::io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none();
            summary.text(&mut text, &job, &log, terminal)?;
            run::place(&mut text, &written.path)?;
            run::next(&mut text, (!last::remember(&written.path)).then_some(&written.path))?;
        }
        // Whoever closed standard error does not want to read it.
        drop(std::io::stderr().write_all(&text));
        Ok(attendance)
    }

    /// Writes the log, and once more if a part came while it was written.
    fn write(
        &self,
        pieces: &Pieces,
        mut found: Found,
        target: &Target,
        kept: Option<&Path>,
    ) -> Result<(Job, Run, Written)> {
        const TRIES: usize = 3;
        let typed = self.command[0].to_string_lossy();
        let is_program = !is_launcher(typed.as_bytes(), false);
        let program = is_program.then_some(&*typed);
        let name = Name { user: &surroundings::user(), program };
        let mut tries = 0;
        loop {
            for piece in &mut found.pieces {
                piece.kept = kept.map(Path::to_owned);
            }
            let job = Job::new(found.pieces.clone()).called(&found.roll);
            let (written, summary) = self.place(&job, target, name).with_context(|| {
                format!("the log can not be written; its parts are in {}", pieces.folder.display())
            })?;
            tries += 1;
            let late = pieces.late(&found.pieces);
            if late.is_empty() || tries == TRIES || fs::remove_file(&written.path).is_err() {
                return Ok((job, summary, written));
            }
            found.pieces.extend(late);
        }
    }
}

/// What each process's trace may take: 64 MiB, as far as a sixteenth of the free memory and of the
/// free space allows, since a job has many processes.
fn budget(segments: &Path) -> u64 {
    let space = segments.ancestors().find_map(memory::free_space);
    let free = [memory::available(), space].into_iter().flatten().min();
    let Bytes(budget) = Bytes(free.map_or(BUDGET, |free| (free / 16).min(BUDGET)));
    budget.max(BUDGET_LEAST)
}

/// Paths, absolute, behind what the environment lists already.
fn prefixes(existing: Option<OsString>, paths: &[PathBuf]) -> Option<OsString> {
    if paths.is_empty() {
        return None;
    }
    let mut list = existing.unwrap_or_default();
    for path in paths {
        if !list.is_empty() {
            list.push(":");
        }
        list.push(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_paths_grow() {
        let paths = [PathBuf::from("/a"), PathBuf::from("/b")];
        assert_eq!(prefixes(None, &[]), None);
        assert_eq!(prefixes(None, &paths), Some("/a:/b".into()));
        assert_eq!(prefixes(Some("/x".into()), &paths[..1]), Some("/x:/a".into()));
    }

    #[test]
    fn the_budget_stays_within_bounds() {
        let budget = budget(Path::new("/tmp/there/is/no/such/folder"));
        assert!((BUDGET_LEAST..=BUDGET).contains(&budget), "{budget}");
    }
}
