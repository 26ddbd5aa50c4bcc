//! `netra run` and `netra recover` with the real library in real commands: exact totals, whatever
//! becomes of the processes.

mod place;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use netra_e2e::Program;
use rustix::process::{Pid, Signal, kill_process};

use place::{Place, said};

#[test]
fn the_last_line_is_what_to_type_next_and_report_then_needs_no_name() {
    let place = Place::new();
    let done = place.netra(&["run", "cp", "/bin/true", "copy"]).output().expect("netra starts");
    assert!(done.status.success(), "{done:?}");
    let lines: Vec<String> = said(&done).lines().map(ToOwned::to_owned).collect();
    assert_eq!(lines.last().map(String::as_str), Some("       next: netra report"), "{lines:?}");
    let log = lines[lines.len() - 2].trim().strip_prefix("log ").expect("where it is").to_owned();
    let report = place.netra(&["report"]).output().expect("netra starts");
    let text = String::from_utf8(report.stdout).expect("text");
    assert!(report.status.success() && text.contains(&log), "{text}");
    // Where nothing can be kept in mind, the log is named.
    let mut command = place.netra(&["run", "--log-file", "a log.darshan", "cp", "copy", "again"]);
    let done = command.env("XDG_STATE_HOME", "/proc/nothing").output().expect("netra starts");
    let next = format!("       next: netra report '{}'", place.path("a log.darshan").display());
    assert_eq!(said(&done).lines().last(), Some(next.as_str()));
    place.is_tidy();
}

#[test]
fn a_log_that_cannot_be_where_it_should_is_where_it_can() {
    let place = Place::new();
    fs::create_dir(place.path("tmp")).expect("a folder");
    let taken = place.path("app.darshan");
    fs::write(&taken, b"mine").expect("a file");
    let words = ["run", "--log-file", "app.darshan", "--", "cp", "/bin/true", "copy"];
    let done = place.netra(&words).output().expect("netra starts");
    assert!(done.status.success() && place.path("copy").exists(), "{done:?}");
    let other = place.path("app.darshan.2");
    assert!(said(&done).contains(&format!("the log goes to {}", other.display())), "{done:?}");
    assert_eq!(fs::read(&taken).expect("a file"), b"mine");
    let info = place.netra(&["info", "app.darshan.2"]).output().expect("netra starts");
    assert!(info.status.success(), "{info:?}");

    // No home: the log is where temporary files are, and report finds it there.
    let mut command = place.netra(&["run", "--", "cp", "copy", "another"]);
    command.env_remove("HOME").env("XDG_STATE_HOME", place.path("state"));
    let done = command.env("TMPDIR", place.path("tmp")).output().expect("netra starts");
    assert!(done.status.success() && place.path("another").exists(), "{done:?}");
    let mut report = place.netra(&["report"]);
    let report = report.env("XDG_STATE_HOME", place.path("state")).output().expect("netra starts");
    let text = String::from_utf8(report.stdout).expect("text");
    let own = place.path("tmp").join(format!("netra-logs-{}", rustix::process::geteuid().as_raw()));
    assert!(text.contains(&own.display().to_string()), "{text}");
    place.is_tidy();
}

/// The name is taken while the command runs: the log gets the next one.
#[test]
fn a_name_that_is_taken_meanwhile_does_not_take_the_log_along() {
    let place = Place::new();
    let script = "cp /bin/true copy; echo mine > app.darshan";
    let words = ["run", "--log-file", "app.darshan", "--", "sh", "-c", script];
    let done = place.netra(&words).output().expect("netra starts");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(fs::read(place.path("app.darshan")).expect("a file"), b"mine\n");
    let other = place.path("app.darshan.2");
    assert!(said(&done).contains(&format!("; the log is {}", other.display())), "{done:?}");
    let info = place.netra(&["info", "app.darshan.2"]).output().expect("netra starts");
    assert!(info.status.success(), "{info:?}");
    place.is_tidy();
}

