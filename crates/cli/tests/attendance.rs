//! Who there was in a job: processes that are killed, confined, renamed, late, or never had the library, with the real
//! library in real commands. What is recorded is exact, and what is not is counted.

mod place;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use netra_e2e::{Mpi, Program};
use place::{Place, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Times that something that was a matter of luck is done again.
const TIMES: usize = 20;

/// Writes `times` times 100 bytes to a file, and then does something.
fn perl(file: &str, times: usize, then: &str) -> String {
    format!("open(F, '>', '{file}'); syswrite(F, 'x' x 100) for 1..{times}; {then}")
}

fn run_json(place: &Place, words: &[&str], more: &[&str]) -> (Output, Value) {
    let first = ["run", "--log-file", "job.darshan", "--format", "json"];
    let done =
        place.netra(&[&first, more, &["--"], words].concat()).output().expect("netra starts");
    let last = said(&done).lines().last().unwrap_or_default().to_owned();
    let json = serde_json::from_str(&last).unwrap_or(Value::Null);
    (done, json)
}

/// The reasons with their numbers.
fn absent(attendance: &Value) -> Vec<(String, u64)> {
    let rows = attendance["not_recorded"].as_array().expect("a list");
    let row = |row: &Value| {
        (row["why"].as_str().expect("a word").to_owned(), row["count"].as_u64().expect("a count"))
    };
    rows.iter().map(row).collect()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[expect(clippy::print_stdout, reason = "what is not checked is said")]
fn is_there(place: &Place, program: &str) -> bool {
    let there = place.command("sh").args(["-c", &format!("command -v {program}")]).output();
    let there = there.expect("a shell").status.success();
    if !there {
        println!("not checked: {program} is not installed");
    }
    there
}

#[test]
fn a_temporary_folder_of_the_scripts_own_changes_nothing() {
    let place = Place::new();
    let script = "mkdir own; export TMPDIR=$PWD/own; perl -e \"$0\"; perl -e \"$1\"; true";
    let words = ["sh", "-c", script, &perl("killed", 1000, "kill 9, $$"), &perl("ended", 10, "")];
    // Without the folder that netra run chooses: what is given there is what a script may change.
    let (done, json) = run_json(&place, &words, &[]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 1000);
    assert_eq!(place.counter("POSIX_WRITES", "/ended"), 10);
    assert_eq!(json["attendance"]["complete"], true, "{json}");
    place.is_tidy();
}

#[test]
fn segments_are_found_where_processes_say_that_they_are() {
    let place = Place::new();
    let script = "mkdir own; export NETRA_SEGMENT_DIR=$PWD/own; perl -e \"$0\"; true";
    let (_, json) =
        run_json(&place, &["sh", "-c", script, &perl("killed", 500, "kill 9, $$")], &[]);
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 500);
    assert_eq!(json["attendance"]["complete"], true, "{json}");
    place.is_tidy();
}

#[test]
fn helpers_that_outlive_the_command_by_an_instant_are_in_the_log() {
    for at in 0..TIMES {
        let place = Place::new();
        // By turns one that ends with the command, and one that does so some moments later.
        let wait = ["0", "0.05"][at % 2];
        let script = "(perl -e \"$0\") >/dev/null 2>&1 & echo first > first";
        let late = format!("select(undef, undef, undef, {wait}); {}", perl("late", 30, ""));
        let (done, json) = run_json(&place, &["sh", "-c", script, &late], &[]);
        assert!(done.status.success(), "{}", said(&done));
        assert_eq!(place.counter("POSIX_WRITES", "/late"), 30, "{at}: {}", said(&done));
        assert_eq!(place.counter("POSIX_WRITES", "/first"), 1);
        assert_eq!(json["attendance"]["complete"], true, "{json}");
        place.is_tidy();
    }
}

#[test]
fn who_still_runs_is_counted() {
    let place = Place::new();
    let script = "perl -e \"$0\" >/dev/null 2>&1 & echo $! > pid; until [ -s late ]; do :; done";
    let late = perl("late", 1, "sleep 1000");
    let (_, json) = run_json(&place, &["sh", "-c", script, &late], &["--wait", "0ms"]);
    let pid: i32 = fs::read_to_string(place.path("pid")).unwrap().trim().parse().unwrap();
    assert_eq!(absent(&json["attendance"]), [("running".to_owned(), 1)], "{json}");
    assert_eq!((&json["attendance"]["complete"]), false);
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn programs_that_take_no_library_are_counted_by_reason() {
    let place = Place::new();
    let compile = |name: &str, flags: &[&str]| {
        let source = place.path("write.c");
        let text = "#include <fcntl.h>\n#include <unistd.h>\nint main(void) { int f = open(\"by\", \
            O_CREAT | O_WRONLY | O_APPEND, 0644); return write(f, \"x\", 1) != 1; }\n";
        fs::write(&source, text).unwrap();
        let mut compiler = place.command("gcc");
        compiler.args(flags).arg("-o").arg(place.path(name)).arg(source);
        assert!(compiler.status().expect("a compiler").success());
    };
    compile("static", &["-static"]);
    compile("dynamic", &[]);
    let script = "./static; ./static; env -i ./dynamic; LD_PRELOAD= ./dynamic; \
        env -i LD_PRELOAD=$LD_PRELOAD ./dynamic; ./none; ./dynamic; echo done > done";
    let (done, json) = run_json(&place, &["bash", "-c", script], &[]);
    assert!(done.status.success(), "{}", said(&done));
    let attendance = &json["attendance"];
    let want = [("static".to_owned(), 2), ("cleared_environment".to_owned(), 3)];
    assert_eq!(absent(attendance), want, "{json}");
    // The shell, seven programs, and the one that was not there: whose process went on as a shell.
    let started = attendance["started"].as_u64().unwrap();
    assert_eq!(attendance["recorded"].as_u64().unwrap() + 5, started, "{json}");
    assert_eq!(attendance["complete"], false);
    assert_eq!(place.counter("POSIX_WRITES", "/by"), 1);
    let (text, json) = (
        place.netra(&["report", "job.darshan"]).output().unwrap(),
        place.netra(&["report", "--json", "job.darshan"]).output().unwrap(),
    );
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(&json["trust"]["attendance"], attendance, "the report says the same later");
    assert_eq!(json["trust"]["complete"], false);
    let text = String::from_utf8(text.stdout).unwrap();
    let says =
        format!("2 of {started} processes are not recorded: statically linked (./static, …)");
    assert!(text.contains(&says), "{text}");
}

#[test]
fn programs_that_would_not_start_with_the_library_start() {
    let place = Place::new();
    let source = place.path("three.c");
    fs::write(&source, "int main(void) { return 3; }\n").unwrap();
    for (name, compiler, flags, why) in [
        ("asan", "gcc", &["-fsanitize=address"][..], None),
        ("musl", "musl-gcc", &[][..], Some("other_libc")),
    ] {
        if !is_there(&place, compiler) {
            continue;
        }
        let mut command = place.command(compiler);
        let made = command.args(flags).arg("-o").arg(place.path(name)).arg(&source).status();
        assert!(made.unwrap().success(), "{name}");
        let own = format!("./{name}");
        let (done, _) = run_json(&place, &[&own], &[]);
        assert_eq!(done.status.code(), Some(3), "{}", said(&done));
        // And as a child: by a shell's exec, and by posix_spawn.
        let script = format!("echo x > x; {own}; [ $? = 3 ]");
        let (done, json) = run_json(&place, &["sh", "-c", &script], &[]);
        assert_eq!(done.status.code(), Some(0), "{}", said(&done));
        let want: Vec<(String, u64)> = why.map(|why| (why.to_owned(), 1)).into_iter().collect();
        assert_eq!(absent(&json["attendance"]), want, "{json}");
        fs::remove_file(place.path("job.darshan")).unwrap();
        let spawn = format!(
            "import os; p = os.posix_spawn('{own}', ['{own}'], dict(os.environ)); \
             open('y', 'w').write('y'); assert os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) == 3"
        );
        let (done, json) = run_json(&place, &["python3", "-c", &spawn], &[]);
        assert_eq!(done.status.code(), Some(0), "{}", said(&done));
        assert_eq!(absent(&json["attendance"]), want, "{json}");
        fs::remove_file(place.path("job.darshan")).unwrap();
    }
}

#[test]
fn who_is_recorded_can_be_chosen() {
    let place = Place::new();
    let words = [
        "sh",
        "-c",
        "dd if=/dev/zero of=out bs=10 count=3 status=none; perl -e \"$0\"; echo x > x",
        &perl("copy", 2, ""),
    ];
    for (more, out, copy, x) in [
        (["--except", "dd"], 0, 2, 1),
        (["--only", "p*l"], 0, 2, 0),
        (["--only", "/usr/bin/d?"], 3, 0, 0),
    ] {
        let (done, json) = run_json(&place, &words, &more);
        assert!(done.status.success(), "{}", said(&done));
        let counted = ["/out", "/copy", "/x"].map(|file| place.counter("POSIX_WRITES", file));
        assert_eq!(counted, [out, copy, x], "{more:?}");
        assert_eq!(json["attendance"]["complete"], true, "as was wished: {json}");
        let all = absent(&json["attendance"]);
        assert!(matches!(&all[..], [(why, _)] if why == "chosen"), "{json}");
        fs::remove_file(place.path("job.darshan")).unwrap();
    }
    let done = place.netra(&["run", "--only", "a:b", "--", "true"]).output().unwrap();
    assert_eq!(done.status.code(), Some(64));
}

#[test]
fn a_process_without_room_is_said() {
    let place = Place::new();
    let script = "echo x > x; ulimit -v 60000; exec dd if=/dev/zero of=out count=1 status=none";
    let (done, json) = run_json(&place, &["bash", "-c", script], &[]);
    assert!(done.status.success(), "{}", said(&done));
    // A library that does with less is welcome; what it does not record it says.
    let recorded = place.counter("POSIX_WRITES", "/out");
    let all = absent(&json["attendance"]);
    assert!(recorded == 1 && all.is_empty() || all == [("no_room".to_owned(), 1)], "{json}");
}

#[test]
fn other_pid_namespaces_are_recorded_to_the_last_write() {
    if !is_root() {
        return println!("not checked: only root can make PID namespaces here");
    }
    let place = Place::new();
    let script = "perl -e \"$0\"; echo after > after";
    let killed = perl("killed", 1000, "kill 9, $$");
    let inner = ["sh", "-c", script, &killed];
    for outer in [
        &["unshare", "--pid", "--fork", "--mount-proc"][..],
        &["unshare", "--pid", "--fork"],
        &["bwrap", "--dev-bind", "/", "/", "--unshare-pid"],
    ] {
        if !is_there(&place, outer[0]) {
            continue;
        }
        let (done, json) = run_json(&place, &[outer, &inner].concat(), &[]);
        assert!(done.status.success(), "{}", said(&done));
        assert_eq!(place.counter("POSIX_WRITES", "/killed"), 1000, "{outer:?}");
        assert_eq!(place.counter("POSIX_WRITES", "/after"), 1, "{outer:?}");
        assert_eq!(json["attendance"]["complete"], true, "{outer:?}: {json}");
        fs::remove_file(place.path("job.darshan")).unwrap();
        place.is_tidy();
    }
    // A temporary folder that only the inside has: what was in it is gone, and that is said.
    if is_there(&place, "bwrap") {
        let here = place.folder.path().to_str().unwrap().to_owned();
        let hidden = place.path("segments").to_str().unwrap().to_owned();
        let outer = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", &hidden, "--chdir", &here];
        let (_, json) = run_json(&place, &[&outer[..], &inner].concat(), &[]);
        assert_eq!(absent(&json["attendance"]), [("killed".to_owned(), 1)], "{json}");
        assert_eq!(place.counter("POSIX_WRITES", "/after"), 1);
    }
}

#[test]
fn workers_that_give_up_root_are_recorded() {
    if !is_root() {
        return println!("not checked: only root can become another user");
    }
    let program = Program::c("users").words().expect("it compiles");
    for at in 0..TIMES {
        let place = Place::new();
        // Also where the other user cannot go: what it needs is held open.
        let mode = [0o755, 0o700][at % 2];
        fs::set_permissions(place.folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        let (done, json) = run_json(&place, &[&program[0]], &[]);
        assert!(done.status.success(), "{}", said(&done));
        for file in ["/u0", "/u1", "/u2", "/u3"] {
            assert_eq!(place.counter("POSIX_WRITES", file), 1005, "{at} {file}: {json}");
        }
        assert_eq!(json["attendance"]["complete"], true, "{json}");
        place.is_tidy();
    }
}

#[test]
fn a_run_that_was_killed_is_recovered_with_those_who_had_ended_before() {
    let place = Place::new();
    let script = "for i in 1 2 3; do dd if=/dev/zero of=out$i bs=10 count=$i status=none; done; \
        exec perl -e \"$0\"";
    let last = perl("killed", 200, "$| = 1; print \"$$\\n\"; sleep 1000");
    let words = ["run", "--log-dir", "logs", "--", "sh", "-c", script, &last];
    let mut run = place.netra(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(run.stdout.take().unwrap()).read_line(&mut line).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    kill_process(Pid::from_raw(line.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let env = ("NETRA_LOG_DIR", place.path("logs"));
    let done = place.netra(&["doctor"]).env(env.0, &env.1).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("1 folder is left by a killed run of netra run"), "{text}");
    let words = ["recover", "-o", "job.darshan"];
    let deadline = Instant::now() + Duration::from_secs(60);
    let done = loop {
        // The last one may take a moment to die.
        let done = place.netra(&words).env(env.0, &env.1).output().unwrap();
        if place.path("job.darshan").exists() {
            break done;
        }
        assert!(Instant::now() < deadline, "{}", said(&done));
    };
    assert!(said(&done).contains(": 5 processes, "), "{}", said(&done));
    for (file, writes) in [("/out1", 1), ("/out2", 2), ("/out3", 3), ("/killed", 200)] {
        assert_eq!(place.counter("POSIX_WRITES", file), writes, "{file}");
    }
    assert_eq!(fs::read_dir(place.path("logs")).unwrap().count(), 0, "the folder is gone");
    place.is_tidy();
}

#[test]
fn a_command_that_ends_by_a_system_call_of_its_own_was_not_killed() {
    let place = Place::new();
    let program = Program::c("sys_exit_group").words().expect("it compiles");
    let (done, json) = run_json(&place, &[&program[0]], &[]);
    assert!(done.status.code().is_some(), "{}", said(&done));
    assert_eq!(json["killed"], json!([]), "{json}");
}

#[test]
fn ranks_that_mpi_abort_kills_are_all_in_the_log() {
    let found = Mpi::all();
    for missing in &found.missing {
        println!("not checked: {missing}");
    }
    for mpi in &found.here {
        let Some(program) = mpi.compile("mpi_end.c").expect("it compiles") else { continue };
        // Each start takes a second on a small machine, and more where others are at work.
        for _ in 0..5 {
            let place = Place::new();
            let launch: Command = mpi.launch(&[program.clone().into(), "abort".into()]);
            let mut command =
                place.netra(&["run", "--log-file", "job.darshan", "--format", "json", "--"]);
            command.arg(launch.get_program()).args(launch.get_args());
            command.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let done = command.output().expect("netra starts");
            for rank in 0..mpi.ranks() {
                let file = format!("/end.{rank}.dat");
                assert_eq!(
                    place.counter("POSIX_WRITES", &file),
                    10,
                    "{}: {}",
                    mpi.name,
                    said(&done)
                );
            }
            let said = said(&done);
            // What a killed launcher was just saying may have no end of its line.
            let document = said.rfind("{\"job\":").map_or(&*said, |at| &said[at..]);
            let json: Value = serde_json::from_str(document.trim()).expect(&said);
            assert_eq!(json["attendance"]["complete"], true, "{}: {json}", mpi.name);
        }
    }
}
