//! `netra run` and `netra recover` with real MPI jobs: one log, whose processes are the ranks, whatever starts them and whatever
//! becomes of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use netra_e2e::{Mpi, Tool};
use tempfile::TempDir;

/// What a log says: the job's command, its processes, and for each rank and counter of MPI-IO the sum over files.
struct Told {
    command: String,
    processes: u64,
    counters: BTreeMap<(i64, String), i64>,
}

impl Told {
    fn of(&self, rank: i64, counter: &str) -> i64 {
        self.counters.get(&(rank, counter.to_owned())).copied().unwrap_or(0)
    }

    fn over_all(&self, counter: &str) -> i64 {
        let rows = self.counters.iter().filter(|((_, own), _)| own == counter);
        rows.map(|(_, value)| value).sum()
    }
}

/// Runs a program of `e2e/programs` as a job under netra; none if this MPI cannot compile it.
fn job(mpi: &Mpi, words: &[&str]) -> (TempDir, Output) {
    let folder = TempDir::new().expect("a folder");
    let program = mpi.compile(words[0]).expect("it compiles").expect("there is a compiler");
    let mut all = vec![program.into_os_string()];
    all.extend(words[1..].iter().map(Into::into));
    let launch = mpi.launch(&all);
    let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
    command.args(["run", "--log-file", "job.darshan", "--"]);
    command.arg(launch.get_program()).args(launch.get_args());
    for (name, value) in launch.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let library = Tool::netra().expect("the library is built");
    command.env("NETRA_PRELOAD", library.library()).current_dir(folder.path());
    command.env("NETRA_SEGMENT_DIR", folder.path().join("segments"));
    command.env("NETRA_FINALIZE_WAIT", "10s");
    std::fs::create_dir(folder.path().join("segments")).expect("a folder");
    let done = command.output().expect("netra starts");
    (folder, done)
}

/// Reads the job's log.
#[track_caller]
fn told(folder: &Path, done: &Output) -> Told {
    let log = folder.join("job.darshan");
    let parsed = Command::new(env!("CARGO_BIN_EXE_netra")).arg("parse").arg(&log).output();
    let parsed = parsed.expect("netra starts");
    let text = String::from_utf8_lossy(&parsed.stdout).into_owned();
    let after = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
    let processes = after("# nprocs: ");
    let said = String::from_utf8_lossy(&done.stderr);
    let processes = processes.unwrap_or_else(|| panic!("no log: {said}"));
    let mut counters = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("MPI-IO\t")) {
        let row: Vec<&str> = line.split('\t').collect();
        if let (Ok(rank), Ok(value)) = (row[1].parse::<i64>(), row[4].parse::<i64>()) {
            *counters.entry((rank, row[3].to_owned())).or_default() += value;
        }
    }
    let command = after("# exe: ").unwrap_or_default().to_owned();
    Told { command, processes: processes.parse().expect("a number"), counters }
}

/// Whether nothing is missing, in the ranks and in what starts them.
fn is_complete(said: &str) -> bool {
    said.contains("complete: ") && !said.contains(" left out because ")
}

#[test]
fn a_job_becomes_one_log_with_shared_records() {
    for mpi in Mpi::all().here {
        let (folder, done) = job(&mpi, &["mpi_io.c"]);
        assert!(done.status.success(), "{}: {done:?}", mpi.name);
        let told = told(folder.path(), &done);
        let ranks = i64::from(mpi.ranks());
        assert_eq!(told.processes, u64::from(mpi.ranks()), "{}", mpi.name);
        // The job is about the program, not about what starts it.
        let program = told.command.rsplit('/').next().unwrap_or_default();
        assert!(program.starts_with("mpi_io"), "{}: {}", mpi.name, told.command);
        // The file of all is one record, the files of one each stay with their rank.
        assert_eq!(told.of(-1, "MPIIO_COLL_OPENS"), ranks, "{}", mpi.name);
        assert_eq!(told.of(-1, "MPIIO_BYTES_WRITTEN"), 9000 * ranks, "{}", mpi.name);
        assert_eq!(told.of(-1, "MPIIO_NB_READS"), 3 * ranks, "{}", mpi.name);
        for rank in 0..ranks {
            assert_eq!(told.of(rank, "MPIIO_INDEP_OPENS"), 1, "{} rank {rank}", mpi.name);
            assert_eq!(told.of(rank, "MPIIO_BYTES_WRITTEN"), 10, "{} rank {rank}", mpi.name);
        }
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(is_complete(&said), "{}: {said}", mpi.name);
    }
}

