//! What a site installs from `contrib/`: Slurm's scripts with a real job that is killed, the daemons' files, the units of
//! systemd.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use netra_e2e::{Program, Tool};
use tempfile::TempDir;

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib").join(name)
}

/// netra with these words.
fn netra(words: &[&str]) -> Output {
    let done = Command::new(env!("CARGO_BIN_EXE_netra")).args(words).output();
    done.expect("netra starts")
}

/// All files below a folder: logs lie in folders of their day.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

/// The folder of the program in front of where the system's programs are.
fn path() -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_netra")).parent().expect("a folder");
    format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", own.display())
}

/// A node of a cluster in a folder.
struct Node {
    folder: TempDir,
    library: PathBuf,
    uid: u32,
}

impl Node {
    fn new() -> Node {
        let folder = TempDir::new().expect("a folder");
        let library = Tool::netra().expect("the library is built").library().to_owned();
        fs::create_dir(folder.path().join("segments")).expect("a folder");
        let uid = fs::metadata(folder.path()).expect("a folder").uid();
        Node { folder, library, uid }
    }

    /// A script as Slurm starts it.
    fn script(&self, name: &str, more: &[(&str, &str)]) -> Output {
        let mut command = Command::new("sh");
        command.arg(contrib(name)).env_clear().env("PATH", path()).stdin(Stdio::null());
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.env("SLURM_JOB_ID", "4711").env("SLURM_JOB_UID", self.uid.to_string());
        command.env("NETRA_PRELOAD", &self.library).env("NETRA_PATIENCE", "1");
        command.env("NETRA_SEGMENT_DIR", self.folder.path().join("segments"));
        command.env("NETRA_LOGS", self.folder.path().join("logs"));
        command.envs(more.iter().copied()).output().expect("a shell")
    }

    /// What the prolog puts into the environment of a task.
    fn prolog(&self, more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let done = self.script("slurm/task-prolog.sh", more);
        assert!(done.status.success(), "{done:?}");
        let text = String::from_utf8(done.stdout).expect("text");
        let pair = |line: &str| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        text.lines().map(|line| pair(line).expect("only exports")).collect()
    }

    fn segments(&self) -> PathBuf {
        self.folder.path().join("segments").join(format!("netra-{}", self.uid))
    }
}

#[test]
fn the_prolog_records_every_task_but_not_against_somebodys_will() {
    let node = Node::new();
    let library = node.library.display().to_string();
    let given = node.prolog(&[]);
    let names: Vec<&str> = given.keys().map(String::as_str).collect();
    assert_eq!(names, ["LD_PRELOAD", "NETRA_SEGMENT_DIR", "NETRA_STREAM"]);
    assert_eq!((&given["LD_PRELOAD"], given["NETRA_STREAM"].as_str()), (&library, "on"));
    // What a user preloads stays, behind ours.
    let other = node.prolog(&[("LD_PRELOAD", "libm.so.6")]);
    assert_eq!(other["LD_PRELOAD"], format!("{library}:libm.so.6"));
    for leave in [
        ("NETRA", "off"),
        ("NETRA", "0"),
        ("NETRA", "no"),
        ("NETRA", "false"),
        ("LD_PRELOAD", "libdarshan.so"),
        ("LD_PRELOAD", &library),
        ("NETRA_PRELOAD", "/nowhere/libnetra_preload.so"),
    ] {
        assert_eq!(node.prolog(&[leave]), BTreeMap::new(), "{leave:?}");
    }
}

/// What the module's help tells: with it every program is recorded, and what it says ends that does.
#[test]
fn what_the_help_of_the_module_says_is_so() {
    let text = fs::read_to_string(contrib("modulefiles/netra/default.lua")).expect("the module");
    assert!(text.contains("every program is recorded") && text.contains("\nNETRA=off "), "{text}");
    let node = Node::new();
    let logs = node.folder.path().join("logs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/programs/plain.c");
    let program = Program::c("plain").compile(&source).expect("a compiler");
    for (value, recorded) in [(None, 1), (Some("off"), 1), (Some("0"), 1), (Some("on"), 2)] {
        let mut command = Command::new(&program);
        command.current_dir(node.folder.path()).env_clear().env("LD_PRELOAD", &node.library);
        command.env("NETRA_LOG_DIR", &logs).env("TMPDIR", node.folder.path());
        command.envs(value.map(|value| ("NETRA", value)));
        let done = command.output().expect("the program starts");
        assert!(done.status.success(), "{done:?}");
        assert_eq!(below(&logs).len(), recorded, "NETRA={value:?}");
    }
}

#[test]
fn the_epilog_makes_a_log_of_what_a_killed_job_left() {
    let node = Node::new();
    if node.uid != 0 {
        return println!("not checked: an epilog runs as root");
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/programs/kill9.c");
    let program = Program::c("kill9").compile(&source).expect("a compiler");
    let mut task = Command::new(program);
    task.current_dir(node.folder.path()).env_clear().envs(node.prolog(&[]));
    task.env("SLURM_JOB_ID", "4711").env("SLURM_STEP_ID", "0").env("SLURM_PROCID", "0");
    let done = task.env("HOME", node.folder.path()).output().expect("the task starts");
    assert!(done.status.code().is_none(), "it kills itself: {done:?}");
    assert_eq!(fs::read_dir(node.segments()).expect("a folder").count(), 1, "its segment is left");

    let done = node.script("slurm/epilog.sh", &[]);
    assert!(done.status.success(), "an epilog never fails a node: {done:?}");
    let logs = below(&node.folder.path().join("logs/root"));
    let [log] = logs.as_slice() else { panic!("one log is expected: {logs:?}") };
    let text = netra(&["parse", &log.display().to_string()]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    // As the program's own page says: 1,000 writes of 100 bytes, 10 reads.
    for (counter, value) in
        [("POSIX_WRITES", "1000"), ("POSIX_BYTES_WRITTEN", "100000"), ("POSIX_READS", "10")]
    {
        let line = text
            .lines()
            .find(|line| line.contains("left.dat") && line.split('\t').nth(3) == Some(counter));
        let found = line.and_then(|line| line.split('\t').nth(4));
        assert_eq!(found, Some(value), "{counter} in\n{text}");
    }
    let left = fs::read_dir(node.segments()).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the node's memory is free again");
    // The next job's epilog finds nothing to do.
    assert!(node.script("slurm/epilog.sh", &[]).status.success());
}

#[test]
fn the_daemons_files_are_in_order() {
    for name in ["netra-node.toml", "netra-hub.toml"] {
        let done = netra(&["daemon", "--check", &contrib(name).display().to_string()]);
        assert!(done.status.success(), "{name}: {done:?}");
    }
}

/// systemd's own judgement of the units, with our program in the place where they expect it.
#[test]
fn systemd_takes_the_units() {
    let folder = TempDir::new().expect("a folder");
    let mut units = Vec::new();
    for entry in fs::read_dir(contrib("systemd")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a unit");
        let text = text.replace("/usr/bin/netra", env!("CARGO_BIN_EXE_netra"));
        let copy = folder.path().join(path.file_name().expect("a name"));
        fs::write(&copy, text).expect("a copy");
        units.push(copy);
    }
    assert_eq!(units.len(), 3, "{units:?}");
    let done = Command::new("systemd-analyze").arg("verify").args(&units).output();
    let Ok(done) = done else { return println!("not checked: systemd-analyze is not installed") };
    let said = String::from_utf8_lossy(&done.stderr);
    // Other units of this machine may have their own troubles.
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("netra-")).collect();
    assert_eq!(ours, [""; 0], "{said}");
}