#[test]
fn a_command_becomes_a_log_and_a_few_lines() {
    let place = Place::new();
    let done = place.run(&["dd", "if=/dev/zero", "of=out", "bs=1000", "count=50", "status=none"]);
    let text = said(&done);
    assert!(done.status.success(), "{text}");
    assert_eq!(place.counter("POSIX_WRITES", "/out"), 50);
    assert_eq!(place.counter("POSIX_BYTES_WRITTEN", "/out"), 50_000);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("netra: I/O took "), "{text}");
    assert_eq!(lines[1], "       read 0 B, wrote 48.8 KiB, 1 file by 1 process");
    assert!(lines[2].contains("/out: ") && lines[2].ends_with(", wrote 48.8 KiB"), "{text}");
    assert!(lines[3].starts_with("       complete: "), "{text}");
    let log = fs::canonicalize(place.folder.path()).unwrap().join("job.darshan");
    assert_eq!(lines[4], format!("       log {}", log.display()));
    place.is_tidy();
    let quiet = place.netra(&["run", "-q", "--log-dir", "logs", "--", "true"]).output().unwrap();
    assert_eq!(said(&quiet), "");
}

#[test]
fn a_recorded_job_exports_the_connectors_messages() {
    let place = Place::new();
    let done = place.run(&["dd", "if=/dev/zero", "of=out", "bs=1000", "count=50", "status=none"]);
    assert!(done.status.success(), "{}", said(&done));
    let words = ["export", "job.darshan", "--as", "connector-json"];
    let done = place.netra(&words).output().expect("netra starts");
    assert!(done.status.success(), "{}", said(&done));
    let text = String::from_utf8(done.stdout).expect("text");
    let all: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let open =
        all.iter().find(|all| all["file"].as_str().is_some_and(|name| name.ends_with("/out")));
    let open = open.expect("an open of the output");
    assert_eq!(
        (&open["op"], &open["type"], &open["rank"]),
        (&"open".into(), &"MET".into(), &0.into())
    );
    let writes: Vec<_> = all
        .iter()
        .filter(|all| all["record_id"] == open["record_id"] && all["op"] == "write")
        .map(|all| {
            [&all["cnt"], &all["seg"][0]["off"], &all["max_byte"]].map(|field| field.as_i64())
        })
        .collect();
    let want: Vec<_> = (0..50).map(|at| [at + 1, at * 1000, at * 1000 + 999].map(Some)).collect();
    assert_eq!(writes, want);
}

#[test]
fn forked_and_replaced_images_are_all_in_it() {
    let place = Place::new();
    let script = "dd if=/dev/zero of=one bs=100 count=3 status=none & \
        dd if=/dev/zero of=two bs=100 count=5 status=none; wait; \
        echo shell > three; exec dd if=two of=four bs=250 status=none";
    let done = place.run(&["sh", "-c", script]);
    assert!(done.status.success(), "{}", said(&done));
    let written = |file: &str| {
        (place.counter("POSIX_WRITES", file), place.counter("POSIX_BYTES_WRITTEN", file))
    };
    assert_eq!(written("/one"), (3, 300));
    assert_eq!(written("/two"), (5, 500));
    assert_eq!(written("/three"), (1, 6));
    assert_eq!(written("/four"), (2, 500));
    assert_eq!(place.counter("POSIX_BYTES_READ", "/two"), 500);
    place.is_tidy();
}

/// Writes 500 times 100 bytes and then does something to itself.
fn perl(then: &str) -> String {
    format!("open(F, '>', 'killed'); syswrite(F, 'x' x 100) for 1..500; {then}")
}

