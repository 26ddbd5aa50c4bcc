//! How a test runs the program: in a fresh folder, in UTC, without the caller's settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

/// The example log of the repository: `docs/example/README.md` says what is in it.
pub(crate) const EXAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/example/wave.darshan");

/// What the program left behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Done {
    /// Standard output as text.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("the output is text")
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).expect("the output is JSON")
    }
}

/// A folder that goes away with the test.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { folder: TempDir::new().expect("a folder for the test") }
    }

    /// A place with the example log in it, as `wave.darshan`.
    pub(crate) fn with_example() -> Place {
        let place = Place::new();
        place.file("wave.darshan", &example());
        place
    }

    /// Where something in the folder is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a file.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder in the test's folder");
        }
        fs::write(&path, bytes).expect("a file in the test's folder");
        path
    }

    /// The program with these words, not yet started.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netra"));
        command.args(words).current_dir(self.folder.path()).env_clear().env("TZ", "UTC");
        command.env("COLUMNS", "100").stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    #[track_caller]
    pub(crate) fn netra(&self, words: &[&str]) -> Done {
        let done = self.command(words).output().expect("netra starts");
        Done {
            code: done.status.code().expect("netra ends by itself, not by a signal"),
            out: done.stdout,
            err: String::from_utf8(done.stderr).expect("complaints are text"),
        }
    }
}

/// The bytes of the example log.
pub(crate) fn example() -> Vec<u8> {
    fs::read(EXAMPLE).expect("the example log is in the repository")
}
/// Logs and stored outputs of the real tools beside the repository, where they are.
pub(crate) fn stored() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/logs");
    folder.is_dir().then_some(folder)
}

/// The interpreter that knows PyDarshan, where `cargo xtask test` has made one.
pub(crate) fn python() -> Option<PathBuf> {
    env::var_os("NETRA_TEST_PYTHON").map(PathBuf::from)
}
