//! `netra run` as the parent of a command: exit codes, signals, streams, environment. Any shared
//! object serves as the library here; what the real one records is tested end to end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::netra::Place;

/// A shared object that is loaded into this very process, so it can be loaded elsewhere too.
fn some_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("a map of this process");
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let mut libraries = path.filter(|path| path.contains("/libc.so"));
    PathBuf::from(libraries.next().expect("this process has a C library"))
}

fn netra(place: &Place, words: &[&str]) -> Command {
    let mut command = place.command(&[&["run"], words].concat());
    command.env("NETRA_PRELOAD", some_library()).env("PATH", "/usr/bin:/bin");
    command.env("XDG_DATA_HOME", place.path("data")).env("NETRA_SEGMENT_DIR", place.path("tmp"));
    command
}

fn run(place: &Place, words: &[&str]) -> Output {
    netra(place, words).output().expect("netra starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn the_exit_code_and_the_streams_are_the_commands() {
    let place = Place::new();
    for code in [0, 1, 7, 255] {
        let done =
            run(&place, &["--", "sh", "-c", &format!("echo out; echo err >&2; exit {code}")]);
        assert_eq!(done.status.code(), Some(code));
        assert_eq!(text(&done.stdout), "out\n");
        let said = "err\nnetra: no I/O on files was recorded; there is no log\n";
        assert_eq!(text(&done.stderr), said);
    }
    let left = fs::read_dir(place.path("data/netra/logs")).unwrap().count();
    assert_eq!(left, 0, "the folder for the pieces is gone");
}

#[test]
fn a_command_that_can_not_be_run_ends_as_in_a_shell() {
    let place = Place::new();
    let done = run(&place, &["--", "no-such-command-here"]);
    assert_eq!(done.status.code(), Some(127));
    assert_eq!(
        text(&done.stderr),
        "netra: no-such-command-here: No such file or directory (os error 2)\n"
    );
    let file = place.file("plain", b"echo hello $1\n");
    assert_eq!(run(&place, &["--", "./plain"]).status.code(), Some(126));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    // Without a first line that names an interpreter, a script is the shell's.
    let done = run(&place, &["--", "./plain", "you"]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "hello you\n"));
    assert_eq!(run(&place, &["--", "."]).status.code(), Some(126));
    assert_eq!(run(&place, &[]).status.code(), Some(64));
}

#[test]
fn it_dies_by_the_commands_signal() {
    let place = Place::new();
    for signal in [Signal::TERM, Signal::KILL, Signal::ABORT] {
        let number = signal.as_raw();
        let done = run(&place, &["--", "sh", "-c", &format!("kill -{number} $$")]);
        assert_eq!(done.status.signal(), Some(number));
        assert!(!done.status.core_dumped(), "the core is the command's");
    }
}