#[test]
fn a_killed_process_keeps_its_exact_totals_and_its_signal() {
    let place = Place::new();
    let done = place.run(&["sh", "-c", "perl -e \"$0\"; echo $?", &perl("kill 9, $$")]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "137\n");
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 500);
    assert_eq!(place.counter("POSIX_BYTES_WRITTEN", "/killed"), 50_000);
    assert!(
        said(&done)
            .contains("1 process ended without libc's exit, killed or by a system call of its own")
    );
    place.is_tidy();
}

#[test]
fn segments_of_a_bare_library_are_recovered_exactly() {
    let place = Place::new();
    fs::create_dir_all(place.path("segments")).unwrap();
    for _ in 0..2 {
        let mut command = place.command("perl");
        command.args(["-e", &perl("kill 9, $$")]);
        command.env("LD_PRELOAD", &place.library).env("NETRA_JOB", "mine");
        command.env("NETRA_LOG_DIR", place.path("logs"));
        assert_eq!(command.status().unwrap().code(), None);
    }
    let done = place.netra(&["recover", "-o", "job.darshan"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(said(&done).starts_with("netra: job mine: 2 processes, "), "{}", said(&done));
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 1000);
    assert_eq!(place.counter("POSIX_BYTES_WRITTEN", "/killed"), 100_000);
    place.is_tidy();
}

#[test]
fn a_running_process_can_be_looked_at_and_recovered_later() {
    let place = Place::new();
    fs::create_dir_all(place.path("segments")).unwrap();
    let mut command = place.command("perl");
    command.args(["-e", &perl("$| = 1; print \"ready\\n\"; sleep 100")]);
    command.env("LD_PRELOAD", &place.library).env("NETRA_JOB", "mine").stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let done = place.netra(&["recover"]).output().unwrap();
    assert!(said(&done).contains("1 belong to processes that still run"), "{}", said(&done));
    let folder = place.path(&format!("segments/netra-{}", rustix::process::geteuid().as_raw()));
    let segment = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let words = ["recover", "-o", "job.darshan", segment.to_str().unwrap()];
    let done = place.netra(&words).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 500, "while it runs");
    fs::remove_file(place.path("job.darshan")).unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let done = place.netra(&["recover", "-o", "job.darshan"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert_eq!(place.counter("POSIX_WRITES", "/killed"), 500, "after its death");
    place.is_tidy();
}

#[test]
fn a_process_that_outlives_the_command_is_said_and_not_waited_for() {
    let place = Place::new();
    let script = "perl -e \"$0\" >/dev/null 2>&1 & echo $!; until [ -s late ]; do sleep 0.01; done; \
        dd if=/dev/zero of=out bs=10 count=1 status=none";
    let late = "$SIG{TERM} = sub { exit }; open(F, '>', 'late'); syswrite(F, 'x'); sleep 1000";
    let done = place.run(&["sh", "-c", script, late]);
    let pid: i32 = String::from_utf8_lossy(&done.stdout).trim().parse().unwrap();
    let text = said(&done);
    let line = format!("netra: process {pid} (perl -e {late}) still runs; its log will be in ");
    let folder = text.lines().find_map(|said| said.strip_prefix(&line)).expect(&text).to_owned();
    assert_eq!(place.counter("POSIX_WRITES", "/out"), 1);
    assert_eq!(Path::new(&folder), place.folder.path(), "where the job's log is");
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    // It ends as any process does, and its log is an ordinary one.
    let deadline = Instant::now() + Duration::from_secs(20);
    let log = loop {
        let named = format!("-{pid}_");
        let mut logs = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
        let mine = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.contains(&named) && name.ends_with(".darshan")
        };
        match logs.find(mine) {
            Some(log) => break log,
            None => assert!(Instant::now() < deadline, "there is no log in {folder}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    fs::remove_file(place.path("job.darshan")).unwrap();
    fs::rename(log, place.path("job.darshan")).unwrap();
    assert_eq!(place.counter("POSIX_WRITES", "/late"), 1);
    let hidden = |name: &str| name.starts_with(".netra");
    let left = fs::read_dir(place.folder.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| hidden(name)), "{left:?}");
}

#[test]
fn programs_get_the_summary_as_json() {
    let place = Place::new();
    let words = ["run", "--format", "json", "--log-file", "job.darshan", "--", "dd"];
    let more = ["if=/dev/zero", "of=out", "bs=10", "count=7", "status=none"];
    let done = place.netra(&[&words[..], &more].concat()).output().unwrap();
    let read: serde_json::Value = serde_json::from_str(&said(&done)).unwrap();
    assert_eq!(read["log"], place.path("job.darshan").to_str().unwrap());
    assert_eq!((&read["processes"], &read["bytes_written"]), (&1.into(), &70.into()));
    assert_eq!(read["slowest_file"]["name"], place.path("out").to_str().unwrap());
    assert_eq!(read["slowest_file"]["bytes_written"], 70);
    assert!(read["events"].as_u64().unwrap() >= 8, "{read}");
    assert_eq!((&read["killed"], &read["notes"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(read["slowest_process"]["io_seconds"].as_f64().unwrap() > 0.0);
    fs::remove_file(place.path("job.darshan")).unwrap();
    let mut command = place.command("perl");
    command.args(["-e", &perl("kill 9, $$")]).env("LD_PRELOAD", &place.library);
    assert_eq!(command.env("NETRA_JOB", "mine").status().unwrap().code(), None);
    let words = ["recover", "--format", "json", "-o", "job.darshan"];
    let done = place.netra(&words).output().unwrap();
    assert_eq!((done.status.code(), said(&done).as_str()), (Some(0), ""));
    let read: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&read["job"], &read["bytes_written"]), (&"mine".into(), &50_000.into()));
    assert_eq!(read["killed"].as_array().unwrap().len(), 1);
}

/// What is read in mapped memory passes by: a summary and a report that say nothing of it would be untrue.
#[test]
fn mapped_memory_is_said() {
    let place = Place::new();
    let program = "import mmap
f = open('mapped.dat', 'w+b')
f.truncate(64 << 20)
m = mmap.mmap(f.fileno(), 0)
sum(m[::4096])
f = open('both.dat', 'w+b')
f.write(bytes(4096))
f.flush()
m = mmap.mmap(f.fileno(), 4096)";
    let words = ["run", "--log-file", "job.darshan", "--format", "json", "--"];
    let done = place.netra(&[&words[..], &["/usr/bin/python3", "-c", program]].concat()).output();
    let text = said(&done.expect("netra starts"));
    let mapped = "\"mapped\":{\"files\":1,\"bytes\":67108864}";
    assert!(text.contains(mapped), "{text}");
    let says = "64.0 MiB of 1 file are mapped: what is read and written there is not seen";
    let done = place.run(&["/usr/bin/python3", "-c", program]);
    assert!(said(&done).contains(&format!("       {says}\n")), "{}", said(&done));
    let report = place.netra(&["report", "job.darshan", "--json"]).output().expect("netra starts");
    let report = String::from_utf8(report.stdout).expect("text");
    let mapped = format!("\"mapped\":{{\"says\":\"{says}\",\"files\":1,\"bytes\":67108864}}");
    assert!(report.contains(&mapped), "{report}");
}

/// The memory that MPI's processes share is no file of the application, in the summary as in a report.
#[test]
fn files_of_mpis_own_are_left_out_and_said() {
    let place = Place::new();
    let script = "own=/dev/shm/ucx_shm_posix_netra_$$
head -c 100000 /dev/zero > $own; rm $own; printf hi > out";
    let text = said(&place.run(&["sh", "-c", script]));
    assert!(text.contains("\n       read 0 B, wrote 2 B, 1 file by "), "{text}");
    assert!(text.contains("\n       slowest file ") && text.contains("/out: "), "{text}");
    let own =
        "1 file of MPI's own, such as its shared memory (97.7 KiB written, 0 B read), is left out";
    assert!(text.contains(&format!("\n       {own}\n")), "{text}");
}

#[test]
fn a_spent_budget_is_said_and_the_counters_stay_exact() {
    let place = Place::new();
    let words = ["run", "--log-file", "job.darshan", "--trace-budget", "64KiB", "--", "dd"];
    let more = ["if=/dev/zero", "of=out", "bs=1", "count=20000", "status=none"];
    let done = place.netra(&[&words[..], &more].concat()).output().unwrap();
    assert!(done.status.success());
    let text = said(&done);
    assert!(text.contains("counters are complete, the trace is not: of "), "{text}");
    assert!(
        text.contains(
            " are left out because the trace budget was spent (--trace-budget raises it)"
        ),
        "{text}"
    );
    assert_eq!(place.counter("POSIX_WRITES", "/out"), 20_000);
    let done = place.netra(&["info", "job.darshan"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "something is missing from the trace");
}

#[test]
fn without_a_trace_there_are_counters() {
    let place = Place::new();
    let words = ["run", "--log-file", "job.darshan", "--no-trace", "--", "dd"];
    let more = ["if=/dev/zero", "of=out", "bs=10", "count=7", "status=none"];
    let done = place.netra(&[&words[..], &more].concat()).output().unwrap();
    assert!(said(&done).contains("counters are complete; calls were not traced, as asked"));
    assert_eq!(place.counter("POSIX_WRITES", "/out"), 7);
    let done = place.netra(&["dxt", "job.darshan"]).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("# no DXT module data available"), "{text}");
}

#[test]
fn bad_settings_are_said_after_the_run() {
    let place = Place::new();
    let words = ["run", "--log-file", "job.darshan", "--", "dd"];
    let more = ["if=/dev/zero", "of=out", "bs=10", "count=7", "status=none"];
    let mut command = place.netra(&[&words[..], &more].concat());
    let done = command.env("NETRA_MODULES", "POZIX").output().unwrap();
    assert!(
        said(&done).contains("note: setting modules: \"POZIX\" is no module"),
        "{}",
        said(&done)
    );
    assert_eq!(place.counter("POSIX_WRITES", "/out"), 7);
}

#[test]
fn ranks_of_an_mpi_job_keep_their_numbers() {
    let launchers: [(&str, &[&str]); 2] =
        [("mpirun.mpich", &[]), ("mpirun.openmpi", &["--allow-run-as-root", "--oversubscribe"])];
    for (launcher, words) in launchers {
        let place = Place::new();
        if place.command(launcher).arg("--version").output().is_err() {
            eprintln!("skipped: {launcher} is not installed");
            continue;
        }
        // No MPI is needed in the program to be started as a rank.
        let rank = "r=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; \
            exec dd if=/dev/zero of=own$r bs=$((r + 1)) count=10 status=none";
        let done = place.run(&[&[launcher], words, &["-n", "2", "sh", "-c", rank]].concat());
        assert!(done.status.success(), "{launcher}: {}", said(&done));
        for (rank, bytes) in [(0, 10), (1, 20)] {
            assert_eq!(place.counter("POSIX_BYTES_WRITTEN", &format!("/own{rank}")), bytes);
        }
        let done = place.netra(&["parse", "job.darshan"]).output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let line = text
            .lines()
            .find(|line| line.contains("POSIX_BYTES_WRITTEN\t20\t") && line.contains("/own1\t"));
        assert!(line.is_some_and(|line| line.starts_with("POSIX\t1\t")), "{launcher}: {line:?}");
        place.is_tidy();
    }
}

#[test]
fn an_interrupt_from_the_terminal_reaches_the_command_once() {
    let place = Place::new();
    let script = "trap 'echo interrupted' INT; echo ready; \
        i=0; while [ $i -lt 40 ]; do sleep 0.05; i=$((i + 1)); done";
    let mut command = place.netra(&["run", "-q", "--", "sh", "-c", script]);
    // A group of its own, as a shell gives to a job; the terminal signals all of it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let begun = Instant::now();
    rustix::process::kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    // Sent by a process, it comes to the command directly and through us; from a terminal, once.
    assert!((1..=2).contains(&rest.len()), "{rest:?}");
    assert!(rest.iter().all(|line| line == "interrupted"));
    assert!(child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(60));
}

/// The example module is one file of the library; nobody here knows it, and everybody shows it.
#[test]
fn a_module_that_describes_itself_is_shown_everywhere() {
    let place = Place::new();
    let program = Program::c("getrandom").words().expect("it compiles");
    let done = place.run(&[&program[0]]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(place.counter("RANDOM_CALLS", "<RANDOM>"), 8);
    assert_eq!(place.counter("RANDOM_BYTES", "<RANDOM>"), 86);
    let face = |words: &[&str]| {
        let done = place.netra(words).output().expect("netra starts");
        String::from_utf8(done.stdout).expect("text")
    };
    let read: serde_json::Value =
        serde_json::from_str(&face(&["parse", "--format", "json", "job.darshan"])).unwrap();
    let modules = read["modules"].as_array().unwrap();
    let own = modules.iter().find(|module| module["name"] == "RANDOM").unwrap();
    assert_eq!(own["records"][0]["counters"]["RANDOM_BYTES"], 86);
    assert!(own["records"][0]["counters"]["RANDOM_F_TIME"].as_f64().unwrap() > 0.0);
    let rows = face(&["parse", "--format", "csv", "job.darshan"]);
    assert!(rows.contains(",RANDOM_CALLS,8,<RANDOM>,,\n"), "{rows}");
    let info = face(&["info", "job.darshan"]);
    assert!(info.contains("netra's own: CALLS 8, BYTES 86, TIME "), "{info}");
    let report = face(&["report", "--all", "job.darshan"]);
    assert!(report.contains("RANDOM: CALLS 8, BYTES 86, TIME "), "{report}");
    let read: serde_json::Value =
        serde_json::from_str(&face(&["report", "--json", "job.darshan"])).unwrap();
    assert_eq!(read["also"][0]["counters"]["RANDOM_CALLS"], 8.0);
    let events = face(&["export", "job.darshan", "--as", "json-lines"]);
    let traced = events.lines().filter(|line| line.contains("\"getrandom\"")).count();
    assert_eq!(traced, 9, "{events}");
}

/// Nodes, cores, memory, devices, what the scheduler gave, and what only the site knows.
#[test]
fn info_tells_where_a_job_ran() {
    let place = Place::new();
    fs::write(place.path("site"), "# by the site\nio_nodes = 4\n").unwrap();
    let words =
        ["run", "--log-file", "job.darshan", "--", "dd", "if=/dev/zero", "of=out", "count=1"];
    let mut command = place.netra(&words);
    command.env("NETRA_PLATFORM", place.path("site"));
    command.env("SLURM_JOB_NODELIST", "nid[001-004]").env("SLURM_PROCID", "3");
    assert!(command.output().unwrap().status.success());
    let done = place.netra(&["info", "--format", "json", "job.darshan"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let node = &json["nodes"][0];
    let host = rustix::system::uname();
    assert_eq!(node["name"], host.nodename().to_str().unwrap());
    assert_eq!((&node["processes"], &node["ranks"]), (&1.into(), &"3".into()));
    let facts = &node["platform"];
    assert_eq!((&facts["io_nodes"], &facts["nodes"]), (&"4".into(), &"nid[001-004]".into()));
    assert_eq!(facts["kernel"], host.release().to_str().unwrap());
    assert!(facts["cores"].as_str().unwrap().parse::<u32>().unwrap() > 0);
    let done = place.netra(&["info", "job.darshan"]).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    for line in ["  io_nodes   4", "  nodes      nid[001-004]"] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(text.contains("ranks  processes   cores     memory  network"), "{text}");
}
