//! A place for `netra run` with the real library.
#![allow(dead_code, reason = "each test uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use netra_e2e::Tool;
use tempfile::TempDir;

/// A folder of its own for one test, outside the paths that are not recorded.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) library: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Place {
        let library = Tool::netra().expect("the library is built").library().to_owned();
        Place { folder: TempDir::new().expect("a folder"), library }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/bin:/bin").env("TZ", "UTC").env("NETRA_PRELOAD", &self.library);
        command.env("NETRA_SEGMENT_DIR", self.path("segments")).env("HOME", self.path("home"));
        command
    }

    pub(crate) fn netra(&self, words: &[&str]) -> Command {
        fs::create_dir_all(self.path("segments")).expect("a folder");
        let mut command = self.command(env!("CARGO_BIN_EXE_netra"));
        command.args(words);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        let first = ["run", "--log-file", "job.darshan", "--"];
        self.netra(&[&first, words].concat()).output().expect("netra starts")
    }

    /// A counter of the job's log, over all files whose name ends so.
    #[track_caller]
    pub(crate) fn counter(&self, name: &str, file: &str) -> u64 {
        let done = self.netra(&["parse", "job.darshan"]).output().expect("netra starts");
        // 1 says that the trace is not complete; counters are.
        assert!(matches!(done.status.code(), Some(0 | 1)), "{done:?}");
        let text = String::from_utf8(done.stdout).expect("text");
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let rows = rows.map(|line| line.split('\t').collect::<Vec<_>>());
        let mine = rows.filter(|row| row.len() > 5 && row[3] == name && row[5].ends_with(file));
        mine.map(|row| row[4].parse::<u64>().expect("a count")).sum()
    }

    /// Everything that should be gone after a run.
    #[track_caller]
    pub(crate) fn is_tidy(&self) {
        let folder = self.path(&format!("segments/netra-{}", rustix::process::geteuid().as_raw()));
        let left = fs::read_dir(folder).map(Iterator::count).unwrap_or(0);
        assert_eq!(left, 0, "segments are left");
        let hidden: Vec<_> = fs::read_dir(self.folder.path())
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().starts_with(".netra"))
            .collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }
}

pub(crate) fn said(done: &Output) -> String {
    String::from_utf8(done.stderr.clone()).expect("text")
}
