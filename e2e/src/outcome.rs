//! What a user of a program sees of it: output, how it ended, and the files it left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::scene::{Left, Scene};

/// No program here takes this long: one that does is stuck, and that is a bug in a hook.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Everything of a run that must not change under netra.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Files left behind.
    pub files: BTreeMap<PathBuf, Left>,
}

impl Outcome {
    /// Runs a command to its end, or ends it at the deadline. Output goes to files: a pipe would be
    /// held open by a process that outlives its parent.
    pub fn of(command: &mut Command, scene: &Scene, deadline: Duration) -> Result<Outcome> {
        let (out, error) = (scene.output("stdout"), scene.output("stderr"));
        command.stdout(File::create(&out)?).stderr(File::create(&error)?).process_group(0);
        let status = finish(&mut command.spawn()?, deadline)?;
        let (stdout, stderr) = (fs::read(out)?, fs::read(error)?);
        Ok(Outcome { stdout, stderr, status, files: scene.files()? })
    }

    /// How `other` differs from this one, one line each; empty when an observer sees no difference.
    #[must_use]
    pub fn differences(&self, other: &Outcome) -> Vec<String> {
        let mut found = Vec::new();
        if self.status != other.status {
            found.push(format!("ended with {}, without it with {}", other.status, self.status));
        }
        for (name, bare, tool) in
            [("stdout", &self.stdout, &other.stdout), ("stderr", &self.stderr, &other.stderr)]
        {
            if bare != tool {
                found.push(format!("{name} is {}, without it {}", text(tool), text(bare)));
            }
        }
        for (path, left) in &self.files {
            let name = path.display();
            match other.files.get(path) {
                None => found.push(format!("{name} is not there")),
                Some(same) if same == left => {}
                Some(other) if other.mode != left.mode => {
                    found.push(format!("{name} has mode {:o}, not {:o}", other.mode, left.mode));
                }
                Some(_) => found.push(format!("{name} has other contents")),
            }
        }
        for path in other.files.keys().filter(|path| !self.files.contains_key(*path)) {
            found.push(format!("{} is there, without it not", path.display()));
        }
        found
    }
}

fn finish(child: &mut Child, deadline: Duration) -> Result<ExitStatus> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if started.elapsed() > deadline {
            // The whole group: what it forked hangs with it.
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-KILL", "--", &group]).status()?;
            child.wait()?;
            bail!("it did not end within {} seconds", deadline.as_secs());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Quoted, and cut where it is long.
fn text(bytes: &[u8]) -> String {
    let mut quoted = String::new();
    let shown = &bytes[..bytes.len().min(2000)];
    write!(quoted, "{:?}", String::from_utf8_lossy(shown)).ok();
    quoted
}
