//! The command as a child: signals go through to it, and its end becomes ours.
//!
//! It stays in our process group, so the terminal's own signals (interrupt, stop, continue) reach
//! it without us; we only must not die of them. What somebody sends to us alone is sent on.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::Cause;

/// Signals that are sent on.
const PASSED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The shell's codes for a command that is there but can not be run, and one that is not there.
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// How a command ended.
pub(crate) enum End {
    /// It ran, as the process of this number.
    Ran(u32, ExitStatus),
    /// It could not be started: a shell's code, and what the system said.
    NotStarted(u8, io::Error),
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<End> {
    let mut signals = SignalsInfo::<WithOrigin>::new(watched()).context("watching for signals")?;
    let mut child = match spawn(command) {
        Ok(child) => child,
        Err(error) => return Ok(End::NotStarted(code(&error), error)),
    };
    loop {
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            return Ok(End::Ran(child.id(), status));
        }
        for signal in signals.wait() {
            pass(&signal, &child);
        }
    }
}

/// Signals that were ignored when we began (`nohup`) stay ignored, for the command too.
fn watched() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    PASSED.into_iter().filter(heard).chain([SIGCHLD]).collect()
}

/// Starts the command. A script without a first line that names its interpreter is given to the
/// shell, as a shell itself does.
fn spawn(command: &mut Command) -> io::Result<Child> {
    const ENOEXEC: i32 = 8;
    match command.spawn() {
        Err(error) if error.raw_os_error() == Some(ENOEXEC) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg(command.get_program()).args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => shell.env(name, value),
                    None => shell.env_remove(name),
                };
            }
            shell.spawn()
        }
        started => started,
    }
}

fn pass(signal: &Origin, child: &Child) {
    let number = signal.signal;
    // What the terminal sends, the command has got itself.
    if number == SIGCHLD || matches!(signal.cause, Cause::Kernel) {
        return;
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(number)) {
        // It may have ended just now; then there is nobody to tell.
        kill_process(pid, signal).ok();
    }
}

fn code(error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN }
}

/// Ends as the command did: with its exit code, or by the signal that ended it.
pub(crate) fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        // The core, if there is one, is the command's.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).ok();
        signal_hook::low_level::emulate_default_handler(signal).ok();
        // A signal that does not kill us can not be told otherwise.
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