#[test]
fn signals_are_sent_on() {
    let place = Place::new();
    let script =
        "trap 'echo got INT' INT; trap 'echo got TERM; exit 5' TERM; trap 'echo got USR1' USR1;
        echo ready; while :; do sleep 0.05; done";
    let mut command = netra(&place, &["-q", "--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "ready");
    let pid = Pid::from_child(&child);
    for (signal, line) in
        [(Signal::INT, "got INT"), (Signal::USR1, "got USR1"), (Signal::TERM, "got TERM")]
    {
        kill_process(pid, signal).unwrap();
        assert_eq!(next(), line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn what_was_ignored_stays_ignored() {
    let place = Place::new();
    // The outer shell ignores hangups, as nohup does; the inner one asks for its own mask.
    let program = env!("CARGO_BIN_EXE_netra");
    let script =
        format!("trap '' HUP; exec {program} run -q -- sh -c 'grep SigIgn /proc/self/status'");
    let mut command = netra(&place, &[]);
    let environment: Vec<_> =
        command.get_envs().map(|(n, v)| (n.to_owned(), v.map(ToOwned::to_owned))).collect();
    command = Command::new("sh");
    command.args(["-c", &script]).env_clear();
    command.envs(environment.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let done = command.output().unwrap();
    let mask = text(&done.stdout).trim().trim_start_matches("SigIgn:").trim();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    assert_eq!(mask & 1, 1, "SIGHUP in {mask:x}");
}

#[test]
fn the_library_and_the_settings_are_in_the_commands_environment() {
    let place = Place::new();
    let library = some_library();
    let mut command = netra(
        &place,
        &[
            "-q",
            "--exclude",
            "/a",
            "--exclude",
            "/b",
            "--modules",
            "-STDIO",
            "--trace-budget",
            "2MiB",
            "--",
            "env",
        ],
    );
    command
        .env("LD_PRELOAD", &library)
        .env("NETRA_EXCLUDE", "/x")
        .env("NETRA_LOG_FILE", place.path("kept/x.darshan"));
    command.env("NETRA_JOB", "mine");
    let done = command.args(["-u", "HOME"]).arg0("netra").output().unwrap();
    let variables: Vec<&str> = text(&done.stdout).lines().collect();
    let value = |name: &str| {
        let found = variables.iter().find_map(|line| line.strip_prefix(&format!("{name}=")));
        found.map(ToOwned::to_owned)
    };
    let library = library.canonicalize().unwrap_or(library);
    let (path, given) = (library.display().to_string(), some_library().display().to_string());
    let list = value("LD_PRELOAD").unwrap();
    assert!(list == format!("{given}:{given}") || list == format!("{given}:{path}"), "{list}");
    assert_eq!(value("NETRA_EXCLUDE").as_deref(), Some("/x:/a:/b"));
    assert_eq!(value("NETRA_MODULES").as_deref(), Some("-STDIO"));
    assert_eq!(value("NETRA_TRACE_BUDGET").as_deref(), Some("2097152B"));
    assert_eq!(value("NETRA_LOG_FILE"), None);
    assert!(value("NETRA_JOB").unwrap().starts_with("mine."));
    let folder = value("NETRA_LOG_DIR").unwrap();
    assert!(Path::new(&folder).starts_with(place.path("kept")), "{folder}");
}

#[test]
fn without_the_library_the_command_runs_anyway() {
    let place = Place::new();
    let done =
        netra(&place, &["--", "echo", "hello"]).env("NETRA_PRELOAD", "/none").output().unwrap();
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "hello\n"));
    assert!(text(&done.stderr).contains("libnetra_preload.so was not found"), "{done:?}");
}

#[test]
fn a_log_that_exists_is_not_overwritten_and_the_command_runs() {
    let place = Place::with_example();
    let done = run(&place, &["--log-file", "wave.darshan", "--", "touch", "ran"]);
    assert_eq!(done.status.code(), Some(0));
    let shown = place.path("wave.darshan").display().to_string();
    let said = format!("netra: {shown} exists already; the log goes to {shown}.2\n");
    assert!(text(&done.stderr).starts_with(&said), "{done:?}");
    assert!(place.path("ran").exists());
    assert_eq!(fs::read(place.path("wave.darshan")).unwrap(), crate::netra::example());
}

#[test]
fn a_folder_that_can_not_be_written_does_not_stop_the_command() {
    let place = Place::new();
    let temporary = place.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let own = temporary.join(format!("netra-logs-{uid}"));
    // No home, one that nobody can write, and a file in the place of a folder.
    for home in [None, Some("/proc"), Some("/dev/null")] {
        let mut command = netra(&place, &["--", "touch", "ran"]);
        command.env_remove("XDG_DATA_HOME").env_remove("HOME").env("TMPDIR", &temporary);
        if let Some(home) = home {
            command.env("HOME", home);
        }
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{home:?}: {done:?}");
        let said = text(&done.stderr).lines().next().unwrap().to_owned();
        let goes = format!("; the log goes to {}", own.display());
        assert!(said.starts_with("netra: ") && said.ends_with(&goes), "{said}");
        fs::remove_file(place.path("ran")).unwrap();
    }
    let done = run(&place, &["--log-dir", "/proc/nothing", "--", "touch", "ran"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(place.path("ran").exists());
}

#[test]
fn netra_off_runs_the_command_as_it_is() {
    let place = Place::new();
    for (name, value, said) in [
        ("NETRA", "off", "NETRA=off"),
        ("NETRA", "0", "NETRA=off"),
        ("NETRA_DISABLE", "1", "NETRA_DISABLE=1"),
    ] {
        let script = "echo ${LD_PRELOAD-nothing}; exit 3";
        let done = netra(&place, &["--", "sh", "-c", script]).env(name, value).output().unwrap();
        assert_eq!((done.status.code(), text(&done.stdout)), (Some(3), "nothing\n"));
        assert_eq!(text(&done.stderr), format!("netra: {said}: nothing is recorded\n"));
    }
    assert!(!place.path("data").exists());
}

#[test]
fn what_begins_with_a_dash_before_the_command_is_an_option() {
    let place = Place::new();
    for (words, hint) in [
        (&["--no-trac", "--", "touch", "ran"] as &[&str], "'--no-trace'"),
        (&["--Live", "touch", "ran"], "unexpected argument '--Live'"),
        (&["-x", "touch", "ran"], "unexpected argument '-x'"),
        (&["--trace-budget", "64", "--", "touch", "ran"], "such as 64MiB"),
        (&["--trace-budget", "99999TiB", "touch", "ran"], "64KiB to 16GiB"),
        (&["--trace-budget", "0", "touch", "ran"], "64KiB to 16GiB"),
        (&["--trace-budget", "-5", "touch", "ran"], "64KiB to 16GiB"),
        (&["--trace-budget", "1KiB", "touch", "ran"], "64KiB to 16GiB"),
    ] {
        let done = run(&place, words);
        assert_eq!(done.status.code(), Some(64), "{words:?}: {done:?}");
        assert!(text(&done.stderr).contains(hint), "{words:?}: {}", text(&done.stderr));
        assert!(!place.path("ran").exists(), "{words:?}");
    }
    // Behind the command everything is the command's, with and without two dashes.
    for words in [&["echo", "-x", "--live"] as &[&str], &["--", "echo", "-x", "--live"]] {
        assert_eq!(text(&run(&place, words).stdout), "-x --live\n");
    }
}

#[test]
fn a_setting_that_nobody_knows_is_said_before_the_command_runs() {
    let place = Place::new();
    let done = netra(&place, &["true"]).env("NETRA_EXLUDE", "/a").output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(
        text(&done.stderr).starts_with(
            "netra: NETRA_EXLUDE is not a setting of netra; did you mean NETRA_EXCLUDE?\n"
        ),
        "{done:?}"
    );
}