#[test]
fn a_killed_rank_loses_nothing() {
    for mpi in Mpi::all().here.into_iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let (folder, done) = job(&mpi, &["mpi_end.c", "kill"]);
        assert!(!done.status.success(), "{}: {done:?}", mpi.name);
        let told = told(folder.path(), &done);
        let ranks = i64::from(mpi.ranks());
        assert_eq!(told.processes, u64::from(mpi.ranks()), "{}", mpi.name);
        assert_eq!(told.over_all("MPIIO_INDEP_WRITES"), 10 * ranks, "{}", mpi.name);
        assert_eq!(told.over_all("MPIIO_BYTES_WRITTEN"), 5000 * ranks, "{}", mpi.name);
    }
}

/// Writes of each file, as the job's log has them.
#[track_caller]
fn writes(log: &Path, done: &Output) -> BTreeMap<String, i64> {
    let (code, writes) = parsed_writes(log);
    assert_eq!(code, Some(0), "{} after {done:?}", log.display());
    writes
}

/// The exit code of `netra parse`, and the same.
fn parsed_writes(log: &Path) -> (Option<i32>, BTreeMap<String, i64>) {
    let parsed = Command::new(env!("CARGO_BIN_EXE_netra")).arg("parse").arg(log).output();
    let parsed = parsed.expect("netra starts");
    let mut writes = BTreeMap::new();
    for line in String::from_utf8_lossy(&parsed.stdout).lines() {
        if let ["POSIX", _, _, "POSIX_WRITES", value, file, ..] =
            line.split('\t').collect::<Vec<_>>()[..]
        {
            let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            *writes.entry(name.into_owned()).or_default() +=
                value.parse::<i64>().expect("a number");
        }
    }
    (parsed.status.code(), writes)
}

/// A rank is killed at random moments, also while the ranks write their log together. Whatever becomes of the
/// others, each has exactly the writes that its file shows; one that was cut off may have one more there.
#[test]
fn ranks_killed_at_random_moments_lose_nothing() {
    const BLOCK: u64 = 64;
    const ALL: i64 = 20_000;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut random = u64::from(now.expect("after 1970").subsec_nanos());
    for mpi in Mpi::all().here.into_iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        for span in [2_000, 20_000, 60_000, 150_000] {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let moment = ((random >> 33) % span).to_string();
            let (folder, done) = job(&mpi, &["mpi_killed.c", &moment]);
            let told = writes(&folder.path().join("job.darshan"), &done);
            for rank in 0..mpi.ranks() {
                let file = format!("killed.{rank}.dat");
                let size =
                    std::fs::metadata(folder.path().join(&file)).map_or(0, |file| file.len());
                let (wrote, counted) =
                    ((size / BLOCK) as i64, told.get(&file).copied().unwrap_or(0));
                let cut = i64::from(wrote < ALL);
                assert!(
                    (wrote - cut..=wrote).contains(&counted),
                    "{} after {moment} us: {file}: {counted} of {wrote}",
                    mpi.name
                );
            }
        }
    }
}

/// What a rank does after MPI has ended is in the log of `netra run`, and counts once; with the bare library it
/// stays in the segment until `netra recover` makes one log of both.
#[test]
fn calls_after_mpi_count_once() {
    for mpi in Mpi::all().here.into_iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        let want = |told: &BTreeMap<String, i64>| {
            let of = |name: &str| told.get(name).copied().unwrap_or(0);
            ["all.dat", "own.0.dat", "own.1.dat", "own.2.dat"].map(of)
        };
        let (folder, done) = job(&mpi, &["mpi_job.c", "after"]);
        assert!(done.status.success(), "{}: {done:?}", mpi.name);
        let told = writes(&folder.path().join("job.darshan"), &done);
        assert_eq!(want(&told), [30, 1, 5, 3], "{}", mpi.name);

        let folder = TempDir::new().expect("a folder");
        let (logs, segments) = (folder.path().join("logs"), folder.path().join("segments"));
        for folder in [&logs, &segments] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let program = mpi.compile("mpi_job.c").expect("it compiles").expect("there is a compiler");
        let mut command = mpi.launch(&[program.into_os_string(), "after".into()]);
        let library = Tool::netra().expect("the library is built");
        command.env("LD_PRELOAD", library.library()).current_dir(folder.path());
        command.env("NETRA_LOG_DIR", &logs).env("NETRA_SEGMENT_DIR", &segments);
        command.env("NETRA_JOB", "after");
        let done = command.output().expect("it starts");
        assert!(done.status.success(), "{}: {done:?}", mpi.name);
        assert_eq!(of_program(&logs).len(), 1, "{}", mpi.name);
        let recovered = folder.path().join("all.darshan");
        let said = recover(&segments, &recovered);
        assert_eq!(want(&writes(&recovered, &said)), [30, 1, 5, 3], "{}: {said:?}", mpi.name);
        // The new log has taken the place of the first.
        assert_eq!(of_program(&logs), Vec::<std::path::PathBuf>::new(), "{}", mpi.name);
    }
}

/// Traces above the limit stay in the segments: the log of the ranks has all counters and no event, and
/// `netra recover` makes the whole log of both.
#[test]
fn traces_above_the_limit_are_merged_later() {
    for mpi in Mpi::all().here.into_iter().filter(|mpi| mpi.name.starts_with("Debian")) {
        for (limit, stays) in [("64MiB", false), ("1KiB", true)] {
            let folder = TempDir::new().expect("a folder");
            let (logs, segments) = (folder.path().join("logs"), folder.path().join("segments"));
            for folder in [&logs, &segments] {
                std::fs::create_dir(folder).expect("a folder");
            }
            let program = mpi.compile("mpi_job.c").expect("it compiles").expect("a compiler");
            let mut command = mpi.launch(&[program.into_os_string(), "finalize".into()]);
            let library = Tool::netra().expect("the library is built");
            command.env("LD_PRELOAD", library.library()).current_dir(folder.path());
            command.env("NETRA_LOG_DIR", &logs).env("NETRA_SEGMENT_DIR", &segments);
            command.env("NETRA_JOB", "limit").env("NETRA_LOG_TRACES", limit);
            let done = command.output().expect("it starts");
            assert!(done.status.success(), "{}: {done:?}", mpi.name);
            let log = of_program(&logs).pop().expect("the log of the ranks");
            let want = BTreeMap::from([
                ("all.dat".to_owned(), 30),
                ("own.0.dat".to_owned(), 1),
                ("own.1.dat".to_owned(), 2),
                ("own.2.dat".to_owned(), 3),
            ]);
            let ours = |mut writes: BTreeMap<String, i64>| {
                writes.retain(|name, _| want.contains_key(name));
                writes
            };
            let (code, counted) = parsed_writes(&log);
            assert_eq!(ours(counted), want, "{} {limit}: counters", mpi.name);
            // A log without its traces says so.
            assert_eq!(code, Some(i32::from(stays)), "{} {limit}", mpi.name);
            if !stays {
                assert_eq!(traced_writes(&log), want, "{} {limit}", mpi.name);
                continue;
            }
            assert_eq!(traced_writes(&log), BTreeMap::new(), "{} {limit}", mpi.name);
            let recovered = folder.path().join("all.darshan");
            let said = recover(&segments, &recovered);
            assert_eq!(ours(writes(&recovered, &said)), want, "{}: {said:?}", mpi.name);
            assert_eq!(traced_writes(&recovered), want, "{}: {said:?}", mpi.name);
        }
    }
}

/// Writes of each file of `mpi_job`, as the traces of a log have them.
fn traced_writes(log: &Path) -> BTreeMap<String, i64> {
    let said = Command::new(env!("CARGO_BIN_EXE_netra")).arg("dxt").arg(log).output();
    let said = said.expect("netra starts");
    let mut writes = BTreeMap::new();
    let mut file = String::new();
    for line in String::from_utf8_lossy(&said.stdout).lines() {
        if let Some(name) = line.split("file_name: ").nth(1) {
            let name = Path::new(name.trim()).file_name().unwrap_or_default();
            file = name.to_string_lossy().into_owned();
        } else if line.trim_start().starts_with("X_POSIX")
            && line.split_whitespace().nth(2) == Some("write")
            && (file == "all.dat" || file.starts_with("own."))
        {
            *writes.entry(file.clone()).or_default() += 1;
        }
    }
    writes
}

/// The logs of `mpi_job` in a folder.
fn of_program(logs: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(logs).expect("a folder").flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().contains("mpi_job")).collect()
}

/// Recovers, as soon as the last process is gone: a launcher may be gone before.
fn recover(segments: &Path, into: &Path) -> Output {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let folder = std::fs::read_dir(segments).expect("a folder").flatten().next().expect("one");
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        let said = command.arg("recover").arg(folder.path()).arg("-o").arg(into).output();
        let said = said.expect("netra starts");
        if into.exists() || std::time::Instant::now() > deadline {
            return said;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
